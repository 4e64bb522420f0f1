"""Which turns a call drops once its prompts outgrow the model's context: the oldest ones, whole.

The rule is that of typed replies, `history.context_window.fold`, but without a summary: a caller would have to wait for it.
Used by `EphemeralHistory` and `CallReplies`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from duologue.conversations.history.context_window import estimate, fold
from duologue.values.conversations import Content, ImageContent, StoredMessage, StoredToolCall, TextContent
from duologue.values.events import Usage
from duologue.values.messages import Message, TextPart

TURN = 250
"""Tokens reserved for the next turn and its answer: about a minute and a half of speech."""


def instructions(messages: Sequence[Message]) -> int:
    """How many messages precede the first turn; these are never dropped."""
    return sum(1 for _ in takewhile(lambda message: message.role == "system", messages))


def nearly_full(usage: Usage, context: int) -> bool:
    """Whether the next turn may not fit after this one. `context` is in tokens; 0: unknown, so never full."""
    return 0 < context < usage.input + usage.output + min(TURN, context // 4)


def droppable(messages: Sequence[Message]) -> int:
    """How many messages after the instructions to drop so that the rest takes half the room. 0 where there is only one
    turn."""
    rows = [row(message) for message in messages[instructions(messages) :]]
    tokens = estimate(rows)
    plan = fold(rows, tokens=tokens, room=tokens // 2)
    return len(plan.folded) if plan is not None else 0


def row(message: Message) -> StoredMessage:
    """The message as `fold` and `estimate` take it; its media only as placeholders."""
    content = tuple(
        TextContent(part.text) if isinstance(part, TextPart) else _MEDIUM for part in message.parts
    )
    tool_calls = tuple(
        StoredToolCall(tool_call.id, tool_call.name, tool_call.arguments) for tool_call in message.tool_calls
    )
    # `fold` never drops system messages; those among the turns (not the instructions) have to go with them.
    role = "assistant" if message.role == "system" else message.role
    return StoredMessage("", "", None, role, content, tool_calls=tool_calls)


_MEDIUM: Content = ImageContent("", "")
