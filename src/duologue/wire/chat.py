"""What comes in at the chat socket: requests as JSON frames.

Owns their field names; what goes out is `chat_reply.py`. Fields that are known but cannot be applied, and fields nobody
knows, are no error: they come back in `prefill_done.ignored` under the names the caller used. Knows no socket.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct
from pydantic import AliasChoices, BeforeValidator, Discriminator, Field, Tag

from duologue.errors import BadRequest
from duologue.values.messages import Part, TextPart
from duologue.values.requests import ChatRequest
from duologue.values.speech import SpeechRequest
from duologue.wire import media_parts
from duologue.wire.sound import SoundFormat
from duologue.wire.speech import VoiceName
from duologue.wire.validation import (
    EFFORTS,
    MAX_TOKENS,
    Body,
    MessageFields,
    RequestLimits,
    SamplingFields,
    ToolBody,
    ToolChoice,
    check_counts,
    check_text,
    check_tool_choice,
    content_parts,
    decode_json,
    part_tag,
    validate,
)
from duologue.wire.validation_errors import spellings

VOICE_MESSAGES = frozenset(
    {"start", "interrupt", "played", "text", "hold", "video_frame", "tool_result", "stop"}
)
FIRST_FRAME = 2 * 1024 * 1024
"""Characters of a first frame that may begin a call; what is longer brings pictures to a chat, and is read once."""
Id = str | int | None


class ChatTextContent(Body):
    type: Literal["text"]
    text: str


class ChatImageContent(Body):
    type: Literal["image"]
    data: str


class ChatAudioContent(Body):
    type: Literal["audio"]
    data: str
    sample_rate: int = media_parts.RATE


class ChatVideoContent(Body):
    type: Literal["video"]
    data: str
    stack_frames: int = Field(default=1, ge=1, le=16)


Content = Annotated[
    Annotated[ChatTextContent, Tag("~text")]
    | Annotated[ChatImageContent, Tag("~image")]
    | Annotated[ChatAudioContent, Tag("~audio")]
    | Annotated[ChatVideoContent, Tag("~video")],
    Discriminator(part_tag),
]


class ChatMessageBody(MessageFields):
    content: Annotated[list[Content], BeforeValidator(content_parts)] | None = None


class GenerationFields(SamplingFields):
    max_tokens: int | None = Field(
        default=None, ge=1, le=MAX_TOKENS, validation_alias=AliasChoices("max_new_tokens", "max_tokens")
    )
    do_sample: bool | None = None


class PictureFields(Body):
    max_slice_nums: int | None = Field(default=None, ge=1, le=16)
    use_image_id: bool | None = None


class SpeechFields(Body):
    """The voice response. The recording of a voice is taken, and the answer says who speaks instead: no engine here imitates
    one."""

    enabled: bool = False
    voice: VoiceName = ""
    speed: float = Field(default=1.0, ge=0.25, le=4.0)
    language: str = Field(default="", max_length=35)
    audio_format: SoundFormat | None = None
    ref_audio_data: str | None = None
    mode: str | None = None


class ChatBody(Body):
    messages: list[ChatMessageBody] = Field(min_length=1)
    model: str = ""
    streaming: bool = True
    progress: bool = False
    generation: GenerationFields = GenerationFields()
    image: PictureFields = PictureFields()
    tts: SpeechFields = SpeechFields()
    audio_format: SoundFormat | None = None
    use_tts_template: bool = False
    omni_mode: bool = False
    enable_thinking: bool = Field(default=False, validation_alias=AliasChoices("enable_thinking", "thinking"))
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high"] | None = None
    tools: list[ToolBody] = Field(default_factory=list)
    tool_choice: ToolChoice = "auto"
    parallel_tool_calls: bool = True


class FrameHeader(Struct, frozen=True):
    """A frame before its content is looked at: what kind it is, and the id every answer to it repeats."""

    kind: Literal["chat", "cancel", "voice"]
    body: dict[str, Any]
    id: Id = None


class ChatFrame(Struct, frozen=True):
    """A request. `names`: the name the caller used for each sampling parameter, dotted. `speech`: how the reply is to be
    spoken, None where it is only written; `voice_sample`: in the voice of a recording, if that could be; `sound`: how its samples
    are sent."""

    request: ChatRequest
    streaming: bool = True
    progress: bool = False
    names: Mapping[str, str] = {}
    speech: SpeechRequest | None = None
    voice_sample: bool = False
    sound: SoundFormat = "f32"


def open_frame(frame: str | bytes) -> FrameHeader:
    """Tell what a text frame is. Raises BadRequest."""
    body = decode_json(frame)
    id = body.pop("id", None)
    if not (id is None or (isinstance(id, str | int) and not isinstance(id, bool) and len(str(id)) <= 256)):
        raise BadRequest("id must be a whole number or a text of at most 256 characters.", param="id")
    kind = body.get("type")
    if kind == "cancel":
        return FrameHeader("cancel", body, id)
    if isinstance(kind, str) and kind in VOICE_MESSAGES and "messages" not in body:
        return FrameHeader("voice", body, id)
    return FrameHeader("chat", body, id)


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


def decode(body: Mapping[str, Any], limits: RequestLimits) -> ChatFrame:
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
        asked.tts.enabled and bool(asked.tts.ref_audio_data),
        asked.tts.audio_format or asked.audio_format or "f32",
    )


def _speech(asked: SpeechFields) -> SpeechRequest | None:
    if not asked.enabled:
        return None
    return SpeechRequest(voice=asked.voice, speed=asked.speed, language=asked.language, open=True)


def _thinking(asked: ChatBody) -> bool:
    """Whether to think: as it is said, else where an effort is asked for."""
    if "enable_thinking" in asked.model_fields_set:
        return asked.enable_thinking
    return asked.reasoning_effort not in (None, "none")


def _names(generation: GenerationFields, given: Mapping[str, Any]) -> dict[str, str]:
    names: dict[str, str] = {}
    for name, field in type(generation).model_fields.items():
        used = next((spelled for spelled in spellings(name, field) if given.get(spelled) is not None), None)
        if used is not None:
            names[name] = f"generation.{used}"
    return names


def _parts(said: ChatMessageBody, at: int) -> list[Part]:
    where = f"messages[{at}].content"
    if said.content is None and said.role != "assistant":
        raise BadRequest(f"{where} is missing.", param=where)
    return [_part(content, f"{where}[{index}]") for index, content in enumerate(said.content or ())]


def _part(
    content: ChatTextContent | ChatImageContent | ChatAudioContent | ChatVideoContent, where: str
) -> Part:
    if isinstance(content, ChatTextContent):
        return TextPart(content.text)
    data = media_parts.from_base64(content.data, f"{where}.data")
    if isinstance(content, ChatImageContent):
        return media_parts.image(data, f"{where}.data")
    if isinstance(content, ChatAudioContent):
        return media_parts.pcm(data, content.sample_rate, where)
    return media_parts.video(data, f"{where}.data", stack_frames=content.stack_frames)


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
