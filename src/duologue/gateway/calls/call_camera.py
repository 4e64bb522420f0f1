"""The pictures that a client sends into a call: passed on where its model sees them, else refused, once. Used by `VoiceSocket`."""

from __future__ import annotations

import math

import anyio

from duologue.errors import Problem
from duologue.gateway.calls.call import Call
from duologue.gateway.calls.call_model import no_eyes, sees
from duologue.gateway.calls.call_services import CallServices
from duologue.gateway.calls.history import CallHistory
from duologue.values.messages import ImagePart

FRAME_INTERVAL = 0.1
"""Seconds between two pictures that a model is given which holds the call by itself; of more than that the newest counts."""


class CallCamera:
    """The camera or the screen of one call."""

    def __init__(self, call: Call, history: CallHistory, services: CallServices) -> None:
        self._call, self._history, self._services = call, history, services
        self._refused = False
        self._passed_at = -math.inf
        self._newest: ImagePart | None = None

    def flush(self) -> None:
        """Pass on a picture that came too soon after the one before, if it is time. Called with each piece of sound."""
        if self._newest is not None and anyio.current_time() >= self._passed_at + FRAME_INTERVAL:
            image, self._newest = self._newest, None
            self._passed_at = anyio.current_time()
            self._call.saw(image)

    def take(self, image: ImagePart) -> None:
        """The next picture. Raises Problem for the first one that is not used; later ones are ignored, because clients send some every
        second."""
        try:
            self._services.apps.require("omni")
            models = self._services.models
            if not sees(card := models.resolve(self._history.model)):
                raise no_eyes(card, models.cards(), field="start (model)", param="image")
            if self._call.seat.native:
                self._newest = image
                self.flush()
            else:
                self._call.saw(image)
        except Problem:
            if not self._refused:
                self._refused = True
                raise
