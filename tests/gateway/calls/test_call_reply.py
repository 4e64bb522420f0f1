"""One reply of a call: what was heard of it, and that it continues under a new number."""

import pytest

from duologue.conversations.agent.call_agent import CallToolLoop
from duologue.gateway.calls.call_reply import CallReply
from duologue.gateway.calls.history import EphemeralHistory
from duologue.values.events import ReplyWord

pytestmark = pytest.mark.anyio


def reply() -> CallReply:
    history = EphemeralHistory("", "m", ())
    return CallReply(
        1, 1, "count", CallToolLoop(history.context, publish=lambda event: None), history.request("count")
    )


async def test_only_words_that_were_played_to_their_end_were_heard():
    one = reply()
    one.text = "One two three."
    one.words = [ReplyWord("One", 0, 5000, 0, 3), ReplyWord("two", 6000, 11000, 4, 7)]
    assert one.heard == ""
    one.played = 5000
    assert one.heard == "One"
    one.played = 11000
    assert one.heard == "One two"


async def test_a_reply_whose_question_was_answered_begins_anew_under_its_new_number():
    one = reply()
    one.text, one.words, one.played = "May I?", [ReplyWord("May", 0, 100, 0, 3)], 100
    one.resume_as(2, 3)
    assert (one.number, one.answer_turn, one.turn) == (2, 3, 1)
    assert (one.text, one.heard, one.played) == ("", "", 0)
    assert not one.has_open_question
