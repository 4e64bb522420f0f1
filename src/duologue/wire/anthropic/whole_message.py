"""A reply as one message of Anthropic's Messages API. `message_stream` is the same reply as a stream.

Used by `gateway.anthropic`.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from duologue.values.events import Done, Event, Failed, Fitted, Prefilled, Started
from duologue.wire.anthropic.block_sequence import BlockBegins, BlockGrows, BlockSequence, BlockStep
from duologue.wire.anthropic.message_end import MessageHead, end_fields, usage_fields
from duologue.wire.anthropic.thoughts import Display
from duologue.wire.collected_reply import broken_off, problem


class WholeMessage:
    """Collects the events of one reply."""

    def __init__(self, head: MessageHead, display: Display) -> None:
        self._head = head
        self._sequence = BlockSequence(display)
        self._blocks: list[tuple[BlockBegins, list[str], list[str]]] = []
        """Each with the pieces of its text, and its signature."""
        self._fitted: Fitted | None = None
        self._prefilled: Prefilled | None = None
        self._context = 0
        self._done: Done | None = None

    def add(self, batch: Iterable[tuple[int, Event]]) -> None:
        """Add events. Raises Problem where the reply has failed."""
        for _, event in batch:
            match event:
                case Failed():
                    raise problem(event)
                case Fitted():
                    self._fitted = event
                case Prefilled():
                    self._prefilled = event
                case Started():
                    self._context = event.context
                case Done():
                    self._done = event
                    self._take(self._sequence.finish())
                case _:
                    self._take(self._sequence.feed(event))

    def body(self) -> bytes:
        """The message's JSON. Raises EngineFailed when the reply has not ended."""
        if self._done is None:
            raise broken_off()
        return msgspec.json.encode(
            self._head.fields()
            | {"content": [_content(*block) for block in self._blocks]}
            | end_fields(self._head, self._done, self._context)
            | {"usage": usage_fields(self._done.usage)}
            | self._head.notes(self._prefilled, self._fitted)
        )

    def _take(self, steps: Iterable[BlockStep]) -> None:
        for step in steps:
            if isinstance(step, BlockBegins):
                self._blocks.append((step, [], []))
            elif isinstance(step, BlockGrows):
                _, pieces, signature = self._blocks[step.index]
                (signature if step.kind == "signature" else pieces).append(step.text)


def _content(block: BlockBegins, pieces: list[str], signature: list[str]) -> dict[str, object]:
    text = "".join(pieces)
    match block.kind:
        case "text":
            return {"type": "text", "text": text}
        case "thinking":
            return {"type": "thinking", "thinking": text, "signature": "".join(signature)}
        case "tool_use":
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": _input(text)}


def _input(arguments: str) -> object:
    """The arguments as an object. A model that writes something else has it as the field `arguments`, so that nothing is lost."""
    try:
        value = msgspec.json.decode(arguments or "{}")
    except (msgspec.DecodeError, RecursionError):
        value = arguments
    return value if isinstance(value, dict) else {"arguments": value}
