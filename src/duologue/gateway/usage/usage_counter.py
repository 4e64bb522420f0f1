"""Counts that were not written to the database yet. Pure; `UsageService` takes them in batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from duologue.values.usage.usage_counts import UsageCounts, UsageRow, UsageSlot

MOST_SLOTS = 10_000
"""Slots in memory while the database cannot be written. Beyond that the counts of one key, kind and day are kept, but not by model."""
OTHER = "other"
"""The model of those."""


class UsageCounter:
    def __init__(self, most: int = MOST_SLOTS) -> None:
        self._most = most
        self._counts: dict[UsageSlot, UsageCounts] = {}

    def add(self, slot: UsageSlot, counts: UsageCounts) -> None:
        if slot not in self._counts and len(self._counts) >= self._most:
            slot = replace(slot, model=OTHER)
        known = self._counts.get(slot)
        self._counts[slot] = counts if known is None else known.plus(counts)

    def take(self) -> list[UsageRow]:
        """All counts, which are somebody else's then."""
        counts, self._counts = self._counts, {}
        return [UsageRow(slot, count) for slot, count in counts.items()]

    def put_back(self, rows: Iterable[UsageRow]) -> None:
        """Counts that could not be written."""
        for row in rows:
            self.add(row.slot, row.counts)

    def __len__(self) -> int:
        return len(self._counts)

    def view(self) -> Mapping[UsageSlot, UsageCounts]:
        """The counts as they are now; for reading only."""
        return self._counts
