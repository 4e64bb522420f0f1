"""What a call leaves out of its prompts once they are longer than its model's context: the oldest turns, whole.

Pure. The rule is that of typed replies, `conversations.context.fold`, but nothing takes the place of what is left out:
nobody who talks waits for a summary to be written.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from duologue.conversations.history.context_window import estimate, fold
from duologue.values.conversations import Content, ImageContent, StoredMessage, StoredToolCall, TextContent
from duologue.values.events import Usage
from duologue.values.messages import Message, TextPart

TURN = 250
"""Tokens that what is said next and its answer may take: a minute and a half of talk."""


def instructions(messages: Sequence[Message]) -> int:
    """How many messages come before the first turn: they are never left out."""
    return sum(1 for _ in takewhile(lambda message: message.role == "system", messages))


def nearly_full(usage: Usage, context: int) -> bool:
    """Whether the next turn may not fit behind this one, in a model of so many tokens; 0 is a context nobody knows."""
    return 0 < context < usage.input + usage.output + min(TURN, context // 4)


def outgrown(messages: Sequence[Message]) -> int:
    """How many messages behind the instructions to leave out, so that the turns left take half of what all take. 0 where
    there is one turn only."""
    rows = [_row(message) for message in messages[instructions(messages) :]]
    tokens = estimate(rows)
    plan = fold(rows, tokens=tokens, room=tokens // 2)
    return len(plan.folded) if plan is not None else 0


def _row(message: Message) -> StoredMessage:
    """The message as the rule knows it: of what is no text, only that it is there."""
    content = tuple(
        TextContent(part.text) if isinstance(part, TextPart) else _MEDIUM for part in message.parts
    )
    asked = tuple(StoredToolCall(call.id, call.name, call.arguments) for call in message.tool_calls)
    # What is called system among the turns is left out with them.
    role = "assistant" if message.role == "system" else message.role
    return StoredMessage("", "", None, role, content, tool_calls=asked)


_MEDIUM: Content = ImageContent("", "")
