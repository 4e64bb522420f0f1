"""Sound, timed words and transcripts as JSON fields, shared by the sockets and the chat completions, and what is said about the
recording of a call.

Owns the sample formats that clients may choose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import Struct

from duologue.values.audio import SPOKEN_RATE, to_float32, wav_header
from duologue.values.events import ReplyWord
from duologue.values.speech import TranscribedPart
from duologue.wire import media_parts
from duologue.wire.validation import Body

SoundFormat = Literal["f32", "s16", "wav"]


def sound_text(pcm: bytes, format: SoundFormat) -> str:
    """16-bit sound at 24 kHz as base64: of float32 samples, of 16-bit samples, or of a WAV file."""
    if format == "f32":
        return media_parts.to_base64(to_float32(pcm))
    return media_parts.to_base64(pcm if format == "s16" else wav_header(SPOKEN_RATE, len(pcm)) + pcm)


def caption(word: ReplyWord) -> dict[str, object]:
    """A word with its time in the reply's sound and its position in the reply's text."""
    return {
        "text": word.text,
        "start_ms": round(word.start * 1000 / SPOKEN_RATE),
        "end_ms": round(word.end * 1000 / SPOKEN_RATE),
        "at": word.at,
        "to": word.to,
    }


def transcript(part: TranscribedPart) -> dict[str, object]:
    """The transcript that replaced a message's audio part."""
    fields: dict[str, object] = {"message": part.message, "part": part.part, "text": part.text}
    return fields if part.understood else fields | {"understood": False}


class RecordBody(Body):
    on: bool


class RecordCall(Struct, frozen=True):
    """The client wants the call recorded from now on, or no longer."""

    on: bool


def recording_message(epoch: int, id: str, *, on: bool, reason: str = "") -> str:
    """Whether the call is recorded; `id` is the recording's. Off: `reason` says why it ended."""
    fields: dict[str, object] = {"type": "recording", "epoch": epoch, "on": on, "recording_id": id}
    return json_text(fields if on else fields | {"reason": reason})


def json_text(value: Mapping[str, object]) -> str:
    """A message as the text of its frame."""
    return msgspec.json.encode(value).decode()
