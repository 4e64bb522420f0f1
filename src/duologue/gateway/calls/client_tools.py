"""Tools that the client of a call runs itself: the call goes out as a message, its result comes back as one.

Owned by `CallReplies`; the voice socket hands the results in.
"""

from __future__ import annotations

import anyio

from duologue.gateway.calls.dialect import Dialect, Write
from duologue.tools.values import ToolOutcome, failure
from duologue.values.conversations import StoredToolCall, TextContent
from duologue.values.messages import ToolCall
from duologue.wire.calls import caller_messages

TIMEOUT = 60.0
"""Seconds a client has to answer a tool call."""


class ClientTools:
    """The open tool calls of one call."""

    def __init__(self, encoder: Dialect, write: Write) -> None:
        self._encoder, self._write = encoder, write
        self._open: dict[str, _OpenToolCall] = {}

    async def call(self, reply: int, tool_call: StoredToolCall) -> ToolOutcome:
        """Have the client run a tool for this reply; a failure when it does not answer within TIMEOUT."""
        pending = self._open[tool_call.id] = _OpenToolCall()
        try:
            message = ToolCall(tool_call.id, tool_call.name, tool_call.arguments)
            await self._write(self._encoder.tool_calls(reply, [message]))
            with anyio.move_on_after(TIMEOUT):
                await pending.answered.wait()
        finally:
            self._open.pop(tool_call.id, None)
        if pending.result is None:
            return failure(f"The tool has not answered within {TIMEOUT:.0f} seconds.")
        return ToolOutcome((TextContent(pending.result.content),), pending.result.is_error)

    def accept(self, result: caller_messages.ClientToolResult) -> bool:
        """The client has answered. False: no tool call waits for this result."""
        if (pending := self._open.get(result.call_id)) is None:
            return False
        pending.result = result
        pending.answered.set()
        return True


class _OpenToolCall:
    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.result: caller_messages.ClientToolResult | None = None
