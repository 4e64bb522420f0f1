"""What one step of the engine does: part of one prompt is read, and one token of every reply is written. Pure.

`row_driver` asks before each step. Prompts take turns, so that a long one does not keep the others from their first token; a reply whose
reader is far behind waits.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

ROOM = 32
"""Items that a reply may be ahead of its reader."""
ALONE = 4
"""How much more of a prompt a step reads while no reply is written, which would wait for it."""


class RowState(Struct, frozen=True):
    """A row of the batch: `number` is larger for one that came later; `unread`: items that its reader has not taken yet."""

    number: int
    reads: bool
    unread: int = 0


class StepPlan(Struct, frozen=True):
    """The numbers of the rows: whose prompt is read, in parts of `share` batches, and whose next token is written."""

    reading: int | None = None
    writing: tuple[int, ...] = ()
    share: int = 1

    @property
    def is_empty(self) -> bool:
        """Nothing can be done before a reader takes what is there."""
        return self.reading is None and not self.writing


def plan_step(rows: Sequence[RowState], last_read: int = -1) -> StepPlan:
    """The next step; `last_read` is the row whose prompt was read in the last one."""
    able = [row for row in rows if row.unread < ROOM]
    readers = sorted(row.number for row in able if row.reads)
    writing = tuple(sorted(row.number for row in able if not row.reads))
    if not readers:
        return StepPlan(None, writing)
    reading = next((number for number in readers if number > last_read), readers[0])
    return StepPlan(reading, writing, 1 if writing else ALONE)
