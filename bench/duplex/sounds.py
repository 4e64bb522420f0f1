"""What synthetic callers say, and when exactly each word of it sounds: speech, pauses, coughs and noise.

Sound is 16-bit mono at 16 kHz. The truth is the synthesiser's own: word times to the sample, and the first and last sample
that is louder than silence.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

import numpy

from duologue.engines.tts.espeak import load
from duologue.resampler import at_rate, resampled
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE

Sound = numpy.ndarray
AUDIBLE = 200
"""A sample louder than this is not silence: -44 dBFS."""
LOUDNESS = -20.0
"""dBFS (mean over its sounding parts) that a caller speaks at."""
_PAUSE = re.compile(r"\s*\[([0-9.]+)\]\s*")


@dataclass(frozen=True)
class Clip:
    """Something a caller does that is heard. `pauses` are (from, to) within it, where they say nothing and have not ended."""

    sound: Sound
    words: tuple[tuple[str, int, int], ...] = ()
    pauses: tuple[tuple[int, int], ...] = ()
    text: str = ""
    onset: int = 0
    end: int = 0


@dataclass
class Voices:
    """Speaks as espeak does; the same line in the same voice is made once."""

    _made: dict[tuple[str, str, float], Clip] = field(default_factory=dict)
    _speaker: object = None

    async def say(self, line: str, voice: str = "en-us", speed: float = 1.0) -> Clip:
        """A line of a scenario: text, with pauses in seconds in brackets, such as `What is [0.7] the time?`."""
        key = (line, voice, speed)
        if key not in self._made:
            self._made[key] = await self._say(line, voice, speed)
        return self._made[key]

    async def _say(self, line: str, voice: str, speed: float) -> Clip:
        parts = _PAUSE.split(line)
        sound: list[Sound] = []
        words: list[tuple[str, int, int]] = []
        pauses: list[tuple[int, int]] = []
        at = 0
        for number, part in enumerate(parts):
            if number % 2:
                silence = numpy.zeros(round(float(part) * HEARD_RATE), numpy.int16)
                pauses.append((at, at + len(silence)))
                sound.append(silence)
                at += len(silence)
            elif part.strip():
                piece, spoken = await self._clause(part, voice, speed)
                words += [(word, start + at, end + at) for word, start, end in spoken]
                sound.append(piece)
                at += len(piece)
        whole = level(numpy.concatenate(sound), LOUDNESS)
        first, last = audible(whole)
        return Clip(whole, tuple(words), tuple(pauses), _PAUSE.sub(" ", line).strip(), first, last)

    async def _clause(self, text: str, voice: str, speed: float) -> tuple[Sound, list[tuple[str, int, int]]]:
        """A clause without the silence before and after it."""
        if self._speaker is None:
            self._speaker = await load({})
        pcm = bytearray()
        words: list[tuple[str, int, int]] = []
        async with self._speaker.speak(text, voice=voice, speed=speed) as pieces:  # type: ignore[attr-defined]
            async for piece in pieces:
                pcm += piece.pcm
                words += [(word.text, word.start, word.end) for word in piece.words]
        sound = numpy.frombuffer(resampled(bytes(pcm), SPOKEN_RATE, HEARD_RATE), numpy.int16)
        first, last = audible(sound)
        timed = [
            (
                word,
                at_rate(start, SPOKEN_RATE, HEARD_RATE) - first,
                at_rate(end, SPOKEN_RATE, HEARD_RATE) - first,
            )
            for word, start, end in words
        ]
        return sound[first:last], timed


def audible(sound: Sound, threshold: int = AUDIBLE) -> tuple[int, int]:
    """The first sample that is louder than silence, and the one behind the last; (0, 0) of silence."""
    loud = numpy.flatnonzero(numpy.abs(sound.astype(numpy.int32)) > threshold)
    return (int(loud[0]), int(loud[-1]) + 1) if len(loud) else (0, 0)


def decibels(sound: Sound) -> float:
    """dBFS of what sounds in it."""
    loud = sound[numpy.abs(sound.astype(numpy.int32)) > AUDIBLE].astype(numpy.float64)
    return float(10 * numpy.log10(numpy.mean(loud**2) / 32768.0**2)) if len(loud) else -100.0


def level(sound: Sound, wanted: float) -> Sound:
    """The same sound, so loud (dBFS)."""
    return scaled(sound, wanted - decibels(sound)) if len(sound) else sound


def scaled(sound: Sound, gain: float) -> Sound:
    """The same sound, `gain` dB louder."""
    louder = sound.astype(numpy.float64) * 10 ** (gain / 20)
    return numpy.clip(numpy.round(louder), -32768, 32767).astype(numpy.int16)


def cough(seconds: float = 0.2, loudness: float = -16.0, seed: int = 1) -> Clip:
    """A burst of noise that swells in 10 ms and dies away."""
    count = round(seconds * HEARD_RATE)
    burst = numpy.random.default_rng(seed).normal(0, 1, count)
    shape = numpy.minimum(1.0, numpy.arange(count) / (0.01 * HEARD_RATE)) * numpy.exp(
        -3.0 * numpy.arange(count) / count
    )
    sound = level(numpy.round(burst * shape * 8000).astype(numpy.int16), loudness)
    first, last = audible(sound)
    return Clip(sound, onset=first, end=last)


def hum(seconds: float = 0.45, loudness: float = -24.0, pitch: float = 120.0) -> Clip:
    """A spoken "mhm", which espeak would spell out: two bumps of a hummed tone, the second one higher, a breath between."""
    count = round(seconds * HEARD_RATE)
    at = numpy.arange(count) / count
    hertz = pitch * numpy.where(at < 0.5, 1.0, 1.12)
    phase = numpy.cumsum(2 * numpy.pi * hertz / HEARD_RATE)
    tone = sum(numpy.sin(part * phase) / part**2 for part in range(1, 9))
    bumps = numpy.sin(numpy.pi * numpy.clip(at / 0.42, 0, 1)) + numpy.sin(
        numpy.pi * numpy.clip((at - 0.5) / 0.5, 0, 1)
    )
    breath = numpy.random.default_rng(3).normal(0, 0.02, count)
    sound = level(numpy.round((tone * bumps + breath) * 6000).astype(numpy.int16), loudness)
    first, last = audible(sound)
    return Clip(sound, onset=first, end=last)


class Noise:
    """A room: endless noise that falls off towards high tones, `ratio` dB under a caller's speech; None: digital silence."""

    def __init__(self, ratio: float | None, seed: int = 7) -> None:
        self._ratio = ratio
        self._random = numpy.random.default_rng(seed)
        self._last = 0.0

    def take(self, count: int) -> Sound:
        if self._ratio is None:
            return numpy.zeros(count, numpy.int16)
        white = self._random.normal(0, 1, count)
        # One pole: most of its energy below 1 kHz, as rooms have it. Its power is 0.36 / (1 - 0.64) = 1 of white's.
        pink = numpy.empty(count)
        value = self._last
        for at in range(count):
            value = 0.8 * value + 0.6 * white[at]
            pink[at] = value
        self._last = value
        amplitude = 32768.0 * 10 ** ((LOUDNESS - self._ratio) / 20)
        return numpy.clip(numpy.round(pink * amplitude), -32768, 32767).astype(numpy.int16)


def shuffled(seed: int) -> random.Random:
    """Chance that is the same in every run."""
    return random.Random(seed)
