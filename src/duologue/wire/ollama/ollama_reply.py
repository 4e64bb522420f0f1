"""The answers of Ollama's `/api/chat` and `/api/generate`: lines of JSON as they are written, or one object at the end.

Durations are nanoseconds, measured by the engine and the queue. Used by `gateway.ollama`; the request side is `ollama_requests`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from msgspec import Struct

from duologue.errors import EngineFailed
from duologue.values.events import (
    Done,
    Event,
    Failed,
    Fitted,
    Prefilled,
    ReasoningDelta,
    TextDelta,
    TokenLogprob,
    ToolCallDelta,
)
from duologue.values.messages import ToolCall
from duologue.wire.collected_reply import CollectedReply, broken_off, check_complete
from duologue.wire.completion import LEAST_LOGPROB
from duologue.wire.fitting_notes import fitted_fields
from duologue.wire.ollama.ollama_fields import own_name

NDJSON = "application/x-ndjson"
MILLION = 1_000_000
Kind = Literal["chat", "generate"]
REASONS = {"stop": "stop", "tool_calls": "stop", "length": "length"}
"""How a reply ended -> `done_reason`."""

_json = msgspec.json.encode


class OllamaHead(Struct, frozen=True):
    """What every line of an answer says. `load`: the nanoseconds that finding, and perhaps loading, the model took."""

    kind: Kind
    model: str
    created: float
    load: int = 0

    def fields(self) -> dict[str, object]:
        return {"model": self.model, "created_at": timestamp(self.created)}

    def piece(self, text: str = "", **more: object) -> dict[str, object]:
        """A piece of the reply in the place that this kind of answer has for it."""
        more = {name: value for name, value in more.items() if value}
        if self.kind == "generate":
            return {"response": text, **more}
        return {"message": {"role": "assistant", "content": text, **more}}


class OllamaStream:
    """Encodes a reply as lines. `ended` is true once the last line was encoded, or the reply has failed: then `close` raises its
    problem."""

    def __init__(self, head: OllamaHead) -> None:
        self._head = head
        # A line is encoded for every token of every stream, so what stays the same is printed once a request.
        empty = _json(head.fields() | head.piece())
        self._before, _, self._after = empty.rpartition(b'""')
        self._after = self._after[:-1] + b',"done":false}\n'
        self.note = self._before + b'""' + self._after
        """For a silence: clients read every line as JSON, so it is a piece without text."""
        self._ignored: tuple[str, ...] = ()
        self._fitted: dict[str, object] = {}
        self._tool_calls = CollectedReply()
        self._failed: Failed | None = None
        self.ended = False

    def placed(self, position: int, wait: float, ticket: str) -> bytes:
        """The place in the queue, as a piece without text with one more field: clients read every line, and ignore what they do not know."""
        return self._line(
            self._head.piece() | {"queue": {"position": position, "wait": round(wait, 1), "ticket": ticket}}
        )

    def encode(self, batch: Iterable[tuple[int, Event]]) -> bytes:
        """The lines of these events; empty when there is nothing a client would see."""
        out: list[bytes] = []
        for _, event in batch:
            match event:
                case TextDelta() if event.text and not event.logprobs:
                    out += (self._before, _json(event.text), self._after)
                case TextDelta() if event.text or event.logprobs:
                    chosen = {"logprobs": _logprobs(event.logprobs)}
                    out.append(self._line(self._head.piece(event.text) | chosen))
                case ReasoningDelta() if event.text:
                    out.append(self._line(self._head.piece(thinking=event.text)))
                case ToolCallDelta():
                    self._tool_calls.add(event)
                case Fitted():
                    self._fitted = fitted_fields(event)
                case Prefilled():
                    self._ignored = event.ignored
                case Failed():
                    self._failed, self.ended = event, True
                    break
                case Done():
                    out += self._end(event)
        return b"".join(out)

    def close(self) -> None:
        """Raises the problem of a reply that failed, or EngineFailed where it has not ended."""
        check_complete(self._failed, self.ended)

    def _end(self, done: Done) -> Iterable[bytes]:
        """The tool calls, each whole, as Ollama sends them, and the last line."""
        for index, call in enumerate(self._tool_calls.tool_calls):
            yield self._line(self._head.piece(tool_calls=[tool_call(call, index)]))
        self.ended = True
        yield line(_whole(self._head, self._head.piece(), done, self._ignored) | self._fitted)

    def _line(self, piece: dict[str, object]) -> bytes:
        return line(self._head.fields() | piece | {"done": False})


class OllamaReply:
    """A reply as one object."""

    def __init__(self, head: OllamaHead) -> None:
        self._head = head
        self._reply = CollectedReply()
        self._fitted: dict[str, object] = {}

    def add(self, batch: Iterable[tuple[int, Event]]) -> None:
        """Add events. Raises Problem for a reply that fails."""
        for _, event in batch:
            self._reply.add(event)
            if isinstance(event, Fitted):
                self._fitted = fitted_fields(event)

    def body(self) -> bytes:
        """The reply's JSON. Raises EngineFailed where it has not ended."""
        reply = self._reply
        if reply.done is None:
            raise broken_off()
        calls = [tool_call(call, index) for index, call in enumerate(reply.tool_calls)]
        piece = self._head.piece(reply.text, thinking=reply.reasoning, tool_calls=calls)
        if reply.logprobs:
            piece["logprobs"] = _logprobs(reply.logprobs)
        return _json(_whole(self._head, piece, reply.done, reply.ignored) | self._fitted)


def loaded(head: OllamaHead, reason: Literal["load", "unload"]) -> dict[str, object]:
    """The answer to a request without a prompt."""
    return head.fields() | head.piece() | {"done": True, "done_reason": reason}


def tool_call(call: ToolCall, index: int) -> dict[str, object]:
    """A tool call with its arguments as an object. What is none is its only entry, `arguments`."""
    try:
        arguments: Any = msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        arguments = {"arguments": call.arguments}
    function = {"index": index, "name": call.name, "arguments": arguments}
    return {"id": call.id, "function": function} if call.id else {"function": function}


def line(value: Mapping[str, object]) -> bytes:
    """A line of a stream."""
    return _json(value) + b"\n"


def failure_line(body: Mapping[str, Any]) -> bytes:
    """An error as the last line of a stream."""
    return line(error_body(body))


def error_body(body: Mapping[str, Any]) -> dict[str, object]:
    """An error in Ollama's shape, of one in this server's."""
    return {"error": body["error"]["message"]}


def timestamp(seconds: float) -> str:
    """Seconds since 1970 as Ollama writes times."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _whole(
    head: OllamaHead, piece: Mapping[str, object], done: Done, ignored: Iterable[str]
) -> dict[str, object]:
    """The last line: how the reply ended, how long it took, and what was ignored."""
    if done.finish == "cancelled":
        raise EngineFailed("The reply was cancelled on the server.", code="cancelled", status=503)
    timings = done.timings
    prefill, generate = (round(time * MILLION) for time in (timings.prefill, timings.generate))
    fields: dict[str, object] = {
        **head.fields(),
        **piece,
        "done": True,
        "done_reason": REASONS[done.finish],
        "total_duration": head.load + round(timings.queue * MILLION) + prefill + generate,
        "load_duration": head.load,
        "prompt_eval_count": done.usage.input,
        "prompt_eval_duration": prefill,
        "eval_count": done.usage.output,
        "eval_duration": generate,
    }
    names = [own_name(name) for name in ignored]
    return fields | {"ignored": names} if names else fields


def _logprobs(tokens: Iterable[TokenLogprob]) -> list[dict[str, object]]:
    return [
        _logprob(token) | ({"top_logprobs": [_logprob(other) for other in token.top]} if token.top else {})
        for token in tokens
    ]


def _logprob(token: TokenLogprob) -> dict[str, object]:
    return {
        "token": token.token,
        "logprob": max(token.logprob, LEAST_LOGPROB),
        "bytes": list(token.data),
    }
