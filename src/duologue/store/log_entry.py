"""One entry of a run's log, as it is stored. Imports no database, so that pure modules may use it."""

from __future__ import annotations

from msgspec import Struct


class LogEntry(Struct, frozen=True):
    """The events `first` to `last` of a run, as the JSON of one event. Consecutive deltas of the same row are joined, and
    `lengths` has the characters of each; any other event has no lengths."""

    first: int
    last: int
    lengths: tuple[int, ...]
    event: bytes
