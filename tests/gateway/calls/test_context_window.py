"""What a call leaves out when it outgrows its model: whole turns, the oldest first, and never the last."""

from duologue.gateway.calls.context_window import droppable, instructions, nearly_full
from duologue.values.events import Usage
from duologue.values.messages import ImagePart, Message, TextPart, ToolCall, assistant, system, user


def turn(text: str) -> list[Message]:
    return [user(text), assistant(text)]


def test_half_of_the_talk_goes_in_whole_turns_and_the_instructions_stay():
    talk = [system("Be kind."), *turn("a" * 90), *turn("b" * 90), *turn("c" * 90), user("d" * 90)]
    assert droppable(talk) == 4
    assert instructions(talk) == 1


def test_what_a_turn_did_goes_with_it():
    done = [
        user("add"),
        Message("assistant", tool_calls=(ToolCall("c1", "add", "{}"),)),
        Message("tool", (TextPart("2"),), tool_call_id="c1"),
        assistant("Two."),
    ]
    assert droppable([*done, user("and now")]) == 4


def test_the_last_turn_stays_however_long_it_is():
    assert droppable([system("Be kind."), user("a" * 9000)]) == 0
    assert droppable([*turn("short"), user("a" * 9000)]) == 2


def test_a_picture_takes_its_room():
    pictured = Message("user", (ImagePart(b"x"), TextPart("look")))
    assert droppable([pictured, assistant("A cat."), *turn("yes"), user("well")]) == 2


def test_nothing_said_is_nothing_to_leave_out():
    assert droppable([]) == 0
    assert droppable([system("Be kind.")]) == 0


def test_a_model_is_nearly_full_where_the_next_turn_may_not_fit():
    assert nearly_full(Usage(input=700, output=60), 1000)
    assert not nearly_full(Usage(input=700, output=40), 1000)
    # A small model keeps a quarter of itself.
    assert nearly_full(Usage(input=180, output=20), 256)
    assert not nearly_full(Usage(input=180, output=10), 256)


def test_a_context_that_nobody_knows_is_never_full():
    assert not nearly_full(Usage(input=10**6), 0)
    assert not nearly_full(Usage(), 1000)
