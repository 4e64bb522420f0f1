"""`functions` and `function_call`: OpenAI's tools before there were tools, which old clients still send. Fields of `openai`'s body.

They become tools, of which a reply calls one at most; `completion` writes such a call as `function_call`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, JsonValue, WithJsonSchema

from duologue.errors import BadRequest
from duologue.values.messages import Tool
from duologue.wire.fields.field_schemas import named
from duologue.wire.validation import Body, FunctionBody, ToolBody
from duologue.wire.validation_errors import shortened


def _function_choice(value: object) -> object:
    """The choice as a tool choice: auto, none or function:NAME."""
    if value is None or value in ("auto", "none"):
        return value
    name = value.get("name") if isinstance(value, dict) else None
    if isinstance(name, str) and name:
        return f"function:{name}"
    raise ValueError('must be "auto", "none" or {"name": ...}')


class FunctionFields(Body):
    """The fields of a body."""

    functions: list[FunctionBody] = Field(
        default=[], description="The older form of tools; a call is answered as function_call."
    )
    function_call: (
        Annotated[
            str,
            BeforeValidator(
                _function_choice,
                json_schema_input_type=Literal["auto", "none"]
                | Annotated[dict[str, JsonValue], WithJsonSchema(named())],
            ),
        ]
        | None
    ) = Field(default=None, description="The older form of tool_choice.")

    def offered_functions(self, *, has_tools: bool) -> tuple[str, tuple[Tool, ...]] | None:
        """The tool choice and the tools that they stand for; None where the request has none. Raises BadRequest."""
        if not self.functions:
            if self.function_call not in (None, "none"):
                raise BadRequest("function_call needs functions.", param="function_call")
            return None
        if has_tools:
            raise BadRequest("functions and tools are mutually exclusive; send tools.", param="functions")
        tools = tuple(ToolBody(function=function).tool() for function in self.functions)
        choice = self.function_call or "auto"
        name = choice.removeprefix("function:")
        if name != choice and all(tool.name != name for tool in tools):
            raise BadRequest(
                f"function_call names {shortened(name)!r}, which is not in functions.", param="function_call"
            )
        return choice, tools
