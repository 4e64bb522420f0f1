"""Tools and the tool choice of the Responses API.

Functions are offered as everywhere. A custom tool takes a text instead of arguments: the model is offered a function with one text, and its
call is given back as the custom tool's. The tools of a namespace are offered under its name and theirs. Tools that run at OpenAI are refused by
name, or left out where the operator says so. Used by `response_body`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct
from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, JsonValue, Tag, WithJsonSchema

from duologue.errors import Unsupported
from duologue.values.messages import Tool
from duologue.wire.fields.field_schemas import CHOSEN_ITEMS
from duologue.wire.fields.schema_types import known_types
from duologue.wire.validation import (
    NO_PARAMETERS,
    Body,
    JsonObject,
    ToolChoice,
    check_tool_choice,
    narrowed_tools,
    part_tag,
)
from duologue.wire.validation_errors import TAG, shortened

MAX_TOOLS = 128
"""Of one namespace."""
CUSTOM_PARAMETERS: dict[str, object] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
    "additionalProperties": False,
}
SEPARATOR = "__"
"""Between a namespace and a tool's name, as models get it."""
HostedTools = Literal["refuse", "ignore"]
"""How a tool that runs at OpenAI is handled."""


class CalledTool(Struct, frozen=True):
    """What the name of a call stands for, where that is not a function of this name."""

    name: str
    namespace: str | None = None
    custom: bool = False


class FunctionToolBody(Body):
    type: Literal["function"]
    name: str = Field(min_length=1, max_length=256)
    description: str | None = None
    parameters: Annotated[JsonObject, AfterValidator(known_types)] | None = None
    strict: bool | None = None

    def tool(self, where: str) -> Tool:
        parameters = NO_PARAMETERS if self.parameters is None else self.parameters
        return Tool(self.name, self.description or "", dict(parameters), bool(self.strict))


class CustomFormatBody(Body):
    type: Literal["text", "grammar"] = "text"


class CustomToolBody(Body):
    """A tool that takes a text. Its `format` may only be `text`: a grammar could not be kept."""

    type: Literal["custom"]
    name: str = Field(min_length=1, max_length=256)
    description: str | None = None
    format: CustomFormatBody = CustomFormatBody()

    def tool(self, where: str) -> Tool:
        if self.format.type != "text":
            raise Unsupported(
                f"{where}.format is a grammar, which is not kept for a custom tool's input; offer a function with a schema.",
                param=f"{where}.format",
            )
        return Tool(self.name, self.description or "", CUSTOM_PARAMETERS)


AnyClientTool = FunctionToolBody | CustomToolBody
ClientTool = Annotated[
    Annotated[FunctionToolBody, Tag("~function")] | Annotated[CustomToolBody, Tag("~custom")],
    Discriminator(part_tag),
]


class NamespaceToolBody(Body):
    """Tools under a common name."""

    type: Literal["namespace"]
    name: str = Field(min_length=1, max_length=128)
    description: str | None = None
    tools: list[ClientTool] = Field(max_length=MAX_TOOLS)


class HostedToolBody(Body):
    """Any other tool: one that runs at OpenAI."""

    type: str = Field(max_length=64)


AnyResponseTool = FunctionToolBody | CustomToolBody | NamespaceToolBody | HostedToolBody


def _tool_tag(value: object) -> str | None:
    tag = part_tag(value)
    return tag if tag is None or tag.removeprefix(TAG) in ("function", "custom", "namespace") else "~hosted"


ResponseTool = Annotated[
    Annotated[FunctionToolBody, Tag("~function")]
    | Annotated[CustomToolBody, Tag("~custom")]
    | Annotated[NamespaceToolBody, Tag("~namespace")]
    | Annotated[HostedToolBody, Tag("~hosted")],
    Discriminator(_tool_tag),
]


def _choice(value: object) -> object:
    """A choice of a custom tool is one of the function that stands for it."""
    if isinstance(value, dict):
        kind = value.get("type")
        if kind == "custom":
            return {**value, "type": "function"}
        if isinstance(kind, str) and kind not in ("function", "allowed_tools"):
            raise ValueError(
                f"names the tool {shortened(kind)!r}, which runs at OpenAI and not on this server"
            )
    return value


ResponseToolChoice = Annotated[
    ToolChoice,
    BeforeValidator(
        _choice,
        json_schema_input_type=Literal["auto", "none", "required"]
        | Annotated[dict[str, JsonValue], WithJsonSchema(CHOSEN_ITEMS)],
    ),
]


class OfferedTools(Struct, frozen=True):
    """The choice and the tools of a request; `left_out` are the hosted ones."""

    choice: str
    tools: tuple[Tool, ...]
    left_out: tuple[str, ...] = ()


def offered(tools: Sequence[AnyResponseTool], asked: str | None, hosted: HostedTools) -> OfferedTools:
    """Raises BadRequest, Unsupported."""
    every: list[Tool] = []
    left_out = []
    for index, tool in enumerate(tools):
        where = f"tools[{index}]"
        if isinstance(tool, HostedToolBody):
            if hosted == "refuse":
                raise Unsupported(
                    f"{where} is {shortened(tool.type)}, which runs at OpenAI and not on this server. Leave it out, or offer what it "
                    "does as a function.",
                    param=where,
                )
            left_out.append(f"{where}.{shortened(tool.type)}")
        elif isinstance(tool, NamespaceToolBody):
            every += (
                msgspec.structs.replace(inner.tool(where), name=called_name(inner.name, tool.name))
                for inner in tool.tools
            )
        else:
            every.append(tool.tool(where))
    choice, left = narrowed_tools(asked or "auto", tuple(every))
    check_tool_choice(choice, left)
    return OfferedTools(choice, left, tuple(left_out))


def called_name(name: str, namespace: str | None) -> str:
    """A tool's name as models get it."""
    return name if namespace is None else namespace + SEPARATOR + name


def called_tools(tools: Sequence[AnyResponseTool]) -> dict[str, CalledTool]:
    """What the names of calls stand for, of custom tools and those of a namespace."""
    names: dict[str, CalledTool] = {}
    for tool in tools:
        if isinstance(tool, CustomToolBody):
            names[tool.name] = CalledTool(tool.name, custom=True)
        elif isinstance(tool, NamespaceToolBody):
            for inner in tool.tools:
                called = CalledTool(inner.name, tool.name, isinstance(inner, CustomToolBody))
                names[called_name(inner.name, tool.name)] = called
    return names


def shown_tools(tools: Sequence[AnyResponseTool]) -> list[dict[str, Any]]:
    """The tools as a response repeats them."""
    shown = []
    for tool in tools:
        fields = tool.model_dump(exclude_none=True)
        if isinstance(tool, FunctionToolBody):
            fields = {"parameters": dict(NO_PARAMETERS), "strict": bool(tool.strict)} | fields
        shown.append(fields)
    return shown
