"""Anthropic's Messages API, the request side: the bodies of `/v1/messages` and `/v1/messages/count_tokens`.

Owns the pydantic models, which /docs shows, and their conversion to a `ChatRequest`. What constrains the answer is kept or refused by
name; what has no effect here is named in `ignored`. Used by `gateway.anthropic`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal

from msgspec import Struct, structs
from pydantic import AfterValidator, Field, JsonValue

from duologue.errors import BadRequest, TooLarge, Unsupported
from duologue.values.messages import Part
from duologue.values.requests import ChatRequest, OutputFormat
from duologue.wire.anthropic import known_tools
from duologue.wire.anthropic.content_blocks import TextBlocks, each_block, reference, unapplied_in
from duologue.wire.anthropic.conversation import AnthropicMessage, conversation
from duologue.wire.anthropic.thoughts import EFFORTS, ThinkingBody, thinks
from duologue.wire.fields.field_schemas import Nothing
from duologue.wire.fields.schema_types import known_types
from duologue.wire.media_parts import MediaReference
from duologue.wire.validation import (
    MAX_TOKENS,
    Body,
    JsonObject,
    RequestLimits,
    SamplingFields,
    Stops,
    check_counts,
    check_text,
)

WITHOUT_EFFECT = (
    *("service_tier", "speed", "inference_geo", "context_management", "diagnostics", "fallbacks"),
    *("billing_policy", "fallback_credit_token", "user_profile_id"),
)
"""Known fields that change nothing here, or nothing about an answer."""
_REFUSALS = {
    "mcp_servers": "this server calls no MCP servers for a request; call them yourself, and offer their tools in tools",
    "container": "there are no containers here",
    "thread": "this server keeps no conversation of this API; send all messages",
    "compaction": "conversations are not summarised here; ask for a summary in a message",
}


class OutputSchema(Body):
    type: Literal["json_schema"]
    schema_: Annotated[JsonObject, AfterValidator(known_types)] = Field(alias="schema")


class OutputConfig(Body):
    """`effort`: `low`, `medium` and `high` limit adaptive thinking; `xhigh` and `max` do not."""

    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: OutputSchema | None = None


class TranslatedRequest(Struct, frozen=True):
    """`places`: the paths of the request's parts -> those of their blocks in the body."""

    request: ChatRequest
    places: dict[str, str]


class TokenCountBody(Body):
    """The body of `POST /v1/messages/count_tokens`: what makes the prompt of a message."""

    model: str = Field(description="A name from /v1/models, or an alias; empty: the default chat model.")
    messages: list[AnthropicMessage] = Field(min_length=1)
    system: TextBlocks | None = Field(default=None, description="A text, or blocks of text.")
    tools: list[known_tools.AnthropicTool] = Field(default_factory=list)
    tool_choice: known_tools.AnthropicToolChoice | None = None
    thinking: ThinkingBody | None = Field(default=None, description="Default: the model does not think.")
    output_config: OutputConfig | None = None
    output_format: OutputSchema | None = Field(
        default=None, description="The older place of output_config.format."
    )
    cache_control: JsonValue | None = Field(
        default=None, description="Accepted here and in blocks: prompts are cached by themselves."
    )
    metadata: JsonValue | None = None
    mcp_servers: Nothing = None
    container: Nothing = None
    thread: Nothing = None
    compaction: Nothing = None
    service_tier: JsonValue | None = None
    speed: JsonValue | None = None
    inference_geo: JsonValue | None = None
    context_management: JsonValue | None = None
    diagnostics: JsonValue | None = None
    fallbacks: JsonValue | None = None
    billing_policy: JsonValue | None = None
    fallback_credit_token: JsonValue | None = None
    user_profile_id: JsonValue | None = None

    def references(self) -> Iterator[MediaReference]:
        """The blocks that have to be fetched or read first: files, and what is at web addresses. The caller reads them and passes what
        they are to `translated`. Raises BadRequest, Unsupported."""
        for at, message in enumerate(self.messages):
            for place, block in each_block(message.content, f"messages[{at}].content"):
                found = reference(block, place)
                if found is not None:
                    yield found

    def translated(
        self, limits: RequestLimits, references: Mapping[str, Sequence[Part]] = MappingProxyType({})
    ) -> TranslatedRequest:
        """The request as a value. `references`: what those are, by their path. Raises BadRequest, Unsupported, TooLarge; each names its
        field."""
        self._refuse_unsupported()
        tools = known_tools.offered(self.tools)
        talk = conversation(self.system or (), self.messages, references)
        if not talk.messages:
            raise BadRequest("messages have no content.", param="messages")
        if talk.open and talk.messages[-1].tool_calls:
            raise BadRequest(
                "The last message has tool_use blocks; send their results as tool_result blocks of the user.",
                param="messages",
            )
        check_text(talk.messages, tools, limits)
        thinking, choice = self.thinking, self.tool_choice
        request = ChatRequest(
            messages=talk.messages,
            model=self.model,
            tools=tools,
            tool_choice=known_tools.chosen(choice, tools),
            parallel_tool_calls=not (choice and choice.disable_parallel_tool_use),
            thinking=thinks(thinking),
            thinking_tokens=thinking.budget_tokens if thinking and thinks(thinking) else None,
            effort=EFFORTS.get(self._effort) if thinks(thinking) else None,
            continue_final=talk.open,
            format=self._format(),
            unknown=self.unknown(),
            unapplied=self._unapplied(),
        )
        return TranslatedRequest(request, talk.places)

    @property
    def _effort(self) -> str:
        return (self.output_config and self.output_config.effort) or ""

    def _refuse_unsupported(self) -> None:
        for name, reason in _REFUSALS.items():
            if getattr(self, name):
                raise Unsupported(f"{name} is not supported: {reason}.", param=name)

    def _format(self) -> OutputFormat | None:
        config = self.output_config.format if self.output_config else None
        if config is not None and self.output_format is not None:
            raise BadRequest(
                "output_format and output_config.format are mutually exclusive; send the second.",
                param="output_format",
            )
        if config is not None:
            return OutputFormat("json_schema", schema=dict(config.schema_), param="output_config.format")
        if self.output_format is not None:
            return OutputFormat("json_schema", schema=dict(self.output_format.schema_), param="output_format")
        return None

    def _unapplied(self) -> tuple[str, ...]:
        """The names of what has no effect, each once."""
        names = [name for name in WITHOUT_EFFECT if getattr(self, name) is not None]
        for at, message in enumerate(self.messages):
            blocks = each_block(message.content, f"messages[{at}].content")
            names += [name for _, block in blocks if (name := unapplied_in(block)) is not None]
        names += [f"tools[{at}]" for at, tool in enumerate(self.tools) if _is_search(tool)]
        return tuple(dict.fromkeys(names))


class MessagesBody(TokenCountBody, SamplingFields):
    """The body of `POST /v1/messages`. Sampling fields beyond Anthropic's are those of `/v1/chat/completions`."""

    max_tokens: int = Field(
        ge=0,
        le=MAX_TOKENS,
        description="The most tokens of the reply, thinking included; 0: the prompt is only read into the cache.",
    )
    stream: bool = False
    stop_sequences: Stops | None = None

    def translated(
        self, limits: RequestLimits, references: Mapping[str, Sequence[Part]] = MappingProxyType({})
    ) -> TranslatedRequest:
        translated = super().translated(limits, references)
        request = structs.replace(
            translated.request,
            sampling=self.sampling(max_tokens=self.max_tokens or None),
            stop=self.stops,
            ahead=self.max_tokens == 0,
        )
        return structs.replace(translated, request=request)

    @property
    def stops(self) -> tuple[str, ...]:
        """The texts that end the reply."""
        return tuple(dict.fromkeys([*(self.stop_sequences or ()), *(self.stop or ())]))


def check_blocks(body: Mapping[str, Any], limits: RequestLimits) -> None:
    """Raises TooLarge for more messages and blocks than allowed, BadRequest for too many tools. Call it before validation."""
    check_counts(body, limits)
    messages, system = body.get("messages"), body.get("system")
    count = len(system) if isinstance(system, list) else 0
    for message in messages if isinstance(messages, list) else ():
        content = message.get("content") if isinstance(message, dict) else None
        blocks = content if isinstance(content, list) else []
        count += 1 + len(blocks)
        for block in blocks:
            inner = block.get("content") if isinstance(block, dict) else None
            count += len(inner) if isinstance(inner, list) else 0
    if count > limits.messages:
        raise TooLarge(
            f"messages has more than {limits.messages:,} messages and blocks (setting limits.messages).",
            param="messages",
        )


def _is_search(tool: known_tools.AnthropicTool) -> bool:
    return (tool.type or "").startswith(known_tools.SEARCHES)
