"""A connected model server with its state, and the result of a test. Plain data: `service` writes it, the routes read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from duologue.errors import Problem
from duologue.models.upstream_models import taking
from duologue.values.requests import UpstreamModel

if TYPE_CHECKING:
    from duologue.store.upstreams import StoredUpstream


class ConnectedServer(Struct):
    """A stored server and its state. `worker`: the name of its worker, "" without one; `problem`: what was wrong when it was last
    asked; `asked`: whether it was."""

    stored: StoredUpstream
    worker: str = ""
    problem: Problem | None = None
    asked: bool = False

    @property
    def state(self) -> str:
        """ "off", "waiting" for the first answer, "ready" or "problem"."""
        if not self.stored.enabled:
            return "off"
        if self.problem is not None:
            return "problem"
        return "ready" if self.asked else "waiting"

    def models(self) -> tuple[UpstreamModel, ...]:
        """Those of its models that are used, each with what an admin said of it: that wins over what the server says. A chosen one that
        the server does not list is kept: some list only what is loaded."""
        chosen, seen = self.stored.chosen, self.stored.seen
        by_name = {model.name: model for model in seen}
        names = by_name if chosen is None else chosen
        return tuple(self._said(by_name.get(name) or UpstreamModel(name)) for name in names)

    def _said(self, model: UpstreamModel) -> UpstreamModel:
        if (takes := self.stored.modalities.get(model.name)) is not None:
            model = replace(model, modalities=taking(takes))
        if (gives := self.stored.outputs.get(model.name)) is not None:
            model = replace(model, outputs=("text", *gives))
        if (format := self.stored.formats.get(model.name)) is not None:
            model = replace(model, format=format)
        if (preset := self.stored.presets.get(model.name)) is not None:
            model = replace(model, preset=preset)
        return model


class TestedServer(Struct, frozen=True):
    """What a test found: the models, which of them was asked, the first words of its reply, and what went wrong."""

    kind: str
    models: tuple[UpstreamModel, ...] = ()
    asked: str = ""
    reply: str = ""
    problem: Problem | None = None
