"""The events of a response in OpenAI's order, made of the events of a generation.

One thought, one message and the tool calls after it are output items, in the order in which the model begins them. Each event has a
number from 0. Pure: ids follow from the response's id, times are arguments. Used by `gateway.responses`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct

from duologue.values.events import (
    Done,
    Event,
    Failed,
    Fitted,
    Prefilled,
    Progress,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from duologue.wire.fitting_notes import fitted_fields
from duologue.wire.responses.output_items import (
    CustomCallItem,
    FunctionItem,
    OutputItem,
    OutputMessage,
    Thought,
    shown_logprobs,
)
from duologue.wire.responses.response_object import ResponseStatus, snapshot
from duologue.wire.responses.response_tools import CalledTool

_json = msgspec.json.encode


class ResponseEvent(Struct, frozen=True):
    """An event with its number. `data`: its JSON, empty where nobody reads the events; `final`: nothing follows."""

    number: int
    type: str
    data: bytes
    final: bool = False

    @property
    def frame(self) -> bytes:
        """As a server-sent event."""
        return b"event: %b\ndata: %b\n\n" % (self.type.encode(), self.data)


class ResponseEncoder:
    """Feed it a generation's events; it gives those of the response.

    `fixed`: the fields of `fixed_fields`. `streams`: whether anybody reads the events; `response` has the state in any case.
    `ended` is true after the last event. A failure is in `failed`; before the first event (`created`) nothing is sent of it.
    """

    def __init__(
        self,
        fixed: Mapping[str, Any],
        *,
        streams: bool = True,
        summary: bool = False,
        sealed: bool = False,
        logprobs: bool = False,
        called_tools: Mapping[str, CalledTool] = MappingProxyType({}),
    ) -> None:
        self._fixed, self.streams = fixed, streams
        self._summary, self._sealed, self._logprobs = summary, sealed, logprobs
        self._called_tools = called_tools
        self._stem = str(fixed["id"]).removeprefix("resp_")
        self._items: list[OutputItem] = []
        self._calls: dict[int, FunctionItem] = {}
        self._blank: list[TextDelta] = []
        self._extras: dict[str, Any] = {}
        self._events: list[ResponseEvent] = []
        self._number = 0
        self._begun = self.created = False
        self.response = snapshot(fixed, "queued")
        self.failed: Failed | None = None
        self.ended = False
        self.note = b": waiting\n\n"

    @property
    def output(self) -> list[dict[str, Any]]:
        """The output items as they are now."""
        return [item.shown() for item in self._items]

    def queued(self) -> list[ResponseEvent]:
        """The events of a response that runs in the background, before it has a slot."""
        self._create("queued")
        self._state("response.queued", "queued")
        return self._taken()

    def cancelled(self, now: int) -> list[ResponseEvent]:
        """The end of a response that somebody cancelled. OpenAI has no event of this name: it is `response.incomplete`, and the status says
        it."""
        self._close_all(complete=False)
        self._end("response.incomplete", "cancelled", now)
        return self._taken()

    def broken(self, code: str, message: str) -> list[ResponseEvent]:
        """The end of a response that could not be stored or written on."""
        self.failed = Failed(code, message)
        self._end("response.failed", "failed", 0, error=(code, message))
        return self._taken()

    def feed(self, event: Event, now: int) -> list[ResponseEvent]:
        """The events of one event; `now` is the time in seconds. Not to be called once `ended`."""
        match event:
            case Progress():
                self.note = b": prefill %d/%d\n\n" % (event.processed, event.total)
            case Fitted():
                self._extras |= fitted_fields(event)
            case Started() if self.created:
                self._begin()
            case Prefilled():
                self.note = b": writing\n\n"
                if event.ignored:
                    self._extras["ignored"] = list(event.ignored)
                self._begin()
            case ReasoningDelta() if event.text:
                self._thought(event)
            case TextDelta() if event.text or event.logprobs:
                self._text(event)
            case ToolCallDelta():
                self._call(event)
            case Done():
                self._done(event, now)
            case Failed():
                self._fail(event, now)
        return self._taken()

    # ---- items

    def _thought(self, event: ReasoningDelta) -> None:
        self._begin()
        thought = self._items[-1] if self._items else None
        if not isinstance(thought, Thought) or thought.closed:
            self._close_all()
            thought = Thought(self._id("rs"), summary=self._summary, sealed=self._sealed)
            self._open(thought)
        self._say(thought, thought.add(event.text))

    def _text(self, event: TextDelta) -> None:
        self._begin()
        last = self._items[-1] if self._items else None
        if isinstance(last, OutputMessage) and not last.closed:
            self._write(last, event)
            return
        # What a model writes between a thought and a call is often a line break: it is no message.
        self._blank.append(event)
        if event.text.strip():
            self._write_blank()

    def _write_blank(self) -> None:
        blank, self._blank = self._blank, []
        self._close_all()
        message = OutputMessage(self._id("msg"))
        self._open(message)
        for event in blank:
            self._write(message, event)

    def _write(self, message: OutputMessage, event: TextDelta) -> None:
        logprobs = shown_logprobs(event.logprobs) if self._logprobs else []
        self._say(message, message.add(event.text, logprobs))

    def _call(self, event: ToolCallDelta) -> None:
        self._begin()
        self._blank = []
        item = self._calls.get(event.index)
        if item is None:
            called = self._called_tools.get(event.name or "", CalledTool(event.name or ""))
            call_id = event.id or f"call_{self._stem[:24]}{len(self._items)}"
            # Calls stay open beside each other: a server may complete an earlier one at its end.
            self._close_all(calls=False)
            if called.custom:
                item = CustomCallItem(self._id("ctc"), call_id, called)
            else:
                item = FunctionItem(self._id("fc"), call_id, called)
            self._calls[event.index] = item
            self._open(item)
        if event.arguments:
            self._say(item, item.add(event.arguments))

    def _id(self, prefix: str) -> str:
        return f"{prefix}_{self._stem}{len(self._items)}"

    def _open(self, item: OutputItem) -> None:
        self._items.append(item)
        index = len(self._items) - 1
        self._emit("response.output_item.added", {"output_index": index, "item": item.opened()})
        self._say(item, item.begin())

    def _close_all(self, *, complete: bool = True, calls: bool = True) -> None:
        """Close what is open. The last open item is incomplete where the reply was cut off."""
        opened = [item for item in self._items if not item.closed]
        for item in opened:
            if not calls and isinstance(item, FunctionItem):
                continue
            whole = complete or item is not opened[-1]
            self._say(item, item.close(complete=whole))
            self._emit(
                "response.output_item.done", {"output_index": self._items.index(item), "item": item.shown()}
            )
        if calls:
            self._calls = {}

    def _say(self, item: OutputItem, events: Sequence[tuple[str, dict[str, Any]]]) -> None:
        if self.streams:
            place = {"item_id": item.id, "output_index": self._items.index(item)}
            for kind, fields in events:
                self._emit(kind, place | fields)

    # ---- states

    def _create(self, status: ResponseStatus) -> None:
        if not self.created:
            self.created = True
            self._state("response.created", status)

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._create("in_progress")
            self._state("response.in_progress", "in_progress")

    def _state(self, kind: str, status: ResponseStatus, **more: Any) -> None:
        self.response = snapshot(self._fixed, status, self.output, extras=self._extras, **more)
        self._emit(kind, {"response": self.response}, final=self.ended)

    def _end(
        self,
        kind: str,
        status: ResponseStatus,
        now: int,
        usage: Usage | None = None,
        error: tuple[str, str] | None = None,
        incomplete: str | None = None,
    ) -> None:
        self.ended = True
        completed = now if status == "completed" else None
        self._state(kind, status, usage=usage, error=error, incomplete=incomplete, completed=completed)

    def _done(self, event: Done, now: int) -> None:
        if event.finish == "cancelled":
            failed = Failed("cancelled", "The reply was cancelled on the server.", 503)
            self._fail(failed, now)
            return
        self._begin()
        if not self._items:
            self._write_blank()
        if event.stop is not None:
            self._extras["stop_str"] = event.stop
        whole = event.finish != "length"
        self._close_all(complete=whole)
        if whole:
            self._end("response.completed", "completed", now, event.usage)
        else:
            self._end("response.incomplete", "incomplete", now, event.usage, incomplete="max_output_tokens")

    def _fail(self, event: Failed, now: int) -> None:
        self.failed = event
        if not self.created:
            self.ended = True
            return
        self._close_all(complete=False)
        self._end("response.failed", "failed", now, error=(event.code, event.message))

    def _emit(self, kind: str, fields: Mapping[str, Any], *, final: bool = False) -> None:
        data = b""
        if self.streams:
            data = _json({"type": kind, "sequence_number": self._number, **fields})
        if self.streams or final:
            self._events.append(ResponseEvent(self._number, kind, data, final))
            self._number += 1

    def _taken(self) -> list[ResponseEvent]:
        events, self._events = self._events, []
        return events
