"""Keys in the order of a rank that changes often, of which only the first is ever asked for. Used by the index of free slots."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

Key = TypeVar("Key", int, str)
Rank = TypeVar("Rank", float, tuple[int, float, int])


class Ranking(Generic[Key, Rank]):
    """A heap in which what has left or changed is passed over later. Of equal ranks the lower key is first."""

    def __init__(self) -> None:
        self._ranks: dict[Key, Rank] = {}
        self._heap: list[tuple[Rank, Key]] = []

    def __len__(self) -> int:
        return len(self._ranks)

    def put(self, key: Key, rank: Rank) -> None:
        """The key has this rank from now on."""
        if self._ranks.get(key) == rank:
            return
        self._ranks[key] = rank
        if len(self._heap) > 16 + 2 * len(self._ranks):
            self._heap = [(rank, key) for key, rank in self._ranks.items()]
            heapify(self._heap)
        else:
            heappush(self._heap, (rank, key))

    def discard(self, key: Key) -> None:
        self._ranks.pop(key, None)

    def first(self) -> tuple[Rank, Key]:
        """The lowest rank, and whose it is. There must be one."""
        while True:
            rank, key = self._heap[0]
            if self._ranks.get(key) == rank:
                return rank, key
            heappop(self._heap)
