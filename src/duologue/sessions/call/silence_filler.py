"""Silence in the place of sound that does not come, so that a call's time goes on.

A session notes each sound that arrives. Owns when silence is filled in, and how much.
"""

from __future__ import annotations

from collections.abc import Callable

from duologue.sessions.call.clock import Clock
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES

STALLED = 0.5
"""Seconds without sound from the caller after which silence is filled in."""
FILL = 0.032
"""Seconds of silence filled in at a time."""


class SilenceFiller:
    """Gives silence to `add` while no sound comes from the caller, at the pace of real time."""

    def __init__(self, clock: Clock, add: Callable[[bytes], None]) -> None:
        self._clock = clock
        self._add = add
        self._sound_at = clock.now()

    def note_sound(self) -> None:
        """Sound of the caller came now."""
        self._sound_at = self._clock.now()

    async def run(self) -> None:
        """Fill silence in, for as long as the call lasts."""
        silence = bytes(round(FILL * HEARD_RATE) * SAMPLE_BYTES)
        while True:
            await self._clock.sleep(max(FILL, self._sound_at + STALLED - self._clock.now()))
            filled_to = self._sound_at + STALLED
            while self._clock.now() - self._sound_at >= STALLED:
                # When this process was kept from running, sound that arrived meanwhile must come before the silence:
                # sleep once more, so that it is read first.
                await self._clock.sleep(FILL)
                now = self._clock.now()
                while now - self._sound_at >= STALLED and filled_to + FILL <= now:
                    filled_to += FILL
                    self._add(silence)
