"""One caller's sound: cut into frames, measured, and judged where it is loud enough to be anything.

Owns the cutting and the energy gate before the detector. Knows no turn.
"""

from __future__ import annotations

import logging
from collections import deque

import anyio
from msgspec import Struct

from duologue.engines.contracts import FRAME, Detector
from duologue.sessions.call.loudness import measured
from duologue.sessions.speech.vad_batcher import VadBatcher
from duologue.values.audio import SAMPLE_BYTES

log = logging.getLogger(__name__)

FRAME_BYTES = FRAME * SAMPLE_BYTES
AT_A_TIME = 8
"""Frames judged in one go: a quarter of a second."""
WAITING = 160
"""Frames that may wait to be judged, five seconds; older ones are dropped."""

OPENS = 6.0
"""dB over the noise at which the gate opens."""
QUIETEST = -60.0
"""dBFS under which nothing is speech."""
FLOOR = (-75.0, -38.0)
"""dBFS between which noise is believed to lie: somebody who talks for a minute is no noise."""
RISES = 0.06
"""dB the noise is believed to grow in a frame that is no speech; falls are believed at once."""
HANG = 12
"""Frames the gate stays open after the last that was loud enough: the detector must hear a word's end."""
CONTEXT = 2
"""Frames before the one that opens the gate that the detector hears first."""
FORGETS = 60
"""Frames of quiet after which the detector begins anew."""
SPEECH = 0.3
"""A probability from which a frame is no measure of the noise."""


class JudgedFrame(Struct, frozen=True):
    """FRAME samples, how likely they are speech, how loud they are (dBFS) and how bright (dB)."""

    pcm: bytes
    probability: float
    level: float
    brightness: float


class Mark(Struct, frozen=True):
    """Something that happened between two frames."""

    happened: object


class Gate:
    """Which frames are worth a detector's millisecond."""

    def __init__(self) -> None:
        self.noise = -65.0
        self._open = 0

    def passes(self, loudness: float) -> bool:
        """Whether a frame so loud (dBFS) is to be judged."""
        if loudness > max(QUIETEST, self.noise + OPENS):
            self._open = HANG
            return True
        self._open -= 1
        return self._open >= 0

    def learn(self, loudness: float, probability: float) -> None:
        """Note how loud a frame was that is speech with this probability."""
        if loudness < self.noise:
            self.noise += 0.5 * (loudness - self.noise)
        elif probability < SPEECH:
            self.noise = min(loudness, self.noise + RISES)
        self.noise = min(max(self.noise, FLOOR[0]), FLOOR[1])


class AudioInput:
    """Takes sound of any length and gives judged frames, in order. What happens between two frames, such as a button that
    is let go, may go along as a mark."""

    def __init__(self, detector: Detector, judge: VadBatcher) -> None:
        self._detector = detector
        self._judge = judge
        self._gate = Gate()
        self._rest = b""
        self._waiting: deque[bytes | Mark] = deque()
        self._arrived = anyio.Event()
        self._before: deque[bytes] = deque(maxlen=CONTEXT)
        self._shut = FORGETS + 1
        self._behind = False

    def add(self, pcm: bytes) -> None:
        """What the microphone heard next."""
        sound = self._rest + pcm
        whole = len(sound) // FRAME_BYTES * FRAME_BYTES
        self._rest = sound[whole:]
        self._waiting.extend(sound[at : at + FRAME_BYTES] for at in range(0, whole, FRAME_BYTES))
        if len(self._waiting) > WAITING:
            self._forget()
        if self._waiting:
            self._arrived.set()

    def mark(self, happened: Mark) -> None:
        """This happened after the sound that was added so far."""
        self._waiting.append(happened)
        self._arrived.set()

    async def heard(self) -> list[JudgedFrame | Mark]:
        """The next frames, at most AT_A_TIME, waiting for one; or the marks that stand before them."""
        while not self._waiting:
            self._arrived = anyio.Event()
            await self._arrived.wait()
        marks: list[JudgedFrame | Mark] = []
        while self._waiting and isinstance(self._waiting[0], Mark):
            marks.append(self._waiting[0])
            self._waiting.popleft()
        if marks:
            return marks
        taken: list[bytes] = []
        while self._waiting and len(taken) < AT_A_TIME and isinstance(pcm := self._waiting[0], bytes):
            taken.append(pcm)
            self._waiting.popleft()
        found = [measured(pcm) for pcm in taken]
        loud = [self._gate.passes(loudness) for loudness, _ in found]
        judged = await self._judged(taken, loud)
        for (loudness, _), probability in zip(found, judged, strict=True):
            self._gate.learn(loudness, probability)
        return [
            JudgedFrame(pcm, probability, *sound)
            for pcm, probability, sound in zip(taken, judged, found, strict=True)
        ]

    def _forget(self) -> None:
        """Drop the oldest sound, over the bound. Marks stay."""
        if not self._behind:
            self._behind = True
            log.warning("a call's sound is judged too slowly; what is older than five seconds is dropped")
        surplus = len(self._waiting) - WAITING
        kept: deque[bytes | Mark] = deque()
        for one in self._waiting:
            if surplus > 0 and isinstance(one, bytes):
                surplus -= 1
            else:
                kept.append(one)
        self._waiting = kept

    async def _judged(self, taken: list[bytes], loud: list[bool]) -> list[float]:
        """The probability of each frame; 0 where the gate was shut."""
        listened: list[bytes] = []
        at: list[int | None] = []
        anew = False
        for number, (pcm, passes) in enumerate(zip(taken, loud, strict=True)):
            if not passes:
                self._shut += 1
                self._before.append(pcm)
                continue
            if self._shut:
                anew = anew or self._shut > FORGETS
                listened += self._before
                at += [None] * len(self._before)
                self._before.clear()
                self._shut = 0
            listened.append(pcm)
            at.append(number)
        judged = [0.0] * len(taken)
        if listened:
            found = await self._judge.probabilities(self._detector, listened, anew=anew)
            for place, probability in zip(at, found, strict=True):
                if place is not None:
                    judged[place] = probability
        return judged
