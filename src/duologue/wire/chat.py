"""The client's messages on the chat socket: requests as JSON frames. The server's messages are in `chat_reply`.

Fields that cannot be applied and unknown fields are not an error: `prefill_done.ignored` lists them under the names the client
used. Used by `gateway.dialects.chat_socket`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct
from pydantic import AliasChoices, BeforeValidator, Discriminator, Field, Tag

from duologue.errors import BadRequest
from duologue.values.messages import AudioPart, Part, TextPart
from duologue.values.requests import ChatRequest, MediaOptions
from duologue.values.speech import SpeechRequest
from duologue.wire import media_parts
from duologue.wire.fields.constraints import FormatFields
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
    narrowed_tools,
    part_tag,
    validate,
)
from duologue.wire.validation_errors import spellings

VOICE_MESSAGES = frozenset(
    {"start", "interrupt", "played", "text", "hold", "video_frame", "tool_result", "stop"}
)
FIRST_FRAME = 2 * 1024 * 1024
"""Characters of a first frame that may begin a call. A longer one is a chat with media, and is not worth parsing twice."""
MEDIA_NAMES = {
    "max_slices": "image.max_slice_nums",
    "image_ids": "image.use_image_id",
    "interleave": "omni_mode",
}
"""This protocol's names of the media options."""
Id = str | int | None
RECORDING = "tts.ref_audio_data"
"""The path of the recording of a voice to speak like."""


class ChatTextContent(Body):
    type: Literal["text"]
    text: str


class ChatImageContent(Body):
    type: Literal["image"]
    data: str
    detail: Literal["auto", "low", "high"] = "auto"


class ChatAudioContent(Body):
    type: Literal["audio"]
    data: str
    sample_rate: int = media_parts.RATE


class ChatVideoContent(Body):
    type: Literal["video"]
    data: str
    stack_frames: int = Field(default=1, ge=1, le=16)
    frame_rate: float | None = Field(default=None, ge=0.1, le=10)


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


class ImageFields(Body):
    max_slice_nums: int | None = Field(default=None, ge=1, le=16)
    use_image_id: bool | None = None


class SpeechFields(Body):
    """The spoken reply. `ref_audio_data` is a recording of a voice to speak like: float32 samples at 16 kHz."""

    enabled: bool = False
    voice: VoiceName = ""
    speed: float = Field(default=1.0, ge=0.25, le=4.0)
    language: str = Field(default="", max_length=35)
    audio_format: SoundFormat | None = None
    ref_audio_data: str | None = None
    mouth: bool = False
    mode: str | None = None


class ChatBody(FormatFields):
    messages: list[ChatMessageBody] = Field(min_length=1)
    model: str = ""
    streaming: bool = True
    progress: bool = False
    record: bool = False
    generation: GenerationFields = GenerationFields()
    image: ImageFields = ImageFields()
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
    """A frame before its content is validated: its kind, and the id that every answer repeats."""

    kind: Literal["chat", "cancel", "voice"]
    body: dict[str, Any]
    id: Id = None


class ChatFrame(Struct, frozen=True):
    """A request. `names`: the name the client used for each sampling parameter, dotted. `speech`: how the reply is spoken, None
    for a text reply; `recording`: the voice to speak like; `sound`: the format of the samples; `record`: keep what is said."""

    request: ChatRequest
    streaming: bool = True
    progress: bool = False
    names: Mapping[str, str] = {}
    speech: SpeechRequest | None = None
    recording: AudioPart | None = None
    sound: SoundFormat = "f32"
    record: bool = False


def open_frame(frame: str | bytes) -> FrameHeader:
    """The header of a text frame. Raises BadRequest."""
    body = decode_json(frame)
    id = body.pop("id", None)
    if not (id is None or (isinstance(id, str | int) and not isinstance(id, bool) and len(str(id)) <= 256)):
        raise BadRequest("id must be a whole number or a string of at most 256 characters.", param="id")
    kind = body.get("type")
    if kind == "cancel":
        return FrameHeader("cancel", body, id)
    if isinstance(kind, str) and kind in VOICE_MESSAGES and "messages" not in body:
        return FrameHeader("voice", body, id)
    return FrameHeader("chat", body, id)


def begins_call(frame: str | bytes) -> bool:
    """Whether a socket's first frame belongs to a call: audio, or a message that only calls have."""
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
            f"Unknown message type {str(body['type'])[:64]!r}; send a request with messages, or cancel.",
            param="type",
        )
    check_counts(body, limits)
    chat = validate(
        ChatBody, {name: value for name, value in body.items() if (name, value) != ("type", "chat")}
    )
    tools = tuple(entry.tool() for entry in chat.tools)
    choice, tools = narrowed_tools(chat.tool_choice, tools)
    check_tool_choice(choice, tools)
    generation = chat.generation
    sampling = generation.sampling(max_tokens=generation.max_tokens)
    names = _names(generation, body.get("generation") or {})
    if generation.do_sample is False:
        sampling = msgspec.structs.replace(sampling, temperature=0.0)
        names["temperature"] = "generation.do_sample"
    request = ChatRequest(
        messages=tuple(message.message(_parts(message, at)) for at, message in enumerate(chat.messages)),
        model=chat.model,
        sampling=sampling,
        stop=tuple(generation.stop or ()),
        tools=tools,
        tool_choice=choice,
        parallel_tool_calls=chat.parallel_tool_calls,
        thinking=_thinking(chat),
        effort=EFFORTS.get(chat.reasoning_effort or ""),
        media=MediaOptions(chat.image.max_slice_nums, chat.image.use_image_id, chat.omni_mode),
        format=chat.output_format(),
        spoken=chat.tts.enabled,
        spoken_language=chat.tts.language,
        unknown=_unknown(chat),
        unapplied=_unapplied(chat),
    )
    check_text(request.messages, tools, limits)
    return ChatFrame(
        request,
        chat.streaming,
        chat.progress,
        names,
        _speech(chat.tts),
        _recording(chat.tts),
        chat.tts.audio_format or chat.audio_format or "f32",
        chat.record and chat.tts.enabled,
    )


def _speech(speech: SpeechFields) -> SpeechRequest | None:
    if not speech.enabled:
        return None
    return SpeechRequest(
        voice=speech.voice, speed=speech.speed, language=speech.language, open=True, mouth=speech.mouth
    )


def _recording(speech: SpeechFields) -> AudioPart | None:
    if not (speech.enabled and speech.ref_audio_data):
        return None
    data = media_parts.from_base64(speech.ref_audio_data, RECORDING)
    return media_parts.voice_sample(data, RECORDING)


def _thinking(chat: ChatBody) -> bool | None:
    """`enable_thinking` where it was sent, else whether an effort was; None where neither was: the model's template decides."""
    if "enable_thinking" in chat.model_fields_set:
        return chat.enable_thinking
    return None if chat.reasoning_effort is None else chat.reasoning_effort != "none"


def _names(generation: GenerationFields, sent: Mapping[str, Any]) -> dict[str, str]:
    names: dict[str, str] = {}
    for name, field in type(generation).model_fields.items():
        name_used = next(
            (spelled for spelled in spellings(name, field) if sent.get(spelled) is not None), None
        )
        if name_used is not None:
            names[name] = f"generation.{name_used}"
    return names


def _parts(message: ChatMessageBody, at: int) -> list[Part]:
    where = f"messages[{at}].content"
    if message.content is None and message.role != "assistant":
        raise BadRequest(f"{where} is missing.", param=where)
    return [_part(content, f"{where}[{index}]") for index, content in enumerate(message.content or ())]


def _part(
    content: ChatTextContent | ChatImageContent | ChatAudioContent | ChatVideoContent, where: str
) -> Part:
    if isinstance(content, ChatTextContent):
        return TextPart(content.text)
    data = media_parts.from_base64(content.data, f"{where}.data")
    if isinstance(content, ChatImageContent):
        return media_parts.image(data, f"{where}.data", "" if content.detail == "auto" else content.detail)
    if isinstance(content, ChatAudioContent):
        return media_parts.pcm(data, content.sample_rate, where)
    video = media_parts.video(data, f"{where}.data", stack_frames=content.stack_frames)
    return msgspec.structs.replace(video, frame_rate=content.frame_rate)


def _unknown(chat: ChatBody) -> tuple[str, ...]:
    return (
        chat.unknown()
        + chat.generation.unknown("generation.")
        + chat.image.unknown("image.")
        + chat.tts.unknown("tts.")
    )


def _unapplied(chat: ChatBody) -> tuple[str, ...]:
    """Known fields that the client set and that this version does not apply."""
    requested = {
        "tts.mode": chat.tts.enabled and bool(chat.tts.mode),
        "use_tts_template": chat.use_tts_template,
        "record": chat.record and not chat.tts.enabled,
    }
    return tuple(name for name, is_requested in requested.items() if is_requested)
