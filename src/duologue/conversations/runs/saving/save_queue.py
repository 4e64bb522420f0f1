"""Which saves of running replies share a transaction. Pure; used by `group_commit.py`.

A save that arrives while no transaction is running leads: it stores itself and every save that is waiting. Saves that arrive during the transaction
wait, and the first of them leads the next one. No save waits for a timer, and the longer a transaction takes, the more saves share the next one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from duologue.conversations.runs.event_log import LogEntry
from duologue.values.conversations import StoredMessage

MOST_SAVES = 32
MOST_PARTS = 400
"""Most of them in one transaction, and most rows and entries. Other changes wait for it, such as a user's edit."""


class RunSave(Struct, frozen=True):
    """What of one run is to be stored."""

    run: str
    rows: Sequence[StoredMessage]
    entries: Sequence[LogEntry]

    @property
    def parts(self) -> int:
        return len(self.rows) + len(self.entries)


class HasSave(Struct):
    """A waiting save, with data of its owner."""

    save: RunSave


Waiting = TypeVar("Waiting", bound=HasSave)


class SaveQueue(Generic[Waiting]):
    """The waiting saves, oldest first. Each run has one save in it at most, so runs bound it."""

    def __init__(self) -> None:
        self._waiting: deque[Waiting] = deque()
        self._is_led = False

    def add(self, new: Waiting) -> bool:
        """Returns whether the new one leads."""
        self._waiting.append(new)
        leads, self._is_led = not self._is_led, True
        return leads

    def take(self) -> list[Waiting]:
        """What the leader stores in one transaction: itself, and those behind it that fit."""
        batch: list[Waiting] = []
        parts = 0
        while self._waiting and len(batch) < MOST_SAVES:
            parts += self._waiting[0].save.parts
            if batch and parts > MOST_PARTS:
                break
            batch.append(self._waiting.popleft())
        return batch

    def hand_over(self) -> Waiting | None:
        """The leader has stored what it took. Returns the save that leads now, if one waits."""
        self._is_led = bool(self._waiting)
        return self._waiting[0] if self._waiting else None
