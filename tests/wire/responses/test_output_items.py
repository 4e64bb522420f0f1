"""Output items while they are written."""

from __future__ import annotations

from duologue.wire.responses.output_items import CustomCallItem, FunctionItem, OutputMessage, Thought
from duologue.wire.responses.response_tools import CalledTool


def test_a_message_in_progress_and_at_its_end() -> None:
    message = OutputMessage("msg_1")
    assert message.opened()["content"] == []
    assert message.begin()[0][0] == "response.content_part.added"
    message.add("Hel", [])
    assert message.shown()["status"] == "in_progress"
    message.add("lo", [])
    message.close(complete=False)
    assert (message.shown()["status"], message.shown()["content"][0]["text"]) == ("incomplete", "Hello")


def test_a_thought_is_sealed_when_it_is_whole() -> None:
    thought = Thought("rs_1", summary=False, sealed=True)
    thought.add("Hm")
    assert "encrypted_content" not in thought.shown()
    thought.close(complete=True)
    assert "encrypted_content" in thought.shown()


def test_a_call_says_its_arguments_as_they_come() -> None:
    call = FunctionItem("fc_1", "call_1", CalledTool("f"))
    assert call.begin() == []
    assert call.add("{}") == [("response.function_call_arguments.delta", {"delta": "{}"})]
    assert call.shown()["arguments"] == "{}"
    assert "namespace" not in call.shown()


def test_a_custom_call_that_is_no_json_is_given_as_it_is() -> None:
    for arguments in ('{"input": 5}', "no json"):
        call = CustomCallItem("ctc_1", "call_1", CalledTool("c", custom=True))
        assert call.add(arguments) == []
        assert call.shown()["input"] == ""
        call.close(complete=True)
        assert call.shown()["input"] == arguments
