"""OpenAI's speech endpoint, both sides, and the names of voices and speech models. Transcription is in `transcripts`.

Owns the fields of `POST /v1/audio/speech`, its events, the lists under `/v1/audio`, and which of OpenAI's names stand for the
loaded voices and engines. Used by `gateway.dialects.audio` and `gateway.speech`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct
from pydantic import BeforeValidator, Field, JsonValue, WithJsonSchema

from duologue.errors import BadRequest, ModelNotFound, NotFound, TooLarge
from duologue.values.custom_voice import CustomVoice
from duologue.values.mouth import MouthKey
from duologue.values.requests import ModelCard
from duologue.values.speech import SpeechCard, SpeechEngineStatus, SpeechRequest, Voice
from duologue.wire.collected_reply import broken_off
from duologue.wire.fields.field_schemas import named
from duologue.wire.validation import MEGABYTE, Body, RequestLimits
from duologue.wire.validation_errors import shortened

SPEAKERS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts", "tts", "default")
"""Names that clients use for speech synthesis; all stand for the loaded engine. A date at the end (`-2025-12-15`) is ignored."""
RECOGNISERS = ("whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe", "gpt-transcribe", "asr", "default")
"""Names that clients use for transcription; all stand for the loaded engine."""
VOICES = (
    *("alloy", "ash", "ballad", "coral", "echo", "fable", "marin"),
    *("nova", "onyx", "sage", "shimmer", "verse", "cedar"),
)
"""OpenAI's voices. Each always stands for the same loaded voice."""
AUDIO_TOKENS = 20
"""Tokens that the usage counts for a second of audio."""
MAX_LISTED = 12
"""Voices that an error lists."""

_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def _voice(value: object) -> object:
    """A voice by its name, or as the object `{"id": name}` that OpenAI has for custom voices."""
    if isinstance(value, dict) and isinstance(value.get("id"), str):
        return value["id"]
    if isinstance(value, str):
        return value
    raise ValueError('must be a name, or {"id": name}')


VoiceName = Annotated[
    str,
    Field(max_length=256),
    BeforeValidator(
        _voice, json_schema_input_type=str | Annotated[dict[str, JsonValue], WithJsonSchema(named("id"))]
    ),
]


class SpeechBody(Body):
    """The body of `POST /v1/audio/speech`."""

    input: str = Field(
        description="The text to speak, limited by the setting limits.text_mb.",
        json_schema_extra={"pattern": r"\S"},
    )
    model: str = Field(default="", description="A name from /v1/audio/models with the task speech.")
    voice: VoiceName = Field(
        default="",
        description="A voice from /v1/audio/voices, or one of OpenAI's names. Default: the default voice.",
    )
    instructions: str | None = Field(default=None, description="Reported as ignored.")
    response_format: Literal["mp3", "opus", "aac", "flac", "wav", "pcm"] = Field(
        default="mp3", description="pcm is 16-bit little-endian mono at 24 kHz; opus is in an Ogg container."
    )
    speed: float = Field(default=1.0, ge=0.25, le=4.0)
    stream_format: Literal["audio", "sse"] = "audio"
    mouth: bool = Field(
        default=False, description='With stream_format "sse": the events have the keys of a mouth too.'
    )
    language: str = Field(
        default="", max_length=35, description="A BCP 47 tag. Default: the language of the voice."
    )

    def request(self, voice: str, limits: RequestLimits) -> SpeechRequest:
        """The speech request in this voice. Raises BadRequest, TooLarge."""
        if not self.input.strip():
            raise BadRequest("input contains no text.", param="input")
        size, allowed = len(self.input.encode()), limits.text_mb * MEGABYTE
        if size > allowed:
            raise TooLarge(
                f"input has {size:,} bytes; at most {allowed:,} are allowed (setting limits.text_mb).",
                param="input",
            )
        mouth = self.mouth and self.stream_format == "sse"
        return SpeechRequest(self.input, voice, self.speed, self.language, mouth=mouth)

    def ignored(self) -> tuple[str, ...]:
        """Fields that were sent and are not applied."""
        unapplied = ("instructions",) if self.instructions else ()
        silent = ("mouth",) if self.mouth and self.stream_format != "sse" else ()
        return unapplied + silent + self.unknown()


# Names


def check_model(name: str, kind: Literal["speaker", "recogniser"], card: SpeechCard | None) -> None:
    """Raises ModelNotFound unless the name stands for the loaded engine. Without a card every name passes: the engine is still
    loading, and the name may be its own."""
    names = model_names(kind, card)
    if name and card is not None and _DATED.sub("", name) not in names and name not in names:
        task = "speech" if kind == "speaker" else "transcription"
        raise ModelNotFound(
            f"There is no {task} model {shortened(name)!r}. Available: {', '.join(names)}.", param="model"
        )


def model_names(kind: Literal["speaker", "recogniser"], card: SpeechCard | None) -> tuple[str, ...]:
    """The names of the loaded engine: its own first, then those that clients use."""
    engine = _engine(kind, card)
    own = (engine.name, engine.engine) if engine.standing == "ready" else ()
    return tuple(
        dict.fromkeys(name for name in (*own, *(SPEAKERS if kind == "speaker" else RECOGNISERS)) if name)
    )


def resolve_voice(name: str, card: SpeechCard | None, default: str = "") -> str:
    """The loaded voice that a name stands for; "" is the engine's default. `default` is the operator's setting.

    Names of loaded voices have precedence over OpenAI's. Raises NotFound with some of the names.
    """
    if not name or name == "default":
        return default
    if card is None or not card.voices:
        return "" if name in VOICES else name
    loaded = {voice.name: voice for voice in card.voices}
    if name in loaded:
        return name
    if name in VOICES:
        voices = _alias_voices(card, default)
        return voices[VOICES.index(name) % len(voices)].name
    same_letters = next((loaded_name for loaded_name in loaded if loaded_name.lower() == name.lower()), None)
    if same_letters is not None:
        return same_letters
    some = ", ".join(list(loaded)[:MAX_LISTED]) + (" ..." if len(loaded) > MAX_LISTED else "")
    raise NotFound(
        f"There is no voice {shortened(name)!r}. Available: {some} (GET /v1/audio/voices lists all).",
        code="voice_not_found",
        param="voice",
    )


def _alias_voices(card: SpeechCard, default: str) -> list[Voice]:
    """The voices that OpenAI's names stand for: the default voice first, then the others of its language."""
    first = next(
        (voice for name in (default, card.default_voice) for voice in card.voices if voice.name == name),
        card.voices[0],
    )
    language = first.language.partition("-")[0]
    return [
        first,
        *(voice for voice in card.voices if voice != first and voice.language.partition("-")[0] == language),
    ]


def _engine(kind: Literal["speaker", "recogniser"], card: SpeechCard | None) -> SpeechEngineStatus:
    if card is None:
        return SpeechEngineStatus()
    return card.speaker if kind == "speaker" else card.recogniser


def voice_list(
    card: SpeechCard | None,
    default: str = "",
    custom: Iterable[CustomVoice] = (),
    models: Iterable[ModelCard] = (),
) -> bytes:
    """The body of GET /v1/audio/voices. `custom`: the recorded voices that the user may speak with; `models`: those that speak
    themselves."""
    voices = card.voices if card is not None else ()
    custom = list(custom)
    if voices and default not in {*(voice.name for voice in voices), *(voice.id for voice in custom)}:
        default = ""
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
            "custom": [{"id": voice.id, "name": voice.name, "shared": voice.shared} for voice in custom],
            "models": [
                {"model": model.name, "voices": model.voices, "clones": model.clones}
                for model in models
                if "audio" in model.outputs
            ],
            "default": default or (card.default_voice if card is not None else ""),
            "aliases": {
                name: resolve_voice(name, card, default)
                for name in VOICES
                if voices and not _has(voices, name)
            },
        }
    )


def _has(voices: Iterable[Voice], name: str) -> bool:
    return any(voice.name == name for voice in voices)


def model_list(card: SpeechCard | None, created: int) -> bytes:
    """The body of GET /v1/audio/models: the speech and the transcription engine, each under all its names."""
    entries: list[dict[str, Any]] = []
    for kind, task in (("speaker", "speech"), ("recogniser", "transcription")):
        engine = _engine(kind, card)  # type: ignore[arg-type] # one of the two literals above
        if engine.standing != "ready":
            continue
        for name in model_names(kind, card):  # type: ignore[arg-type]
            if name == "default":
                continue  # stands for both engines
            entries.append(
                {
                    "id": name,
                    "object": "model",
                    "created": created,
                    "owned_by": "duologue",
                    "root": engine.name or engine.engine,
                    "engine": engine.engine,
                    "task": task,
                }
            )
    return msgspec.json.encode({"object": "list", "data": entries, "models": entries})


# Events


def estimated_tokens(text: str) -> int:
    """A rough count of the tokens of a text."""
    return (len(text.encode()) + 3) // 4


class SpeechPiece(Struct, frozen=True):
    """The next bytes of the file (an encoder may keep some back), and the mouth's keys that became known with their sound."""

    data: bytes
    mouth: tuple[MouthKey, ...] = ()


class SpeechFinished(Struct, frozen=True):
    """The end of the audio, after `seconds` in all."""

    seconds: float


class SpeechStream:
    """Encodes pieces of the file, then `SpeechFinished`, as server-sent events (`stream_format: "sse"`). An `http.sse.Encoder`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.note = b": speaking\n\n"
        self.ended = False

    def encode(self, item: SpeechPiece | SpeechFinished) -> bytes:
        """The event of a piece, or the last event."""
        if isinstance(item, SpeechPiece):
            if not item.data and not item.mouth:
                return b""
            delta: dict[str, object] = {
                "type": "speech.audio.delta",
                "audio": base64.b64encode(item.data).decode(),
            }
            return event(delta | {"mouth": item.mouth} if item.mouth else delta)
        self.ended = True
        text_tokens, audio_tokens = estimated_tokens(self._text), round(item.seconds * AUDIO_TOKENS)
        usage = {
            "input_tokens": text_tokens,
            "output_tokens": audio_tokens,
            "total_tokens": text_tokens + audio_tokens,
            "estimated": True,
        }
        return event({"type": "speech.audio.done", "usage": usage})

    def close(self) -> None:
        """Raises EngineFailed when the audio has not ended."""
        if not self.ended:
            raise broken_off()


def event(data: dict[str, object]) -> bytes:
    """A server-sent event of JSON."""
    return b"data: %b\n\n" % msgspec.json.encode(data)
