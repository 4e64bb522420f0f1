"""The scripted speaker: tones instead of words, the same way every time.

It ships with the package so that calls can be tested without a speech model. Each word is a tone of `word_ms` and then
`gap_ms` of silence; the pitch depends on the word and the voice, so one word can be told from another, and one caller's
reply from another's. Word timestamps are exact, and the phones are those that the letters of the word suggest. Words of the text that are steps are carried out instead:

    xfail    fail here
    xhang    send nothing more until cancelled
    xslow    wait `slow_ms` before the next word
"""

from __future__ import annotations

import math
from array import array
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import lru_cache
from itertools import pairwise
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from duologue.engines.contracts import SpeakerEngine, SpeechChunk, SpokenWord
from duologue.errors import EngineFailed, NotFound
from duologue.text.speech.letter_sounds import guessed_phones
from duologue.text.speech.word_spans import words_in
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, SPOKEN_RATE
from duologue.values.speech import Voice, VoiceSample

VOICES = (
    Voice("low", "en", "A low tone for every word."),
    Voice("high", "en", "A high tone for every word."),
)
_PITCH = {"low": 220.0, "high": 880.0}
"""Hz of a voice's lowest tone."""
WORD_MS = 240
GAP_MS = 60
SLOW_MS = 1000
LOUDNESS = 8000
_FADE = SPOKEN_RATE // 200


class ScriptedSpeaker:
    """Implements `contracts.SpeakerEngine`. `timed` False: without word timestamps, as some engines are; `pace_ms`: time it
    takes for each word."""

    def __init__(
        self,
        name: str = "scripted",
        *,
        word_ms: float = WORD_MS,
        gap_ms: float = GAP_MS,
        pace_ms: float = 0,
        slow_ms: float = SLOW_MS,
        timed: bool = True,
    ) -> None:
        self._name = name
        self._word_ms = word_ms
        self._gap_ms = gap_ms
        self._pace = pace_ms / 1000
        self._slow = slow_ms / 1000
        self._timed = timed

    @property
    def name(self) -> str:
        return self._name

    @property
    def voices(self) -> tuple[Voice, ...]:
        return VOICES

    @asynccontextmanager
    async def speak(
        self, clause: str, *, voice: str = "", speed: float = 1.0, language: str = ""
    ) -> AsyncIterator[AsyncIterator[SpeechChunk]]:
        """A word at a time. Raises NotFound for another voice than `low` and `high`, EngineFailed at `xfail`."""
        async with aclosing(self._tones(clause, lowest_tone(voice), max(0.1, speed))) as pieces:
            yield pieces

    async def _tones(self, clause: str, pitch: float, speed: float) -> AsyncGenerator[SpeechChunk]:
        sounding = _samples(self._word_ms / speed)
        silence = bytes(SAMPLE_BYTES * _samples(self._gap_ms / speed))
        start = 0
        for at, to in words_in(clause):
            text = clause[at:to]
            match text.strip(".,;:!?").lower():
                case "xfail":
                    raise EngineFailed("The script asked for a failure.", code="scripted_failure")
                case "xhang":
                    await anyio.sleep_forever()
                case "xslow":
                    await anyio.sleep(self._slow)
                case _:
                    await (anyio.sleep(self._pace) if self._pace else checkpoint())
                    word = SpokenWord(text, start, start + sounding, at, to)
                    pcm = tone(pitch_of(text, pitch), sounding) + silence
                    start += len(pcm) // SAMPLE_BYTES
                    if self._timed:
                        phones = guessed_phones(text, word.start, word.end, "en")
                        yield SpeechChunk(pcm, (word,), phones)
                    else:
                        yield SpeechChunk(pcm)

    async def close(self) -> None:
        """Nothing to free."""


class ScriptedCloner(ScriptedSpeaker):
    """Implements `contracts.CloningSpeaker` too: the lowest tone is that of the recording."""

    @asynccontextmanager
    async def speak_like(
        self, clause: str, *, sample: VoiceSample, speed: float = 1.0, language: str = ""
    ) -> AsyncIterator[AsyncIterator[SpeechChunk]]:
        """A word at a time, in the recording's pitch. Raises EngineFailed at `xfail`."""
        async with aclosing(self._tones(clause, frequency_of(sample.pcm), max(0.1, speed))) as pieces:
            yield pieces


def lowest_tone(voice: str) -> float:
    """Hz of the lowest tone of a voice; "": of the first one. Raises NotFound for another name than `low` and `high`."""
    voice = voice or VOICES[0].name
    if voice not in _PITCH:
        raise NotFound(
            f"There is no voice {voice!r}; the voices are low and high.",
            code="voice_not_found",
            param="voice",
        )
    return _PITCH[voice]


def frequency_of(pcm: bytes) -> float:
    """Hz of a tone at 16 kHz, by how often it crosses zero upwards."""
    values = array("h", pcm[: len(pcm) // SAMPLE_BYTES * SAMPLE_BYTES])
    crossings = sum(before < 0 <= now for before, now in pairwise(values))
    return max(1.0, crossings * HEARD_RATE / max(1, len(values)))


def pitch_of(word: str, lowest: float) -> float:
    """Hz of a word: one of twelve semitones from `lowest`, by its letters alone."""
    return float(lowest * 2 ** (sum(word.lower().encode(errors="replace")) % 12 / 12))


@lru_cache(maxsize=256)
def tone(hertz: float, count: int) -> bytes:
    """`count` samples of a tone, faded over 5 ms at both ends."""
    step = 2 * math.pi * hertz / SPOKEN_RATE
    return array(
        "h",
        [
            round(LOUDNESS * min(1.0, at / _FADE, (count - at) / _FADE) * math.sin(step * at))
            for at in range(count)
        ],
    ).tobytes()


def _samples(milliseconds: float) -> int:
    return round(milliseconds * SPOKEN_RATE / 1000)


async def load_speaker(options: dict[str, Any]) -> SpeakerEngine:
    """The scripted speaker. Options: name, word_ms, gap_ms, pace_ms, slow_ms, timed; clones: it imitates recordings."""
    speaker = ScriptedCloner if options.get("clones") else ScriptedSpeaker
    return speaker(
        str(options.get("name") or "scripted"),
        **{
            key: options[key]
            for key in ("word_ms", "gap_ms", "pace_ms", "slow_ms", "timed")
            if key in options
        },
    )
