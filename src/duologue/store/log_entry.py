"""One entry of a run's log, as it is kept. Light: a pure file may import it."""

from __future__ import annotations

from msgspec import Struct


class LogEntry(Struct, frozen=True):
    """The events `first` to `last` of a run, as the JSON of one event: deltas that went to the same place are joined,
    and `lengths` are the characters of each. An event that stands alone has no lengths."""

    first: int
    last: int
    lengths: tuple[int, ...]
    event: bytes
