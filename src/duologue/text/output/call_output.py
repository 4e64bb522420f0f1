"""The calls of a reply on their way out: the scanners of `toolcalls/` write to it, `channels.py` asks how they ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from duologue.text.output.channel import Put
from duologue.values.events import ToolCallDelta


class CallOutput:
    """The sink of the scanners: numbers calls, gives them ids, and counts how they ended."""

    __slots__ = (
        "_count",
        "_hand_back",
        "_new_id",
        "_put",
        "broken",
        "channel",
        "complete",
        "fence",
        "opened",
    )

    def __init__(self, put: Put, hand_back: Callable[[str, int], None], new_id: Callable[[], str]) -> None:
        self._put, self._hand_back, self._new_id = put, hand_back, new_id
        self._count = self.complete = self.broken = 0
        self.begin("")

    def begin(self, start: str) -> None:
        """A region begins with this marker."""
        self.opened = False
        """A call began in this region."""
        self.channel: Literal["content", "reasoning"] | None = None
        """What the region said about the text after it."""
        self.fence = start[: len(start) - len(start.lstrip("`"))]
        """The fence that began the region, if one did."""

    def open(self, name: str, id: str | None = None) -> None:
        self.opened = True
        self._put(ToolCallDelta(self._count, "", id or self._new_id(), name), -1)
        self._count += 1

    def arguments(self, text: str) -> None:
        if text:
            self._put(self.piece(text), -1)

    def piece(self, text: str) -> ToolCallDelta:
        """More of the arguments of the call opened last."""
        return ToolCallDelta(self._count - 1, text)

    def close(self, valid: bool) -> None:
        if valid:
            self.complete += 1
        else:
            self.broken += 1

    def reject(self, text: str, at: int) -> None:
        self._hand_back(text, at)

    def enter(self, channel: Literal["content", "reasoning"]) -> None:
        self.channel = channel
