"""A reply as the server-sent events of Anthropic's Messages API. `whole_message` is the same reply as one object.

Used by `gateway.anthropic`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from duologue.values.events import (
    Done,
    Event,
    Failed,
    Fitted,
    Prefilled,
    Progress,
    Started,
    Usage,
)
from duologue.wire.anthropic.block_sequence import (
    BlockBegins,
    BlockEnds,
    BlockGrows,
    BlockSequence,
    BlockStep,
)
from duologue.wire.anthropic.message_end import MessageHead, end_fields, usage_fields
from duologue.wire.anthropic.thoughts import Display
from duologue.wire.collected_reply import check_complete

PING = b'event: ping\ndata: {"type":"ping"}\n\n'
_json = msgspec.json.encode
_DELTAS = {
    "text": b'"text_delta","text":',
    "thinking": b'"thinking_delta","thinking":',
    "signature": b'"signature_delta","signature":',
    "tool_use": b'"input_json_delta","partial_json":',
}
_EMPTY = {
    "text": {"type": "text", "text": ""},
    "thinking": {"type": "thinking", "thinking": "", "signature": ""},
}


class MessageEventEncoder:
    """Encodes the events of one reply. Until the message has begun a silence is broken by comments, then by pings."""

    def __init__(self, head: MessageHead, display: Display) -> None:
        self._head = head
        self._blocks = BlockSequence(display)
        self._fitted: Fitted | None = None
        self._prefilled: Prefilled | None = None
        self._context = 0
        self._begun = False
        self._failed: Failed | None = None
        self.note = b": waiting\n\n"
        self.ended = False

    def encode(self, batch: Iterable[tuple[int, Event]]) -> bytes:
        """The frames of these events; empty when there is nothing a client would see. Not to be called once `ended`."""
        out: list[bytes] = []
        for _, event in batch:
            if isinstance(event, Failed):
                self._failed, self.ended = event, True
                break
            self._encode_one(event, out)
        return b"".join(out)

    def close(self) -> None:
        """Raises the problem of a reply that failed, or EngineFailed when it has not ended."""
        check_complete(self._failed, self.ended)

    def _encode_one(self, event: Event, out: list[bytes]) -> None:
        match event:
            case Fitted():
                self._fitted = event
            case Started():
                self._context = event.context
            case Progress() if not self._begun:
                self.note = b": prefill %d/%d\n\n" % (event.processed, event.total)
            case Prefilled():
                self._prefilled = event
                self._begin(out)
            case Done():
                self._end(event, out)
            case _:
                for step in self._blocks.feed(event):
                    self._begin(out)
                    out.append(_frame_of(step))

    def _begin(self, out: list[bytes]) -> None:
        if self._begun:
            return
        self._begun, self.note = True, PING
        prefilled = self._prefilled or Prefilled(0)
        usage = usage_fields(Usage(input=prefilled.input or prefilled.cached, cached=prefilled.cached))
        message = self._head.fields() | {
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
            **self._head.notes(self._prefilled, self._fitted),
        }
        out.append(_frame("message_start", {"message": message}))

    def _end(self, done: Done, out: list[bytes]) -> None:
        ends = end_fields(self._head, done, self._context)
        self._begin(out)
        out += map(_frame_of, self._blocks.finish())
        out.append(_frame("message_delta", {"delta": ends, "usage": usage_fields(done.usage)}))
        out.append(_frame("message_stop", {}))
        self.ended = True


def failure_event(body: Mapping[str, Any]) -> bytes:
    """An error as a stream of this API ends with it."""
    return b"event: error\ndata: %b\n\n" % _json(body)


def _frame(kind: str, fields: dict[str, object]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), _json({"type": kind, **fields}))


def _frame_of(step: BlockStep) -> bytes:
    match step:
        case BlockGrows():
            # The frame of every token: put together rather than encoded.
            return (
                b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":{"type":%b%b}}\n\n'
                % (step.index, _DELTAS[step.kind], _json(step.text))
            )
        case BlockBegins():
            call = {"type": "tool_use", "id": step.id, "name": step.name, "input": {}}
            return _frame(
                "content_block_start", {"index": step.index, "content_block": _EMPTY.get(step.kind, call)}
            )
        case BlockEnds():
            return _frame("content_block_stop", {"index": step.index})
