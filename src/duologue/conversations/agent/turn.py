"""One model turn as an assistant row that grows: events of the model in, run events and the row out.

Pure; `runs/model_turns.py` feeds it. A continued row keeps its text, and new text is appended.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from duologue.conversations.agent.fitted_media import joined, untold
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
    Fitted,
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
from duologue.values.runs import RunDelta, RunEvent, RunFitted, RunProgress, Waiting

_KINDS = {"queue_full": "queue", "context_length_exceeded": "context", "model_silent": "timeout"}
_MODEL = {"unsupported", "invalid_request", "model_not_found", "engine_failed", "scripted_failure"}


TOOL_CALL_CUT = RowError(
    "model", "call_cut", "The model broke off in the middle of a tool call, so it was not made. Try again."
)
INTERNAL_ERROR = RowError(
    "server", "internal_error", "Something went wrong inside the server. Its log says more. Try again."
)
"""What the user sees of a bug."""


class _ToolCall(Struct):
    """A tool call while it is written: `arguments` are its pieces."""

    id: str
    name: str
    arguments: list[str]


class ModelTurn:
    """The row of one model turn while it is written. Events after `ended` is set are ignored."""

    def __init__(self, row: StoredMessage, *, continues: bool = False, make_room: bool = False) -> None:
        """`row`: the running row, empty, or with the text it continues. `continues`: the model is to continue that text.
        `make_room`: an attempt before showed that the prompt is too long."""
        self._base = row
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._tool_calls: dict[int, _ToolCall] = {}
        self._model = row.model
        self._fitted = row.fitted if continues else None
        self.above: Sequence[StoredMessage] = ()
        """The rows of the prompt, set before the first event."""
        self.continues = continues
        self.make_room = make_room
        self.ended: Done | Failed | None = None
        self.waiting: Waiting = "model"
        """What the turn waits for now; "" once text arrives."""

    @property
    def id(self) -> str:
        return self._base.id

    @property
    def silent(self) -> bool:
        """Whether the model has written nothing in this turn."""
        return not (self._text or self._reasoning or self._tool_calls)

    @property
    def queued(self) -> bool:
        return self.waiting == "queue"

    def feed(self, event: Event) -> list[RunEvent]:
        """The event as run events; empty for an event that viewers need not see."""
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
                return self._delta(self._tool_call_delta(event))
            case Queued(position=position, wait=wait):
                self.waiting = "queue"
                return [RunProgress("queue", position, wait)]
            case Fitted(transcripts, notes):
                above = (*self.above, self._base) if self.continues else self.above
                self._fitted = joined(self._base.fitted if self.continues else None, untold(event, above))
                return [RunFitted(self.id, transcripts, notes)]
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

    def loading(self, loaded: float | None) -> list[RunEvent]:
        """The model is being loaded, `loaded` of it (0 to 1, None if unknown)."""
        self.waiting = "load"
        return [RunProgress("load", model=self._model, loaded=loaded or 0.0)]

    def row(self) -> StoredMessage:
        """The row as it is now, running. Tool calls are in it only once the turn has ended: half a tool call would make
        the history invalid."""
        return msgspec.structs.replace(
            self._base,
            content=self._content(),
            reasoning=self._base.reasoning + "".join(self._reasoning),
            model=self._model,
            fitted=self._fitted,
        )

    def done(self, done: Done) -> StoredMessage:
        """The row as the model ended it. A row that breaks off inside a tool call has failed: the tool call cannot be run,
        and without an error the reply would look complete."""
        # Also a plain stop: tool calls whose JSON is invalid end in one, and the model must be told about them.
        is_complete = done.finish == "tool_calls" or (done.finish == "stop" and done.stop is None)
        calls = self._stored_calls() if is_complete else ()
        error = TOOL_CALL_CUT if self._tool_calls and done.finish == "length" else None
        return msgspec.structs.replace(
            self.row(),
            status="failed" if error else "stopped" if done.finish == "cancelled" else "done",
            tool_calls=calls,
            finish=done.finish,
            usage=_sum_usage(self._base.usage, done.usage),
            timings=_sum_timings(self._base.timings, done.timings),
            error=error,
        )

    def cut(self, status: Status, error: RowError | None = None) -> StoredMessage:
        """The row as it ends before the model ended it; unfinished tool calls are dropped."""
        return msgspec.structs.replace(self.row(), status=status, error=error, tool_calls=())

    def _delta(self, delta: RunDelta) -> list[RunEvent]:
        self.waiting = ""
        return [delta]

    def _tool_call_delta(self, event: ToolCallDelta) -> RunDelta:
        tool_call = self._tool_calls.get(event.index)
        if tool_call is None:
            # Some engines give no id, but the result of the tool call must name one.
            tool_call = self._tool_calls[event.index] = _ToolCall(
                event.id or f"{self.id}_{event.index}", "", []
            )
            new_id = tool_call.id
        else:
            new_id = ""
        name = event.name or ""
        tool_call.name += name
        tool_call.arguments.append(event.arguments)
        return RunDelta(self.id, "tool_call", event.arguments, event.index, new_id, name)

    def _stored_calls(self) -> tuple[StoredToolCall, ...]:
        return tuple(
            StoredToolCall(tool_call.id, tool_call.name, "".join(tool_call.arguments))
            for _, tool_call in sorted(self._tool_calls.items())
            if tool_call.name
        )

    def _content(self) -> tuple[Content, ...]:
        text = self._base.text + "".join(self._text)
        others = tuple(part for part in self._base.content if not isinstance(part, TextContent))
        return (TextContent(text), *others) if text else others


def row_error(code: str, message: str) -> RowError:
    """The error of a row, with the kind that belongs to a stable error code."""
    kind = _KINDS.get(code) or ("model" if code in _MODEL or code.startswith("upstream") else "server")
    return RowError(kind, code, message)


def _sum_usage(before: Usage | None, usage: Usage) -> Usage:
    """The usage of a continued row: one prompt, and everything that was written."""
    if before is None:
        return usage
    return Usage(
        before.input or usage.input,
        before.output + usage.output,
        usage.cached,
        before.reasoning + usage.reasoning,
        before.estimated or usage.estimated,
    )


def _sum_timings(before: Timings | None, timings: Timings) -> Timings:
    if before is None:
        return timings
    return Timings(
        before.queue + timings.queue,
        before.prefill + timings.prefill,
        before.generate + timings.generate,
        before.first,
    )
