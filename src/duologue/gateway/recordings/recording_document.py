"""A recording's timeline as clients read it: the entries in order, and what a player shows of them. Pure.

Used by `recording_routes`.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, field

from duologue.gateway.recordings.timeline import FIGURES, Entry, in_order
from duologue.values.audio import SPOKEN_RATE
from duologue.values.recordings import StoredRecording

_entry = msgspec.json.Decoder(dict[str, Any]).decode


class RecordedWord(Struct, frozen=True):
    """A word, and when it sounded in milliseconds."""

    text: str
    start: int
    end: int


class RecordedLine(Struct):
    """What one side said: `start` and `end` in milliseconds; of a reply only what was heard, and `unheard`, the rest."""

    side: str
    start: int
    end: int
    text: str
    turn: int | None = None
    reply: int | None = None
    typed: bool = False
    unheard: str = ""
    ending: str = ""
    words: list[RecordedWord] = field(default_factory=list)


class RecordedLatency(Struct, frozen=True):
    """Where the time of one turn went: milliseconds from the end of the caller's speech, None where that was not reached."""

    at: int
    turn: int
    reply: int
    figures: dict[str, float | None]


class RecordedFrame(Struct, frozen=True):
    """A picture: when it arrived, its number, type and bytes."""

    at: int
    index: int
    mime: str
    size: int


class RecordingDocument(Struct):
    """The whole recording but for its sound and its pictures."""

    id: str
    kind: str
    title: str
    conversation: str
    created: int
    duration: int
    size: int
    ended: str
    channels: tuple[str, str]
    lines: list[RecordedLine]
    latencies: list[RecordedLatency]
    frames: list[RecordedFrame]
    entries: list[Entry]


def entries_of(data: bytes) -> list[Entry]:
    """The entries of the file, in order. A line that breaks off is left out."""
    entries = []
    for line in data.splitlines():
        try:
            entry = _entry(line)
        except msgspec.DecodeError:
            continue
        if isinstance(entry.get("at"), int) and isinstance(entry.get("type"), str):
            entries.append(entry)
    return in_order(entries)


def document(recording: StoredRecording, data: bytes) -> RecordingDocument:
    """The document of these entries."""
    entries = entries_of(data)
    frames = [
        RecordedFrame(entry["at"], entry["index"], entry["mime"], entry["size"])
        for entry in entries
        if entry["type"] == "frame"
    ]
    return RecordingDocument(
        recording.id,
        recording.kind,
        recording.title,
        recording.conversation,
        recording.created,
        recording.duration,
        recording.size,
        recording.ended,
        ("caller", "assistant"),
        sorted([*_caller_lines(entries), *_reply_lines(entries)], key=lambda line: line.start),
        _latencies(entries),
        frames,
        entries,
    )


def frame_place(entries: list[Entry], index: int) -> tuple[int, RecordedFrame] | None:
    """Where in the file of pictures this one begins; None if there is none."""
    start = 0
    for entry in entries:
        if entry["type"] == "frame":
            if entry["index"] == index:
                return start, RecordedFrame(entry["at"], index, entry["mime"], entry["size"])
            start += entry["size"]
    return None


def _caller_lines(entries: list[Entry]) -> list[RecordedLine]:
    """A turn begins with its first words, as far as they were transcribed while it was spoken."""
    began: dict[int, int] = {}
    lines = []
    for entry in entries:
        if entry["type"] == "transcript" and entry["text"]:
            began.setdefault(entry["turn"], entry["at"])
        elif entry["type"] == "said":
            start = began[entry["turn"]] if entry["turn"] in began else int(entry["at"])
            lines.append(
                RecordedLine("caller", start, entry["at"], entry["text"], entry["turn"], typed=entry["typed"])
            )
    return lines


def _reply_lines(entries: list[Entry]) -> list[RecordedLine]:
    turns = {entry["reply"]: entry["turn"] for entry in entries if entry["type"] == "reply"}
    lines: dict[int, RecordedLine] = {}
    for entry in entries:
        if not isinstance(entry.get("reply"), int):
            continue
        reply: int = entry["reply"]
        if entry["type"] == "heard":
            end = entry["at"] + entry["samples"] * 1000 // SPOKEN_RATE
            line = lines.setdefault(
                reply, RecordedLine("assistant", entry["at"], end, "", turns.get(reply), reply)
            )
            line.start, line.end = min(line.start, entry["at"]), max(line.end, end)
        elif entry["type"] == "word" and reply in lines:
            lines[reply].words.append(RecordedWord(entry["text"], entry["at"], entry["end"]))
        elif entry["type"] == "reply_done":
            line = lines.setdefault(
                reply,
                RecordedLine("assistant", entry["at"], entry["at"], "", turns.get(reply), reply),
            )
            line.text, line.unheard, line.ending = entry["heard"], entry["unheard"], entry["ending"]
    written: dict[int, str] = {}
    for entry in entries:
        if entry["type"] == "text":
            written[entry["reply"]] = written.get(entry["reply"], "") + entry["text"]
    for number, line in lines.items():
        if not line.ending:
            # The recording broke off before the reply did.
            line.text = " ".join(word.text for word in line.words) or written.get(number, "")
    return [line for line in lines.values() if line.text or line.unheard or line.end > line.start]


def _latencies(entries: list[Entry]) -> list[RecordedLatency]:
    return [
        RecordedLatency(
            entry["at"], entry["turn"], entry["reply"], {name: entry.get(f"{name}_ms") for name in FIGURES}
        )
        for entry in entries
        if entry["type"] == "latency"
    ]
