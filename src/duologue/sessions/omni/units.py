"""Units: the caller's sound and frames as an omni model takes them.

Pure: `native_call.py` passes in what arrives and when. Owns how sound of any length is cut into units between the fewest and the most
samples that the model takes, and what happens when the model falls behind. Positions are samples (16 kHz) since the call began.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from msgspec import Struct, structs

from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, samples
from duologue.values.messages import ImagePart

TARGET = HEARD_RATE // 2
"""Samples of a unit of a model that takes any length, where the client does not cut them: half a second."""
MERGES = HEARD_RATE
"""Samples that wait from which units are joined."""
BEHIND = 3 * HEARD_RATE
"""Samples that may wait for the model. What is more is dropped, oldest first: a caller who is answered later and later has no
conversation."""


class SoundUnit(Struct, frozen=True):
    """One unit. `end`: the position of its end; `arrived`: when its last sample came, in seconds of the call's clock; `answers`: the
    samples that its answer stands for, its own and those that were dropped before it, without any that were filled in."""

    pcm: bytes
    end: int
    arrived: float
    answers: int
    frames: tuple[ImagePart, ...] = ()
    force_listen: bool = False
    max_slices: int | None = None


class UnitCutter:
    """Cuts sound into units of `fewest` to `most` samples."""

    def __init__(self, fewest: int, most: int) -> None:
        self._fewest, self._most = fewest, most
        self.target = min(max(TARGET, fewest), most)
        """Samples of a unit where the client does not cut them."""
        self._rest = b""
        self._end = 0
        self._frames: tuple[ImagePart, ...] = ()
        self._force_listen = False
        self._max_slices: int | None = None

    @property
    def waiting(self) -> int:
        """Samples that are no unit yet."""
        return samples(self._rest)

    def add_frame(self, frame: ImagePart) -> None:
        """A frame of this moment. The newest counts."""
        self._frames = (frame,)

    def add(self, pcm: bytes, arrived: float) -> list[SoundUnit]:
        """Sound of any length; the units that are complete with it."""
        self._rest += pcm
        units = []
        while samples(self._rest) >= self.target:
            units.append(self._cut(self.target, arrived))
        return units

    def add_chunk(
        self,
        pcm: bytes,
        arrived: float,
        *,
        frames: Sequence[ImagePart] = (),
        force_listen: bool = False,
        max_slices: int | None = None,
    ) -> list[SoundUnit]:
        """Sound that the client has cut: a unit of its own where its length allows that, else several of about the same length, or
        part of one with the sound that follows."""
        self._rest += pcm
        self._frames = tuple(frames) or self._frames
        self._force_listen, self._max_slices = force_listen, max_slices
        units = []
        while (waiting := samples(self._rest)) >= self._fewest:
            parts = -(-waiting // self._most)
            units.append(self._cut(min(max(-(-waiting // parts), self._fewest), self._most), arrived))
        return units

    def flush(self, arrived: float) -> SoundUnit:
        """A unit of what waits, at once, filled up with silence where it is too short."""
        waiting = min(samples(self._rest), self._most)
        unit = self._cut(waiting, arrived)
        missing = max(0, self._fewest - waiting)
        # The silence comes first: what was said last is what matters.
        return structs.replace(unit, pcm=bytes(missing * SAMPLE_BYTES) + unit.pcm)

    def _cut(self, count: int, arrived: float) -> SoundUnit:
        pcm = self._rest[: count * SAMPLE_BYTES]
        self._rest = self._rest[count * SAMPLE_BYTES :]
        self._end += count
        frames, self._frames = self._frames, ()
        return SoundUnit(pcm, self._end, arrived, count, frames, self._force_listen, self._max_slices)


class UnitQueue:
    """The units that wait for the model, of `most` samples each: at most BEHIND samples, and the newest unit."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._units: deque[SoundUnit] = deque()
        self.dropped = 0
        """Samples that no model has heard."""

    @property
    def waiting(self) -> int:
        """Samples that wait."""
        return sum(samples(unit.pcm) for unit in self._units)

    @property
    def first(self) -> SoundUnit | None:
        """The unit that begins with the oldest sound."""
        return self._units[0] if self._units else None

    def put(self, unit: SoundUnit) -> None:
        """Append a unit, and drop the oldest ones while too much waits. The next one's answer stands for them too."""
        self._units.append(unit)
        while self.waiting > BEHIND and len(self._units) > 1:
            oldest = self._units.popleft()
            self.dropped += samples(oldest.pcm)
            self._units[0] = _after(oldest, self._units[0], self._units[0].pcm)

    def take(self, until: int) -> SoundUnit:
        """The oldest unit; there must be one. While more than MERGES wait, the ones after it that end at sample `until` at the latest are
        joined to it as far as the model takes that much at once: one long unit takes less time than two short ones."""
        unit = self._units.popleft()
        while self._units and samples(unit.pcm) + self.waiting > MERGES:
            following = self._units[0]
            together = unit.pcm + following.pcm
            alike = unit.force_listen == following.force_listen and unit.max_slices == following.max_slices
            if not alike or samples(together) > self._most or following.end > until:
                break
            self._units.popleft()
            unit = _after(unit, following, together)
        return unit


def _after(one: SoundUnit, two: SoundUnit, pcm: bytes) -> SoundUnit:
    """`two` in the place of both. The newest frames count."""
    return structs.replace(two, pcm=pcm, answers=one.answers + two.answers, frames=two.frames or one.frames)
