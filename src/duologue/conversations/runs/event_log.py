"""The numbered log of a run's events, and its coalesced form for the store.

Pure; used by `record.py` and `recovery.py`. It is not an `EventLog` of `http`, because it is stored and read back, merges
events, and keeps all of them. Consecutive pieces of text of the same row become one entry that records the
number and the length of each piece, so that a viewer can resume at any number. Progress replaces the progress before it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

import msgspec

from duologue.store.log_entry import LogEntry
from duologue.values.runs import Logged, RunDelta, RunEvent, RunProgress, ToolOutput

RESTART_GAP = 1_000_000
"""Numbers skipped after a restart. A viewer may have seen up to a second of events that were never stored. The events that
recovery adds must have higher numbers, or that viewer would skip them as seen."""

__all__ = ["RESTART_GAP", "LogEntry", "RunLog"]

_decoder: msgspec.json.Decoder[RunEvent] = msgspec.json.Decoder(RunEvent)


class _Span:
    """An entry in memory. The pieces of a delta are joined when they are read."""

    __slots__ = ("event", "first", "last", "pieces", "sealed")

    def __init__(self, first: int, last: int, event: RunEvent, pieces: list[str] | None) -> None:
        self.first = first
        self.last = last
        self.event = event
        self.pieces = pieces
        self.sealed = False

    def accepts(self, event: RunEvent) -> bool:
        """Whether `event` can be appended to this entry."""
        own = self.event
        if self.sealed:
            return False
        if isinstance(event, RunDelta) and isinstance(own, RunDelta):
            return (event.message, event.kind, event.call) == (
                own.message,
                own.kind,
                own.call,
            ) and not event.id
        if isinstance(event, ToolOutput) and isinstance(own, ToolOutput):
            return event.message == own.message and (event.text == own.text or not own.text)
        return isinstance(event, RunProgress) and isinstance(own, RunProgress)

    def add(self, event: RunEvent) -> None:
        self.last += 1
        if self.pieces is not None and isinstance(event, RunDelta):
            self.pieces.append(event.text)
        else:
            self.event = event

    def beyond(self, seq: int) -> Logged:
        """The part of this entry after number `seq`."""
        event = self.event
        if self.pieces is None or not isinstance(event, RunDelta):
            return Logged(self.last, event)
        skipped = max(0, seq - self.first + 1)
        text = "".join(self.pieces[skipped:])
        if skipped:
            return Logged(self.last, msgspec.structs.replace(event, text=text, id="", name=""))
        return Logged(self.last, msgspec.structs.replace(event, text=text))

    def entry(self) -> LogEntry:
        lengths = () if self.pieces is None else tuple(map(len, self.pieces))
        return LogEntry(self.first, self.last, lengths, msgspec.json.encode(self.beyond(0).event))


class RunLog:
    """The events of one run, numbered from 1, in a memory bounded by the run's own text."""

    def __init__(self, entries: Iterable[LogEntry] = ()) -> None:
        """`entries`: the stored log; new events are appended to it. Events that only a newer gateway over the same database knows are left out."""
        stored = tuple(entries)
        self._spans = [span for entry in stored if (span := _span(entry)) is not None]
        self._saved = len(self._spans)
        self._stored = stored[-1].last if stored else 0

    @property
    def last(self) -> int:
        """The number of the newest event; 0 when there is none."""
        return max(self._stored, self._spans[-1].last if self._spans else 0)

    def add(self, event: RunEvent) -> int:
        """The event's number."""
        if self._spans and self._spans[-1].accepts(event):
            self._spans[-1].add(event)
        else:
            self._append(self.last + 1, event)
        return self.last

    def leave_gap(self, event: RunEvent) -> int:
        """Add the first event after a restart; its number."""
        self._append(self.last + RESTART_GAP, event)
        return self.last

    def after(self, seq: int) -> list[Logged]:
        """Everything beyond number `seq`, each with the number to resume from."""
        at = bisect_right(self._spans, seq, key=lambda span: span.last)
        return [span.beyond(seq) for span in self._spans[at:]]

    def unsaved(self) -> list[LogEntry]:
        """The entries not marked as saved. They are sealed: later events go into new entries."""
        spans = self._spans[self._saved :]
        for span in spans:
            span.sealed = True
        return [span.entry() for span in spans]

    def mark_saved(self, last: int) -> None:
        """Mark everything up to number `last` as saved: the end of an entry that `unsaved` gave."""
        self._saved = max(self._saved, bisect_left(self._spans, last + 1, key=lambda span: span.last))

    def _append(self, number: int, event: RunEvent) -> None:
        pieces = [event.text] if isinstance(event, RunDelta) else None
        self._spans.append(_Span(number, number, event, pieces))


def _span(entry: LogEntry) -> _Span | None:
    """The entry as it is in memory; None for an event of an unknown kind."""
    try:
        event = _decoder.decode(entry.event)
    except msgspec.ValidationError:
        return None
    pieces: list[str] | None = None
    if isinstance(event, RunDelta):
        pieces, at = [], 0
        for length in entry.lengths or (len(event.text),):
            pieces.append(event.text[at : at + length])
            at += length
    span = _Span(entry.first, entry.last, event, pieces)
    span.sealed = True
    return span
