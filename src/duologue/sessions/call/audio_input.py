"""The caller's sound: cut into frames, measured, and passed to the voice activity detector where it is loud enough.

`session.py` adds what arrives and takes the frames. Owns the bound on what waits, and the energy gate that spares the
detector most frames of a call.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import Generic, TypeVar

from msgspec import Struct

from duologue.engines.contracts import FRAME, Detector
from duologue.notifier import Notifier
from duologue.sessions.call.loudness import measure
from duologue.sessions.speech.vad_batcher import VadBatcher
from duologue.values.audio import SAMPLE_BYTES

log = logging.getLogger(__name__)

FRAME_BYTES = FRAME * SAMPLE_BYTES
AT_A_TIME = 8
"""Frames processed together: a quarter of a second."""
WAITING = 160
"""Frames that may wait, five seconds; older ones are dropped."""

OPENS = 6.0
"""dB over the noise at which the gate opens."""
QUIETEST = -60.0
"""dBFS below which nothing is speech."""
FLOOR = (-75.0, -38.0)
"""Range of the noise estimate in dBFS: a person who talks for a minute must not become noise."""
RISES = 0.06
"""dB by which the estimate rises in a frame without speech; it falls at once."""
HANG = 12
"""Frames the gate stays open after the last loud one: the detector must hear the end of a word."""
CONTEXT = 2
"""Frames before the one that opens the gate that are passed to the detector first."""
FORGETS = 60
"""Frames with a closed gate after which the detector is reset."""
SPEECH = 0.3
"""Probability from which a frame is not used to estimate the noise."""


class ScoredFrame(Struct, frozen=True):
    """FRAME samples with their probability of speech, level (dBFS) and brightness (dB)."""

    pcm: bytes
    probability: float
    level: float
    brightness: float


class ButtonMark(Struct, frozen=True):
    """The push-to-talk button moved between two frames."""

    down: bool


class EnergyGate:
    """Decides which frames are worth a detector's millisecond."""

    def __init__(self) -> None:
        self.noise = -65.0
        self._open = 0

    def passes(self, level: float) -> bool:
        """Whether a frame of this level (dBFS) goes to the detector."""
        if level > max(QUIETEST, self.noise + OPENS):
            self._open = HANG
            return True
        self._open -= 1
        return self._open >= 0

    def learn(self, level: float, probability: float) -> None:
        """Learn from a frame of this level and probability of speech."""
        if level < self.noise:
            self.noise += 0.5 * (level - self.noise)
        elif probability < SPEECH:
            self.noise = min(level, self.noise + RISES)
        self.noise = min(max(self.noise, FLOOR[0]), FLOOR[1])


Mark = TypeVar("Mark", bound=Struct)


class AudioInput(Generic[Mark]):
    """Takes sound in pieces of any length and gives scored frames, in order. What happens in between, such as a button's movement, goes
    along as a mark, so that it takes effect between the frames it happened between."""

    def __init__(self, detector: Detector, batcher: VadBatcher) -> None:
        self._detector = detector
        self._batcher = batcher
        self._gate = EnergyGate()
        self._rest = b""
        self._waiting: deque[bytes | Mark] = deque()
        self._arrived = Notifier()
        self._before: deque[bytes] = deque(maxlen=CONTEXT)
        self._closed_for = FORGETS + 1
        self._behind = False

    def add(self, pcm: bytes) -> None:
        """Append sound from the microphone."""
        sound = self._rest + pcm
        whole = len(sound) // FRAME_BYTES * FRAME_BYTES
        self._rest = sound[whole:]
        self._waiting.extend(sound[at : at + FRAME_BYTES] for at in range(0, whole, FRAME_BYTES))
        if len(self._waiting) > WAITING:
            self._drop_oldest()
        if self._waiting:
            self._arrived.notify()

    def mark(self, mark: Mark) -> None:
        """This happened after the sound that was added so far."""
        self._waiting.append(mark)
        self._arrived.notify()

    async def take(self) -> list[ScoredFrame | Mark]:
        """The next frames, at most AT_A_TIME, waiting for one; or the marks that precede them."""
        while not self._waiting:
            await self._arrived.wait()
        marks: list[ScoredFrame | Mark] = []
        while self._waiting and not isinstance(mark := self._waiting[0], bytes):
            marks.append(mark)
            self._waiting.popleft()
        if marks:
            return marks
        frames: list[bytes] = []
        while self._waiting and len(frames) < AT_A_TIME and isinstance(pcm := self._waiting[0], bytes):
            frames.append(pcm)
            self._waiting.popleft()
        measures = [measure(pcm) for pcm in frames]
        loud = [self._gate.passes(level) for level, _ in measures]
        probabilities = await self._score(frames, loud)
        for (level, _), probability in zip(measures, probabilities, strict=True):
            self._gate.learn(level, probability)
        return [
            ScoredFrame(pcm, probability, level, brightness)
            for pcm, probability, (level, brightness) in zip(frames, probabilities, measures, strict=True)
        ]

    def _drop_oldest(self) -> None:
        """Drop the sound that exceeds the bound. Marks stay: a button must not get stuck."""
        if not self._behind:
            self._behind = True
            log.warning("a call's sound is processed too slowly; sound older than five seconds is dropped")
        surplus = len(self._waiting) - WAITING
        rest: deque[bytes | Mark] = deque()
        for item in self._waiting:
            if surplus > 0 and isinstance(item, bytes):
                surplus -= 1
            else:
                rest.append(item)
        self._waiting = rest

    async def _score(self, frames: list[bytes], loud: list[bool]) -> list[float]:
        """The probability of each frame; 0 where the gate was closed."""
        passed: list[bytes] = []
        # Where the probability of each passed frame goes; None for context, which was reported as quiet before.
        positions: list[int | None] = []
        reset = False
        for number, (pcm, passes) in enumerate(zip(frames, loud, strict=True)):
            if not passes:
                self._closed_for += 1
                self._before.append(pcm)
                continue
            if self._closed_for:
                reset = reset or self._closed_for > FORGETS
                passed += self._before
                positions += [None] * len(self._before)
                self._before.clear()
                self._closed_for = 0
            passed.append(pcm)
            positions.append(number)
        scores = [0.0] * len(frames)
        if passed:
            probabilities = await self._batcher.probabilities(self._detector, passed, reset=reset)
            for position, probability in zip(positions, probabilities, strict=True):
                if position is not None:
                    scores[position] = probability
        return scores
