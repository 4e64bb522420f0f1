"""Anthropic's messages become ours."""

from typing import Any

import pytest

from duologue.errors import Unsupported
from duologue.values.events import Failed, Fitted, FittingNote, TextDelta
from duologue.values.messages import ImagePart, Message, TextPart, ToolCall
from duologue.wire.anthropic.content_blocks import TextBlock
from duologue.wire.anthropic.conversation import (
    AnthropicMessage,
    TranslatedMessages,
    conversation,
    relocated,
    relocated_event,
)
from duologue.wire.anthropic.thoughts import signature


def talk(*messages: tuple[str, Any], system: list[str] | None = None) -> TranslatedMessages:
    bodies = [
        AnthropicMessage.model_validate({"role": role, "content": content}) for role, content in messages
    ]
    return conversation([TextBlock(type="text", text=text) for text in system or []], bodies, {})


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_a_system_prompt_of_blocks_is_one_message() -> None:
    assert talk(("user", "Hi"), system=["One.", "Two."]).messages == (
        Message("system", (TextPart("One."), TextPart("\n\nTwo."))),
        Message("user", (TextPart("Hi"),)),
    )


def test_the_billing_line_of_an_agent_does_not_spoil_the_cache() -> None:
    spoiled = talk(
        ("user", "Hi"), system=["x-anthropic-billing-header: cc_version=2.1; cch=83a1c;", "You help."]
    )
    assert spoiled.messages == talk(("user", "Hi"), system=["You help."]).messages


def test_messages_of_one_role_become_one() -> None:
    merged = talk(
        ("user", "One."), ("user", [text("Two.\n"), text("Three.")]), ("assistant", "Yes."), ("user", "So?")
    )
    assert [(message.role, message.text) for message in merged.messages] == [
        ("user", "One.\n\nTwo.\nThree."),
        ("assistant", "Yes."),
        ("user", "So?"),
    ]
    assert not merged.open


def test_a_system_message_after_others_joins_the_prompt_before_the_first_reply_and_the_user_after_it() -> (
    None
):
    def told(*messages: tuple[str, Any], system: list[str] | None = None) -> list[tuple[str, str]]:
        return [(message.role, message.text) for message in talk(*messages, system=system).messages]

    early = (("user", "a"), ("system", "b"))
    assert told(*early) == [("system", "b"), ("user", "a")]
    assert told(*early, system=["s"]) == [("system", "s\n\nb"), ("user", "a")]
    late = told(*early, ("assistant", "c"), ("user", "d"), ("system", "e"))
    assert late[2:] == [("assistant", "c"), ("user", "d\n\n<system>\ne\n</system>")]


def test_a_tool_round_trip() -> None:
    use = {"type": "tool_use", "id": "toolu_call_1", "name": "f", "input": {"a": 1}}
    result = {"type": "tool_result", "tool_use_id": "toolu_call_1", "content": "25"}
    other = {"type": "tool_result", "tool_use_id": "own", "content": [text("a"), text("b")]}
    messages = talk(
        ("user", "Go"), ("assistant", [text("I look."), use]), ("user", [result, other, text("And now?")])
    ).messages
    assert messages == (
        Message("user", (TextPart("Go"),)),
        Message("assistant", (TextPart("I look."),), tool_calls=(ToolCall("call_1", "f", '{"a":1}'),)),
        Message("tool", (TextPart("25"),), tool_call_id="call_1"),
        Message("tool", (TextPart("a"), TextPart("\n\nb")), tool_call_id="own"),
        Message("user", (TextPart("And now?"),)),
    )


def test_a_failed_tool_says_so_once() -> None:
    def said(**fields: Any) -> str:
        result = {"type": "tool_result", "tool_use_id": "t", "is_error": True, **fields}
        return talk(("user", [result])).messages[0].text

    assert said(content="No such file.") == "Error: No such file."
    assert said(content="ValueError: no such file.") == "ValueError: no such file."
    assert said() == "Error"


def test_thoughts_come_back_with_and_without_their_text() -> None:
    shown = {"type": "thinking", "thinking": "Hm.", "signature": "from elsewhere"}
    hidden = {"type": "thinking", "thinking": "", "signature": signature("Aha.", hidden=True)}
    foreign = {"type": "thinking", "thinking": "", "signature": "EqoBCkgIARAB"}
    redacted = {"type": "redacted_thinking", "data": "xyz"}
    said = talk(("user", "a"), ("assistant", [shown, hidden, foreign, redacted, text("So.")]), ("user", "b"))
    assert said.messages[1] == Message("assistant", (TextPart("So."),), reasoning="Hm.\n\nAha.")


def test_a_last_message_of_the_assistant_is_open_unless_it_is_empty() -> None:
    begun = talk(("user", "a"), ("assistant", [text("Once "), text("upon")]))
    assert (begun.open, begun.messages[-1].text) == (True, "Once upon")
    assert not talk(("user", "a"), ("assistant", "")).open
    assert len(talk(("user", "a"), ("assistant", [])).messages) == 1


def test_problems_name_the_blocks_of_the_client() -> None:
    png = {"type": "base64", "data": "iVBORw0KGgou"}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "image", "source": png}]}
    said = talk(("user", "a"), ("user", [result]), system=["s"])
    assert isinstance(said.messages[2].parts[0], ImagePart)
    problem = Unsupported("messages[2].content[0] is image.", param="messages[2].content[0]", code="c")
    moved = relocated(problem, said.places)
    assert moved.message == "messages[1].content[0].content[0] is image."
    assert (moved.param, moved.code) == ("messages[1].content[0].content[0]", "c")


def test_events_name_the_blocks_of_the_client_too() -> None:
    inner, outer = "messages[1].content[0]", "messages[0].content[2]"
    failed = relocated_event(Failed("c", f"{inner} is damaged.", 400, inner), {inner: outer})
    assert failed == Failed("c", f"{outer} is damaged.", 400, outer)
    fitted = relocated_event(Fitted(notes=(FittingNote(inner, "image", "resized"),)), {inner: outer})
    assert fitted == Fitted(notes=(FittingNote(outer, "image", "resized"),))
    assert relocated_event(TextDelta(inner), {inner: outer}) == TextDelta(inner)


@pytest.mark.parametrize("param", ["tools", None])
def test_other_problems_stay_as_they_are(param: str | None) -> None:
    moved = relocated(Unsupported("tools: it cannot.", param=param), {})
    assert (moved.message, moved.param) == ("tools: it cannot.", param)


def test_what_cannot_be_continued_is_said_in_words_of_this_api() -> None:
    problem = Unsupported(
        "continue_final_message: the model m cannot continue a message.", param="continue_final_message"
    )
    moved = relocated(problem, {})
    assert (
        moved.message
        == "messages: the last one is the assistant's, and the model m cannot continue a message."
    )
    assert moved.param == "messages"
