"""A unit of a duplex session as a value: a piece of sound that came, and what it is answered with.

Knows no message and no engine.
"""

from __future__ import annotations

from msgspec import Struct


class AudioArrival(Struct, frozen=True):
    """A piece of sound that came: by how many seconds it is late, and whether it is still to be listened to."""

    lag: float
    heard: bool


class Unit(Struct, frozen=True):
    """One piece and its answer. It had `samples` (16 kHz) and so many pictures, and came `at` a time in seconds; `forced`: its
    answer may carry no sound. `pcm` is 16-bit mono at 24 kHz, empty for silence, and `text` what is said in it; `words`
    are those of the caller whose turn ended meanwhile."""

    number: int
    at: float
    arrival: AudioArrival
    frames: int = 0
    forced: bool = False
    samples: int = 0
    is_listen: bool = True
    text: str = ""
    pcm: bytes = b""
    end_of_turn: bool = False
    interrupted: bool = False
    """The reply before was cut, and this is the first answer since. Its turn ends with it where nothing new is said in it."""
    reply: int | None = None
    words: str | None = None
