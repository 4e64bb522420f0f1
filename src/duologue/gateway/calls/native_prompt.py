"""The messages that a model is given before it holds a call by itself. Pure. Used by `Call`."""

from __future__ import annotations

from collections.abc import Sequence

from duologue.conversations.history.context_window import estimate
from duologue.gateway.calls.context_window import droppable, instructions, row
from duologue.values.messages import Message, TextPart


def native_messages(messages: Sequence[Message], context: int) -> tuple[Message, ...]:
    """What was said so far, as text, in at most half of a context of so many tokens (0: unknown): the rest is for the call itself. The
    oldest turns give way. Tool calls and their results are left out, because nobody calls tools in such a call."""
    kept = [
        Message(message.role, (TextPart(message.text),))
        for message in messages
        if message.role != "tool" and message.text.strip()
    ]
    while context and estimate([row(message) for message in kept]) > context // 2:
        if not (count := droppable(kept)):
            break
        first = instructions(kept)
        del kept[first : first + count]
    return tuple(kept)
