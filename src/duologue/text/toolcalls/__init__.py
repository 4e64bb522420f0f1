"""How model families write tool calls: the contract of a format, and the table of their names.

A new format is one new file here and one line in `TOOL_FORMATS`. It names the markers that open a region of calls and
makes a scanner for the region; the machine in `text/output/channels.py` finds the marker, hands the region over and takes
what is left after it. Formats that wrap JSON share `json_calls.py`.

Knows no channel and no dialect. A format is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol

from msgspec import Struct

from duologue.errors import BadRequest
from duologue.text.toolcalls.schema_grammar import JsonGrammar
from duologue.values.messages import Tool


class CallSink(Protocol):
    """Where a scanner says what it read, in the order of the text."""

    def open(self, name: str, id: str | None = None) -> None:
        """A call to `name` begins. `id` where the format writes ids of its own. There is no way back from here."""
        ...

    def arguments(self, text: str) -> None:
        """More of the open call's JSON text."""
        ...

    def close(self, valid: bool) -> None:
        """The open call is whole. `valid`: its arguments are JSON."""
        ...

    def reject(self, text: str, at: int) -> None:
        """This text of the region was no call and goes back to where it came from. `at` characters after the
        region's first, the opening marker included."""
        ...


class CallScanner(Protocol):
    """Reads one region of calls, from behind its opening marker. Cutting its input elsewhere changes nothing."""

    @property
    def unclosed(self) -> bool:
        """Once the region is over: its opening marker was given back as text, so the closing one that will follow
        is text as well."""
        ...

    def feed(self, text: str) -> str | None:
        """None while the region goes on; once it is over, the text behind it (perhaps "")."""
        ...

    def finish(self) -> bool:
        """The reply ends inside the region. True when it cut a call that had begun and is not whole."""
        ...


class ToolFormat(Protocol):
    """One family's way to write calls."""

    @property
    def starts(self) -> tuple[str, ...]:
        """Markers that open a region of calls. None begins with a backtick, a tilde or a line end."""
        ...

    @property
    def ends(self) -> tuple[str, ...]:
        """Markers that close one; met on their own in text, they are dropped."""
        ...

    @property
    def in_reasoning(self) -> bool:
        """Whether a region may open inside reasoning, which it then ends."""
        ...

    def scanner(self, start: str, sink: CallSink, tools: Sequence[Tool]) -> CallScanner:
        """A scanner for the region that `start` opened."""
        ...

    def calls(self, tools: Sequence[tuple[str, str]], grammar: JsonGrammar) -> str:
        """The rule of one call with its markers, added to a grammar; it begins with the first of `starts`. `tools` are names,
        and the rules of their arguments."""
        ...


class KnownFormat(Struct, frozen=True):
    """A row of the table. A chat template writes this format when it holds all of `marks` and none of `unless`."""

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
TOOL_FORMATS: dict[str, KnownFormat] = {
    "hermes": KnownFormat(
        "duologue.text.toolcalls.hermes",
        ("<tool_call>", "arguments"),
        ("<function=", "<arg_key>", "<parameter=", "<tool_sep"),
    ),
    "qwen": KnownFormat("duologue.text.toolcalls.hermes"),
}


def tool_format(name: str) -> ToolFormat:
    """The format called `name`. Raises BadRequest, with the known names, when there is none."""
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
    """The name of the format a chat template (its source) writes; "" when none is recognised."""
    return next((name for name, known in TOOL_FORMATS.items() if known.written_by(template)), "")
