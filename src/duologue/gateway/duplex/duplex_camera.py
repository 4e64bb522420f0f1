"""The pictures of a duplex session: passed on where its model sees them, else refused, once. Used by `DuplexSession`."""

from __future__ import annotations

from collections.abc import Callable

from duologue.errors import Problem
from duologue.gateway.calls.call_model import no_eyes, seeing
from duologue.gateway.calls.call_services import CallServices
from duologue.values.messages import ImagePart
from duologue.values.requests import ModelCard


class DuplexCamera:
    """`use` has another model continue. Its model is None until the session is prepared."""

    def __init__(self, services: CallServices, use: Callable[[ModelCard], None]) -> None:
        self._services, self._use = services, use
        self._model: ModelCard | None = None
        self._may_change = False
        self._refused = False

    def prepare(self, model: ModelCard, *, may_change: bool) -> None:
        """The session begins with this model. `may_change`: the client named none, and the session is no one model's."""
        self._model, self._may_change, self._refused = model, may_change, False

    @property
    def sees(self) -> bool:
        """Whether pictures are used."""
        return self._services.apps.is_enabled("omni") and self._has_eyes()

    def check(self) -> Problem | None:
        """What the client is told about a picture that is not used: the first time only, because clients send one a second."""
        try:
            self._services.apps.require("omni")
            if self._has_eyes():
                return None
            cards = self._services.models.cards()
            raise no_eyes(self._model, cards, field="prepare (model)", param="frame_base64_list")
        except Problem as problem:
            told, self._refused = self._refused, True
            return None if told else problem

    def take(self, image: ImagePart, saw: Callable[[ImagePart], None]) -> Problem | None:
        """A picture for the current turn, passed to `saw`. Gives what the client is to be told."""
        if self.sees:
            saw(image)
            return None
        return self.check()

    def _has_eyes(self) -> bool:
        """Whether the session's model takes pictures. If the client named none, a model of this machine that does takes over: only
        pictures tell one kind of session from the other, and nothing is known of them before the first."""
        cards = self._services.models.cards()
        model = self._model
        card = next((each for each in cards if model and each.name == model.name), model)
        if card is None or "image" in card.modalities:
            return card is not None
        other = seeing(cards) if self._may_change else None
        if other is None:
            return False
        self._model = other
        self._use(other)
        return True
