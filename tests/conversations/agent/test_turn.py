"""A turn's row, grown from the model's events."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.conversations.agent.turn import ModelTurn, row_error
from duologue.values.conversations import ImageContent, StoredMessage, StoredToolCall, TextContent
from duologue.values.events import (
    Done,
    Failed,
    Fitted,
    FittingNote,
    Prefilled,
    Progress,
    Queued,
    ReasoningDelta,
    Started,
    TextDelta,
    Timings,
    ToolCallDelta,
    Usage,
)
from duologue.values.runs import RunDelta, RunFitted, RunProgress
from duologue.values.speech import TranscribedPart

ROW = StoredMessage("a", "c", "u", "assistant", status="running", run="r")


def grown(row, *events):
    turn = ModelTurn(row)
    said = [said for event in events for said in turn.feed(event)]
    return turn, said


@given(st.lists(st.tuples(st.booleans(), st.text(max_size=4)), max_size=20))
def test_a_row_is_what_its_deltas_join_to(pieces):
    turn, said = grown(
        ROW, *(TextDelta(text) if is_text else ReasoningDelta(text) for is_text, text in pieces)
    )
    for kind, whole in (("text", turn.row().text), ("reasoning", turn.row().reasoning)):
        assert whole == "".join(delta.text for delta in said if delta.kind == kind)


def test_what_the_model_does_before_it_writes_is_told_as_progress():
    turn, said = grown(ROW, Queued("q", 2, 9.0, 3), Started("mini"), Progress(5, 10, 1), Prefilled(10, 1))
    assert said == [
        RunProgress("queue", 2, 9.0),
        RunProgress("model"),
        RunProgress("model", processed=5, total=10, cached=1),
        RunProgress("model", processed=10, total=10, cached=1),
    ]
    assert (turn.waiting, turn.row().model) == ("model", "mini")
    assert turn.feed(TextDelta("x")) == [RunDelta("a", "text", "x")]
    assert turn.waiting == ""


def test_what_was_made_of_files_is_told():
    note = FittingNote("messages[1].content[0]", "video", "frames", 3, 2.5)
    _, said = grown(ROW, Fitted((), (note,)))
    assert said == [RunFitted("a", (), (note,))]


CLIP = FittingNote("messages[0].content[0]", "video", "frames", 3, 2.5)
SOUND = FittingNote("messages[2].content[1]", "audio", "text", seconds=1.5)
WORDS = TranscribedPart(2, 1, "Buy tea.")


def test_the_row_keeps_what_was_made_of_files_unless_a_row_above_has_it():
    turn = ModelTurn(ROW)
    turn.above = (msgspec.structs.replace(ROW, id="before", fitted=Fitted((), (CLIP,))),)
    turn.feed(Fitted((WORDS,), (CLIP, SOUND)))
    assert turn.row().fitted == turn.done(Done("stop")).fitted == Fitted((WORDS,), (SOUND,))
    turn.feed(Fitted((), (CLIP,)))
    assert turn.row().fitted is None


def test_a_continued_row_keeps_what_it_had_and_one_that_begins_again_does_not():
    begun = msgspec.structs.replace(ROW, fitted=Fitted((), (CLIP,)))
    for continues, kept in ((True, Fitted((WORDS,), (CLIP, SOUND))), (False, Fitted((WORDS,), (SOUND,)))):
        turn = ModelTurn(begun, continues=continues)
        turn.feed(Fitted((WORDS,), (CLIP, SOUND) if continues else (SOUND,)))
        assert turn.row().fitted == kept
    assert ModelTurn(begun, continues=True).row().fitted == begun.fitted
    assert ModelTurn(begun).row().fitted is None


def test_calls_are_joined_by_their_index_and_named_once():
    turn, said = grown(
        ROW,
        ToolCallDelta(0, '{"a"', "one", "clock"),
        ToolCallDelta(1, "{}", None, "fetch"),
        ToolCallDelta(0, ": 1}"),
    )
    assert said[0] == RunDelta("a", "tool_call", '{"a"', 0, "one", "clock")
    assert said[1] == RunDelta("a", "tool_call", "{}", 1, "a_1", "fetch")
    assert said[2] == RunDelta("a", "tool_call", ": 1}", 0)
    assert turn.row().tool_calls == ()
    assert turn.done(Done("tool_calls")).tool_calls == (
        StoredToolCall("one", "clock", '{"a": 1}'),
        StoredToolCall("a_1", "fetch", "{}"),
    )
    broken_off = turn.done(Done("length"))
    assert (broken_off.tool_calls, broken_off.status) == ((), "failed")
    assert broken_off.error is not None
    assert broken_off.error.code == "call_cut"
    assert turn.cut("stopped").tool_calls == ()


def test_calls_that_are_no_json_are_kept_when_the_model_itself_ended_so_that_they_are_answered():
    turn, _ = grown(ROW, ToolCallDelta(0, '{"a": x}', "one", "clock"))
    ended = turn.done(Done("stop"))
    assert (ended.tool_calls, ended.status) == ((StoredToolCall("one", "clock", '{"a": x}'),), "done")
    assert turn.done(Done("stop", stop="END")).tool_calls == ()


def test_a_row_that_goes_on_keeps_what_it_has():
    before = StoredMessage(
        "a",
        "c",
        "u",
        "assistant",
        (TextContent("Half "), ImageContent("b", "image/png")),
        reasoning="Hm. ",
        usage=Usage(10, 2),
        timings=Timings(1, 2, 3, 4),
        status="running",
    )
    turn, _ = grown(before, ReasoningDelta("So."), TextDelta("whole"))
    row = turn.done(Done("stop", Usage(12, 3, 12, 1), Timings(1, 1, 1, 1)))
    assert (row.text, row.reasoning, row.content[1].blob) == ("Half whole", "Hm. So.", "b")
    assert row.usage == Usage(10, 5, 12, 1)
    assert row.timings == Timings(2, 3, 4, 4)


def test_nothing_comes_after_the_end():
    turn, said = grown(ROW, TextDelta("x"), Done("stop"), TextDelta("y"), Failed("worker_lost", "Gone."))
    assert len(said) == 1
    assert isinstance(turn.ended, Done)
    assert turn.row().text == "x"


def test_a_turn_that_wrote_nothing_is_silent():
    assert grown(ROW, Started("mini"), TextDelta(""))[0].silent
    assert not grown(ROW, ReasoningDelta("Hm."))[0].silent


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("queue_full", "queue"),
        ("context_length_exceeded", "context"),
        ("model_silent", "timeout"),
        ("upstream_failed", "model"),
        ("unsupported", "model"),
        ("worker_lost", "server"),
        ("storage_unavailable", "server"),
    ],
)
def test_a_code_belongs_to_a_kind(code, kind):
    assert row_error(code, "Sentence.").kind == kind
