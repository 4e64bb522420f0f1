"""How model families write tool calls: the contract of a format.

A new format is one new file in the package of its kind and one row in `catalogue.py`. It names the markers that open a
region of calls and creates a scanner for the region. `text/output/channels.py` finds the marker, passes the region to
the scanner and takes what follows it. Formats that write JSON share `json_calls.py` and `json_values.py`; those that
write plain values share `parameter_values.py`, and if each value is between tags, `tagged_calls.py`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import chain
from typing import Literal, Protocol

from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.stream.held_text import HeldText
from duologue.values.messages import Tool

CONTROL_TOKEN = re.compile(r"<\|[^|<>\s]{1,40}\|>|<｜[^｜<>]{1,40}｜>")
"""What looks like a control token within a longer marker."""


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

    def enter(self, channel: Literal["content", "reasoning"]) -> None:
        """What follows the region belongs to this channel. For formats of messages (`ToolFormat.frames`) alone."""
        ...


class ToolCallScanner(Protocol):
    """Reads one region of calls, from after its opening marker. Where its input is cut into pieces makes no
    difference."""

    @property
    def unclosed(self) -> bool:
        """Once the region is over: its opening marker was returned as text, so the closing one that follows is text
        as well."""
        ...

    @property
    def pending(self) -> HeldText | None:
        """What it has read and not passed on, and why; None if nothing. Asked only where a reply is traced."""
        ...

    def feed(self, text: str) -> str | None:
        """None while the region continues; once it is over, the text after it (perhaps "")."""
        ...

    def finish(self) -> bool:
        """The reply ends inside the region. True if that cut off a call that had begun."""
        ...


class QuickScanner(ABC):
    """A scanner with a shorter way for most pieces of long arguments, for speed alone."""

    @abstractmethod
    def take(self, text: str) -> str | None:
        """The piece of the open call's arguments that `text` is as a whole; the sink is not told. None, and nothing is
        taken, where it has to be read: `feed` decides then."""


class ToolFormat(ABC):
    """How one model family writes calls."""

    starts: tuple[str, ...] = ()
    """Markers that open a region of calls. None begins with a backtick, a tilde or a line end."""
    ends: tuple[str, ...] = ()
    """Markers that close one. They are dropped where they occur alone in text."""
    line_starts: tuple[str, ...] = ()
    """Words that open a region only as the first text of a line outside code: for families without a marker of their
    own, such as `{`. They may be a fence. Their scanners take a call only of a tool that is offered."""
    in_reasoning: bool = False
    """Whether a region may open inside reasoning, which it then ends."""
    quotable: bool = True
    """Whether a marker inside code is a quotation. Not where every message has markers, since a reply in which a fence
    stays open would lose all that follows."""
    inner: tuple[str, ...] = ()
    """Markers inside a region that a tokenizer may treat as control tokens. Those within `starts` and `ends` need no mention."""
    opening: str = ""
    """The beginning of a region that the family's prompts leave open, where they do."""
    frames: bool = False
    """Whether every message of a reply has markers: then the format is used for replies without tools as well, with no
    tools, and must read no calls then."""

    @property
    def trigger(self) -> str:
        """The text that begins a call and nothing else, from which on a grammar may hold a reply; "" if there is none."""
        return self.starts[0] if self.starts else ""

    @abstractmethod
    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> ToolCallScanner:
        """A scanner for the region that `start` opened: one of `starts` or `line_starts`, or what `opened` returned."""

    @abstractmethod
    def calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        """Add the rule of one call of these tools with its markers to a grammar; it may begin with `trigger`. `shaped`: their arguments have the shape of the schemas."""

    def several_calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        """Add the rule of one or more calls: one region after another, unless a format writes them all in one."""
        call = self.calls(tools, grammar, shaped)
        return grammar.add("calls", f"{call} (space {call})*")

    def triggered_calls(
        self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool, several: bool
    ) -> str:
        """Add the rule of what follows text and begins with `trigger`: one or several calls. Not the same where a header comes
        before the trigger."""
        return (self.several_calls if several else self.calls)(tools, grammar, shaped)

    def opened(self, added: str) -> str:
        """The beginning of the region that the prompt leaves open, given what the template added for the reply; "" if
        it leaves none open."""
        return self.opening if self.opening and added.rstrip().endswith(self.opening) else ""

    @property
    def preserved(self) -> tuple[str, ...]:
        """All that has to be generated as text although a tokenizer may treat it as control tokens."""
        words = (*self.starts, *self.ends, *self.inner)
        return tuple(dict.fromkeys((*words, *chain.from_iterable(map(CONTROL_TOKEN.findall, words)))))
