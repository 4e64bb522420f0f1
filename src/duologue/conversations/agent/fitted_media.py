"""What a row keeps of the changes to the files of its prompt. Pure; used by `turn.py`.

Each prompt contains the whole conversation, so the changes to an old file are told again with every turn. A row keeps only those that no
row above it has: otherwise a chat with twenty recordings would store each transcript twenty times.
"""

from __future__ import annotations

from collections.abc import Iterable

from duologue.values.conversations import StoredMessage
from duologue.values.events import Fitted, FittingNote


def untold(fitted: Fitted, above: Iterable[StoredMessage]) -> Fitted | None:
    """The changes that no row of `above` has, with the transcripts that belong to them; None without any."""
    told = {_key(note) for row in above if row.fitted is not None for note in row.fitted.notes}
    notes = tuple(note for note in fitted.notes if _key(note) not in told)
    places = {note.where for note in notes}
    transcripts = tuple(
        part for part in fitted.transcripts if f"messages[{part.message}].content[{part.part}]" in places
    )
    return Fitted(transcripts, notes) if notes else None


def joined(before: Fitted | None, after: Fitted | None) -> Fitted | None:
    """The changes of both: of a row, and of its continuation."""
    if before is None or after is None:
        return before or after
    return Fitted((*before.transcripts, *after.transcripts), (*before.notes, *after.notes))


def _key(note: FittingNote) -> tuple[str, str, str, int]:
    """What the page tells changes apart by, too (`web/src/chat/reply/fitted_files.ts`)."""
    return note.where, note.kind, note.became, note.count
