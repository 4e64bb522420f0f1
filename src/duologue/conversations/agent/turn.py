"""One model turn as an assistant row that grows: events of the model in, run events and the row out.

Owns what becomes of each event. Knows no store, no clock and no loop; whoever feeds it says when it ends. A row that
goes on keeps what it has, and everything is added behind it.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from duologue.values.conversations import (
    Content,
    RowError,
    Status,
    StoredMessage,
    StoredToolCall,
    TextContent,
)
from duologue.values.events import (
    Done,
    Event,
    Failed,
    Prefilled,
    Progress,
    Queued,
    ReasoningDelta,
    Started,
    TextDelta,
    Timings,
    ToolCallDelta,
    Usage,
)
from duologue.values.runs import RunDelta, RunEvent, RunProgress, Waiting

_KINDS = {"queue_full": "queue", "context_length_exceeded": "context", "model_silent": "timeout"}
_MODEL = {"unsupported", "invalid_request", "model_not_found", "engine_failed", "scripted_failure"}


CALL_CUT = RowError(
    "model", "call_cut", "The model broke off in the middle of a tool call, so it was not made. Try again."
)


class _Call(Struct):
    """A call as it comes: `arguments` are its pieces."""

    id: str
    name: str
    arguments: list[str]


class ModelTurn:
    """The row of one model turn while it is written. After `ended` is set it takes nothing more."""

    def __init__(self, row: StoredMessage, *, goes_on: bool = False, make_room: bool = False) -> None:
        """`row`: the running row, empty, or with what it goes on from. `goes_on`: the model is to write on in it.
        `make_room`: the prompt proved too long before."""
        self._base = row
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, _Call] = {}
        self._model = row.model
        self.goes_on = goes_on
        self.make_room = make_room
        self.ended: Done | Failed | None = None
        self.waiting: Waiting = "model"
        """What the turn waits for now; "" once words come."""

    @property
    def id(self) -> str:
        return self._base.id

    @property
    def silent(self) -> bool:
        """Whether the model has written nothing in this turn."""
        return not (self._text or self._reasoning or self._calls)

    @property
    def queued(self) -> bool:
        return self.waiting == "queue"

    def feed(self, event: Event) -> list[RunEvent]:
        """What the event means for whoever looks on; empty for what they need not know."""
        if self.ended is not None:
            return []
        match event:
            case TextDelta(text) if text:
                self._text.append(text)
                return self._delta(RunDelta(self.id, "text", text))
            case ReasoningDelta(text) if text:
                self._reasoning.append(text)
                return self._delta(RunDelta(self.id, "reasoning", text))
            case ToolCallDelta():
                return self._delta(self._piece(event))
            case Queued(position=position, wait=wait):
                self.waiting = "queue"
                return [RunProgress("queue", position, wait)]
            case Started(model):
                self.waiting, self._model = "model", model or self._model
                return [RunProgress("model")]
            case Progress(processed, total, cached):
                self.waiting = "model"
                return [RunProgress("model", processed=processed, total=total, cached=cached)]
            case Prefilled(input, cached) if input is not None and self.waiting:
                return [RunProgress("model", processed=input, total=input, cached=cached)]
            case Done() | Failed():
                self.ended = event
        return []

    def row(self) -> StoredMessage:
        """The row as it stands, running. Calls are in it only once the turn has ended with them: half of one would be
        a broken history."""
        return msgspec.structs.replace(
            self._base,
            content=self._content(),
            reasoning=self._base.reasoning + "".join(self._reasoning),
            model=self._model,
        )

    def done(self, done: Done) -> StoredMessage:
        """The row as the model ended it. One that breaks off within a call has failed: the call cannot be made, and with
        no other word of it the reply would look complete."""
        # The model ended its turn itself; calls that are no JSON do not count as such, but are to be answered to it.
        ended = done.finish == "tool_calls" or (done.finish == "stop" and done.stop is None)
        calls = self._stored_calls() if ended else ()
        error = CALL_CUT if self._calls and done.finish == "length" else None
        return msgspec.structs.replace(
            self.row(),
            status="failed" if error else "stopped" if done.finish == "cancelled" else "done",
            tool_calls=calls,
            finish=done.finish,
            usage=_with(self._base.usage, done.usage),
            timings=_after(self._base.timings, done.timings),
            error=error,
        )

    def cut(self, status: Status, error: RowError | None = None) -> StoredMessage:
        """The row as it ends before the model ended it; calls begun are dropped."""
        return msgspec.structs.replace(self.row(), status=status, error=error, tool_calls=())

    def _delta(self, delta: RunDelta) -> list[RunEvent]:
        self.waiting = ""
        return [delta]

    def _piece(self, event: ToolCallDelta) -> RunDelta:
        call = self._calls.get(event.index)
        if call is None:
            # Some engines give no id; the answer to the call must be able to name it.
            call = self._calls[event.index] = _Call(event.id or f"{self.id}_{event.index}", "", [])
            named = call.id
        else:
            named = ""
        name = event.name or ""
        call.name += name
        call.arguments.append(event.arguments)
        return RunDelta(self.id, "tool_call", event.arguments, event.index, named, name)

    def _stored_calls(self) -> tuple[StoredToolCall, ...]:
        return tuple(
            StoredToolCall(call.id, call.name, "".join(call.arguments))
            for _, call in sorted(self._calls.items())
            if call.name
        )

    def _content(self) -> tuple[Content, ...]:
        text = self._base.text + "".join(self._text)
        others = tuple(part for part in self._base.content if not isinstance(part, TextContent))
        return (TextContent(text), *others) if text else others


def row_error(code: str, message: str) -> RowError:
    """The error of a row, of the kind that a stable code belongs to."""
    kind = _KINDS.get(code) or ("model" if code in _MODEL or code.startswith("upstream") else "server")
    return RowError(kind, code, message)


def _with(before: Usage | None, usage: Usage) -> Usage:
    """The usage of a row that went on: one prompt, and everything that was written."""
    if before is None:
        return usage
    return Usage(
        before.input or usage.input,
        before.output + usage.output,
        usage.cached,
        before.reasoning + usage.reasoning,
        before.estimated or usage.estimated,
    )


def _after(before: Timings | None, timings: Timings) -> Timings:
    if before is None:
        return timings
    return Timings(
        before.queue + timings.queue,
        before.prefill + timings.prefill,
        before.generate + timings.generate,
        before.first,
    )
