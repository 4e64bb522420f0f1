"""OpenAI's chat completions, the request side, and the list of models. The response side is `completion`.

Owns the pydantic models, which /docs shows, and their conversion to a `ChatRequest`. Unknown fields are tolerated, as every server
of this API does; known fields that this version cannot apply are refused by name. Used by `gateway.dialects.chat_completions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
)
from pydantic.config import JsonDict

from duologue.errors import BadRequest, Unsupported
from duologue.values.messages import Detail, Message, Part, TextPart, Tool
from duologue.values.requests import ChatRequest, MediaOptions
from duologue.values.speech import SpeechRequest
from duologue.wire import media_parts
from duologue.wire.fields.adapter_fields import AdapterFields
from duologue.wire.fields.constraints import FormatFields
from duologue.wire.fields.field_schemas import Nothing, SomeText, needs_one_of
from duologue.wire.fields.function_fields import FunctionFields
from duologue.wire.fields.logprob_fields import LogprobFields
from duologue.wire.fields.thinking_fields import ThinkingFields
from duologue.wire.speech import VoiceName
from duologue.wire.validation import (
    MAX_TOKENS,
    Body,
    MessageFields,
    RequestLimits,
    SamplingFields,
    ToolBody,
    ToolChoice,
    check_text,
    check_tool_choice,
    content_parts,
    narrowed_tools,
    part_tag,
)

MOST_CHOICES = 10_000
"""For any value of the setting: an answer has a place for each choice before the setting is looked at, and one request for a million
million of them stopped the server."""
MAX_MODALITIES = 16
"""Two exist. Without a maximum, each of 150,000 wrong ones would become an error of its own."""


class OpenAITextContent(Body):
    type: Literal["text"]
    text: str


class RefusalContent(Body):
    type: Literal["refusal"]
    refusal: str


class UrlBody(Body):
    url: str


def _url(value: object) -> object:
    return {"url": value} if isinstance(value, str) else value


class ImageUrlBody(UrlBody):
    """`max_slice_nums` is an extension, for engines that cut large pictures."""

    detail: Literal["auto", "low", "high"] = Field(
        default="auto", description="low: the picture is scaled down to 512 by 512 pixels, or as many."
    )
    max_slice_nums: int | None = Field(default=None, ge=1, le=16)


class OpenAIImageContent(Body):
    type: Literal["image_url"]
    image_url: Annotated[ImageUrlBody, BeforeValidator(_url, json_schema_input_type=ImageUrlBody | str)]

    @property
    def detail(self) -> Detail:
        return "" if self.image_url.detail == "auto" else self.image_url.detail


class OpenAIVideoContent(Body):
    type: Literal["video_url"]
    video_url: Annotated[UrlBody, BeforeValidator(_url, json_schema_input_type=UrlBody | str)]


class InputAudioBody(Body):
    data: str
    format: str = "wav"


class OpenAIAudioContent(Body):
    type: Literal["input_audio"]
    input_audio: InputAudioBody


class FileBody(Body):
    """A file in base64 or as a `data:` URL, one that was stored before (`/v1/files`), or (an extension) one at an address."""

    model_config = ConfigDict(json_schema_extra=needs_one_of("file_data", "file_id", "file_url"))

    file_data: SomeText | None = None
    file_url: SomeText | None = None
    filename: str = Field(default="", max_length=1024)
    file_id: Annotated[str, Field(max_length=256, json_schema_extra={"minLength": 1})] | None = None


class OpenAIFileContent(Body):
    type: Literal["file"]
    file: FileBody


AnyContent = (
    OpenAITextContent
    | RefusalContent
    | OpenAIImageContent
    | OpenAIVideoContent
    | OpenAIAudioContent
    | OpenAIFileContent
)
Content = Annotated[
    Annotated[OpenAITextContent, Tag("~text")]
    | Annotated[OpenAIImageContent, Tag("~image_url")]
    | Annotated[OpenAIAudioContent, Tag("~input_audio")]
    | Annotated[OpenAIVideoContent, Tag("~video_url")]
    | Annotated[OpenAIFileContent, Tag("~file")]
    | Annotated[RefusalContent, Tag("~refusal")],
    Discriminator(part_tag),
]


class AudioReferenceBody(Body):
    """The sound of an earlier reply, by its id."""

    id: str = Field(max_length=256)


_WITHOUT_CONTENT: JsonDict = {
    "properties": {
        "content": {"type": "null"},
        "audio": {"type": "null"},
        "role": {"enum": ["system", "developer", "user", "tool", "function"]},
    }
}
"""What no message is: only the assistant's may lack content."""


class CompletionMessageBody(MessageFields):
    model_config = ConfigDict(json_schema_extra={"not": _WITHOUT_CONTENT})

    audio: AudioReferenceBody | None = None
    content: (
        Annotated[list[Content], BeforeValidator(content_parts, json_schema_input_type=str | list[Content])]
        | None
    ) = None


class AudioOutputBody(Body):
    """How the reply is spoken."""

    voice: VoiceName = ""
    format: Literal["wav", "aac", "mp3", "flac", "opus", "pcm16"] | None = Field(
        default=None,
        description="Default: wav; in a stream pcm16, the only format a stream can have.",
    )


class StreamOptionsBody(Body):
    include_usage: bool = False


def _token_limit(value: int) -> int | None:
    if value == -1:  # many local clients send -1 for no limit
        return None
    if 1 <= value <= MAX_TOKENS:
        return value
    raise ValueError(f"must be a whole number from 1 to {MAX_TOKENS:,}, or -1 for no limit")


_LIMITS: JsonDict = {
    "anyOf": [
        {"type": "integer", "minimum": 1, "maximum": MAX_TOKENS},
        {"type": "integer", "minimum": -1, "maximum": -1},
    ]
}
TokenLimit = Annotated[int, AfterValidator(_token_limit), WithJsonSchema(_LIMITS)] | None


class ChatCompletionBody(
    FormatFields, SamplingFields, ThinkingFields, FunctionFields, AdapterFields, LogprobFields
):
    """The body of `POST /v1/chat/completions`."""

    messages: list[CompletionMessageBody] = Field(min_length=1)
    model: str = Field(default="", description="A name from /v1/models. Default: the default chat model.")
    stream: bool = False
    stream_options: StreamOptionsBody = StreamOptionsBody()
    n: int = Field(
        default=1,
        ge=1,
        le=MOST_CHOICES,
        description="Number of choices, limited by the setting limits.choices.",
    )
    max_tokens: TokenLimit = Field(default=None, description="The most tokens of the reply; -1: no limit.")
    max_completion_tokens: TokenLimit = Field(
        default=None, description="The newer name of max_tokens; takes precedence."
    )
    tools: list[ToolBody] = Field(default_factory=list)
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool = True
    continue_final_message: bool = False
    add_generation_prompt: bool | None = Field(
        default=None, description="false: the prompt does not say that the assistant's turn begins."
    )
    response_prefix: str = Field(
        default="", description="The beginning of the reply, which the model continues; it is not repeated."
    )
    modalities: list[Literal["text", "audio"]] | None = Field(
        default=None, max_length=MAX_MODALITIES, description='With "audio" the reply is spoken too.'
    )
    audio: AudioOutputBody | None = None
    web_search_options: Nothing = None

    @property
    def is_spoken(self) -> bool:
        return "audio" in (self.modalities or ())

    @property
    def audio_format(self) -> str:
        """The audio format of a spoken reply."""
        return (self.audio and self.audio.format) or ("pcm16" if self.stream else "wav")

    def speech(self) -> SpeechRequest | None:
        """How the reply is spoken; None for a text reply."""
        if not self.is_spoken:
            return None
        return SpeechRequest(voice=self.audio.voice if self.audio else "", open=True)

    def references(self) -> Iterator[media_parts.MediaReference]:
        """The parts that have to be fetched or read first: at web addresses, files, and recordings that are not WAV files. The caller
        reads them and passes what they are to `request`. Raises BadRequest, Unsupported."""
        for at, message in enumerate(self.messages):
            for index, content in enumerate(message.content or ()):
                reference = _reference(content, f"messages[{at}].content[{index}]")
                if reference is not None:
                    yield reference

    def request(
        self,
        limits: RequestLimits,
        references: Mapping[str, Sequence[Part]] = MappingProxyType({}),
        audio_texts: Mapping[str, str] = MappingProxyType({}),
    ) -> ChatRequest:
        """The request as a value. `references`: what those are, by their path; `audio_texts`: the texts of earlier replies, by
        the ids of their sound. Raises BadRequest, Unsupported, TooLarge; each names its field."""
        self._refuse_unsupported(limits)
        choice, tools = self._offered()
        thinking, effort, thinking_tokens, variables = self.thinking_asked()
        request = ChatRequest(
            messages=tuple(
                message.message(_parts(message, at, references, audio_texts))
                for at, message in enumerate(self.messages)
            ),
            model=self.model,
            sampling=self.sampling(
                max_tokens=self.max_completion_tokens or self.max_tokens, logprobs=self.wanted_logprobs()
            ),
            stop=tuple(self.stop or ()),
            tools=tools,
            tool_choice=choice,
            parallel_tool_calls=self.parallel_tool_calls and not self.functions,
            thinking=thinking,
            effort=effort,
            thinking_tokens=thinking_tokens,
            template_variables=variables,
            media=MediaOptions(max_slices=self._max_slices()),
            continue_final=self.continue_final_message,
            generation_prompt=self.continue_final_message or self.add_generation_prompt is not False,
            prefix=self.response_prefix,
            format=self.output_format(),
            spoken=self.is_spoken,
            adapters=self.adapters_asked(),
            unknown=self.unknown(),
        )
        self._check_continuation(request.messages)
        check_text(request.messages, tools, limits)
        return request

    def _offered(self) -> tuple[str, tuple[Tool, ...]]:
        """The tool choice and the tools, as the request says them in either form. Raises BadRequest."""
        functions = self.offered_functions(has_tools=bool(self.tools) or self.tool_choice is not None)
        if functions is not None:
            return functions
        tools = tuple(entry.tool() for entry in self.tools)
        choice, tools = narrowed_tools(self.tool_choice or "auto", tools)
        check_tool_choice(choice, tools)
        return choice, tools

    def _refuse_unsupported(self, limits: RequestLimits) -> None:
        if self.n > limits.choices:
            raise BadRequest(
                f"n must be a whole number from 1 to {limits.choices} (setting limits.choices).", param="n"
            )
        if self.is_spoken and self.n > 1:
            raise Unsupported("n must be 1 for a spoken reply.", param="n")
        if self.is_spoken and self.stream and self.audio_format != "pcm16":
            raise Unsupported(
                "audio.format must be pcm16 in a stream; /v1/audio/speech streams other formats.",
                param="audio.format",
            )
        if self.web_search_options:
            raise Unsupported("web_search_options is not supported.", param="web_search_options")
        if self.response_prefix and (self.add_generation_prompt is False or self.continue_final_message):
            raise BadRequest(
                "response_prefix needs the generation prompt; leave out add_generation_prompt and "
                "continue_final_message, or write the beginning into the last message.",
                param="response_prefix",
            )

    def _check_continuation(self, messages: Sequence[Message]) -> None:
        if not self.continue_final_message:
            return
        if self.add_generation_prompt:
            raise BadRequest(
                "continue_final_message and add_generation_prompt are mutually exclusive.",
                param="continue_final_message",
            )
        if messages[-1].role != "assistant":
            raise BadRequest(
                "continue_final_message requires that the last message is the assistant's.",
                param="continue_final_message",
            )

    def _max_slices(self) -> int | None:
        """The most that a picture asks for: engines take one number for all of a request."""
        contents = (content for message in self.messages for content in message.content or ())
        asked = (
            content.image_url.max_slice_nums
            for content in contents
            if isinstance(content, OpenAIImageContent)
        )
        return max((number for number in asked if number is not None), default=None)


def _parts(
    message: CompletionMessageBody,
    at: int,
    references: Mapping[str, Sequence[Part]],
    audio_texts: Mapping[str, str],
) -> list[Part]:
    where = f"messages[{at}].content"
    if message.audio is not None and not message.content:
        return [_earlier_reply(message.audio.id, audio_texts, f"messages[{at}].audio.id")]
    if message.content is None and message.role != "assistant":
        raise BadRequest(f"{where} is missing.", param=where)
    parts: list[Part] = []
    for index, content in enumerate(message.content or ()):
        place = f"{where}[{index}]"
        parts += references[place] if place in references else (_part(content, place),)
    return parts


def _earlier_reply(id: str, audio_texts: Mapping[str, str], where: str) -> Part:
    if id not in audio_texts:
        raise BadRequest(
            f"{where} names audio that the server no longer remembers; send its transcript as content.",
            code="audio_expired",
            param=where,
        )
    return TextPart(audio_texts[id])


def _reference(content: AnyContent, where: str) -> media_parts.MediaReference | None:
    match content:
        case OpenAIImageContent() if media_parts.is_address(content.image_url.url):
            return media_parts.MediaReference(
                where, "image", url=content.image_url.url, detail=content.detail
            )
        case OpenAIVideoContent() if media_parts.is_address(content.video_url.url):
            return media_parts.MediaReference(where, "video", url=content.video_url.url)
        case OpenAIAudioContent() if media_parts.is_address(content.input_audio.data):
            return media_parts.MediaReference(where, "audio", url=content.input_audio.data)
        case OpenAIAudioContent() if content.input_audio.format != "wav":
            data = media_parts.from_base64(content.input_audio.data, f"{where}.input_audio.data")
            return media_parts.MediaReference(where, "audio", data)
        case OpenAIFileContent():
            return _file(content.file, where)
    return None


def _file(file: FileBody, where: str) -> media_parts.MediaReference:
    given = file.file_data or file.file_url
    if not given:
        if file.file_id:
            return media_parts.MediaReference(where, "file", name=file.filename, stored=file.file_id)
        sentence = f"{where}.file needs file_data, or the file_id of a stored file."
        raise BadRequest(sentence, param=f"{where}.file")
    return media_parts.file(given, where, f"{where}.file.file_data", file.filename)


def _part(content: AnyContent, where: str) -> Part:
    match content:
        case OpenAITextContent():
            return TextPart(content.text)
        case RefusalContent():
            return TextPart(content.refusal)
        case OpenAIImageContent():
            where += ".image_url.url"
            data = media_parts.from_data_url(content.image_url.url, where)[1]
            return media_parts.image(data, where, content.detail)
        case OpenAIVideoContent():
            where += ".video_url.url"
            mime, film = media_parts.from_data_url(content.video_url.url, where)
            return media_parts.video(film, where, mime or "video/mp4")
        case OpenAIAudioContent():
            where += ".input_audio.data"
            return media_parts.wav(media_parts.from_base64(content.input_audio.data, where), where)
        case OpenAIFileContent():
            raise Unsupported(f"{where} is a file that was not read.", param=where)
