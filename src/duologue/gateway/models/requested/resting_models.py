"""Models that were unloaded because nobody used them: which ones, and what loads them again.

Pure. `idle_unload` puts models here, `requested_models` finds them by the name of a request, and `loader` loads them. A model that is loaded
in another way meanwhile does not rest any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from duologue.values.requests import ModelCard
from duologue.wire.worker_protocol import LoadSpec


class RestingModel(Struct, frozen=True):
    """A model, what its workers load, and what they were: loaded at run time, by a request, the default."""

    card: ModelCard
    model: str
    specs: tuple[LoadSpec, ...]
    added: bool = False
    by_request: bool = False
    default: bool = False

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.card.name, self.model)))


class RestingModels:
    """`is_loaded`: whether a model of this name has a worker."""

    def __init__(self, is_loaded: Callable[[str], bool] = lambda name: False) -> None:
        self._is_loaded = is_loaded
        self._models: dict[str, RestingModel] = {}

    def put(self, model: RestingModel) -> None:
        """This model rests from now on."""
        self._models[model.name] = model

    def forget(self, name: str) -> bool:
        """This model does not rest any more. False: it did not."""
        model = self.find(name)
        if model is not None:
            del self._models[model.name]
        return model is not None

    def find(self, name: str) -> RestingModel | None:
        """The model by any of its names; the default model that rests for an empty name."""
        return next(
            (model for model in self._resting() if name in model.names or (model.default and not name)), None
        )

    def cards(self) -> list[ModelCard]:
        """The models, the default first."""
        return [model.card for model in sorted(self._resting(), key=lambda model: not model.default)]

    def _resting(self) -> Iterable[RestingModel]:
        for model in list(self._models.values()):
            if any(map(self._is_loaded, model.names)):
                del self._models[model.name]
            else:
                yield model
