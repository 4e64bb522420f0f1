"""OpenAI's speech endpoint, both sides, and the names of voices and speech models.

Owns the fields of `POST /v1/audio/speech`, its events, the lists under `/v1/audio`, and which of OpenAI's names stand for
what is loaded. What is written down is in `transcripts`. Knows no engine and no socket.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct
from pydantic import BeforeValidator, Field, JsonValue

from duologue.errors import BadRequest, ModelNotFound, NotFound, TooLarge
from duologue.values.speech import SpeechCard, SpeechEngineStatus, SpeechRequest, Voice
from duologue.wire.collected_reply import broken_off
from duologue.wire.validation import MEGABYTE, Body, RequestLimits
from duologue.wire.validation_errors import shortened

SPEAKERS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts", "tts", "default")
"""Names under which clients ask for whatever speaks here. Dated ones (`-2025-12-15`) count as the same."""
RECOGNISERS = ("whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe", "gpt-transcribe", "asr", "default")
"""Names under which clients ask for whatever writes down speech here."""
VOICES = (
    *("alloy", "ash", "ballad", "coral", "echo", "fable", "marin"),
    *("nova", "onyx", "sage", "shimmer", "verse", "cedar"),
)
"""OpenAI's voices. Each stands for one of the loaded voices, always the same."""
AUDIO_TOKENS = 20
"""What the usage counts a second of sound as."""
LISTED = 12
"""Voices that a sentence names at most."""

_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def _voice(value: object) -> object:
    """A voice by its name, or as the object that a voice of one's own has."""
    if isinstance(value, dict) and isinstance(value.get("id"), str):
        return value["id"]
    if isinstance(value, str):
        return value
    raise ValueError('must be a name, or {"id": name}')


VoiceName = Annotated[
    str,
    Field(max_length=256),
    BeforeValidator(_voice, json_schema_input_type=str | dict[str, JsonValue]),
]


class SpeechBody(Body):
    """The body of `POST /v1/audio/speech`."""

    input: str = Field(description="What is to be said; the setting limits.text_mb bounds it.")
    model: str = Field(default="", description="Any name of /v1/audio/models that speaks.")
    voice: VoiceName = Field(
        default="",
        description="A voice of /v1/audio/voices, or one of OpenAI's names; the default without it.",
    )
    instructions: str | None = Field(default=None, description="Reported as ignored.")
    response_format: Literal["mp3", "opus", "aac", "flac", "wav", "pcm"] = Field(
        default="mp3", description="pcm is 16-bit little-endian mono at 24 kHz; opus comes in Ogg."
    )
    speed: float = Field(default=1.0, ge=0.25, le=4.0)
    stream_format: Literal["audio", "sse"] = "audio"
    language: str = Field(default="", max_length=35, description="A BCP 47 tag; the voice's own without it.")

    def request(self, voice: str, limits: RequestLimits) -> SpeechRequest:
        """What is to be spoken, by the voice that its name stands for. Raises BadRequest, TooLarge."""
        if not self.input.strip():
            raise BadRequest("input holds nothing that could be said.", param="input")
        size, allowed = len(self.input.encode()), limits.text_mb * MEGABYTE
        if size > allowed:
            raise TooLarge(
                f"input has {size:,} bytes; {allowed:,} are allowed (setting limits.text_mb).", param="input"
            )
        return SpeechRequest(self.input, voice, self.speed, self.language)

    def ignored(self) -> tuple[str, ...]:
        """Fields that were sent and change nothing."""
        given = ("instructions",) if self.instructions else ()
        return given + self.unknown()


# Names


def check_model(name: str, kind: Literal["speaker", "recogniser"], card: SpeechCard | None) -> None:
    """Raises ModelNotFound unless the name stands for what is loaded. Without a card nobody knows, and its engine's own
    name may be meant."""
    known = model_names(kind, card)
    if name and card is not None and _DATED.sub("", name) not in known and name not in known:
        raise ModelNotFound(
            f"There is no model {shortened(name)!r} for that here. Known: {', '.join(known)}.", param="model"
        )


def model_names(kind: Literal["speaker", "recogniser"], card: SpeechCard | None) -> tuple[str, ...]:
    """The names of whatever speaks, or writes down; its own first."""
    station = _station(kind, card)
    own = (station.name, station.engine) if station.standing == "ready" else ()
    return tuple(
        dict.fromkeys(name for name in (*own, *(SPEAKERS if kind == "speaker" else RECOGNISERS)) if name)
    )


def voice_named(name: str, card: SpeechCard | None, default: str = "") -> str:
    """The loaded voice a name stands for; "" is the speaker's own default. `default`: the operator's.

    Raises NotFound with some of the names there are. What is loaded has precedence over OpenAI's names.
    """
    if not name or name == "default":
        return default
    if card is None or not card.voices:
        return "" if name in VOICES else name
    loaded = {voice.name: voice for voice in card.voices}
    if name in loaded:
        return name
    if name in VOICES:
        kin = _kin(card, default)
        return kin[VOICES.index(name) % len(kin)].name
    folded = next((known for known in loaded if known.lower() == name.lower()), None)
    if folded is not None:
        return folded
    some = ", ".join(list(loaded)[:LISTED]) + (" ..." if len(loaded) > LISTED else "")
    raise NotFound(
        f"There is no voice {shortened(name)!r} here. There are: {some} (all of them: GET /v1/audio/voices).",
        code="voice_not_found",
        param="voice",
    )


def _kin(card: SpeechCard, default: str) -> list[Voice]:
    """The voices that OpenAI's names stand for: the default one first, then those of its language."""
    first = next(
        (voice for name in (default, card.default_voice) for voice in card.voices if voice.name == name),
        card.voices[0],
    )
    language = first.language.partition("-")[0]
    return [
        first,
        *(voice for voice in card.voices if voice != first and voice.language.partition("-")[0] == language),
    ]


def _station(kind: Literal["speaker", "recogniser"], card: SpeechCard | None) -> SpeechEngineStatus:
    if card is None:
        return SpeechEngineStatus()
    return card.speaker if kind == "speaker" else card.recogniser


def voice_list(card: SpeechCard | None, default: str = "") -> bytes:
    """The body of GET /v1/audio/voices."""
    voices = card.voices if card is not None else ()
    return msgspec.json.encode(
        {
            "voices": [
                {
                    "id": voice.name,
                    "name": voice.name,
                    "language": voice.language,
                    "description": voice.description,
                }
                for voice in voices
            ],
            "default": default or (card.default_voice if card is not None else ""),
            "aliases": {
                name: voice_named(name, card, default) for name in VOICES if voices and not _has(voices, name)
            },
        }
    )


def _has(voices: Iterable[Voice], name: str) -> bool:
    return any(voice.name == name for voice in voices)


def model_list(card: SpeechCard | None, created: int) -> bytes:
    """The body of GET /v1/audio/models: what speaks and what writes down, each under all its names."""
    entries: list[dict[str, Any]] = []
    for kind, task in (("speaker", "speech"), ("recogniser", "transcription")):
        station = _station(kind, card)  # type: ignore[arg-type] # one of the two words above
        if station.standing != "ready":
            continue
        for name in model_names(kind, card):  # type: ignore[arg-type]
            if name == "default":
                continue  # it stands for both
            entries.append(
                {
                    "id": name,
                    "object": "model",
                    "created": created,
                    "owned_by": "duologue",
                    "root": station.name or station.engine,
                    "engine": station.engine,
                    "task": task,
                }
            )
    return msgspec.json.encode({"object": "list", "data": entries, "models": entries})


# Events


def estimated_tokens(text: str) -> int:
    """How many tokens a text may be for a language model, about."""
    return (len(text.encode()) + 3) // 4


class SpeechFinished(Struct, frozen=True):
    """The end of a speech: `seconds` of sound in all."""

    seconds: float


class SpeechStream:
    """`stream_format: "sse"`: pieces of the file and then `SpeechFinished` in, server-sent events out.

    Fulfils `gateway.sse.Encoder`.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.note = b": speaking\n\n"
        self.ended = False

    def encode(self, item: bytes | SpeechFinished) -> bytes:
        """The event of the next piece, or the last one."""
        if isinstance(item, bytes):
            if not item:
                return b""
            return event({"type": "speech.audio.delta", "audio": base64.b64encode(item).decode()})
        self.ended = True
        read, made = estimated_tokens(self._text), round(item.seconds * AUDIO_TOKENS)
        usage = {"input_tokens": read, "output_tokens": made, "total_tokens": read + made, "estimated": True}
        return event({"type": "speech.audio.done", "usage": usage})

    def close(self) -> None:
        """Raises EngineFailed when the end never came."""
        if not self.ended:
            raise broken_off()


def event(said: dict[str, object]) -> bytes:
    """A server-sent event of JSON."""
    return b"data: %b\n\n" % msgspec.json.encode(said)
