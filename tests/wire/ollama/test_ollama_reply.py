"""Replies as Ollama writes them: golden lines, and the same reply as one object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from duologue.errors import EngineFailed, Problem
from duologue.values.events import (
    Done,
    Event,
    Failed,
    Prefilled,
    Queued,
    ReasoningDelta,
    Started,
    TextDelta,
    Timings,
    TokenLogprob,
    ToolCallDelta,
    Usage,
)
from duologue.wire.ollama.ollama_reply import (
    Kind,
    OllamaHead,
    OllamaReply,
    OllamaStream,
    failure_line,
    loaded,
    timestamp,
)

CREATED = 1700000000.25
WHEN = "2023-11-14T22:13:20.250000Z"
DONE = Done("stop", Usage(input=7, output=3, cached=2), Timings(queue=1.5, prefill=20, generate=300.25))
NUMBERS = (
    '"done":true,"done_reason":"stop","total_duration":321751000,"load_duration":1000,"prompt_eval_count":7,'
    '"prompt_eval_duration":20000000,"eval_count":3,"eval_duration":300250000}'
)
CHAT = OllamaHead("chat", "mini:latest", CREATED, 1000)
GENERATE = OllamaHead("generate", "mini:latest", CREATED, 1000)
HEAD = f'{{"model":"mini:latest","created_at":"{WHEN}",'


def lines(head: OllamaHead, *events: Event) -> list[str]:
    stream = OllamaStream(head)
    text = b"".join(stream.encode([(0, event)]) for event in events)
    stream.close()
    return text.decode().splitlines()


def whole(head: OllamaHead, *events: Event) -> dict[str, Any]:
    reply = OllamaReply(head)
    reply.add([(0, event) for event in events])
    body: dict[str, Any] = json.loads(reply.body())
    return body


def test_text_of_a_chat() -> None:
    events = (
        Queued("q", 1, 1, 1),
        Started("mini"),
        Prefilled(7),
        TextDelta("Hel"),
        TextDelta('lo "you"'),
        DONE,
    )
    assert lines(CHAT, *events) == [
        HEAD + '"message":{"role":"assistant","content":"Hel"},"done":false}',
        HEAD + '"message":{"role":"assistant","content":"lo \\"you\\""},"done":false}',
        HEAD + '"message":{"role":"assistant","content":""},' + NUMBERS,
    ]


def test_text_of_a_prompt() -> None:
    assert lines(GENERATE, Prefilled(7), TextDelta("Hi"), DONE) == [
        HEAD + '"response":"Hi","done":false}',
        HEAD + '"response":"",' + NUMBERS,
    ]


def test_a_thought_comes_beside_the_text() -> None:
    events = (ReasoningDelta("Hm."), TextDelta("Yes"), DONE)
    assert lines(CHAT, *events)[0] == (
        HEAD + '"message":{"role":"assistant","content":"","thinking":"Hm."},"done":false}'
    )
    assert lines(GENERATE, *events)[0] == HEAD + '"response":"","thinking":"Hm.","done":false}'
    assert whole(CHAT, *events)["message"] == {"role": "assistant", "content": "Yes", "thinking": "Hm."}
    assert (whole(GENERATE, *events)["response"], whole(GENERATE, *events)["thinking"]) == ("Yes", "Hm.")


TOOLS: Sequence[Event] = (
    ToolCallDelta(0, "", "c1", "weather"),
    ToolCallDelta(0, '{"city": '),
    ToolCallDelta(0, '"Bern"}'),
    ToolCallDelta(1, "", "c2", "time"),
    Done("tool_calls", DONE.usage, DONE.timings),
)


def test_tool_calls_are_whole_and_their_arguments_objects() -> None:
    first, second, last = lines(CHAT, *TOOLS)
    assert first == (
        HEAD + '"message":{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":'
        '{"index":0,"name":"weather","arguments":{"city":"Bern"}}}]},"done":false}'
    )
    assert json.loads(second)["message"]["tool_calls"] == [
        {"id": "c2", "function": {"index": 1, "name": "time", "arguments": {}}}
    ]
    assert last == HEAD + '"message":{"role":"assistant","content":""},' + NUMBERS
    calls = whole(CHAT, *TOOLS)["message"]["tool_calls"]
    assert [call["function"]["name"] for call in calls] == ["weather", "time"]


@pytest.mark.parametrize("text", ["[1]", "{broken", '"x"'])
def test_arguments_that_are_no_object_are_told_as_they_are(text: str) -> None:
    events = (ToolCallDelta(0, text, "c1", "f"), Done("tool_calls"))
    call = whole(CHAT, *events)["message"]["tool_calls"][0]
    assert call["function"]["arguments"] == {"arguments": text}


@pytest.mark.parametrize("kind", ["chat", "generate"])
def test_a_whole_reply_says_what_the_last_line_says(kind: Kind) -> None:
    head = OllamaHead(kind, "mini:latest", CREATED, 1000)
    events = (Prefilled(7, ignored=("top_k", "options.num_gpu")), TextDelta("Hi"), DONE)
    body = whole(head, *events)
    last = json.loads(lines(head, *events)[-1])
    for answer in (body, last):
        answer.pop("message", None)
        answer.pop("response", None)
    assert body == last
    assert body["ignored"] == ["options.top_k", "options.num_gpu"]


def test_the_limit_is_a_reason_of_its_own() -> None:
    assert whole(CHAT, Done("length"))["done_reason"] == "length"


def test_logprobs_stand_beside_the_piece() -> None:
    token = TokenLogprob("Hi", -0.5, b"Hi", (TokenLogprob("Ho", float("-inf"), b"Ho"),))
    expected = [
        {
            "token": "Hi",
            "logprob": -0.5,
            "bytes": [72, 105],
            "top_logprobs": [{"token": "Ho", "logprob": -9999.0, "bytes": [72, 111]}],
        }
    ]
    events = (TextDelta("Hi", (token,)), DONE)
    assert json.loads(lines(CHAT, *events)[0])["logprobs"] == expected
    assert whole(GENERATE, *events)["logprobs"] == expected


def test_a_silence_is_broken_by_a_piece_without_text() -> None:
    assert json.loads(OllamaStream(CHAT).note)["message"] == {"role": "assistant", "content": ""}
    assert json.loads(OllamaStream(GENERATE).note) == {
        "model": "mini:latest",
        "created_at": WHEN,
        "response": "",
        "done": False,
    }


@pytest.mark.parametrize("head", [CHAT, GENERATE])
def test_a_place_in_the_queue_is_a_piece_without_text_with_one_more_field(head: OllamaHead) -> None:
    stream = OllamaStream(head)
    told = json.loads(stream.placed(2, 3.14, "q_1"))
    assert told.pop("queue") == {"position": 2, "wait": 3.1, "ticket": "q_1"}
    assert told == json.loads(stream.note)


def test_a_failure_ends_the_stream_with_its_problem() -> None:
    stream = OllamaStream(CHAT)
    stream.encode([(0, TextDelta("Hi")), (0, Failed("worker_lost", "It is gone.", 503))])
    assert stream.ended
    with pytest.raises(Problem, match="It is gone") as failure:
        stream.close()
    assert failure.value.status == 503
    body = {"error": {"message": "It is gone.", "code": "worker_lost"}}
    assert failure_line(body) == b'{"error":"It is gone."}\n'


def test_a_reply_that_breaks_off_is_an_error() -> None:
    with pytest.raises(EngineFailed):
        lines(CHAT, TextDelta("Hi"))
    with pytest.raises(EngineFailed):
        whole(CHAT, TextDelta("Hi"))
    with pytest.raises(EngineFailed):
        whole(CHAT, Done("cancelled"))


def test_a_request_without_a_prompt_is_answered_with_its_reason() -> None:
    assert loaded(GENERATE, "load") == {
        "model": "mini:latest",
        "created_at": WHEN,
        "response": "",
        "done": True,
        "done_reason": "load",
    }
    assert loaded(CHAT, "unload")["message"] == {"role": "assistant", "content": ""}


def test_times_are_in_utc() -> None:
    assert timestamp(0) == "1970-01-01T00:00:00.000000Z"
