"""The models that a pool's workers serve, by the names that clients use.

A worker has one model, or all models of a connected server. Used by `pool`. Pure. Owns what a model is called when several
have the same name: one that is loaded here keeps it, then that of the server connected first; the others are called
SERVER/MODEL. A model of a connected server is also found by that longer name, so a chat keeps its model when names change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec
from msgspec import Struct

from duologue.gateway.scheduling.model_tuning import ModelTuning
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest
from duologue.values.requests import ChatRequest, ModelCard, ModelPreset, RawFormat, UpstreamModel

MEDIA = ("image", "audio", "video")
Asked = TypeVar("Asked", ChatRequest, EmbeddingRequest, RerankRequest)


class ServedModel(Struct, frozen=True):
    """A model. `queue`: the line in which its requests wait; `upstream_model`: what its server calls it, "" for one that is
    loaded here; `upstream_format`: how it writes there, and `upstream_preset`: its preset, as an admin said."""

    card: ModelCard
    queue: str
    upstream_model: str = ""
    upstream_format: RawFormat | None = None
    upstream_preset: ModelPreset | None = None

    def addressed(self, request: Asked, tuning: ModelTuning) -> Asked:
        """A request of this model with what admins chose for it, and with what its server calls it, where that differs from what clients do."""
        if isinstance(request, ChatRequest):
            request = tuning.applied(request, self.queue, self.card)  # type: ignore[assignment]
        if not self.upstream_model:
            return request
        fields: dict[str, object] = {"model": self.card.name, "upstream_model": self.upstream_model}
        if isinstance(request, ChatRequest):
            fields |= {"upstream_format": self.upstream_format, "upstream_preset": self.upstream_preset}
        return msgspec.structs.replace(request, **fields)


class ServedModels:
    """What these workers serve, the default model first; a model that is still loading with what is known of it. `preferred`: any
    name of the model that is the default if it is served; otherwise the first one is."""

    def __init__(self, workers: Iterable[WorkerStatus], preferred: str = "") -> None:
        workers = list(workers)
        self._names: dict[str, ServedModel] = {}
        loaded = _loaded(status for status in workers if not status.upstream)
        for model in loaded.values():
            self._names.setdefault(model.card.name, model)
        for key, model in loaded.items():
            self._names.setdefault(key, model)
        connected = list(self._connected(status for status in workers if status.upstream))
        models = (*loaded.values(), *connected)
        default = self._names.get(preferred)
        # What does not chat is the default only where nothing does.
        self.all = tuple(sorted(models, key=lambda model: (not model.card.chats, model is not default)))
        self.cards = tuple(model.card for model in self.all)

    def find(self, name: str) -> ServedModel | None:
        """The model that a client calls `name`; the default one for an empty name."""
        return self._names.get(name) if name else next(iter(self.all), None)

    def _connected(self, workers: Iterable[WorkerStatus]) -> Iterator[ServedModel]:
        longer: dict[str, ServedModel] = {}
        for status in workers:
            for own in status.models:
                name = own.name
                while name in self._names:
                    name = f"{status.upstream}/{name}"
                model = ServedModel(_card(own, name, status), status.queue, own.name, own.format, own.preset)
                self._names[name] = longer[f"{status.upstream}/{own.name}"] = model
                yield model
        self._names = longer | self._names


def _card(model: UpstreamModel, name: str, status: WorkerStatus) -> ModelCard:
    """What the worker's engine can do with any model, less what the server says that this one cannot."""
    card = status.card or ModelCard(status.upstream, status.engine, 0)
    if model.task != "chat":
        return ModelCard(
            name,
            card.engine,
            model.context or 0,
            slots=card.slots,
            description=f"{model.name} at {status.upstream}",
            outputs=(),
            verbs=(model.task,),
            warnings=(status.warning,) if status.warning else (),
            device=card.device,
            upstream=status.upstream,
        )
    no_tools = model.tools is False
    # While the worker starts, nobody knows what its engine passes on.
    untold = MEDIA if status.card is None else card.untold
    whole = msgspec.structs.replace(
        card,
        name=name,
        context=model.context or 0,
        description=f"{model.name} at {status.upstream}",
        modalities=model.modalities if model.modalities is not None else card.modalities,
        untold=untold if model.modalities is None else (),
        outputs=model.outputs,
        verbs=tuple(verb for verb in card.verbs if not (no_tools and verb in ("tools", "tool_choice"))),
        warnings=(status.warning,) if status.warning else (),
        upstream=status.upstream,
    )
    return whole if model.preset is None else whole.with_defaults(model.preset)


def _loaded(workers: Iterable[WorkerStatus]) -> dict[str, ServedModel]:
    """By the name in the worker's settings, whatever the engine calls it."""
    models: dict[str, ServedModel] = {}
    for status in workers:
        if status.model not in models or status.card is not None:
            verbs = () if status.task == "chat" else (status.task,)
            card = status.card or ModelCard(status.model, status.engine, 0, verbs=verbs)
            models[status.model] = ServedModel(card, status.queue)
    return models
