"""What is said and heard, as values: voices, words with their times, requests to speak and to write down, and the card of
what a voice worker can do.

Knows no engine and no dialect. Sound is as `values/audio.py` says: 16-bit mono, heard at 16 kHz, spoken at 24 kHz.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Standing = Literal["absent", "loading", "ready", "failed"]


class Voice(Struct, frozen=True):
    """A voice that replies may have. `name` is how it is asked for; `language` is a BCP 47 tag."""

    name: str
    language: str = "en"
    description: str = ""


class TimedWord(Struct, frozen=True):
    """A word that was heard, in seconds from the beginning of the sound."""

    text: str
    start: float
    end: float


class Transcript(Struct, frozen=True):
    """What somebody said, written down. `confidence` is 0 to 1, None where the engine has none; `understood` False: there was
    speech, and nothing the engine would stand for."""

    text: str
    words: tuple[TimedWord, ...] = ()
    language: str = ""
    confidence: float | None = None
    understood: bool = True


class TranscribedPart(Struct, frozen=True):
    """A sound among a request's messages that was written down for a model without ears, whose text stands in its place.
    Both numbers count from 0."""

    message: int
    part: int
    text: str
    understood: bool = True


class SpeechRequest(Struct, frozen=True, tag="speech"):
    """Speak this text. `voice` empty: the default one; `speed` 1.0 is the voice's own. `open`: more text follows in pieces
    (`Text` of values/call_events.py), the last of which says so."""

    text: str = ""
    voice: str = ""
    speed: float = 1.0
    language: str = ""
    open: bool = False


class TranscriptionRequest(Struct, frozen=True, tag="transcription"):
    """Write down this sound (16-bit mono, 16 kHz). `hint` is text the speaker may well use."""

    pcm: bytes
    language: str = ""
    hint: str = ""
    words: bool = False


class SpeechEngineStatus(Struct, frozen=True):
    """One engine of a voice worker: `name` is its model, `detail` why it is not ready, as a sentence."""

    standing: Standing = "absent"
    engine: str = ""
    name: str = ""
    detail: str = ""


class SpeechCard(Struct, frozen=True):
    """What a voice worker can do, as it reports it. `partials`: words are told while they are spoken; `limited`: it knows
    only what this sentence says, such as a small vocabulary ("" where it knows its languages)."""

    detector: SpeechEngineStatus = SpeechEngineStatus()
    recogniser: SpeechEngineStatus = SpeechEngineStatus()
    speaker: SpeechEngineStatus = SpeechEngineStatus()
    voices: tuple[Voice, ...] = ()
    default_voice: str = ""
    hears: tuple[str, ...] = ()
    """Languages (BCP 47) it writes down; empty: it finds out by itself."""
    partials: bool = False
    word_times: bool = False
    limited: str = ""
    seats: int = 32
