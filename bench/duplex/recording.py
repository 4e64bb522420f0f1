"""Both sides of a call, sample by sample on one clock, with the messages in between.

The left channel is what the caller said (16 kHz), the right one what the caller heard (24 kHz); both grow by the same 20 ms
at a time, so that second n is second n in both. Everything else carries its second.
"""

from __future__ import annotations

import wave
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy

from duologue.resampler import resampled
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE

Json = dict[str, Any]


@dataclass(frozen=True)
class Deed:
    """Something the caller did: when it began to be heard, and ended, in seconds of the recording."""

    kind: str
    start: float
    end: float
    text: str = ""
    pauses: tuple[tuple[float, float], ...] = ()
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Message:
    """A message of the server, and when it came."""

    at: float
    body: Json

    @property
    def kind(self) -> str:
        return str(self.body.get("type"))

    @property
    def reply(self) -> int:
        return int(self.body.get("reply_id", -1))


@dataclass
class Recording:
    """One call."""

    name: str = ""
    marks: bool = True
    """Whether the client reports what it played; without reports the server can only estimate it."""
    deeds: list[Deed] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    replies: dict[int, bytes] = field(default_factory=dict)
    """All sound that came of each reply, heard or not."""
    heard: dict[int, int] = field(default_factory=dict)
    """Samples of each reply that were heard, by the player's own count."""
    stale: list[str] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    """Seconds for which a reply ran dry in the middle."""
    late: float = 0.0
    """Seconds by which the caller itself was behind its clock, at the worst: what a busy machine adds to every figure."""
    problem: str = ""
    _said: bytearray = field(default_factory=bytearray)
    _sounded: bytearray = field(default_factory=bytearray)

    def add(self, said: bytes, heard: bytes) -> None:
        """The next 20 ms of both."""
        self._said += said
        self._sounded += heard

    @property
    def seconds(self) -> float:
        return len(self._said) / 2 / HEARD_RATE

    @property
    def said(self) -> numpy.ndarray:
        return numpy.frombuffer(bytes(self._said), numpy.int16)

    @property
    def sounded(self) -> numpy.ndarray:
        return numpy.frombuffer(bytes(self._sounded), numpy.int16)

    def of(self, kind: str, reply: int | None = None) -> list[Message]:
        return [each for each in self.messages if each.kind == kind and reply in (None, each.reply)]

    def words(self, reply: int) -> list[tuple[str, float, float]]:
        """Its words as captioned: text, start and end in seconds of the reply."""
        return [
            (word["text"], word["start_ms"] / 1000, word["end_ms"] / 1000)
            for message in self.of("caption", reply)
            for word in message.body["words"]
        ]

    def save(self, file: Path) -> None:
        """As a stereo WAV at 24 kHz."""
        left = numpy.frombuffer(resampled(bytes(self._said), HEARD_RATE, SPOKEN_RATE), numpy.int16)
        right = self.sounded
        count = min(len(left), len(right))
        both = numpy.stack([left[:count], right[:count]], axis=1)
        with wave.open(str(file), "wb") as out:
            out.setnchannels(2)
            out.setsampwidth(2)
            out.setframerate(SPOKEN_RATE)
            out.writeframes(both.astype("<i2").tobytes())
