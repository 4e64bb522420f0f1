"""How verbs begin, on rows written by hand. What comes of it is in test_runs.py."""

from itertools import count

import pytest

from duologue.conversations.runs.commands import Continue, Edit, NewMessage, Regenerate, Send
from duologue.conversations.runs.plan import plan_run
from duologue.errors import BadRequest, NotFound, Unsupported
from duologue.values.conversations import (
    Conversation,
    StoredMessage,
    StoredToolCall,
    TextContent,
    ToolCallRecord,
)
from duologue.values.requests import ModelCard

CARD = ModelCard("mini", "scripted", 100, verbs=("continue",))
CONTENT = (TextContent("New"),)


def row(id, parent, role, text="", **fields):
    return StoredMessage(id, "c", parent, role, (TextContent(text),) if text else (), **fields)


def tool(id, parent, call, state):
    return row(id, parent, "tool", "result", tool_call_id=call, call=ToolCallRecord("clock", state=state))


CALLS = (StoredToolCall("c1", "clock", "{}"), StoredToolCall("c2", "clock", "{}"))
ROWS = [
    row("s", None, "system", "Be brief."),
    row("u", "s", "user", "Hello"),
    row("a", "u", "assistant", "Hi", finish="stop"),
    row("cut", "u", "assistant", "Hi and", status="stopped"),
    row("calls", "u", "assistant", tool_calls=CALLS),
    tool("t1", "calls", "c1", "done"),
    tool("t2", "t1", "c2", "failed"),
    row("half", "u", "assistant", tool_calls=CALLS),
    tool("h1", "half", "c1", "waiting"),
]


def plan(command, *, card=CARD, leaf="a"):
    ids = count(1)
    conversation = Conversation("c", leaf=leaf)
    return plan_run(command, conversation, ROWS, card=card, content=CONTENT, new_id=lambda: f"n{next(ids)}")


@pytest.mark.parametrize(("parent", "under"), [("", "a"), (None, None), ("u", "u")])
def test_a_message_goes_under_the_leaf_the_root_or_the_row_named(parent, under):
    found = plan(Send("r", NewMessage("m", ()), parent))
    message, answer = found.added
    assert (message.id, message.parent, message.content, message.run) == ("m", under, CONTENT, "r")
    assert (answer.parent, answer.role, answer.status, answer.model) == ("m", "assistant", "running", "mini")
    assert (found.leaf, found.answers) == (answer.id, "m")


def test_an_edit_goes_beside_the_old_message():
    message, answer = plan(Edit("r", "u", NewMessage("m", ()))).added
    assert (message.parent, answer.parent) == ("s", "m")


@pytest.mark.parametrize(("at", "under"), [("a", "u"), ("u", "u"), ("cut", "u")])
def test_a_reply_is_made_again_beside_the_old_one_or_below_its_question(at, under):
    found = plan(Regenerate("r", at))
    assert [row.parent for row in found.added] == [under]
    assert found.answers == "u"


def test_a_cut_reply_is_written_on():
    found = plan(Continue("r", "cut"))
    assert found.continued is not None
    assert (found.continued.id, found.continued.status, found.continued.run) == ("cut", "running", "r")
    assert found.added == ()


@pytest.mark.parametrize("at", ["calls", "t1", "t2"])
def test_calls_with_all_their_results_are_followed_by_the_next_turn(at):
    found = plan(Continue("r", at))
    assert [row.parent for row in found.added] == ["t2"]


@pytest.mark.parametrize("at", ["half", "h1"])
def test_calls_without_results_are_taken_up(at):
    found = plan(Continue("r", at))
    assert found.caller is not None
    assert found.caller.id == "half"
    assert [(row.id, row.status) for row in found.call_rows] == [("h1", "running")]


@pytest.mark.parametrize(
    ("verb", "problem"),
    [
        (Continue("r", "a"), BadRequest),
        (Continue("r", "s"), BadRequest),
        (Continue("r", "nowhere"), NotFound),
        (Regenerate("r", "t1"), BadRequest),
        (Edit("r", "a", NewMessage("m", ())), BadRequest),
    ],
)
def test_a_row_the_verb_cannot_be_used_on_is_refused(verb, problem):
    with pytest.raises(problem):
        plan(verb)


def test_a_model_that_cannot_continue_is_refused_but_one_that_still_loads_is_not():
    with pytest.raises(Unsupported, match="choose another model"):
        plan(Continue("r", "cut"), card=ModelCard("mini", "remote", 100))
    assert plan(Continue("r", "cut"), card=ModelCard("mini", "remote", 0)).continued is not None
