"""What was made of a request's media, as JSON fields: `transcripts` and `fitted`. Used by the chat socket, the completions and runs."""

from __future__ import annotations

from duologue.values.events import Fitted, FittingNote
from duologue.wire.sound import transcript


def fitted_fields(event: Fitted) -> dict[str, object]:
    """The fields of an answer; without those that would be empty."""
    fields: dict[str, object] = {}
    if event.transcripts:
        fields["transcripts"] = [transcript(part) for part in event.transcripts]
    if event.notes:
        fields["fitted"] = [fitting_note(note) for note in event.notes]
    return fields


def fitting_note(note: FittingNote) -> dict[str, object]:
    """One change: `count` pictures, of `seconds` of sound or video, where those say something."""
    fields: dict[str, object] = {"where": note.where, "kind": note.kind, "became": note.became}
    if note.count:
        fields["count"] = note.count
    if note.seconds:
        fields["seconds"] = note.seconds
    return fields
