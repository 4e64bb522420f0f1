"""How model families write tool calls: the contract of a format, and the table of formats.

A new format is one new file here and one row in `TOOL_FORMATS`. It names the markers that open a region of calls and
creates a scanner for the region. `text/output/channels.py` finds the marker, passes the region to the scanner and
takes what follows it. Formats that wrap JSON share `json_calls.py`. A format is imported when it is first used.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol

from msgspec import Struct

from duologue.errors import BadRequest
from duologue.text.toolcalls.schema_grammar import JsonGrammar
from duologue.values.messages import Tool


class ToolCallSink(Protocol):
    """Receives what a scanner reads, in the order of the text."""

    def open(self, name: str, id: str | None = None) -> None:
        """A call to `name` begins; it cannot be taken back. `id` if the format writes ids."""
        ...

    def arguments(self, text: str) -> None:
        """More of the open call's JSON text."""
        ...

    def close(self, valid: bool) -> None:
        """The open call is complete. `valid`: its arguments are JSON."""
        ...

    def reject(self, text: str, at: int) -> None:
        """This text of the region was not a call and returns to its channel. `at` counts characters from the region's
        first, including the opening marker."""
        ...


class ToolCallScanner(Protocol):
    """Reads one region of calls, from after its opening marker. Where its input is cut into pieces makes no
    difference."""

    @property
    def unclosed(self) -> bool:
        """Once the region is over: its opening marker was returned as text, so the closing one that follows is text
        as well."""
        ...

    def feed(self, text: str) -> str | None:
        """None while the region continues; once it is over, the text after it (perhaps "")."""
        ...

    def finish(self) -> bool:
        """The reply ends inside the region. True if that cut off a call that had begun."""
        ...


class ToolFormat(Protocol):
    """How one model family writes calls."""

    @property
    def starts(self) -> tuple[str, ...]:
        """Markers that open a region of calls. None begins with a backtick, a tilde or a line end."""
        ...

    @property
    def ends(self) -> tuple[str, ...]:
        """Markers that close one. They are dropped where they occur alone in text."""
        ...

    @property
    def in_reasoning(self) -> bool:
        """Whether a region may open inside reasoning, which it then ends."""
        ...

    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> ToolCallScanner:
        """A scanner for the region that `start` opened."""
        ...

    def calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        """Add the rule of one call of these tools with its markers to a grammar; it begins with the first of `starts`.
        `shaped`: their arguments have the shape of the schemas."""
        ...


class ToolFormatEntry(Struct, frozen=True):
    """A row of the table. A chat template uses this format if it contains all of `marks` and none of `unless`."""

    module: str
    marks: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()

    def written_by(self, template: str) -> bool:
        return (
            bool(self.marks)
            and all(mark in template for mark in self.marks)
            and not any(mark in template for mark in self.unless)
        )


# Each module holds FORMAT, a ToolFormat.
TOOL_FORMATS: dict[str, ToolFormatEntry] = {
    "hermes": ToolFormatEntry(
        "duologue.text.toolcalls.hermes",
        ("<tool_call>", "arguments"),
        ("<function=", "<arg_key>", "<parameter=", "<tool_sep"),
    ),
    "qwen": ToolFormatEntry("duologue.text.toolcalls.hermes"),
    "qwen3_xml": ToolFormatEntry(
        "duologue.text.toolcalls.qwen3_xml", ("<tool_call>", "<function=", "<parameter="), ("<arg_key>",)
    ),
    "qwen3_coder": ToolFormatEntry("duologue.text.toolcalls.qwen3_xml"),
}


def tool_format(name: str) -> ToolFormat:
    """The format of this name. Raises BadRequest, listing the known names, if there is none."""
    known = TOOL_FORMATS.get(name)
    if known is None:
        names = ", ".join(sorted(TOOL_FORMATS))
        raise BadRequest(
            f"There is no tool-call format called {name!r}. Known: {names}.",
            code="unknown_tool_format",
            param="format",
        )
    found: ToolFormat = import_module(known.module).FORMAT
    return found


def guess_tool_format(template: str) -> str:
    """The name of the format in a chat template's source; "" if none is recognised."""
    return next((name for name, known in TOOL_FORMATS.items() if known.written_by(template)), "")
