"""A chunk of a duplex session, and the result that answers it. Made by `gateway.duplex.duplex_frames`."""

from __future__ import annotations

from msgspec import Struct

from duologue.values.mouth import MouthKey


class ChunkArrival(Struct, frozen=True):
    """A chunk of audio that arrived `lag` seconds late; `heard`: whether it is still listened to."""

    lag: float
    heard: bool


class HeardTurn(Struct, frozen=True):
    """What the caller said in one turn: its number, and its text."""

    turn: int
    text: str


class ChunkFigures(Struct, frozen=True):
    """What a model that holds the session by itself did for one chunk: milliseconds of reading, writing, making codes of speech and making sound
    of them; tokens that it wrote and codes; tokens in its cache afterwards; pictures and pieces of them, and their tokens."""

    prefill_ms: float = 0.0
    language_ms: float = 0.0
    speech_ms: float = 0.0
    vocoder_ms: float = 0.0
    written: int = 0
    codes: int = 0
    cached: int = 0
    slices: int = 0
    vision_tokens: int = 0


class ChunkResult(Struct, frozen=True):
    """One chunk and its answer. It had `samples` (16 kHz) and so many `images`, and arrived at `at` seconds; with `force_listen`
    the answer must be silent. `pcm` is 16-bit mono at 24 kHz, empty for silence, and `text` what is said in it; `transcripts`
    are the caller's turns that have ended since the last result."""

    number: int
    at: float
    arrival: ChunkArrival
    images: int = 0
    force_listen: bool = False
    samples: int = 0
    is_listen: bool = True
    text: str = ""
    pcm: bytes = b""
    end_of_turn: bool = False
    interrupted: bool = False
    """The previous reply was interrupted, and this is the first result since. It ends that reply's turn, unless a new reply
    begins in it."""
    reply: int | None = None
    turn: int | None = None
    """The caller's turn that this reply answers; None for one that answers none, such as an announcement."""
    held: bool = False
    """The reply is on hold, because the caller may be interrupting it: it is not over."""
    transcripts: tuple[HeardTurn, ...] = ()
    end: int | None = None
    """The position of its end in the sound that a model by itself was given; None where there is no such model, or it was not given."""
    figures: ChunkFigures | None = None
    first: int | None = None
    """The sample of the reply with which `pcm` begins, where the client wants the mouth's keys."""
    mouth: tuple[MouthKey, ...] = ()
    """The keys that became known with it."""
