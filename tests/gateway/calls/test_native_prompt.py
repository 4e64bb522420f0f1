"""What a model is given before it holds a call by itself: the words so far, and not more of them than leave room for the call."""

from duologue.gateway.calls.native_prompt import native_messages
from duologue.values.messages import ImagePart, Message, TextPart, ToolCall, assistant, system, user


def test_words_are_kept_and_pictures_and_tool_calls_are_not():
    messages = [
        system("Be kind."),
        Message("user", (ImagePart(b"x"), TextPart("what is that"))),
        Message("assistant", (), tool_calls=(ToolCall("1", "look", "{}"),)),
        Message("tool", (TextPart("a lamp"),), tool_call_id="1"),
        assistant("A lamp."),
    ]
    assert native_messages(messages, 0) == (system("Be kind."), user("what is that"), assistant("A lamp."))


def test_the_oldest_turns_give_way_and_the_instructions_stay():
    turns = [
        each for number in range(40) for each in (user(f"question {number} " * 20), assistant("yes " * 20))
    ]
    kept = native_messages([system("Be kind."), *turns], 1000)
    assert kept[0] == system("Be kind.")
    assert 1 < len(kept) < 20
    assert kept[-1] == assistant("yes " * 20)
