"""A recording as clients read it: who said what when, what was heard, and where the time went."""

from __future__ import annotations

import json
from typing import Any

from duologue.gateway.recordings.recording_document import document, entries_of, frame_place
from duologue.values.recordings import StoredRecording

ROW = StoredRecording("r1", "anna", "call", "Boats", "c1", 1000, 9000, 500, 1, "ended")
ENTRIES: list[dict[str, Any]] = [
    {"at": 100, "type": "transcript", "turn": 1, "text": "", "final": False, "understood": True},
    {"at": 500, "type": "transcript", "turn": 1, "text": "What", "final": False, "understood": True},
    {"at": 900, "type": "said", "turn": 1, "text": "What floats?", "typed": False},
    {"at": 950, "type": "reply", "reply": 1, "turn": 1, "revision": 1},
    {"at": 1000, "type": "text", "reply": 1, "text": "A boat floats."},
    {"at": 1200, "type": "heard", "reply": 1, "from_sample": 0, "samples": 24_000, "sample": 28_800},
    {"at": 1300, "type": "word", "reply": 1, "text": "A", "end": 1400, "from": 0, "to": 1},
    {"at": 2200, "type": "heard", "reply": 1, "from_sample": 24_000, "samples": 12_000, "sample": 52_800},
    {"at": 2700, "type": "interrupted", "reply": 1},
    {
        "at": 2700,
        "type": "reply_done",
        "reply": 1,
        "heard": "A boat",
        "unheard": " floats.",
        "ending": "interrupted",
    },
    {"at": 2700, "type": "latency", "turn": 1, "reply": 1, "endpoint_ms": 80.0, "first_sound_ms": 200.0},
    {"at": 2800, "type": "frame", "index": 0, "mime": "image/jpeg", "size": 11},
    {"at": 2900, "type": "frame", "index": 1, "mime": "image/png", "size": 7},
]


def lines(entries: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)


def test_both_sides_are_lines_in_order():
    read = document(ROW, lines(ENTRIES))
    caller, reply = read.lines
    assert (caller.side, caller.start, caller.end, caller.text, caller.turn) == (
        "caller",
        500,
        900,
        "What floats?",
        1,
    )
    assert (reply.side, reply.start, reply.end, reply.turn, reply.reply) == ("assistant", 1200, 2700, 1, 1)
    assert (reply.text, reply.unheard, reply.ending) == ("A boat", " floats.", "interrupted")
    assert [(word.text, word.start, word.end) for word in reply.words] == [("A", 1300, 1400)]
    assert (read.title, read.duration, read.channels) == ("Boats", 9000, ("caller", "assistant"))


def test_every_stage_that_was_reached_has_its_time():
    [latency] = document(ROW, lines(ENTRIES)).latencies
    assert (latency.turn, latency.reply, latency.at) == (1, 1, 2700)
    assert latency.figures["endpoint"] == 80.0
    assert latency.figures["first_sound"] == 200.0
    assert latency.figures["interrupted"] is None


def test_what_broke_off_is_read_up_to_there():
    broken = lines(ENTRIES[:7])[:-10] + b'\n{"at": "x", "type": 3}\n[1]\n'
    assert [entry["type"] for entry in entries_of(broken)] == [
        "transcript",
        "transcript",
        "said",
        "reply",
        "text",
        "heard",
    ]
    assert document(ROW, broken).lines[-1].text == "A boat floats."


def test_a_reply_that_broke_off_has_the_words_that_were_heard():
    assert document(ROW, lines(ENTRIES[:7])).lines[-1].text == "A"


def test_entries_are_in_order_whatever_the_order_of_the_file():
    assert entries_of(lines(ENTRIES[::-1]))[0]["at"] == 100


def test_a_reply_without_sound_is_a_line_too():
    done = {"at": 10, "type": "reply_done", "reply": 3, "heard": "", "unheard": "Late.", "ending": "replaced"}
    [line] = document(ROW, lines([done])).lines
    assert (line.start, line.end, line.unheard) == (10, 10, "Late.")


def test_pictures_are_found_by_their_number():
    entries = entries_of(lines(ENTRIES))
    assert [frame.index for frame in document(ROW, lines(ENTRIES)).frames] == [0, 1]
    place = frame_place(entries, 1)
    assert place is not None
    assert (place[0], place[1].size, place[1].mime) == (11, 7, "image/png")
    assert frame_place(entries, 2) is None
