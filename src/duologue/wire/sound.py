"""Sound, words with their times and what was written down, as they stand in JSON.

Owns the forms of samples that clients ask for by name. Knows no message of any dialect.
"""

from __future__ import annotations

from typing import Literal

from duologue.values.audio import SPOKEN_RATE, to_float32, wav_header
from duologue.values.events import ReplyWord
from duologue.values.speech import TranscribedPart
from duologue.wire import media_parts

SoundFormat = Literal["f32", "s16", "wav"]


def sound_text(pcm: bytes, form: SoundFormat) -> str:
    """16-bit sound at 24 kHz as base64 of float32 samples, of 16-bit ones, or of a WAV file of those."""
    if form == "f32":
        return media_parts.to_base64(to_float32(pcm))
    return media_parts.to_base64(pcm if form == "s16" else wav_header(SPOKEN_RATE, len(pcm)) + pcm)


def caption(word: ReplyWord) -> dict[str, object]:
    """A word with its time in the reply's sound, and its place in the reply's text."""
    return {
        "text": word.text,
        "start_ms": round(word.start * 1000 / SPOKEN_RATE),
        "end_ms": round(word.end * 1000 / SPOKEN_RATE),
        "at": word.at,
        "to": word.to,
    }


def transcript(part: TranscribedPart) -> dict[str, object]:
    """What was written down in the place of a message's part."""
    said: dict[str, object] = {"message": part.message, "part": part.part, "text": part.text}
    return said if part.understood else said | {"understood": False}
