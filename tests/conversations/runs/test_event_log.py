"""The log: whoever stops reading anywhere and goes on has the text exactly, live or from what was kept."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from duologue.conversations.runs.event_log import RESTART_GAP, LogEntry, RunLog
from duologue.values.runs import (
    RunDelta,
    RunDone,
    RunEvent,
    RunProgress,
    RunStarted,
    ToolOutput,
    ToolStarted,
)

TEXT = st.text(st.characters(codec="utf-8"), max_size=6)
DELTAS = st.one_of(
    st.builds(RunDelta, st.sampled_from(["a", "b"]), st.sampled_from(["text", "reasoning"]), TEXT),
    st.builds(
        RunDelta,
        st.just("a"),
        st.just("tool_call"),
        TEXT,
        st.integers(0, 1),
        st.sampled_from(["", "", "call"]),
        st.sampled_from(["", "clock"]),
    ),
)
EVENTS = st.lists(
    st.one_of(
        DELTAS,
        DELTAS,
        st.builds(RunProgress, st.sampled_from(["", "model"]), processed=st.integers(0, 9)),
        st.builds(ToolStarted, st.just("t")),
    ),
    max_size=40,
)


def written(events):
    """What a viewer who appends has: the text of each place, and the ids and names of calls."""
    texts: dict[object, str] = {}
    for event in events:
        if isinstance(event, RunDelta):
            place = (event.message, event.kind, event.call)
            texts[place] = texts.get(place, "") + event.text
            if event.id:
                texts[(*place, "id")] = texts.get((*place, "id"), "") + event.id
    return texts


def filled(events):
    log = RunLog()
    for event in events:
        log.add(event)
    return log


def kept(log):
    """The log as another process would read it."""
    entries = log.unsaved()
    return RunLog(msgspec.json.decode(msgspec.json.encode(entries), type=list[LogEntry]))


@given(EVENTS)
def test_events_are_numbered_from_one_and_read_in_order(events):
    log = RunLog()
    assert [log.add(event) for event in events] == list(range(1, len(events) + 1))
    numbers = [logged.seq for logged in log.after(0)]
    assert numbers == sorted(set(numbers))
    assert log.last == len(events)


@given(EVENTS, st.data())
def test_a_viewer_who_was_away_anywhere_has_the_text_exactly(events, data):
    log = filled(events)
    seen = data.draw(st.integers(0, len(events)))
    before = events[:seen]
    after = [logged.event for logged in log.after(seen)]
    assert written([*before, *after]) == written(events)


@given(EVENTS, st.data())
def test_the_kept_log_answers_like_the_live_one(events, data):
    log = filled(events)
    seen = data.draw(st.integers(0, len(events)))
    assert kept(log).after(seen) == log.after(seen)


@given(st.lists(EVENTS, min_size=1, max_size=4), st.data())
def test_saving_at_any_moment_keeps_everything_once(parts, data):
    log, entries = RunLog(), []
    for part in parts:
        for event in part:
            log.add(event)
        new = log.unsaved()
        if data.draw(st.booleans()) and new:
            entries += new
            log.mark_saved(new[-1].last)
    entries += log.unsaved()
    assert [entry.first for entry in entries] == [
        1,
        *(entry.last + 1 for entry in entries[:-1]),
    ][: len(entries)]
    whole = [event for part in parts for event in part]
    assert written(logged.event for logged in RunLog(entries).after(0)) == written(whole)


@given(EVENTS)
def test_a_viewer_at_the_end_is_told_nothing(events):
    log = filled(events)
    assert log.after(log.last) == []
    assert log.after(log.last + 5) == []


def test_pieces_of_one_text_become_one_entry():
    log = filled([RunDelta("a", "text", piece) for piece in ("One ", "two ", "three")])
    (entry,) = log.unsaved()
    assert (entry.first, entry.last, entry.lengths) == (1, 3, (4, 4, 5))
    assert msgspec.json.decode(entry.event, type=RunEvent) == RunDelta("a", "text", "One two three")


def test_the_id_and_name_of_a_call_are_told_with_its_first_piece_only():
    log = filled([RunDelta("a", "tool_call", "{", 0, "call_1", "clock"), RunDelta("a", "tool_call", "}", 0)])
    assert log.after(0)[0].event == RunDelta("a", "tool_call", "{}", 0, "call_1", "clock")
    assert log.after(1)[0].event == RunDelta("a", "tool_call", "}", 0)


def test_progress_replaces_progress_but_words_of_a_tool_are_not_lost():
    log = filled([RunProgress(processed=at) for at in range(100)])
    assert [logged.event for logged in log.after(0)] == [RunProgress(processed=99)]
    log = filled([ToolOutput("t", "one"), ToolOutput("t", "two"), ToolOutput("t", "two", 1)])
    assert [logged.event for logged in log.after(0)] == [ToolOutput("t", "one"), ToolOutput("t", "two", 1)]


def test_what_comes_after_a_restart_is_new_to_a_viewer_who_saw_more_than_was_kept():
    log = kept(filled([RunStarted("r", "c"), RunDelta("a", "text", "kept")]))
    log.leave_gap(RunDone("interrupted"))
    assert log.after(40)[0].seq == 2 + RESTART_GAP
