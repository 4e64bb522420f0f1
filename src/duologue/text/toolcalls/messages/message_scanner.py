"""Reads messages whose header says what they are: a thought, text for the user, or calls.

Shared by `inkling.py`, `kimi_k3.py` and `muse_glimmer.py`; each says what its headers mean and who reads its calls. What turns
out not to be a header is text.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal

from duologue.text.stream.held_text import HeldText, held_text
from duologue.text.stream.markers import Markers
from duologue.text.toolcalls import QuickScanner, ToolCallScanner, ToolCallSink
from duologue.values.messages import Tool

LONGEST_HEADER = 400

MessageKind = Literal["reasoning", "content", "calls", "text"]
"""What a header begins. "text": it is none."""


class MessageScanner(QuickScanner):
    """One message: its header, and the calls if it has some. Of any other message the region is the header."""

    markers: ClassVar[Markers]
    """All that may end a header or cannot stand in one, with the markers that begin one."""

    def __init__(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> None:
        self._sink, self._tools = sink, tools
        self._header, self._pending = "", start
        self._calls: ToolCallScanner | None = None

    @abstractmethod
    def kind(self, header: str, marker: str) -> MessageKind | None:
        """What the message is, given its header up to a marker; None if the marker belongs to the header. With "" for the
        marker: "text" if a header cannot begin like this, else None."""

    @abstractmethod
    def calls(self, header: str) -> ToolCallScanner:
        """A scanner for the calls after this header, which is part of its region."""

    @property
    def unclosed(self) -> bool:
        return self._calls is not None and self._calls.unclosed

    @property
    def pending(self) -> HeldText | None:
        """What is held back: a header as a whole, and what is held of a call."""
        if self._calls is None:
            return held_text(
                [self._header, self._pending], "the header of a message, until it says what follows"
            )
        return self._calls.pending

    def take(self, text: str) -> str | None:
        return self._calls.take(text) if isinstance(self._calls, QuickScanner) else None

    def feed(self, text: str) -> str | None:
        if self._calls is not None:
            return self._calls.feed(text)
        text, self._pending = self._pending + text, ""
        while True:
            hold, match = self.markers.hold(text), self.markers.pattern.search(text)
            if match is None or match.start() >= hold:
                header = self._header + text[:hold]
                if not self._may_be_header(header):
                    return self._give_back(header, text[hold:])
                self._header, self._pending = header, text[hold:]
                return None
            header, rest = self._header + text[: match.start()], text[match.end() :]
            kind = self.kind(header, match[0]) if self._may_be_header(header) else "text"
            if kind == "text":
                # A region has to take at least the marker that began it.
                return self._give_back(header or match[0], match[0] + rest if header else rest)
            self._header, text = header + match[0], rest
            if kind == "calls":
                self._calls = self.calls(self._header)
                return self._calls.feed(rest)
            if kind is not None:
                self._sink.enter(kind)
                return rest

    def finish(self) -> bool:
        if self._calls is not None:
            return self._calls.finish()
        self._sink.reject(self._header + self._pending, 0)
        return False

    def _may_be_header(self, header: str) -> bool:
        return not header or (len(header) <= LONGEST_HEADER and self.kind(header, "") is None)

    def _give_back(self, header: str, rest: str) -> str:
        self._sink.reject(header, 0)
        return rest
