"""What the request bodies of the chat dialects share: size limits, strictness, sampling parameters, tools, messages.

Owns the range of every sampling parameter and the names it is accepted under. Unknown fields are kept (`unknown`), so that a
dialect can report or tolerate them. Used by `openai`, `chat`, `voice`, `duplex`, `speech` and `transcripts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, Protocol, TypeVar

import msgspec
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from duologue.errors import BadRequest, TooLarge
from duologue.values.messages import Message, Part, Role, TextPart, Tool, ToolCall
from duologue.values.requests import Effort, Sampling
from duologue.wire.fields.field_schemas import CHOSEN_TOOLS, unkept
from duologue.wire.fields.schema_types import known_types
from duologue.wire.json_size import MAX_VALUES, has_more_values
from duologue.wire.validation_errors import TAG, refusal, shortened

B = TypeVar("B", bound="Body")

MAX_TOKENS = 1_000_000
MAX_STOPS = 16
MAX_BIASES = 100_000
MAX_BIAS = 10_000
BAN = -100.0
"""The bias by which the OpenAI API bans a token."""
_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)\s*\Z")
MEGABYTE = 1024 * 1024
EFFORTS: dict[str, Effort] = {"minimal": "low", "low": "low", "medium": "medium", "high": "high"}
"""Values of `reasoning_effort` that other servers accept -> ours. "none" means no thinking."""
ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
"""The roles that requests have -> ours."""
FUNCTION_CALL = "call_function"
"""The id of a call in a form that has none: a message has at most one of them, and its result follows it."""
ALLOWED = "allowed:"
NO_PARAMETERS: dict[str, object] = {"type": "object", "properties": {}, "additionalProperties": False}
"""Of a tool that names no parameters: it takes none."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# The beginning that both halves share comes first: a search for it is much quicker than one for two expressions.
_LONE_SURROGATE = re.compile(
    rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2})"
)
_ESCAPED_PAIR = 12
"""Characters of a surrogate pair in escapes."""


class RequestLimits(Protocol):
    """Size limits of a request. Each is a setting, `limits.NAME`, and its error names it."""

    @property
    def text_mb(self) -> int: ...

    @property
    def messages(self) -> int: ...

    @property
    def tools(self) -> int: ...

    @property
    def choices(self) -> int: ...


class Body(BaseModel):
    """A JSON body with strict types. null means that a field is absent; unknown fields are kept."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_null(cls, data: Any) -> Any:
        # Otherwise {"max_tokens": null, "max_new_tokens": 5} would take the null of the first spelling.
        if isinstance(data, dict) and None in data.values():
            return {name: value for name, value in data.items() if value is not None}
        return data

    def unknown(self, prefix: str = "") -> tuple[str, ...]:
        """The names of the unknown fields, with `prefix` in front."""
        return tuple(prefix + name for name in self.model_extra or ())


def _portable(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    # msgpack, in the protocol to the workers, has integers of 64 bits: a larger one would fail only there.
    try:
        msgspec.msgpack.encode(value)
    except OverflowError:
        raise ValueError("must not contain whole numbers beyond 64 bits") from None
    return value


JsonObject = Annotated[dict[str, JsonValue], AfterValidator(_portable)]


def _stops(value: object) -> object:
    if isinstance(value, str):
        value = [value]
    if isinstance(value, list) and all(isinstance(stop, str) for stop in value):
        return [stop for stop in value if stop]  # an empty stop would end every reply at once
    if value is None:
        return value
    raise ValueError("must be a string or a list of strings")


def _tool_choice(value: object) -> object:
    """A tool choice as requests have it: auto, none, required or function:NAME."""
    if value is None or value in ("auto", "none", "required"):
        return value
    if isinstance(value, dict) and value.get("type") == "function":
        function = value.get("function", value)
        name = function.get("name") if isinstance(function, dict) else None
        if isinstance(name, str) and name:
            return f"function:{name}"
    if isinstance(value, dict) and value.get("type") == "allowed_tools":
        return _allowed_tools(value.get("allowed_tools", value))
    raise ValueError('must be "auto", "none", "required" or {"type": "function", "function": {"name": ...}}')


def _allowed_tools(value: object) -> str:
    """A choice among some of the tools, as a text that `narrowed_tools` reads: "allowed:MODE:" and the JSON list of names."""
    mode, tools = (value.get("mode", "auto"), value.get("tools")) if isinstance(value, dict) else ("", None)
    names = [_tool_name(tool) for tool in tools] if isinstance(tools, list) else []
    if mode not in ("auto", "required") or not names or None in names:
        raise ValueError(
            'of the type allowed_tools must have a mode ("auto" or "required") and a list of tools, each '
            '{"type": "function", "function": {"name": ...}}'
        )
    return f"{ALLOWED}{mode}:{msgspec.json.encode(names).decode()}"


def _tool_name(tool: object) -> str | None:
    function = tool.get("function", tool) if isinstance(tool, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) and name else None


def _banned(value: object) -> object:
    if isinstance(value, list) and len(value) > MAX_BIASES:
        raise ValueError(f"may have at most {MAX_BIASES:,} entries")
    return value


def _biases(value: object) -> object:
    # Checked before pydantic validates the entries: millions of them would block the event loop for seconds.
    if isinstance(value, dict) and len(value) > MAX_BIASES:
        raise ValueError(f"may have at most {MAX_BIASES:,} entries")
    if isinstance(value, dict):
        for name, bias in value.items():
            if _NUMBER.match(name) and not (name.isascii() and name.isdigit()):
                raise ValueError(f"has the key {name[:64]!r}; keys are token ids (0 and up) or texts")
            if isinstance(bias, int | float) and abs(bias) > MAX_BIAS:
                raise ValueError(f"must have biases from -{MAX_BIAS:,} to {MAX_BIAS:,}")
            if type(bias) not in (int, float):
                return {
                    name: bias
                }  # pydantic refuses it: one error instead of one for each entry, which take long
    return value


Stops = Annotated[
    list[str], Field(max_length=MAX_STOPS), BeforeValidator(_stops, json_schema_input_type=str | list[str])
]
ToolChoice = Annotated[
    str,
    BeforeValidator(
        _tool_choice,
        json_schema_input_type=Literal["auto", "none", "required"]
        | Annotated[dict[str, JsonValue], WithJsonSchema(CHOSEN_TOOLS)],
    ),
]


# Beyond 2**53 many clients lose digits, so these are not described.
Seed = Annotated[int, WithJsonSchema({"type": "integer", "minimum": -(2**53), "maximum": 2**53})]


class SamplingFields(Body):
    """The sampling parameters, named as in `Sampling`, with the other names that clients use for them."""

    temperature: float | None = Field(default=None, ge=0, le=100)
    top_k: int | None = Field(default=None, ge=-1, le=1_000_000)
    top_p: float | None = Field(default=None, ge=0, le=1)
    min_p: float | None = Field(default=None, ge=0, le=1)
    typical_p: float | None = Field(
        default=None, ge=0, le=1, validation_alias=AliasChoices("typical_p", "typical")
    )
    top_n_sigma: float | None = Field(default=None, ge=-1, le=100)
    repetition_penalty: float | None = Field(
        default=None, ge=0.01, le=100, validation_alias=AliasChoices("repetition_penalty", "repeat_penalty")
    )
    repetition_window: int | None = Field(
        default=None,
        ge=-1,
        le=1_000_000,
        validation_alias=AliasChoices("repetition_window", "repeat_last_n", "penalty_range"),
    )
    presence_penalty: float | None = Field(default=None, ge=-100, le=100)
    frequency_penalty: float | None = Field(default=None, ge=-100, le=100)
    length_penalty: float | None = Field(default=None, ge=-100, le=100)
    dynamic_temperature_range: float | None = Field(
        default=None,
        ge=0,
        le=100,
        validation_alias=AliasChoices("dynamic_temperature_range", "dynatemp_range"),
    )
    dynamic_temperature_exponent: float | None = Field(
        default=None,
        ge=0,
        le=100,
        validation_alias=AliasChoices("dynamic_temperature_exponent", "dynatemp_exponent"),
    )
    xtc_probability: float | None = Field(default=None, ge=0, le=1)
    xtc_threshold: float | None = Field(default=None, ge=0, le=1)
    dry_multiplier: float | None = Field(default=None, ge=0, le=100)
    dry_base: float | None = Field(default=None, ge=0, le=100)
    dry_allowed_length: int | None = Field(default=None, ge=0, le=1_000_000)
    dry_penalty_last_n: int | None = Field(
        default=None, ge=-1, le=1_000_000, validation_alias=AliasChoices("dry_penalty_last_n", "dry_range")
    )
    dry_sequence_breakers: list[str] | None = Field(default=None, max_length=64)
    mirostat: int | None = Field(
        default=None, ge=0, le=2, validation_alias=AliasChoices("mirostat", "mirostat_mode")
    )
    mirostat_tau: float | None = Field(default=None, ge=0, le=100)
    mirostat_eta: float | None = Field(default=None, ge=0, le=1)
    samplers: list[str] | None = Field(default=None, max_length=32)
    min_keep: int | None = Field(default=None, ge=0, le=1_000_000)
    seed: Seed | None = Field(default=None, ge=-(2**63), le=2**63 - 1)
    ignore_eos: bool | None = None
    logit_bias: Annotated[dict[str, float], BeforeValidator(_biases)] | None = None
    stop: Stops | None = Field(default=None, validation_alias=AliasChoices("stop", "stop_sequence"))
    banned_tokens: (
        Annotated[list[Annotated[int, Field(ge=0, le=10_000_000)]], BeforeValidator(_banned)] | None
    ) = Field(
        default=None, description="Ids of tokens that are not written: the same as a logit_bias of -100."
    )
    min_tokens: Annotated[JsonValue, unkept("ask for a long answer in the prompt, or send ignore_eos")] = None
    stop_token_ids: Annotated[JsonValue, unkept("send the text of the tokens as stop")] = None
    banned_strings: Annotated[JsonValue, unkept("send the ids of their tokens as banned_tokens")] = None
    bad_words: Annotated[JsonValue, unkept("send the ids of their tokens as banned_tokens")] = None
    allowed_token_ids: Annotated[JsonValue, unkept("send guided_choice, a regex_pattern or a grammar")] = None
    allowed_tools: Annotated[
        JsonValue,
        unkept('send tool_choice {"type": "allowed_tools", "allowed_tools": {"mode": ..., "tools": [...]}}'),
    ] = None

    def sampling(self, **others: int | float | None) -> Sampling:
        """The parameters as values; `others` are those that a dialect names differently."""
        values: dict[str, Any] = {
            name: value
            for name in Sampling.__struct_fields__
            if name in SamplingFields.model_fields and (value := getattr(self, name)) is not None
        }
        for name in ("dry_sequence_breakers", "samplers"):
            if name in values:
                values[name] = tuple(values[name])
        if self.banned_tokens:
            values["logit_bias"] = {
                **values.get("logit_bias", {}),
                **{str(id): BAN for id in self.banned_tokens},
            }
        if self.seed == -1:  # llama.cpp's clients send -1 for a random seed
            del values["seed"]
        return Sampling(**(values | {name: value for name, value in others.items() if value is not None}))


class FunctionBody(Body):
    name: str = Field(min_length=1, max_length=256)
    description: str | None = None
    parameters: Annotated[JsonObject, AfterValidator(known_types)] | None = None
    strict: bool | None = None


class ToolBody(Body):
    type: Literal["function"] = "function"
    function: FunctionBody

    def tool(self) -> Tool:
        function = self.function
        parameters = NO_PARAMETERS if function.parameters is None else function.parameters
        return Tool(function.name, function.description or "", dict(parameters), bool(function.strict))


class ToolCallFunctionBody(Body):
    name: str = Field(min_length=1)
    arguments: str = ""


class ToolCallBody(Body):
    """A tool call in an assistant message."""

    id: str = ""
    type: Literal["function"] = "function"
    function: ToolCallFunctionBody

    def tool_call(self) -> ToolCall:
        return ToolCall(self.id, self.function.name, self.function.arguments)


class MessageFields(Body):
    """The fields of a message except its content, which differs between the dialects."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    name: str | None = None
    reasoning: str | None = Field(
        default=None, validation_alias=AliasChoices("reasoning_content", "reasoning")
    )
    tool_calls: list[ToolCallBody] | None = None
    tool_call_id: str | None = None
    function_call: ToolCallFunctionBody | None = None

    def message(self, parts: Iterable[Part]) -> Message:
        """The message as a value. `function_call` and the role "function" are the older form of one tool call and its result."""
        calls = [entry.tool_call() for entry in self.tool_calls or ()]
        if self.function_call is not None and not calls:
            calls = [ToolCall(FUNCTION_CALL, self.function_call.name, self.function_call.arguments)]
        return Message(
            role=ROLES[self.role],
            parts=tuple(parts),
            reasoning=self.reasoning,
            tool_calls=tuple(calls),
            tool_call_id=FUNCTION_CALL if self.role == "function" else self.tool_call_id,
            name=self.name,
        )


def content_parts(value: object) -> object:
    """A message's content as a list of parts; a string becomes one text part."""
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    if isinstance(value, list):
        return value
    raise ValueError("must be a string or a list of parts")


def part_tag(value: object) -> str | None:
    """The tag of a part in a pydantic union: its type, prefixed so that it cannot be mistaken for a field's name."""
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return TAG + kind if isinstance(kind, str) else None


def check_counts(body: Mapping[str, Any], limits: RequestLimits) -> None:
    """Raises TooLarge for more messages and parts than allowed, BadRequest for too many tools.

    Call it before validation: validating two million entries would block the server for a minute.
    """
    messages = body.get("messages")
    for name in ("tools", "functions"):
        if isinstance(tools := body.get(name), list) and len(tools) > limits.tools:
            raise BadRequest(
                f"{name} has {len(tools):,} entries; at most {limits.tools:,} are allowed (setting limits.tools).",
                param=name,
            )
    if isinstance(messages, list) and _is_longer(messages, limits.messages):
        raise TooLarge(
            f"messages has more than {limits.messages:,} messages and parts (setting limits.messages).",
            param="messages",
        )


def _is_longer(messages: list[Any], limit: int) -> bool:
    """Whether messages, parts and tool calls together are more than `limit`."""
    count = len(messages)
    for message in messages:
        if count > limit:
            break
        if isinstance(message, dict):
            for key in ("content", "tool_calls", "images"):
                if isinstance(some := message.get(key), list):
                    count += len(some)
    return count > limit


def check_text(messages: Iterable[Message], tools: Iterable[Tool], limits: RequestLimits) -> None:
    """Raises TooLarge when messages and tools together have more text than allowed."""
    in_messages = sum(_size(message) for message in messages)
    in_tools = sum(
        len(tool.description.encode()) + len(msgspec.json.encode(tool.parameters)) for tool in tools
    )
    allowed = limits.text_mb * MEGABYTE
    if in_messages + in_tools > allowed:
        raise TooLarge(
            f"The messages and tools have {in_messages + in_tools:,} bytes of text; at most {allowed:,} are allowed "
            "(setting limits.text_mb).",
            param="messages" if in_messages > allowed else "tools" if in_tools > allowed else None,
        )


def _size(message: Message) -> int:
    """Bytes of text in a message, with its reasoning and its tool calls."""
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    texts += [message.reasoning or "", *(each.name + each.arguments for each in message.tool_calls)]
    return sum(len(text.encode()) for text in texts)


def narrowed_tools(choice: str, tools: tuple[Tool, ...]) -> tuple[str, tuple[Tool, ...]]:
    """The choice and the tools that are left of it, where it allows only some of them. Raises BadRequest for unknown ones."""
    if not choice.startswith(ALLOWED):
        return choice, tools
    mode, _, names = choice.removeprefix(ALLOWED).partition(":")
    allowed = msgspec.json.decode(names, type=list[str])
    for name in allowed:
        if all(tool.name != name for tool in tools):
            raise BadRequest(
                f"tool_choice allows {shortened(name)!r}, which is not in tools.", param="tool_choice"
            )
    return mode, tuple(tool for tool in tools if tool.name in allowed)


def check_tool_choice(choice: str, tools: Sequence[Tool]) -> None:
    """Raises BadRequest when the choice needs a tool that the request does not have."""
    if choice == "required" and not tools:
        raise BadRequest("tool_choice is required, but tools is empty.", param="tool_choice")
    name = choice.removeprefix("function:")
    if name != choice and all(tool.name != name for tool in tools):
        raise BadRequest(
            f"tool_choice names {shortened(name)!r}, which is not in tools.", param="tool_choice"
        )


def decode_json(data: str | bytes) -> dict[str, Any]:
    """A JSON object. Raises BadRequest, and TooLarge for one of more values than any request needs."""
    if isinstance(data, bytes):
        data = data.removeprefix(BYTE_ORDER_MARK)  # some editors and shells write one
    if not data:
        raise BadRequest("The request is empty; send a JSON object.", code="invalid_json")
    if has_more_values(data):
        raise TooLarge(f"The request has more than {MAX_VALUES:,} JSON values. Send less at a time.")
    try:
        value = msgspec.json.decode(data)
    except UnicodeError:
        raise BadRequest(
            "The request is not valid JSON: it is not UTF-8 text.", code="invalid_json"
        ) from None
    except msgspec.DecodeError as error:
        reason = str(error)
        if ("surrogate" in reason or "truncated" in reason) and _has_lone_surrogate(data):
            reason = "it contains half of a surrogate pair"
        raise BadRequest(f"The request is not valid JSON: {reason}.", code="invalid_json") from None
    except RecursionError:
        raise BadRequest("The request is too deeply nested.", code="invalid_json") from None
    if not isinstance(value, dict):
        raise BadRequest("The request must be a JSON object.", code="invalid_json")
    return value


def _has_lone_surrogate(data: str | bytes) -> bool:
    """Whether an escape like \\ud83d lacks its other half. Clients that cut text in the middle of an emoji send these, and the
    decoder's own message, which calls the data truncated, would mislead."""
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
    # An escaped backslash does not begin another escape; what is left of it still parts two halves.
    raw = raw.replace(b"\\\\", b"--")
    # In pieces, between which other threads run; what begins in one may end in the next.
    return any(
        (match := _LONE_SURROGATE.search(raw, start, start + MEGABYTE + _ESCAPED_PAIR)) is not None
        and match.start() < start + MEGABYTE
        for start in range(0, len(raw), MEGABYTE)
    )


def validate(model: type[B], value: object) -> B:
    """The body as `model`. Raises BadRequest that names the field."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise refusal(error, model) from None
    except RecursionError:
        raise BadRequest("The request is too deeply nested.", code="invalid_json") from None
