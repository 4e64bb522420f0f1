"""The tools of Anthropic's requests as functions.

A tool of the client is one, with its schema. Those that Anthropic defines and the client runs (`bash`, the text editor, memory) are
functions with the schemas below: the client understands their arguments. Those that Anthropic's servers run are refused by name. Used by
`messages_body`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, ConfigDict, Field, WithJsonSchema
from pydantic.config import JsonDict

from duologue.errors import BadRequest, Unsupported
from duologue.values.messages import Tool
from duologue.wire.fields.schema_types import known_types
from duologue.wire.validation import Body, JsonObject
from duologue.wire.validation_errors import shortened

SEARCHES = "tool_search_tool_"
"""Begins the types of tools that find others. All tools are offered here, so there is nothing to find."""
MAX_EXAMPLES = 100


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _object(required: Sequence[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


_LINES = {"type": "array", "items": {"type": "integer"}}
_BASH = (
    "Runs a command in a bash shell that keeps its state between calls.",
    _object(
        (),
        command=_text("The command. Required unless the shell is restarted."),
        restart={"type": "boolean", "description": "Restarts the shell."},
    ),
)
_EDITOR = (
    "Views and changes text files.",
    _object(
        ("command", "path"),
        command={"type": "string", "enum": ["view", "create", "str_replace", "insert"]},
        path=_text("The path of the file or folder."),
        file_text=_text("Of create: the content of the new file."),
        old_str=_text("Of str_replace: the text to replace, which must occur exactly once."),
        new_str=_text("Of str_replace: the text that takes its place."),
        insert_line={"type": "integer", "description": "Of insert: the line after which the text goes."},
        insert_text=_text("Of insert: the text."),
        view_range=_LINES | {"description": "Of view: the first and the last line; -1 is the end."},
    ),
)
_MEMORY = (
    "Keeps notes in files below /memories, which last beyond this conversation.",
    _object(
        ("command",),
        command={
            "type": "string",
            "enum": ["view", "create", "str_replace", "insert", "delete", "rename"],
        },
        path=_text("The path of the file or folder, below /memories."),
        view_range=_LINES | {"description": "Of view: the first and the last line."},
        file_text=_text("Of create: the content."),
        old_str=_text("Of str_replace: the text to replace."),
        new_str=_text("Of str_replace: the text that takes its place."),
        insert_line={"type": "integer", "description": "Of insert: the line after which the text goes."},
        insert_text=_text("Of insert: the text."),
        old_path=_text("Of rename: the path so far."),
        new_path=_text("Of rename: the new path."),
    ),
)
KNOWN: dict[str, tuple[str, dict[str, Any]]] = {
    "bash_": _BASH,
    "text_editor_": _EDITOR,
    "memory_": _MEMORY,
}
"""The beginning of a type -> what the tool does, and its schema."""
_TYPES = f"^(custom$|{'|'.join((*KNOWN, SEARCHES))})"
_CALLERS: JsonDict = {
    "type": "array",
    "items": {"type": "string"},
    "contains": {"const": "direct"},
    "maxItems": 16,
}


_OF_THE_CLIENT: JsonDict = {"type": {"enum": [None, "custom"]}}
_INCOMPLETE: JsonDict = {
    "anyOf": [
        {"properties": {**_OF_THE_CLIENT, "name": {"maxLength": 0}}},
        {"properties": {**_OF_THE_CLIENT, "input_schema": {"type": "null"}}},
    ]
}
"""A tool of the client that lacks its name or its schema."""


class AnthropicTool(Body):
    """A tool of the client, or one that Anthropic defines."""

    model_config = ConfigDict(json_schema_extra={"not": _INCOMPLETE})

    type: (
        Annotated[str, Field(max_length=128), WithJsonSchema({"type": "string", "pattern": _TYPES})] | None
    ) = Field(
        default=None,
        description="custom, or a type such as bash_20250124 or text_editor_20250728.",
    )
    name: str = Field(default="", max_length=256)
    description: str | None = None
    input_schema: Annotated[JsonObject, AfterValidator(known_types)] | None = None
    strict: bool | None = None
    input_examples: list[JsonObject] | None = Field(default=None, max_length=MAX_EXAMPLES)
    allowed_callers: Annotated[list[str], WithJsonSchema(_CALLERS)] | None = Field(
        default=None, max_length=16
    )


class AnthropicToolChoice(Body):
    type: Literal["auto", "any", "tool", "none"]
    name: str = ""
    disable_parallel_tool_use: bool = False


def offered(tools: Sequence[AnthropicTool]) -> tuple[Tool, ...]:
    """The tools as functions. Raises BadRequest, Unsupported."""
    functions = (_function(tool, f"tools[{at}]") for at, tool in enumerate(tools))
    return tuple(function for function in functions if function is not None)


def chosen(choice: AnthropicToolChoice | None, tools: Sequence[Tool]) -> str:
    """The choice as a `ChatRequest` has it. Raises BadRequest where there is nothing to choose."""
    match choice.type if choice else "auto":
        case "any":
            if not tools:
                raise BadRequest("tool_choice is any, but there are no tools.", param="tool_choice")
            return "required"
        case "tool":
            name = choice.name if choice else ""
            if all(tool.name != name for tool in tools):
                raise BadRequest(
                    f"tool_choice names {shortened(name)!r}, which is not in tools.", param="tool_choice.name"
                )
            return f"function:{name}"
        case "none":
            return "none"
    return "auto"


def _function(tool: AnthropicTool, where: str) -> Tool | None:
    kind = tool.type or "custom"
    if kind.startswith(SEARCHES):
        return None
    if tool.allowed_callers and "direct" not in tool.allowed_callers:
        raise Unsupported(
            f"{where}.allowed_callers: no code that could call the tool is run here; leave the tool out, or add direct.",
            param=f"{where}.allowed_callers",
        )
    if kind != "custom":
        prefix = next((prefix for prefix in KNOWN if kind.startswith(prefix)), None)
        if prefix is None:
            raise Unsupported(
                f"{where} is {shortened(kind)}, which Anthropic's servers run or their models were trained on; it does not "
                "exist here. Leave it out, or offer a tool of your own with an input_schema.",
                param=f"{where}.type",
            )
        description, schema = KNOWN[prefix]
        return Tool(
            tool.name or prefix.strip("_"), tool.description or description, schema, bool(tool.strict)
        )
    if not tool.name:
        raise BadRequest(f"{where}.name is missing.", param=f"{where}.name")
    if tool.input_schema is None:
        raise BadRequest(f"{where}.input_schema is missing.", param=f"{where}.input_schema")
    return Tool(tool.name, _described(tool), dict(tool.input_schema), bool(tool.strict))


def _described(tool: AnthropicTool) -> str:
    description = tool.description or ""
    if not tool.input_examples:
        return description
    examples = "\n".join(msgspec.json.encode(example).decode() for example in tool.input_examples)
    return f"{description}\n\nExamples of its input:\n{examples}".lstrip()
