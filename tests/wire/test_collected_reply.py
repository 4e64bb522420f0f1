"""A reply is the sum of its events."""

import pytest

from duologue.errors import Problem
from duologue.values.events import (
    Done,
    Failed,
    Prefilled,
    Queued,
    ReasoningDelta,
    TextDelta,
    TokenLogprob,
    ToolCallDelta,
    Usage,
)
from duologue.values.messages import ToolCall
from duologue.wire.collected_reply import CollectedReply, broken_off


def test_pieces_join_to_text_reasoning_and_calls() -> None:
    reply = CollectedReply()
    token = TokenLogprob("Hi", -0.5, b"Hi")
    for event in (
        Queued("t", 1, 2.0, 1),
        ReasoningDelta("hm"),
        ReasoningDelta("m"),
        TextDelta("Hi", (token,)),
        TextDelta("!"),
        ToolCallDelta(1, '{"b', "call_2", "second"),
        ToolCallDelta(0, "{}", "call_1", "first"),
        ToolCallDelta(1, '":1}'),
    ):
        reply.add(event)
    assert (reply.text, reply.reasoning, reply.logprobs) == ("Hi!", "hmm", [token])
    assert reply.tool_calls == (
        ToolCall("call_1", "first", "{}"),
        ToolCall("call_2", "second", '{"b":1}'),
    )


def test_usage_is_what_is_known_so_far() -> None:
    reply = CollectedReply()
    assert reply.usage == Usage()
    reply.add(Prefilled(12, 5, ("mirostat",)))
    assert (reply.usage, reply.ignored) == (Usage(input=12, cached=5), ("mirostat",))
    for piece in (ReasoningDelta("hm"), TextDelta("Hi"), ToolCallDelta(0, "{}", "call_1", "f")):
        reply.add(piece)
    assert reply.usage == Usage(input=12, output=3, cached=5, estimated=True)
    reply.add(Done("stop", Usage(12, 3)))
    assert reply.usage == Usage(12, 3)


def test_a_failure_is_raised_with_all_it_says() -> None:
    with pytest.raises(Problem) as caught:
        CollectedReply().add(Failed("context_length_exceeded", "Too long.", 400, "messages"))
    problem = caught.value
    assert (problem.code, problem.message, problem.status, problem.param) == (
        "context_length_exceeded",
        "Too long.",
        400,
        "messages",
    )


def test_a_reply_without_an_end_is_a_failure_of_the_server() -> None:
    assert (broken_off().status, broken_off().code) == (503, "reply_incomplete")
