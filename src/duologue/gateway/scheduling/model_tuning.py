"""What admins chose at run time for replies: a sampling preset for all models, each model's chat template, and how much of its LoRA
adapters is added.

Owned by `pool`, which adds the preset and the scales to every request, so a running reply keeps those it began with. The template is sent to each
worker. All of it is kept until the model is unloaded or the server stops, also while the model's only worker, on another machine, is away. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from duologue.values.requests import AdapterScale, ChatRequest, ModelCard, ModelPreset

MOST = 1000
"""Models for which a choice is remembered."""
V = TypeVar("V")


class ModelTuning:
    """Nothing is chosen at the start."""

    def __init__(self) -> None:
        self.preset: ModelPreset | None = None
        """The sampling preset in use; None: each model's own alone."""
        self._scales: dict[str, dict[str, float]] = {}
        self._templates: dict[str, str] = {}
        self._adapters: dict[str, dict[str, float]] = {}

    def template(self, queue: str) -> str:
        """The path of the chat template chosen for the model in this line; "": the model's own."""
        return self._templates.get(queue, "")

    def use_template(self, queue: str, path: str) -> None:
        """Render the prompts of the model in this line with the template at this path; "": with its own."""
        if path:
            _remember(self._templates, queue, path)
        else:
            self._templates.pop(queue, None)

    def scales(self, queue: str) -> Mapping[str, float] | None:
        """The scales chosen for the adapters of a model, by their names; None: as it was loaded."""
        return self._scales.get(queue)

    def use_scales(self, queue: str, scales: Mapping[str, float] | None) -> None:
        """Add the adapters of the model in this line with these scales, and others not at all; None: as it was loaded."""
        if scales is None:
            self._scales.pop(queue, None)
        else:
            _remember(self._scales, queue, dict(scales))

    def adapters(self, model: str) -> Mapping[str, float]:
        """The files of the adapters with which workers of other machines load a model that no worker here has, with their scales."""
        return self._adapters.get(model, {})

    def offer_adapters(self, model: str, paths: Mapping[str, float]) -> None:
        """Have workers of other machines load these adapters with the model of this name from their next start on."""
        if paths:
            _remember(self._adapters, model, dict(paths))
        else:
            self._adapters.pop(model, None)

    def forget(self, queue: str) -> None:
        """Its model was unloaded."""
        self._scales.pop(queue, None)
        self._templates.pop(queue, None)
        self._adapters.pop(queue, None)

    def applied(self, request: ChatRequest, queue: str, card: ModelCard) -> ChatRequest:
        """The request with what was chosen. Scales that a request names itself count."""
        if self.preset is not None:
            request = msgspec.structs.replace(request, chosen_preset=self.preset)
        scales = self._scales.get(queue)
        if scales is not None and request.adapters is None and card.adapters:
            chosen = tuple(
                AdapterScale(id, scales[name]) for id, name in enumerate(card.adapters) if name in scales
            )
            request = msgspec.structs.replace(request, adapters=chosen)
        return request


def _remember(chosen: dict[str, V], queue: str, value: V) -> None:
    """The latest choice is the last one, and the first one makes room."""
    chosen.pop(queue, None)
    chosen[queue] = value
    if len(chosen) > MOST:
        del chosen[next(iter(chosen))]
