"""The bodies of `POST /v1/responses` and `/v1/responses/input_tokens`, and what they ask of a model.

Fields that constrain the answer are kept or refused by name. What OpenAI's field says about its own operation (`service_tier`,
`prompt_cache_key`, `safety_identifier`) is repeated in the answer and has no effect. Used by `gateway.responses`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, WithJsonSchema

from duologue.errors import BadRequest, TooLarge, Unsupported
from duologue.values.messages import Message, Part, TextPart
from duologue.values.requests import ChatRequest, OutputFormat
from duologue.wire.fields.constraints import FormatFields, Schema
from duologue.wire.fields.field_schemas import Nothing, needs_one_of
from duologue.wire.fields.thinking_fields import ReasoningBody, ThinkingFields
from duologue.wire.openai import TokenLimit
from duologue.wire.responses import item_messages
from duologue.wire.responses.item_bodies import ID, Items
from duologue.wire.responses.item_messages import PlacedItem
from duologue.wire.responses.response_tools import (
    CalledTool,
    HostedTools,
    ResponseTool,
    ResponseToolChoice,
    called_tools,
    offered,
)
from duologue.wire.validation import Body, RequestLimits, SamplingFields, check_text

LOGPROBS = "message.output_text.logprobs"
SEALED_THOUGHTS = "reasoning.encrypted_content"
IMAGE_URLS = "message.input_image.image_url"
INCLUDABLE = (
    *(LOGPROBS, SEALED_THOUGHTS, IMAGE_URLS),
    # What hosted tools would add; without them there is nothing to include.
    *("file_search_call.results", "web_search_call.results", "web_search_call.action.sources"),
    *("code_interpreter_call.outputs", "computer_call_output.output.image_url"),
)
MAX_PAIRS, MAX_KEY, MAX_VALUE = 16, 64, 512
"""Of `metadata`."""


def _metadata(value: dict[str, str]) -> dict[str, str]:
    if len(value) > MAX_PAIRS:
        raise ValueError(f"may have at most {MAX_PAIRS} pairs")
    if any(len(key) > MAX_KEY or len(text) > MAX_VALUE for key, text in value.items()):
        raise ValueError(f"may have keys of at most {MAX_KEY} characters and values of at most {MAX_VALUE}")
    return value


def _include(value: list[str]) -> list[str]:
    for name in value:
        if name not in INCLUDABLE:
            raise ValueError(f"has {name[:64]!r}; what can be included is " + ", ".join(INCLUDABLE))
    return value


def _conversation(value: object) -> object:
    return {"id": value} if isinstance(value, str) else value


Metadata = Annotated[dict[str, str], AfterValidator(_metadata)]
Include = Annotated[
    list[Annotated[str, WithJsonSchema({"type": "string", "enum": list(INCLUDABLE)})]],
    Field(max_length=64),
    AfterValidator(_include),
]


class ConversationNameBody(Body):
    id: ID


class TextFormatBody(Body):
    type: Literal["text", "json_object", "json_schema"] = "text"
    name: str = ""
    description: str | None = None
    schema_: Schema | None = Field(default=None, alias="schema")
    strict: bool | None = None


class ResponseTextBody(Body):
    format: TextFormatBody = TextFormatBody()
    verbosity: str | None = Field(default=None, max_length=32, description="Without effect.")


class ResponseReasoningBody(ReasoningBody):
    """`summary`: the thought is given as its summary too; `generate_summary` is the older name."""

    summary: str | None = Field(default=None, max_length=32)
    generate_summary: str | None = Field(default=None, max_length=32)

    @property
    def wants_summary(self) -> bool:
        return (self.summary or self.generate_summary or "none") != "none"


class ResponseStreamOptionsBody(Body):
    include_obfuscation: bool = Field(default=False, description="Without effect.")


class ResponseBody(FormatFields, SamplingFields, ThinkingFields):
    """The body of `POST /v1/responses`. The sampling and format fields of `/v1/chat/completions` are taken too."""

    model_config = ConfigDict(
        json_schema_extra=needs_one_of("input", "instructions", "previous_response_id", "conversation")
    )

    input: Items = Field(default=[])
    model: str = Field(default="", description="A name from /v1/models. Default: the default chat model.")
    instructions: str | None = Field(
        default=None, description="A system message before the input; not carried over to later responses."
    )
    previous_response_id: ID | None = Field(
        default=None, description="A stored response that this one continues."
    )
    conversation: (
        Annotated[
            ConversationNameBody,
            BeforeValidator(_conversation, json_schema_input_type=ConversationNameBody | str),
        ]
        | None
    ) = Field(
        default=None, description="A stored conversation: its items come first, and input and output join it."
    )
    store: bool = Field(default=True, description="Keep the response, so that it can be read and continued.")
    background: bool = Field(
        default=False, description="Answer at once and write the response on the server."
    )
    stream: bool = False
    stream_options: ResponseStreamOptionsBody = ResponseStreamOptionsBody()
    include: Include = Field(default=[])
    tools: list[ResponseTool] = Field(default=[])
    tool_choice: ResponseToolChoice | None = None
    parallel_tool_calls: bool = True
    max_output_tokens: TokenLimit = None
    max_tool_calls: int | None = Field(
        default=None, ge=1, description="Limits calls of hosted tools, of which there are none here."
    )
    top_logprobs: int | None = Field(default=None, ge=0, le=20)
    text: ResponseTextBody = ResponseTextBody()
    reasoning: ResponseReasoningBody | None = None
    truncation: Literal["auto", "disabled"] = Field(
        default="disabled", description="auto: the oldest turns are left out until the rest fits the context."
    )
    metadata: Metadata = Field(default={}, description="Up to 16 pairs of texts, which the response repeats.")
    user: str | None = Field(default=None, max_length=512)
    safety_identifier: str | None = Field(default=None, max_length=512)
    prompt_cache_key: str | None = Field(default=None, max_length=512)
    service_tier: str | None = Field(default=None, max_length=64, description="Without effect.")
    prompt: Nothing = None

    @property
    def wants_summary(self) -> bool:
        return self.reasoning is not None and self.reasoning.wants_summary

    @property
    def logprobs(self) -> int | None:
        """How many alternatives each token is reported with; None: tokens are not reported."""
        if LOGPROBS in self.include or self.top_logprobs:
            return self.top_logprobs or 0
        return None

    @property
    def called_tools(self) -> dict[str, CalledTool]:
        return called_tools(self.tools)

    def check(self) -> None:
        """Raises BadRequest and Unsupported for fields that exclude each other or cannot be kept."""
        if self.prompt:
            raise Unsupported(
                "prompt names a template that OpenAI stores; send its text as instructions.", param="prompt"
            )
        if self.previous_response_id is not None and self.conversation is not None:
            raise BadRequest(
                "previous_response_id and conversation are mutually exclusive; send one.",
                param="previous_response_id",
            )
        for name, reason in (("background", "be read"), ("conversation", "join the conversation")):
            if getattr(self, name) and not self.store:
                raise BadRequest(
                    f"{name} needs store to be true: the response could not {reason} otherwise.",
                    param="store",
                )

    def request(
        self,
        items: Sequence[PlacedItem],
        read: Mapping[str, Sequence[Part]],
        limits: RequestLimits,
        hosted: HostedTools = "refuse",
    ) -> ChatRequest:
        """The request of these items, those of earlier turns first. `read`: what their references named, by path. Raises
        BadRequest, Unsupported, TooLarge; each names its field."""
        self.check()
        given = offered(self.tools, self.tool_choice, hosted)
        if len(given.tools) > limits.tools:
            raise BadRequest(
                f"tools has {len(given.tools):,} tools, with those of namespaces; at most {limits.tools:,} are allowed (setting "
                "limits.tools).",
                param="tools",
            )
        thinking, effort, thinking_tokens, variables = self.thinking_asked()
        turns = item_messages.messages(items, read)
        if not turns and self.instructions is None:
            raise BadRequest("input is missing: a text, or a list of items.", param="input")
        if self.instructions is not None:
            turns = (Message("system", (TextPart(self.instructions),)), *turns)
        request = ChatRequest(
            messages=turns,
            model=self.model,
            sampling=self.sampling(max_tokens=self.max_output_tokens, logprobs=self.logprobs),
            stop=tuple(self.stop or ()),
            tools=given.tools,
            tool_choice=given.choice,
            parallel_tool_calls=self.parallel_tool_calls,
            thinking=thinking,
            effort=effort,
            thinking_tokens=thinking_tokens,
            template_variables=variables,
            format=self._format(),
            unknown=self.unknown(),
            unapplied=given.left_out,
        )
        check_text(request.messages, given.tools, limits)
        return request

    def _format(self) -> OutputFormat | None:
        other = self.output_format()
        asked = self.text.format
        if asked.type == "text":
            return other
        if other is not None:
            raise BadRequest(
                f"text.format and {other.param} are mutually exclusive; send one.", param=other.param
            )
        if asked.type == "json_object":
            return OutputFormat("json_object", param="text.format")
        if asked.schema_ is None:
            raise BadRequest("text.format.schema is missing.", param="text.format.schema")
        return OutputFormat(
            "json_schema", schema=dict(asked.schema_), strict=asked.strict, param="text.format"
        )


def check_item_counts(fields: Mapping[str, Any], limits: RequestLimits, name: str = "input") -> None:
    """Raises TooLarge for more items and parts than allowed, BadRequest for too many tools. Call it before validation, as
    `validation.check_counts`."""
    tools, items = fields.get("tools"), fields.get(name)
    if isinstance(tools, list) and len(tools) > limits.tools:
        raise BadRequest(
            f"tools has {len(tools):,} entries; at most {limits.tools:,} are allowed (setting limits.tools).",
            param="tools",
        )
    if not isinstance(items, list):
        return
    count = len(items)
    for item in items if count <= limits.messages else ():
        for key in ("content", "output", "summary") if isinstance(item, dict) else ():
            if isinstance(parts := item.get(key), list):
                count += len(parts)
    if count > limits.messages:
        raise TooLarge(
            f"{name} has more than {limits.messages:,} items and parts (setting limits.messages).", param=name
        )
