"""A duplex view that tells when its model no longer answers.

Used by `native_call.py`, around the engine's view. A thread cannot be stopped from outside, so a model that hangs in a library or a
driver would hold its call and its worker for ever: the worker is ended instead, as after a lost card.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TypeVar

from duologue.engines.contracts import Decision, DuplexOptions, DuplexView, UnitAnswer
from duologue.errors import DeviceLost
from duologue.sessions.call.clock import Clock
from duologue.values.messages import ImagePart, Message

T = TypeVar("T")

UNIT_PATIENCE = 60.0
"""Seconds that a unit, a cut or a typed text may take. A model that needs a tenth of it is too slow for a call."""
PREPARE_PATIENCE = 600.0
"""Seconds that reading the conversation so far may take: on a processor, thousands of tokens."""
LOOK = 1.0
"""Seconds from one look to the next."""
STUCK = (
    "The model that holds this call has not answered for {seconds:.0f} seconds. Its worker is being restarted; please call again in a "
    "moment."
)


class WatchedView:
    """Implements `contracts.DuplexView` by the view that it is given."""

    def __init__(self, view: DuplexView, clock: Clock) -> None:
        self._view, self._clock = view, clock
        self._due: float | None = None
        """When what the model does is to be done, by the clock; None while it does nothing."""
        self._allowed = 0.0

    async def until_stuck(self) -> DeviceLost:
        """Return once the model has taken too long, with the Problem that says so."""
        while self._due is None or self._clock.now() < self._due:
            await self._clock.sleep(LOOK)
        return DeviceLost(STUCK.format(seconds=self._allowed))

    async def _within(self, seconds: float, work: Awaitable[T]) -> T:
        self._allowed, self._due = seconds, self._clock.now() + seconds
        try:
            return await work
        finally:
            self._due = None

    @property
    def decides(self) -> bool:
        return self._view.decides

    @property
    def unit_samples(self) -> tuple[int, int]:
        return self._view.unit_samples

    async def prepare(self, messages: Sequence[Message], options: DuplexOptions) -> int:
        return await self._within(PREPARE_PATIENCE, self._view.prepare(messages, options))

    async def unit(
        self,
        pcm: bytes,
        frames: Sequence[ImagePart] = (),
        *,
        decision: Decision = "model",
        max_slices: int | None = None,
    ) -> UnitAnswer:
        answer = self._view.unit(pcm, frames, decision=decision, max_slices=max_slices)
        return await self._within(UNIT_PATIENCE, answer)

    async def finalize(self) -> None:
        await self._within(UNIT_PATIENCE, self._view.finalize())

    async def cut(self, heard: int) -> str:
        return await self._within(UNIT_PATIENCE, self._view.cut(heard))

    async def recite(self, text: str) -> None:
        await self._within(UNIT_PATIENCE, self._view.recite(text))

    async def type(self, text: str) -> None:
        await self._within(UNIT_PATIENCE, self._view.type(text))
