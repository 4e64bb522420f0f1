"""The chat socket's dialect: requests as JSON frames in, `prefill_done`, `chunk`, `done` and `error` out.

Owns the field names of `/ws/chat`, both directions. Fields that are known but cannot be applied, and fields nobody
knows, are no error: they come back in `prefill_done.ignored` under the names the caller used. Knows no socket.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct
from pydantic import AliasChoices, BeforeValidator, Discriminator, Field, Tag

from duologue.errors import BadRequest, Problem
from duologue.values.events import (
    AudioDelta,
    Done,
    Event,
    Failed,
    Prefilled,
    Progress,
    Queued,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolCallDelta,
)
from duologue.values.messages import Part, TextPart
from duologue.values.requests import ChatRequest
from duologue.values.speech import HeardPart, SpeechRequest
from duologue.wire import parts
from duologue.wire.body import (
    EFFORTS,
    MAX_TOKENS,
    Body,
    FunctionTool,
    Limits,
    MessageFields,
    SamplingFields,
    ToolChoice,
    check_counts,
    check_text,
    check_tool_choice,
    content_parts,
    decode_json,
    part_tag,
    validate,
)
from duologue.wire.refusals import spellings
from duologue.wire.reply import Reply, broken_off, problem
from duologue.wire.sound import SoundFormat, caption, sound_text, transcript
from duologue.wire.speech import VoiceName

VOICE_MESSAGES = frozenset(
    {"start", "interrupt", "played", "text", "hold", "video_frame", "tool_result", "stop"}
)
FIRST_FRAME = 2 * 1024 * 1024
"""Characters of a first frame that may begin a call; what is longer brings pictures to a chat, and is read once."""
Id = str | int | None


# What comes in


class TextContent(Body):
    type: Literal["text"]
    text: str


class ImageContent(Body):
    type: Literal["image"]
    data: str


class AudioContent(Body):
    type: Literal["audio"]
    data: str
    sample_rate: int = parts.RATE


class VideoContent(Body):
    type: Literal["video"]
    data: str
    stack_frames: int = Field(default=1, ge=1, le=16)


Content = Annotated[
    Annotated[TextContent, Tag("~text")]
    | Annotated[ImageContent, Tag("~image")]
    | Annotated[AudioContent, Tag("~audio")]
    | Annotated[VideoContent, Tag("~video")],
    Discriminator(part_tag),
]


class SaidMessage(MessageFields):
    content: Annotated[list[Content], BeforeValidator(content_parts)] | None = None


class Generation(SamplingFields):
    max_tokens: int | None = Field(
        default=None, ge=1, le=MAX_TOKENS, validation_alias=AliasChoices("max_new_tokens", "max_tokens")
    )
    do_sample: bool | None = None


class Picture(Body):
    max_slice_nums: int | None = Field(default=None, ge=1, le=16)
    use_image_id: bool | None = None


class Speech(Body):
    """The voice response. A reference voice is taken and reported as ignored: no engine here imitates one."""

    enabled: bool = False
    voice: VoiceName = ""
    speed: float = Field(default=1.0, ge=0.25, le=4.0)
    language: str = Field(default="", max_length=35)
    audio_format: SoundFormat | None = None
    ref_audio_data: str | None = None
    mode: str | None = None


class ChatBody(Body):
    messages: list[SaidMessage] = Field(min_length=1)
    model: str = ""
    streaming: bool = True
    progress: bool = False
    generation: Generation = Generation()
    image: Picture = Picture()
    tts: Speech = Speech()
    audio_format: SoundFormat | None = None
    use_tts_template: bool = False
    omni_mode: bool = False
    enable_thinking: bool = Field(default=False, validation_alias=AliasChoices("enable_thinking", "thinking"))
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high"] | None = None
    tools: list[FunctionTool] = Field(default_factory=list)
    tool_choice: ToolChoice = "auto"
    parallel_tool_calls: bool = True


class Envelope(Struct, frozen=True):
    """A frame before its content is looked at: what kind it is, and the id every answer to it repeats."""

    kind: Literal["chat", "cancel", "voice"]
    body: dict[str, Any]
    id: Id = None


class ChatFrame(Struct, frozen=True):
    """A request. `names`: the name the caller used for each sampling parameter, dotted. `speech`: how the reply is to be
    spoken, None where it is only written; `sound`: how its samples are sent."""

    request: ChatRequest
    streaming: bool = True
    progress: bool = False
    names: Mapping[str, str] = {}
    speech: SpeechRequest | None = None
    sound: SoundFormat = "f32"


def open_frame(frame: str | bytes) -> Envelope:
    """Tell what a text frame is. Raises BadRequest."""
    body = decode_json(frame)
    id = body.pop("id", None)
    if not (id is None or (isinstance(id, str | int) and not isinstance(id, bool) and len(str(id)) <= 256)):
        raise BadRequest("id must be a whole number or a text of at most 256 characters.", param="id")
    kind = body.get("type")
    if kind == "cancel":
        return Envelope("cancel", body, id)
    if isinstance(kind, str) and kind in VOICE_MESSAGES and "messages" not in body:
        return Envelope("voice", body, id)
    return Envelope("chat", body, id)


def begins_call(frame: str | bytes) -> bool:
    """Whether a socket's first frame is one of a call: sound, or one of the call's messages."""
    if isinstance(frame, bytes):
        return True
    if len(frame) > FIRST_FRAME:
        return False
    try:
        return open_frame(frame).kind == "voice"
    except BadRequest:
        return False


def decode(body: Mapping[str, Any], limits: Limits) -> ChatFrame:
    """The request of a frame of kind "chat". Raises BadRequest that names the field, TooLarge, Unsupported."""
    if "messages" not in body and (body.get("type") or "chat") != "chat":
        raise BadRequest(
            f"There is no message of type {str(body['type'])[:64]!r} here; send messages, or cancel.",
            param="type",
        )
    check_counts(body, limits)
    asked = validate(
        ChatBody, {name: value for name, value in body.items() if (name, value) != ("type", "chat")}
    )
    tools = tuple(entry.tool() for entry in asked.tools)
    check_tool_choice(asked.tool_choice, tools)
    generation = asked.generation
    sampling = generation.sampling(max_tokens=generation.max_tokens)
    names = _names(generation, body.get("generation") or {})
    if generation.do_sample is False:
        sampling = msgspec.structs.replace(sampling, temperature=0.0)
        names["temperature"] = "generation.do_sample"
    request = ChatRequest(
        messages=tuple(said.message(_parts(said, at)) for at, said in enumerate(asked.messages)),
        model=asked.model,
        sampling=sampling,
        stop=tuple(generation.stop or ()),
        tools=tools,
        tool_choice=asked.tool_choice,
        parallel_tool_calls=asked.parallel_tool_calls,
        thinking=_thinking(asked),
        effort=EFFORTS.get(asked.reasoning_effort or ""),
        spoken=asked.tts.enabled,
        unknown=_unknown(asked),
        unapplied=_unapplied(asked),
    )
    check_text(request.messages, tools, limits)
    return ChatFrame(
        request,
        asked.streaming,
        asked.progress,
        names,
        _speech(asked.tts),
        asked.tts.audio_format or asked.audio_format or "f32",
    )


def _speech(asked: Speech) -> SpeechRequest | None:
    if not asked.enabled:
        return None
    return SpeechRequest(voice=asked.voice, speed=asked.speed, language=asked.language, open=True)


def _thinking(asked: ChatBody) -> bool:
    """Whether to think: as it is said, else where an effort is asked for."""
    if "enable_thinking" in asked.model_fields_set:
        return asked.enable_thinking
    return asked.reasoning_effort not in (None, "none")


def _names(generation: Generation, given: Mapping[str, Any]) -> dict[str, str]:
    names: dict[str, str] = {}
    for name, field in type(generation).model_fields.items():
        used = next((spelled for spelled in spellings(name, field) if given.get(spelled) is not None), None)
        if used is not None:
            names[name] = f"generation.{used}"
    return names


def _parts(said: SaidMessage, at: int) -> list[Part]:
    where = f"messages[{at}].content"
    if said.content is None and said.role != "assistant":
        raise BadRequest(f"{where} is missing.", param=where)
    return [_part(content, f"{where}[{index}]") for index, content in enumerate(said.content or ())]


def _part(content: TextContent | ImageContent | AudioContent | VideoContent, where: str) -> Part:
    if isinstance(content, TextContent):
        return TextPart(content.text)
    data = parts.from_base64(content.data, f"{where}.data")
    if isinstance(content, ImageContent):
        return parts.image(data, f"{where}.data")
    if isinstance(content, AudioContent):
        return parts.pcm(data, content.sample_rate, where)
    return parts.video(data, f"{where}.data", stack_frames=content.stack_frames)


def _unknown(asked: ChatBody) -> tuple[str, ...]:
    return (
        asked.unknown()
        + asked.generation.unknown("generation.")
        + asked.image.unknown("image.")
        + asked.tts.unknown("tts.")
    )


def _unapplied(asked: ChatBody) -> tuple[str, ...]:
    """Known fields that would change the reply where they are implemented, and were asked for."""
    wanted = {
        "image.max_slice_nums": asked.image.max_slice_nums is not None,
        "image.use_image_id": asked.image.use_image_id is True,
        "tts.ref_audio_data": asked.tts.enabled and bool(asked.tts.ref_audio_data),
        "use_tts_template": asked.use_tts_template,
        "omni_mode": asked.omni_mode,
    }
    return tuple(name for name, is_wanted in wanted.items() if is_wanted)


# What goes out


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def error_message(problem: Problem, id: Id = None) -> str:
    """An error as this dialect says it; the sentence stands under both keys clients look for."""
    said = {
        "type": "error",
        "error": problem.message,
        "message": problem.message,
        "code": problem.code,
        "param": problem.param,
    }
    return _json(said if id is None else said | {"id": id})


class ChatEncoder:
    """The messages of one running request. Pure: events in, JSON texts out.

    `ended` is true once `done` or `error` was encoded; nothing may follow it.
    """

    def __init__(self, frame: ChatFrame, model: str, id: Id = None) -> None:
        self._frame = frame
        self._model = model
        self._id: dict[str, Id] = {} if id is None else {"id": id}
        self._reply = Reply()
        self._queued = False
        self._heard: tuple[HeardPart, ...] = ()
        self._trouble: Problem | None = None
        # A chunk is said once a token: its constant parts are printed once a request.
        echo = "" if id is None else f',"id":{_json(id)}'
        self._text_head, self._reasoning_head = ('{"type":"chunk"' + echo + f',"{key}":' for key in _DELTAS)
        self.ended = False

    def encode(self, events: Iterable[Event]) -> list[str]:
        """The messages these events become; neighbouring pieces of text are joined to one chunk."""
        said: list[str] = []
        text: list[str] = []
        reasoning: list[str] = []
        for event in events:
            if self.ended:
                break
            if reasoning and type(event) is not ReasoningDelta:
                self._chunk(said, self._reasoning_head, reasoning)
            if text and type(event) is not TextDelta:
                self._chunk(said, self._text_head, text)
            if isinstance(event, Failed):
                said.append(self.error(problem(event)))
                break
            self._reply.add(event)
            if isinstance(event, TextDelta):
                text.append(event.text)
            elif isinstance(event, ReasoningDelta):
                reasoning.append(event.text)
            else:
                said.extend(self._one(event))
        self._chunk(said, self._reasoning_head, reasoning)
        self._chunk(said, self._text_head, text)
        return said

    def heard(self, parts: tuple[HeardPart, ...]) -> None:
        """These sounds of the request were written down for the model."""
        self._heard = parts

    def silenced(self, problem: Problem) -> None:
        """The reply is not spoken, or not any further; its text goes on, and its end says why."""
        self._trouble = problem

    def close(self) -> list[str]:
        """What is left to say when no event will follow: an error, unless the reply has ended."""
        return [] if self.ended else [self.error(broken_off())]

    def cancelled(self) -> str:
        """The end of a request that its caller cancelled: what was written so far."""
        return self._done("cancelled", Done("cancelled", self._reply.usage))

    def error(self, problem: Problem) -> str:
        """The end, in error."""
        self.ended = True
        return error_message(problem, self._id.get("id"))

    def _chunk(self, said: list[str], head: str, pieces: list[str]) -> None:
        joined = "".join(pieces)
        pieces.clear()
        if joined and self._frame.streaming:
            said.append(f"{head}{_json(joined)}}}")

    def _one(self, event: Event) -> Iterable[str]:
        match event:
            case Queued():
                kind, self._queued = ("queue_update" if self._queued else "queued"), True
                yield self._message(kind, **_place(event))
            case Started() if self._queued:
                yield self._message("queue_done")
            case Progress() if self._frame.progress:
                yield self._message(
                    "progress", processed=event.processed, total=event.total, cached=event.cached
                )
            case Prefilled():
                ignored = [self._frame.names.get(name, name) for name in event.ignored]
                yield self._message(
                    "prefill_done",
                    input_tokens=event.input,
                    cached_tokens=event.cached,
                    ignored=ignored,
                    **self._transcripts(),
                )
            case ToolCallDelta() if self._frame.streaming:
                yield self._message("chunk", tool_calls=[_call_delta(event)])
            case AudioDelta() if self._frame.streaming and event.pcm:
                words = {"words": [caption(word) for word in event.words]} if event.words else {}
                yield self._message("chunk", audio_data=sound_text(event.pcm, self._frame.sound), **words)
            case Done():
                yield self._done(event.finish, event)

    def _transcripts(self) -> dict[str, object]:
        if not self._heard:
            return {}
        return {"transcripts": [transcript(part) for part in self._heard]}

    def _done(self, finish: str, event: Done) -> str:
        self.ended = True
        usage, timings, reply = event.usage, event.timings, self._reply
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.tool_calls
        ]
        spoken = self._transcripts() | self._spoken()
        return self._message(
            "done",
            text=reply.text,
            generated_tokens=usage.output,
            input_tokens=usage.input,
            finish_reason=finish,
            reasoning=reply.reasoning or None,
            tool_calls=calls,
            model=self._model,
            usage={
                "input_tokens": usage.input,
                "generated_tokens": usage.output,
                "cached_tokens": usage.cached,
                "reasoning_tokens": usage.reasoning,
                "estimated": usage.estimated,
            },
            timings={
                "queue_ms": timings.queue,
                "prefill_ms": timings.prefill,
                "generate_ms": timings.generate,
                "first_ms": timings.first,
            },
            **spoken,
        )

    def _spoken(self) -> dict[str, object]:
        """The sound of a reply that was not streamed, and why there is none where there should be."""
        said: dict[str, object] = {}
        if not self._frame.streaming:
            sound = self._reply.sound
            said["audio_data"] = sound_text(sound, self._frame.sound) if sound else None
        if self._trouble is not None:
            said["audio_error"] = {"code": self._trouble.code, "message": self._trouble.message}
        return said

    def _message(self, kind: str, **fields: object) -> str:
        return _json({"type": kind} | self._id | fields)


_DELTAS = ("text_delta", "reasoning_delta")


def _place(event: Queued) -> dict[str, object]:
    # Both spellings of the estimate are in use by clients of this dialect.
    return {
        "position": event.position,
        "estimated_wait_s": event.wait,
        "eta_seconds": event.wait,
        "ticket_id": event.ticket,
        "queue_length": event.length,
    }


def _call_delta(event: ToolCallDelta) -> dict[str, object]:
    delta: dict[str, object] = {"index": event.index}
    if event.id is not None or event.name is not None:
        delta |= {"id": event.id, "type": "function"}
    function = (
        {"arguments": event.arguments}
        if event.name is None
        else {
            "name": event.name,
            "arguments": event.arguments,
        }
    )
    return delta | {"function": function}
