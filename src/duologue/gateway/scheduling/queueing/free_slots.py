"""The free slots of one model, found by what a request can ask for: the beginning of a conversation, an opening, or just any. Used by
the workers of the model alone.

Every free slot is in a group for each beginning that serves a request (more than half of what its cache holds), so the longest beginning of a request that
has a group leads to exactly the slots that serve it best. Within a group the worker with most free slots comes first, then the slot that
has been unused for longest, then the worker that came first. A worker's free slots change with every event, and it may be in many groups: a group
learns of it only when it is used, from the list of changes since. So an event costs the same whether there are ten slots or ten thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from duologue.gateway.scheduling.queueing.ranking import Ranking
from duologue.gateway.scheduling.queueing.slots import QueueEntry, Slot, WorkerSlots

MOST_CHANGES = 8192
"""Changes that are remembered; a group that was not asked for longer ranks all of its workers again."""


class SlotAddress(NamedTuple):
    """A slot by its worker's name and its number."""

    worker: str
    number: int


class SlotGroup:
    """Free slots that are worth the same to a request."""

    def __init__(self) -> None:
        self._slots: dict[str, Ranking[int, float]] = {}
        self._workers: Ranking[str, tuple[int, float, int]] = Ranking()
        self._seen = -1

    def __len__(self) -> int:
        return len(self._slots)

    def add(self, place: SlotAddress, used: float) -> None:
        if (slots := self._slots.get(place.worker)) is None:
            slots = self._slots[place.worker] = Ranking()
        slots.put(place.number, used)

    def discard(self, place: SlotAddress) -> None:
        slots = self._slots[place.worker]
        slots.discard(place.number)
        if not slots:
            del self._slots[place.worker]
            self._workers.discard(place.worker)

    def first(self, workers: Mapping[str, WorkerSlots], changes: WorkerChanges) -> SlotAddress:
        """The slot that is granted first. There must be one."""
        changed: Iterable[str] = self._slots
        # Of a small group all are looked at, rather than everything that has changed elsewhere.
        if self._seen >= changes.oldest and changes.count - self._seen < len(self._slots):
            changed = [name for name in changes.since(self._seen) if name in self._slots]
        for name in changed:
            worker = workers[name]
            self._workers.put(name, (-worker.free, self._slots[name].first()[0], worker.order))
        self._seen = changes.count
        _, name = self._workers.first()
        return SlotAddress(name, self._slots[name].first()[1])


class WorkerChanges:
    """The workers whose free slots have changed, in order, the oldest forgotten. `count`: how many there have been."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self.oldest = 0

    @property
    def count(self) -> int:
        return self.oldest + len(self._names)

    def add(self, name: str) -> None:
        self._names.append(name)
        if len(self._names) > MOST_CHANGES:
            forgotten = MOST_CHANGES // 2
            del self._names[:forgotten]
            self.oldest += forgotten

    def since(self, count: int) -> list[str]:
        return self._names[count - self.oldest :]


Groups = dict[bytes, SlotAddress | SlotGroup]
"""Most groups are a single slot: the beginnings of a conversation that only it holds. Those are that slot, and nothing more."""


class FreeSlots:
    """The slots that may be granted. `workers`: all workers of the model by name, kept up to date by the owner of this index."""

    def __init__(self, workers: Mapping[str, WorkerSlots]) -> None:
        self._known = workers
        self._changes = WorkerChanges()
        self._beginnings: Groups = {}
        self._openings: Groups = {}
        self._every = SlotGroup()

    def add(self, name: str, number: int) -> None:
        """A slot is free now."""
        slot, place = self._known[name].slots[number], SlotAddress(name, number)
        self._changes.add(name)
        self._every.add(place, slot.used)
        groups, keys = self._groups_of(slot)
        for key in keys:
            self._join(groups, key, place, slot.used)

    def discard(self, name: str, number: int) -> None:
        """A free slot is free no longer. Its cache must not have changed yet."""
        slot, place = self._known[name].slots[number], SlotAddress(name, number)
        self._changes.add(name)
        self._every.discard(place)
        groups, keys = self._groups_of(slot)
        for key in keys:
            if isinstance(group := groups[key], SlotGroup):
                group.discard(place)
                if group:
                    continue
            del groups[key]

    def best(self, entry: QueueEntry) -> SlotAddress | None:
        """The free slot whose cache serves a request best; None if no slot is free."""
        for digest in reversed(entry.chain):
            if (group := self._beginnings.get(digest)) is not None:
                return self._first(group)
        if entry.opening and (group := self._openings.get(entry.opening)) is not None:
            return self._first(group)
        return self._first(self._every) if self._every else None

    def _groups_of(self, slot: Slot) -> tuple[Groups, Iterable[bytes]]:
        """As `cache_score` has it: the beginnings that are more than half of what the cache holds, or where it holds no messages its opening."""
        if slot.chain:
            return self._beginnings, slot.chain[len(slot.chain) // 2 :]
        return self._openings, (slot.opening,) if slot.opening else ()

    def _join(self, groups: Groups, key: bytes, place: SlotAddress, used: float) -> None:
        if (group := groups.get(key)) is None:
            groups[key] = place
            return
        if isinstance(group, SlotAddress):
            other, group = group, SlotGroup()
            group.add(other, self._known[other.worker].slots[other.number].used)
            groups[key] = group
        group.add(place, used)

    def _first(self, group: SlotAddress | SlotGroup) -> SlotAddress:
        return group if isinstance(group, SlotAddress) else group.first(self._known, self._changes)
