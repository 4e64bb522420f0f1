"""The dialect of duplex sessions: sound in pieces of about a second, each answered by one result, all of it JSON.

Owns the messages of `/ws/duplex/{session_id}`, both directions. Of what documentation and clients of this protocol spell in
two ways both are taken, and said. Sound is base64 of little-endian float32 mono, 16 kHz in, 24 kHz out. Knows no session.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from pydantic import AliasChoices, Field

from duologue.errors import BadRequest, Problem, TooLarge
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE, from_float32, samples
from duologue.values.duplex import Unit
from duologue.values.events import Queued
from duologue.values.messages import ImagePart, system
from duologue.values.requests import Sampling
from duologue.wire import media_parts
from duologue.wire.sound import sound_text
from duologue.wire.validation import Body, RequestLimits, SamplingFields, check_text, decode_json, validate

LONGEST = 2 * HEARD_RATE
"""Samples of one piece."""
MOST_FRAMES = 16
"""Pictures of one piece; the newest counts."""
PROMPT = "You are a helpful assistant."
LONGEST_PAUSE = 600.0
"""Seconds a session may be paused."""
RENAMED = {
    "text_repetition_penalty": "repetition_penalty",
    "text_repetition_window_size": "repetition_window",
}
APPLIED = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "repetition_window", "seed")
"""What of `prepare.config` makes a difference to the model of a cascade."""
STRANGE = re.compile(r"[^a-zA-Z0-9_-]")
SOUND_ALONE = "adx_"
"""What the ids of sessions without pictures begin with."""


def sanitised(session: str) -> str:
    """A session's id as it is used here."""
    return STRANGE.sub("_", session)[:128]


# What comes in


class PrepareBody(Body):
    system_prompt: str = Field(
        default=PROMPT,
        validation_alias=AliasChoices("system_prompt", "prefix_system_prompt", "instructions"),
    )
    model: str = ""
    voice: str = ""
    speed: float = Field(default=1.0, ge=0.25, le=4.0)
    language: str = Field(default="", max_length=35)
    config: dict[str, Any] = Field(default_factory=dict)


class ChunkBody(Body):
    audio: str = Field(validation_alias=AliasChoices("audio_base64", "audio"))
    frames: list[str] = Field(
        default_factory=list,
        max_length=MOST_FRAMES,
        validation_alias=AliasChoices("frame_base64_list", "frames"),
    )
    force_listen: bool = False


class DuplexFrameBody(Body):
    frame: str = Field(validation_alias=AliasChoices("frame", "frame_base64"))


class PauseBody(Body):
    timeout: float = Field(default=60.0, gt=0, le=LONGEST_PAUSE)


class Prepare(Struct, frozen=True):
    """How the session is to be. `ignored` names what was sent and makes no difference here."""

    prompt: str = PROMPT
    model: str = ""
    voice: str = ""
    speed: float = 1.0
    language: str = ""
    sampling: Sampling = Sampling()
    ignored: tuple[str, ...] = ()


class DuplexChunk(Struct, frozen=True):
    """A piece of sound (16-bit mono, 16 kHz) and the pictures seen meanwhile."""

    pcm: bytes
    frames: tuple[ImagePart, ...] = ()
    force_listen: bool = False


class DuplexPicture(Struct, frozen=True):
    """A picture that comes by itself."""

    image: ImagePart


class Pause(Struct, frozen=True):
    """The client will be silent, for so many seconds at most."""

    timeout: float


class DuplexResume(Struct, frozen=True):
    """It goes on."""


class DuplexInterrupt(Struct, frozen=True):
    """The reply is to end."""


class DuplexStop(Struct, frozen=True):
    """The session is over."""


class Diagnostic(Struct, frozen=True):
    """What a client tells of itself."""

    fields: dict[str, Any]


Said = (
    Prepare | DuplexChunk | DuplexPicture | Pause | DuplexResume | DuplexInterrupt | DuplexStop | Diagnostic
)


def decode(frame: str | bytes, limits: RequestLimits) -> Said:
    """What a message says. Raises BadRequest that names the field, TooLarge."""
    body = decode_json(frame)
    kind = body.pop("type", None)
    match kind:
        case "prepare":
            return _prepare(validate(PrepareBody, body), limits)
        case "audio_chunk":
            if body.get("audio_base64") is None and body.get("audio") is None:
                raise BadRequest("Missing audio_base64.", param="audio_base64")
            return _chunk(validate(ChunkBody, body))
        case "video_frame":
            return DuplexPicture(_picture(validate(DuplexFrameBody, body).frame, "frame"))
        case "pause":
            return Pause(validate(PauseBody, body).timeout)
        case "resume":
            return DuplexResume()
        case "interrupt":
            return DuplexInterrupt()
        case "stop":
            return DuplexStop()
        case "client_diagnostic":
            return Diagnostic(body)
    raise BadRequest(
        f"Unknown message type: {str(kind)[:64]}. This socket knows prepare, audio_chunk, video_frame, pause, resume, "
        "interrupt, stop and client_diagnostic.",
        param="type",
    )


def _prepare(body: PrepareBody, limits: RequestLimits) -> Prepare:
    check_text((system(body.system_prompt),), (), limits)
    config = {RENAMED.get(name, name): value for name, value in body.config.items()}
    asked = {name: config[name] for name in APPLIED if config.get(name) is not None}
    if config.get("decode_mode") == "greedy":
        asked["temperature"] = 0.0
    known = {name for name in APPLIED if name in config} | {"decode_mode"}
    ignored = [
        *body.unknown(),
        *(f"config.{name}" for name in body.config if RENAMED.get(name, name) not in known),
    ]
    return Prepare(
        body.system_prompt,
        body.model,
        body.voice,
        body.speed,
        body.language,
        validate(SamplingFields, asked).sampling(),
        tuple(ignored),
    )


def _chunk(body: ChunkBody) -> DuplexChunk:
    data = media_parts.from_base64(body.audio, "audio_base64")
    if not data or len(data) % 4:
        raise BadRequest("audio_base64 must be float32 samples, 4 bytes each.", param="audio_base64")
    if len(data) > LONGEST * 4:
        raise TooLarge(
            f"An audio_chunk may have {LONGEST:,} samples ({LONGEST // HEARD_RATE} seconds); one second is usual.",
            param="audio_base64",
        )
    frames = [_picture(text, f"frame_base64_list[{index}]") for index, text in enumerate(body.frames)]
    return DuplexChunk(from_float32(data), tuple(frames), body.force_listen)


def _picture(text: str, where: str) -> ImagePart:
    data = (
        media_parts.from_data_url(text, where)[1]
        if text.startswith("data:")
        else media_parts.from_base64(text, where)
    )
    return media_parts.image(data, where)


# What goes out


def _json(kind: str, fields: Mapping[str, object] | None = None) -> str:
    return msgspec.json.encode({"type": kind} | dict(fields or {})).decode()


def queue_message(event: Queued, again: bool) -> str:
    """The place in the queue."""
    place = {
        "position": event.position,
        "estimated_wait_s": event.wait,
        "eta_seconds": event.wait,
        "ticket_id": event.ticket,
        "queue_length": event.length,
    }
    return _json("queue_update" if again else "queued", place)


def queue_done_message() -> str:
    """A seat is there. Sent also where nobody had to wait."""
    return _json("queue_done")


def prepared_message(session: str, prepare: Prepare, model: str, *, again: bool = False) -> str:
    """The session listens. `again`: it goes on after its connection was lost."""
    said: dict[str, object] = {
        "prompt_length": len(prepare.prompt),
        "session_id": session,
        "model": model,
        "sample_rate": SPOKEN_RATE,
        "ignored": prepare.ignored,
    }
    return _json("prepared", said | {"resumed": True} if again else said)


def result_message(unit: Unit, took: float, now: float) -> str:
    """The answer to one piece, after `took` seconds; `now` in Unix seconds. What a cascade cannot know of itself is 0."""
    milliseconds = round(took * 1000, 1)
    said: dict[str, object] = {
        "is_listen": unit.is_listen,
        "text": unit.text,
        "audio_data": sound_text(unit.pcm, "f32") if unit.pcm else None,
        "end_of_turn": unit.end_of_turn,
        "current_time": unit.number,
        "cost_llm_ms": 0.0,
        "cost_tts_prep_ms": 0.0,
        "cost_tts_ms": 0.0,
        "cost_token2wav_ms": 0.0,
        "cost_all_ms": milliseconds,
        "wall_clock_ms": milliseconds,
        "n_tokens": 0,
        "n_tts_tokens": 0,
        "kv_cache_length": 0,
        "vision_slices": unit.frames,
        "vision_tokens": 0,
        "server_send_ts": now,
        "lag_ms": round(unit.arrival.lag * 1000, 1),
        "samples": samples(unit.pcm),
    }
    if not unit.arrival.heard:
        said["dropped"] = True
    if unit.interrupted:
        said["interrupted"] = True
    if unit.reply is not None:
        said["reply_id"] = unit.reply
    if unit.words is not None:
        said["transcript"] = unit.words
    return _json("result", said)


def paused_message(timeout: float) -> str:
    return _json("paused", {"timeout": timeout})


def resumed_message() -> str:
    return _json("resumed")


def interrupted_message() -> str:
    return _json("interrupted")


def stopped_message(session: str) -> str:
    return _json("stopped", {"session_id": session})


def timeout_message(reason: str) -> str:
    """The session ends, for it was left alone."""
    return _json("timeout", {"reason": reason})


def error_message(problem: Problem) -> str:
    """An error; the socket stays open where it can."""
    said = {
        "code": problem.code,
        "error": problem.message,
        "message": problem.message,
        "param": problem.param,
    }
    return _json("error", said)
