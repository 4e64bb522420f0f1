"""OpenAI's chat completions, the asking side: the request's fields, the list of models.

Owns the pydantic models (so that /docs shows them) and their one way to a `ChatRequest`. Fields nobody knows are
tolerated, as every server of this dialect does; fields that ask for what this version cannot do are refused by name.
The replying side is `completion`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, AliasChoices, BeforeValidator, Discriminator, Field, JsonValue, Tag

from duologue.errors import BadRequest, Unsupported
from duologue.values.messages import AudioPart, Message, Part, TextPart
from duologue.values.requests import ChatRequest, Effort, ModelCard, OutputFormat
from duologue.values.speech import SpeechRequest
from duologue.wire import media_parts
from duologue.wire.speech import VoiceName
from duologue.wire.validation import (
    EFFORTS,
    MAX_TOKENS,
    Body,
    JsonObject,
    MessageFields,
    RequestLimits,
    SamplingFields,
    ToolBody,
    ToolChoice,
    check_text,
    check_tool_choice,
    content_parts,
    part_tag,
)


class OpenAITextContent(Body):
    type: Literal["text"]
    text: str


class RefusalContent(Body):
    type: Literal["refusal"]
    refusal: str


class Url(Body):
    url: str


def _url(value: object) -> object:
    return {"url": value} if isinstance(value, str) else value


class OpenAIImageContent(Body):
    type: Literal["image_url"]
    image_url: Annotated[Url, BeforeValidator(_url, json_schema_input_type=Url | str)]


class OpenAIVideoContent(Body):
    type: Literal["video_url"]
    video_url: Annotated[Url, BeforeValidator(_url, json_schema_input_type=Url | str)]


class InputAudio(Body):
    data: str
    format: str = "wav"


class OpenAIAudioContent(Body):
    type: Literal["input_audio"]
    input_audio: InputAudio


AnyContent = OpenAITextContent | RefusalContent | OpenAIImageContent | OpenAIVideoContent | OpenAIAudioContent
Content = Annotated[
    Annotated[OpenAITextContent, Tag("~text")]
    | Annotated[OpenAIImageContent, Tag("~image_url")]
    | Annotated[OpenAIAudioContent, Tag("~input_audio")]
    | Annotated[OpenAIVideoContent, Tag("~video_url")]
    | Annotated[RefusalContent, Tag("~refusal")],
    Discriminator(part_tag),
]


class AudioReference(Body):
    """Sound that a reply before had, by its id."""

    id: str = Field(max_length=256)


class CompletionMessageBody(MessageFields):
    audio: AudioReference | None = None
    content: (
        Annotated[list[Content], BeforeValidator(content_parts, json_schema_input_type=str | list[Content])]
        | None
    ) = None


class AudioOut(Body):
    """How the reply is spoken."""

    voice: VoiceName = ""
    format: Literal["wav", "aac", "mp3", "flac", "opus", "pcm16"] | None = Field(
        default=None,
        description="wav where it is left out; of a stream pcm16, which is all a stream can have.",
    )


class StreamOptions(Body):
    include_usage: bool = False


class JsonSchema(Body):
    name: str = ""
    description: str | None = None
    schema_: JsonObject | None = Field(default=None, alias="schema")
    strict: bool | None = None


class ResponseFormat(Body):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None
    schema_: JsonObject | None = Field(default=None, alias="schema")


def _token_limit(value: int) -> int | None:
    if value == -1:  # "no limit", as many local clients say it
        return None
    if 1 <= value <= MAX_TOKENS:
        return value
    raise ValueError(f"must be a whole number from 1 to {MAX_TOKENS:,}, or -1 for no limit")


TokenLimit = Annotated[int, AfterValidator(_token_limit)] | None


class ChatCompletionBody(SamplingFields):
    """The body of `POST /v1/chat/completions`."""

    messages: list[CompletionMessageBody] = Field(min_length=1)
    model: str = Field(default="", description="A name of /v1/models; without it, the default chat model.")
    stream: bool = False
    stream_options: StreamOptions = StreamOptions()
    n: int = Field(default=1, ge=1, description="Choices; the setting limits.choices bounds it.")
    max_tokens: TokenLimit = Field(default=None, description="Tokens of the reply at most; -1: no limit.")
    max_completion_tokens: TokenLimit = Field(
        default=None, description="The newer name of max_tokens; it wins."
    )
    logprobs: bool = False
    top_logprobs: int | None = Field(default=None, ge=0, le=20)
    response_format: ResponseFormat | None = None
    grammar: str | None = Field(default=None, description="A GBNF grammar the reply must follow.")
    tools: list[ToolBody] = Field(default_factory=list)
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool = True
    reasoning_effort: str | None = Field(
        default=None,
        description='"none" turns thinking off; "minimal", "low", "medium" and "high" turn it on and limit it.',
    )
    enable_thinking: bool | None = None
    chat_template_kwargs: JsonObject = Field(
        default={},
        validation_alias=AliasChoices("chat_template_kwargs", "template_vars"),
        description="Variables for the model's chat template.",
    )
    continue_final_message: bool = False
    add_generation_prompt: bool | None = None
    modalities: list[Literal["text", "audio"]] | None = Field(
        default=None, description='With "audio" the reply is spoken too.'
    )
    audio: AudioOut | None = None
    functions: list[JsonValue] | None = None
    function_call: JsonValue | None = None
    web_search_options: JsonValue | None = None

    @property
    def is_spoken(self) -> bool:
        return "audio" in (self.modalities or ())

    @property
    def audio_format(self) -> str:
        """The format of the reply's sound."""
        return (self.audio and self.audio.format) or ("pcm16" if self.stream else "wav")

    def speech(self) -> SpeechRequest | None:
        """How the reply is to be spoken; None where it is only written."""
        if not self.is_spoken:
            return None
        return SpeechRequest(voice=self.audio.voice if self.audio else "", open=True)

    def recordings(self) -> Iterator[tuple[str, bytes]]:
        """The sounds among the messages that are no WAV file: where each is, and its file. They are decoded elsewhere and
        given to `request`. Raises BadRequest."""
        for at, said in enumerate(self.messages):
            for index, content in enumerate(said.content or ()):
                if isinstance(content, OpenAIAudioContent) and content.input_audio.format != "wav":
                    where = f"messages[{at}].content[{index}].input_audio"
                    yield where, media_parts.from_base64(content.input_audio.data, f"{where}.data")

    def request(
        self,
        limits: RequestLimits,
        heard: Mapping[str, AudioPart] = MappingProxyType({}),
        spoken: Mapping[str, str] = MappingProxyType({}),
    ) -> ChatRequest:
        """The request as every engine knows it. `heard`: the `recordings`, decoded; `spoken`: the texts of replies before, by
        the ids of their sound. Raises BadRequest, Unsupported, TooLarge; each names its field."""
        self._refuse_unsupported(limits)
        tools = tuple(entry.tool() for entry in self.tools)
        choice = self.tool_choice or "auto"
        check_tool_choice(choice, tools)
        thinking, effort, variables = self._thinking()
        request = ChatRequest(
            messages=tuple(
                said.message(_parts(said, at, heard, spoken)) for at, said in enumerate(self.messages)
            ),
            model=self.model,
            sampling=self.sampling(
                max_tokens=self.max_completion_tokens or self.max_tokens, logprobs=self._logprobs()
            ),
            stop=tuple(self.stop or ()),
            tools=tools,
            tool_choice=choice,
            parallel_tool_calls=self.parallel_tool_calls,
            thinking=thinking,
            effort=effort,
            template_variables=variables,
            continue_final=self.continue_final_message,
            format=self._format(),
            spoken=self.is_spoken,
            unknown=self.unknown(),
        )
        self._check_continuation(request.messages)
        check_text(request.messages, tools, limits)
        return request

    def _refuse_unsupported(self, limits: RequestLimits) -> None:
        if self.n > limits.choices:
            raise BadRequest(
                f"n must be a whole number from 1 to {limits.choices} (setting limits.choices).", param="n"
            )
        if self.is_spoken and self.n > 1:
            raise Unsupported("n must be 1 where the reply is spoken.", param="n")
        if self.is_spoken and self.stream and self.audio_format != "pcm16":
            raise Unsupported(
                "audio.format must be pcm16 in a stream; /v1/audio/speech streams the others.",
                param="audio.format",
            )
        for name, instead in (
            ("functions", "; send tools"),
            ("function_call", "; send tool_choice"),
            ("web_search_options", ""),
        ):
            if getattr(self, name):
                raise Unsupported(f"{name} is not supported here{instead}.", param=name)
        if self.add_generation_prompt is False and not self.continue_final_message:
            raise Unsupported(
                "add_generation_prompt can be false only together with continue_final_message.",
                param="add_generation_prompt",
            )

    def _check_continuation(self, messages: Sequence[Message]) -> None:
        if not self.continue_final_message:
            return
        if self.add_generation_prompt:
            raise BadRequest(
                "continue_final_message and add_generation_prompt exclude each other.",
                param="continue_final_message",
            )
        if messages[-1].role != "assistant":
            raise BadRequest(
                "continue_final_message needs the last message to be the assistant's.",
                param="continue_final_message",
            )

    def _logprobs(self) -> int | None:
        if self.logprobs:
            return self.top_logprobs or 0
        if self.top_logprobs:
            raise BadRequest("top_logprobs needs logprobs to be true.", param="top_logprobs")
        return None

    def _thinking(self) -> tuple[bool | None, Effort | None, dict[str, object]]:
        """Whether to think, by whichever of the spellings is most explicit, for how long, and the template's
        variables."""
        variables: dict[str, object] = dict(self.chat_template_kwargs)
        asked = self.enable_thinking
        for name in ("enable_thinking", "thinking"):  # the templates' own switches
            given = variables.get(name)
            if isinstance(given, bool):
                del variables[name]
                asked = given if asked is None else asked
        word = self.reasoning_effort
        if word is None:
            return asked, None, variables
        if word != "none" and word not in EFFORTS:  # some model's own word: its template may know it
            variables.setdefault("reasoning_effort", word)
        return (word != "none") if asked is None else asked, EFFORTS.get(word), variables

    def _format(self) -> OutputFormat | None:
        asked = self.response_format
        if asked is None or asked.type == "text":
            return OutputFormat("grammar", grammar=self.grammar) if self.grammar else None
        if self.grammar:
            raise BadRequest("grammar and response_format exclude each other.", param="grammar")
        schema = (asked.json_schema and asked.json_schema.schema_) or asked.schema_
        if schema is not None:
            return OutputFormat("json_schema", schema=dict(schema))
        if asked.type == "json_schema":
            where = "response_format.json_schema.schema"
            raise BadRequest(f"{where} is missing.", param=where)
        return OutputFormat("json_object")


def _parts(
    said: CompletionMessageBody, at: int, heard: Mapping[str, AudioPart], spoken: Mapping[str, str]
) -> list[Part]:
    where = f"messages[{at}].content"
    if said.audio is not None and not said.content:
        return [_said_before(said.audio.id, spoken, f"messages[{at}].audio.id")]
    if said.content is None and said.role != "assistant":
        raise BadRequest(f"{where} is missing.", param=where)
    return [_part(content, f"{where}[{index}]", heard) for index, content in enumerate(said.content or ())]


def _said_before(id: str, spoken: Mapping[str, str], where: str) -> Part:
    if id not in spoken:
        raise BadRequest(
            f"{where} names sound that is not remembered any more; send its transcript as content.",
            code="audio_expired",
            param=where,
        )
    return TextPart(spoken[id])


def _part(content: AnyContent, where: str, heard: Mapping[str, AudioPart]) -> Part:
    match content:
        case OpenAITextContent():
            return TextPart(content.text)
        case RefusalContent():
            return TextPart(content.refusal)
        case OpenAIImageContent():
            where += ".image_url.url"
            return media_parts.image(media_parts.from_data_url(content.image_url.url, where)[1], where)
        case OpenAIVideoContent():
            where += ".video_url.url"
            mime, data = media_parts.from_data_url(content.video_url.url, where)
            return media_parts.video(data, where, mime or "video/mp4")
        case OpenAIAudioContent():
            where += ".input_audio"
            if where in heard:
                return heard[where]
            return media_parts.wav(
                media_parts.from_base64(content.input_audio.data, f"{where}.data"), f"{where}.data"
            )


def model_entry(card: ModelCard, created: int, alias: str = "") -> dict[str, Any]:
    """One entry of /v1/models. `root` is the model an alias stands for; the rest beyond `owned_by` is ours."""
    return {
        "id": alias or card.name,
        "object": "model",
        "created": created,
        "owned_by": "duologue",
        "root": card.name,
        "context_length": card.context,
        "max_model_len": card.context,
        "trained_context_length": card.trained_context,
        "parameters": card.parameters,
        "size": card.size,
        "engine": card.engine,
        "description": card.description,
        "bundled": card.bundled,
        "modalities": list(card.modalities),
        "capabilities": list(card.verbs),
        "sampling": list(card.sampling),
        "defaults": dict(card.defaults),
        "tool_format": card.tool_format,
        "warnings": list(card.warnings),
    }


def model_list(cards: Sequence[ModelCard], aliases: Mapping[str, ModelCard], created: int) -> bytes:
    """The body of GET /v1/models: the models in their order, then the aliases."""
    entries = [model_entry(card, created) for card in cards]
    entries += [model_entry(card, created, alias) for alias, card in aliases.items()]
    return msgspec.json.encode({"object": "list", "data": entries})
