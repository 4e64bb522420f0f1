"""The messages of duplex sessions, `/ws/duplex/{session_id}`: audio in chunks of about a second, each answered by one result,
all of it JSON.

Owns the messages in both directions. Where documentation and clients of this protocol spell a field in two ways, both are
accepted and sent. Audio is base64 of little-endian float32 mono, 16 kHz in, 24 kHz out. Used by `gateway.duplex.duplex_session`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct
from pydantic import AliasChoices, Field

from duologue.errors import BadRequest, Problem, TooLarge
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE, from_float32, samples
from duologue.values.call_events import OmniSetup
from duologue.values.duplex import ChunkResult
from duologue.values.events import Queued
from duologue.values.messages import AudioPart, ImagePart, system
from duologue.values.requests import ModelCard, Sampling
from duologue.wire import media_parts
from duologue.wire.sound import sound_text
from duologue.wire.validation import Body, RequestLimits, SamplingFields, check_text, decode_json, validate

MAX_CHUNK = 2 * HEARD_RATE
"""Samples of one chunk."""
MAX_IMAGES = 16
"""Pictures of one chunk; only the newest is used."""
MAX_SLICES = 9
"""Pieces that a picture may be cut into."""
PROMPT = "You are a helpful assistant."
MAX_PAUSE = 600.0
"""Seconds a session may be paused."""
SAMPLING_NAMES = {
    "text_repetition_penalty": "repetition_penalty",
    "text_repetition_window_size": "repetition_window",
}
APPLIED = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "repetition_window", "seed")
"""The fields of `prepare.config` that are applied: recogniser, model and voice are separate here, and the rest of that object is
for one model that does all three."""
NATIVE = ("length_penalty", "listen_prob_scale", "sliding_window", "max_slice_nums")
"""Those that only a model applies which holds the session by itself."""
AUDIO_ONLY = ("adx_", "audio_duplex_")
"""The prefixes of session ids whose client means to send no pictures."""

Mode = Literal["omni", "audio_duplex", "any"]

_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]")


def sanitised(session: str) -> str:
    """A session's id with only letters, digits, `_` and `-`, at most 128 of them."""
    return _UNSAFE.sub("_", session)[:128]


def mode_of(session: str) -> Mode:
    """What the client of this id means to do. It may do otherwise: only pictures make the difference."""
    if session.startswith(AUDIO_ONLY):
        return "audio_duplex"
    return "omni" if session.startswith("omni") else "any"


# ---- from the client


class PrepareBody(Body):
    system_prompt: str = Field(
        default=PROMPT,
        validation_alias=AliasChoices("system_prompt", "prefix_system_prompt", "instructions"),
    )
    model: str = ""
    voice: str = ""
    tts_ref_audio_base64: str = ""
    ref_audio_base64: str = ""
    speed: float = Field(default=1.0, ge=0.25, le=4.0)
    language: str = Field(default="", max_length=35)
    record: bool | None = None
    mouth: bool = False
    max_slice_nums: int | None = Field(default=None, ge=1, le=MAX_SLICES)
    config: dict[str, Any] = Field(default_factory=dict)


class ChunkBody(Body):
    audio: str = Field(validation_alias=AliasChoices("audio_base64", "audio"))
    frames: list[str] = Field(
        default_factory=list,
        max_length=MAX_IMAGES,
        validation_alias=AliasChoices("frame_base64_list", "frames"),
    )
    force_listen: bool = False
    max_slice_nums: int | None = Field(default=None, ge=1, le=MAX_SLICES)


class NativeFields(Body):
    """What of `prepare.config` only a model applies that holds the session by itself."""

    listen_prob_scale: float | None = Field(default=None, gt=0, le=100)
    sliding_window: int | None = Field(default=None, ge=256, le=10_000_000)
    max_slice_nums: int | None = Field(default=None, ge=1, le=MAX_SLICES)
    length_penalty: float | None = Field(default=None, gt=0, le=10)


class DuplexFrameBody(Body):
    frame: str = Field(validation_alias=AliasChoices("frame", "frame_base64"))


class PauseBody(Body):
    timeout: float = Field(default=60.0, gt=0, le=MAX_PAUSE)


class Prepare(Struct, frozen=True):
    """The setup of the session. `recording`: the voice to speak like; `record`: whether the session is recorded, None: as it is; `mouth`:
    results have the mouth's keys;
    `ignored` names the fields that are not applied, `native` those that only a model applies which holds the session by itself, with
    `omni`."""

    prompt: str = PROMPT
    model: str = ""
    voice: str = ""
    speed: float = 1.0
    language: str = ""
    sampling: Sampling = Sampling()
    ignored: tuple[str, ...] = ()
    recording: AudioPart | None = None
    record: bool | None = None
    native: tuple[str, ...] = ()
    omni: OmniSetup = OmniSetup()
    mouth: bool = False


class DuplexChunk(Struct, frozen=True):
    """A chunk of audio (16-bit mono, 16 kHz) and the pictures of that time; `max_slices`: into how many pieces each may be cut."""

    pcm: bytes
    images: tuple[ImagePart, ...] = ()
    force_listen: bool = False
    max_slices: int | None = None


class DuplexImage(Struct, frozen=True):
    """A picture outside of a chunk."""

    image: ImagePart


class Pause(Struct, frozen=True):
    """The client will send nothing, for at most `timeout` seconds."""

    timeout: float


class DuplexResume(Struct, frozen=True):
    """The pause is over."""


class DuplexInterrupt(Struct, frozen=True):
    """Stop the reply."""


class DuplexStop(Struct, frozen=True):
    """End the session."""


class Diagnostic(Struct, frozen=True):
    """A client's diagnostics."""

    fields: dict[str, Any]


DuplexMessage = (
    Prepare | DuplexChunk | DuplexImage | Pause | DuplexResume | DuplexInterrupt | DuplexStop | Diagnostic
)


def decode(frame: str | bytes, limits: RequestLimits) -> DuplexMessage:
    """The message of a frame. Raises BadRequest that names the field, TooLarge."""
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
            return DuplexImage(_image(validate(DuplexFrameBody, body).frame, "frame"))
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
        f"Unknown message type: {str(kind)[:64]}. This socket takes prepare, audio_chunk, video_frame, pause, resume, "
        "interrupt, stop and client_diagnostic.",
        param="type",
    )


def _prepare(body: PrepareBody, limits: RequestLimits) -> Prepare:
    check_text((system(body.system_prompt),), (), limits)
    config = {SAMPLING_NAMES.get(name, name): value for name, value in body.config.items()}
    sampling = {name: config[name] for name in APPLIED if config.get(name) is not None}
    if config.get("decode_mode") == "greedy":
        sampling["temperature"] = 0.0
    native = {name: config[name] for name in NATIVE if config.get(name) is not None}
    if body.max_slice_nums is not None:
        native["max_slice_nums"] = body.max_slice_nums
    own = validate(NativeFields, native)
    fields = validate(SamplingFields, sampling).sampling()
    applied = {name for name in (*APPLIED, *NATIVE) if name in config} | {"decode_mode"}
    ignored = [
        *body.unknown(),
        *(f"config.{name}" for name in body.config if SAMPLING_NAMES.get(name, name) not in applied),
    ]
    return Prepare(
        body.system_prompt,
        body.model,
        body.voice,
        body.speed,
        body.language,
        fields,
        tuple(ignored),
        _recording(body),
        body.record,
        tuple(
            name if name == "max_slice_nums" and name not in config else f"config.{name}" for name in native
        ),
        OmniSetup(
            sampling=msgspec.structs.replace(fields, length_penalty=own.length_penalty),
            listen_scale=own.listen_prob_scale,
            window=own.sliding_window,
            max_slices=own.max_slice_nums,
        ),
        body.mouth,
    )


def ignored_fields(prepare: Prepare, native: ModelCard | None) -> tuple[str, ...]:
    """The fields of `prepare` without effect. `native`: the model that holds the session by itself; None for a cascade."""
    if native is None:
        return (*prepare.ignored, *prepare.native)
    spelt = {ours: theirs for theirs, ours in SAMPLING_NAMES.items()}
    unable = [
        f"config.{spelt.get(name, name)}"
        for name in prepare.omni.sampling.asked()
        if native.sampling and name not in native.sampling
    ]
    return (*prepare.ignored, *unable, *(["speed"] if prepare.speed != 1.0 else []))


def _recording(body: PrepareBody) -> AudioPart | None:
    """The voice to speak like. Of the two recordings of this protocol, the one for the speech comes first."""
    for name in ("tts_ref_audio_base64", "ref_audio_base64"):
        if text := getattr(body, name):
            return media_parts.voice_sample(media_parts.from_base64(text, name), name)
    return None


def _chunk(body: ChunkBody) -> DuplexChunk:
    data = media_parts.from_base64(body.audio, "audio_base64")
    if not data or len(data) % 4:
        raise BadRequest("audio_base64 must be float32 samples, 4 bytes each.", param="audio_base64")
    if len(data) > MAX_CHUNK * 4:
        raise TooLarge(
            f"An audio_chunk may have at most {MAX_CHUNK:,} samples ({MAX_CHUNK // HEARD_RATE} seconds); one second is usual.",
            param="audio_base64",
        )
    images = [_image(text, f"frame_base64_list[{index}]") for index, text in enumerate(body.frames)]
    return DuplexChunk(from_float32(data), tuple(images), body.force_listen, body.max_slice_nums)


def _image(text: str, where: str) -> ImagePart:
    data = (
        media_parts.from_data_url(text, where)[1]
        if text.startswith("data:")
        else media_parts.from_base64(text, where)
    )
    return media_parts.image(data, where)


# ---- to the client


def _json(kind: str, fields: Mapping[str, object] | None = None) -> str:
    return msgspec.json.encode({"type": kind} | dict(fields or {})).decode()


def queue_message(event: Queued, again: bool) -> str:
    """The session waits for a seat; `again`: its place has changed."""
    place = {
        "position": event.position,
        "estimated_wait_s": event.wait,
        "eta_seconds": event.wait,
        "ticket_id": event.ticket,
        "queue_length": event.length,
    }
    return _json("queue_update" if again else "queued", place)


def queue_done_message() -> str:
    """The session has a seat. Sent even when it did not have to wait."""
    return _json("queue_done")


def prepared_message(
    session: str,
    prepare: Prepare,
    model: str,
    *,
    native: bool = False,
    model_note: str = "",
    note: str = "",
    again: bool = False,
    recording: str = "",
) -> str:
    """The session listens. `native`: its model holds it by itself; `model_note` and `note`: why another model answers, or another voice
    speaks, than was asked for; `again`: it continues after its connection was
    lost; `recording`: the id of its recording."""
    fields: dict[str, object] = {
        "prompt_length": len(prepare.prompt),
        "session_id": session,
        "model": model,
        "sample_rate": SPOKEN_RATE,
        "ignored": prepare.ignored,
        "native": native,
    }
    if model_note:
        fields["model_note"] = model_note
    if note:
        fields["voice_note"] = note
    if recording:
        fields["recording_session_id"] = recording
    return _json("prepared", fields | {"resumed": True} if again else fields)


def result_message(result: ChunkResult, seconds: float, now: float) -> str:
    """The answer to one chunk, after `seconds`; `now` is the Unix time. Figures that only a model has which hears and speaks by itself
    are 0 in a cascade."""
    milliseconds = round(seconds * 1000, 1)
    fields: dict[str, object] = {
        "is_listen": result.is_listen,
        "text": result.text,
        "audio_data": sound_text(result.pcm, "f32") if result.pcm else None,
        "end_of_turn": result.end_of_turn,
        "current_time": result.number,
        "wall_clock_ms": milliseconds,
        **_figures(result, milliseconds),
        "server_send_ts": now,
        "lag_ms": round(result.arrival.lag * 1000, 1),
        "samples": samples(result.pcm),
    }
    if not result.arrival.heard:
        fields["dropped"] = True
    if result.interrupted:
        fields["interrupted"] = True
    if result.held:
        fields["held"] = True
    if result.reply is not None:
        fields["reply_id"] = result.reply
    if result.first is not None:
        fields |= {"first_sample": result.first, "mouth": result.mouth}
    turn = result.turn
    if result.transcripts:
        fields["transcript"] = " ".join(heard.text for heard in result.transcripts)
        fields["transcripts"] = [{"turn_id": heard.turn, "text": heard.text} for heard in result.transcripts]
        turn = result.transcripts[-1].turn if result.reply is None else turn
    if turn is not None:
        fields["turn_id"] = turn
    return _json("result", fields)


def _figures(result: ChunkResult, milliseconds: float) -> dict[str, object]:
    figures = result.figures
    if figures is None:
        costs: dict[str, object] = dict.fromkeys(
            ("cost_llm_ms", "cost_tts_prep_ms", "cost_tts_ms", "cost_token2wav_ms"), 0.0
        )
        counts = {"n_tokens": 0, "n_tts_tokens": 0, "kv_cache_length": 0}
        return (
            costs
            | {"cost_all_ms": milliseconds}
            | counts
            | {"vision_slices": result.images, "vision_tokens": 0}
        )
    parts = (figures.prefill_ms, figures.language_ms, figures.speech_ms, figures.vocoder_ms)
    return {
        "cost_prefill_ms": round(figures.prefill_ms, 1),
        "cost_llm_ms": round(figures.language_ms, 1),
        "cost_tts_prep_ms": 0.0,
        "cost_tts_ms": round(figures.speech_ms, 1),
        "cost_token2wav_ms": round(figures.vocoder_ms, 1),
        "cost_all_ms": round(sum(parts), 1),
        "n_tokens": figures.written,
        "n_tts_tokens": figures.codes,
        "kv_cache_length": figures.cached,
        "vision_slices": figures.slices,
        "vision_tokens": figures.vision_tokens,
    }


def paused_message(timeout: float) -> str:
    return _json("paused", {"timeout": timeout})


def resumed_message() -> str:
    return _json("resumed")


def interrupted_message() -> str:
    return _json("interrupted")


def stopped_message(session: str, reason: str = "") -> str:
    return _json("stopped", {"session_id": session} | ({"reason": reason} if reason else {}))


def timeout_message(reason: str) -> str:
    """The session ends because its pause was too long."""
    return _json("timeout", {"reason": reason})


def error_message(problem: Problem) -> str:
    """An error. The sentence is under both keys that clients look for."""
    fields = {
        "code": problem.code,
        "error": problem.message,
        "message": problem.message,
        "param": problem.param,
    }
    return _json("error", fields)
