"""A reply as one message. What a stream says is the same: see `test_message_stream`."""

import json
from typing import Any

import pytest

from duologue.errors import EngineFailed, Problem
from duologue.values.events import Done, Event, Failed, Started, TextDelta, ToolCallDelta, Usage
from duologue.wire.anthropic.message_end import MessageHead
from duologue.wire.anthropic.whole_message import WholeMessage


def message(*events: Event) -> dict[str, Any]:
    whole = WholeMessage(MessageHead("msg_1", "mini", max_tokens=100), "hidden")
    whole.add((0, event) for event in events)
    told: dict[str, Any] = json.loads(whole.body())
    return told


def test_a_text() -> None:
    told = message(Started("mini", 48), TextDelta("Hel"), TextDelta("lo"), Done("length", Usage(40, 8)))
    assert (told["id"], told["type"], told["role"], told["model"]) == (
        "msg_1",
        "message",
        "assistant",
        "mini",
    )
    assert told["content"] == [{"type": "text", "text": "Hello"}]
    assert told["stop_reason"] == "model_context_window_exceeded"


@pytest.mark.parametrize(
    ("arguments", "input"),
    [("", {}), ('{"a": 1}', {"a": 1}), ("[1]", {"arguments": [1]}), ('{"a', {"arguments": '{"a'})],
)
def test_the_input_of_a_call_is_an_object(arguments: str, input: dict[str, Any]) -> None:
    told = message(ToolCallDelta(0, arguments, "c", "f"), Done("tool_calls"))
    assert told["content"] == [{"type": "tool_use", "id": "toolu_c", "name": "f", "input": input}]


def test_what_does_not_end_is_an_error() -> None:
    with pytest.raises(EngineFailed, match="broke off"):
        message(TextDelta("a"))
    with pytest.raises(Problem, match=r"It ended\."):
        message(TextDelta("a"), Failed("worker_lost", "It ended.", 503))
