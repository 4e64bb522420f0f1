"""The events of a reply as content blocks, one after the other, as Anthropic's messages have them.

Owns where a block begins and ends: a stream and a whole message have the same blocks. A block has at least one character that is not
blank, because clients send blocks back and that API refuses empty ones. Used by `message_stream` and `whole_message`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from duologue.values.events import Event, ReasoningDelta, TextDelta, ToolCallDelta
from duologue.wire.anthropic.thoughts import Display, signature
from duologue.wire.anthropic.tool_ids import outer_id

BlockKind = Literal["text", "thinking", "tool_use"]


class BlockBegins(Struct, frozen=True):
    """`id` and `name` are those of a tool call."""

    index: int
    kind: BlockKind
    id: str = ""
    name: str = ""


class BlockGrows(Struct, frozen=True):
    """More of a text, a thought or the JSON of a call's input; or the signature of a thought."""

    index: int
    kind: Literal["text", "thinking", "tool_use", "signature"]
    text: str


class BlockEnds(Struct, frozen=True):
    index: int


BlockStep = BlockBegins | BlockGrows | BlockEnds


class BlockSequence:
    """Feed it the events of a reply; `finish` ends the last block."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._count = 0
        self._kind: BlockKind | None = None
        self._blanks = ""
        """The beginning of the next block, while it is blank; its kind is `_blank_kind`."""
        self._blank_kind: BlockKind | None = None
        self._thought: list[str] = []
        self._calls: dict[int, int] = {}
        """The index of a tool call -> that of its block."""

    def feed(self, event: Event) -> Iterator[BlockStep]:
        match event:
            case TextDelta() if event.text:
                yield from self._words("text", event.text)
            case ReasoningDelta() if event.text and self._display != "hidden":
                yield from self._words("thinking", event.text)
            case ToolCallDelta():
                yield from self._call(event)

    def finish(self) -> Iterator[BlockStep]:
        if self._kind is None:
            return
        if self._kind == "thinking":
            hides = self._display == "omitted"
            yield BlockGrows(self._count - 1, "signature", signature("".join(self._thought), hidden=hides))
            self._thought = []
        yield BlockEnds(self._count - 1)
        self._kind = None

    def _words(self, kind: BlockKind, text: str) -> Iterator[BlockStep]:
        if self._kind != kind:
            if self._blank_kind not in (None, kind):
                self._blanks = ""
            self._blank_kind, self._blanks = kind, self._blanks + text
            if not self._blanks.strip():
                return
            text = self._blanks
            yield from self._begin(kind)
        if kind == "thinking":
            self._thought.append(text)
            if self._display == "omitted":
                return
        yield BlockGrows(self._count - 1, kind, text)

    def _call(self, event: ToolCallDelta) -> Iterator[BlockStep]:
        if event.index not in self._calls:
            yield from self._begin("tool_use", outer_id(event.id or f"call_{event.index}"), event.name or "")
            self._calls[event.index] = self._count - 1
        if event.arguments:
            yield BlockGrows(self._calls[event.index], "tool_use", event.arguments)

    def _begin(self, kind: BlockKind, id: str = "", name: str = "") -> Iterator[BlockStep]:
        yield from self.finish()
        self._kind, self._blank_kind, self._blanks = kind, None, ""
        self._count += 1
        yield BlockBegins(self._count - 1, kind, id, name)
