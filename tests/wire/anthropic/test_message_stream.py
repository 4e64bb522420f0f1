"""Events become the stream of Anthropic's API, byte by byte, and the whole message says the same."""

import json
from typing import Any

import pytest

from duologue.errors import EngineFailed, Problem
from duologue.values.events import (
    Done,
    Event,
    Failed,
    Prefilled,
    Progress,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from duologue.wire.anthropic.message_end import MessageHead
from duologue.wire.anthropic.message_stream import PING, MessageEventEncoder, failure_event
from duologue.wire.anthropic.whole_message import WholeMessage

HEAD = MessageHead("msg_1", "mini", max_tokens=100, stops=("END",))


def encoder() -> MessageEventEncoder:
    return MessageEventEncoder(HEAD, "shown")


def batch(*events: Event) -> list[tuple[int, Event]]:
    return [(0, event) for event in events]


def frames(data: bytes) -> list[dict[str, Any]]:
    """The data of the frames, whose event lines say the same type."""
    found = []
    for frame in data.decode().split("\n\n")[:-1]:
        line, _, body = frame.partition("\n")
        value = json.loads(body.removeprefix("data: "))
        assert line == f"event: {value['type']}"
        found.append(value)
    return found


def test_a_golden_stream() -> None:
    data = encoder().encode(
        batch(
            Started("mini", 4096),
            Prefilled(30, 20),
            ReasoningDelta("hm"),
            TextDelta('Say "hi"\n'),
            ToolCallDelta(0, "", "call_1", "f"),
            ToolCallDelta(0, '{"a":1}'),
            Done("tool_calls", Usage(30, 9, 20, 2)),
        )
    )
    assert data.decode() == (
        "event: message_start\n"
        'data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"mini",'
        '"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,'
        '"cache_read_input_tokens":20,"output_tokens":0,"output_tokens_details":{"thinking_tokens":0}}}}\n\n'
        "event: content_block_start\n"
        'data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}\n\n'
        "event: content_block_delta\n"
        'data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}\n\n'
        "event: content_block_delta\n"
        'data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"duologue"}}\n\n'
        "event: content_block_stop\n"
        'data: {"type":"content_block_stop","index":0}\n\n'
        "event: content_block_start\n"
        'data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}\n\n'
        "event: content_block_delta\n"
        'data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Say \\"hi\\"\\n"}}\n\n'
        "event: content_block_stop\n"
        'data: {"type":"content_block_stop","index":1}\n\n'
        "event: content_block_start\n"
        'data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_call_1","name":"f",'
        '"input":{}}}\n\n'
        "event: content_block_delta\n"
        'data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\\"a\\":1}"}}\n\n'
        "event: content_block_stop\n"
        'data: {"type":"content_block_stop","index":2}\n\n'
        "event: message_delta\n"
        'data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":10,'
        '"cache_creation_input_tokens":0,"cache_read_input_tokens":20,"output_tokens":9,"output_tokens_details":'
        '{"thinking_tokens":2}}}\n\n'
        "event: message_stop\n"
        'data: {"type":"message_stop"}\n\n'
    )


def test_a_stream_and_a_whole_message_say_the_same() -> None:
    events = batch(
        Prefilled(None, 0, ("top_k",)),
        ReasoningDelta("a"),
        ReasoningDelta("b"),
        TextDelta("c"),
        ToolCallDelta(0, '{"x":', "1", "f"),
        ToolCallDelta(0, "2}"),
        Done("stop", Usage(7, 5), stop="END"),
    )
    whole = WholeMessage(HEAD, "shown")
    whole.add(events)
    told = json.loads(whole.body())
    gathered: dict[str, Any] = {}
    for frame in frames(encoder().encode(events)):
        match frame["type"]:
            case "message_start":
                gathered = frame["message"]
            case "content_block_start":
                gathered["content"].append(frame["content_block"] | {"json": ""})
            case "content_block_delta":
                block, delta = gathered["content"][frame["index"]], frame["delta"]
                name = {"input_json_delta": "json"}.get(delta["type"], delta["type"].removesuffix("_delta"))
                block[name] += delta.get("partial_json", delta.get(name))
            case "message_delta":
                gathered |= frame["delta"] | {"usage": frame["usage"]}
    for block in gathered["content"]:
        if json_text := block.pop("json"):
            block["input"] = json.loads(json_text)
    assert gathered == told
    assert told["ignored"] == ["top_k"]
    assert (told["stop_reason"], told["stop_sequence"]) == ("stop_sequence", "END")


def test_a_silence_is_a_comment_then_a_ping() -> None:
    stream = encoder()
    assert stream.note == b": waiting\n\n"
    stream.encode(batch(Progress(1, 9)))
    assert stream.note == b": prefill 1/9\n\n"
    stream.encode(batch(Prefilled(9)))
    assert stream.note == PING
    stream.encode(batch(Progress(9, 9)))
    assert stream.note == PING


def test_a_failure_ends_the_stream_with_its_problem() -> None:
    stream = encoder()
    stream.encode(batch(TextDelta("a")))
    with pytest.raises(EngineFailed, match="broke off"):
        stream.close()
    stream.encode(batch(Failed("worker_lost", "It ended.", 503)))
    assert stream.ended
    with pytest.raises(Problem, match=r"It ended\."):
        stream.close()
    assert failure_event({"type": "error"}) == b'event: error\ndata: {"type":"error"}\n\n'


def test_an_empty_reply_is_a_message_all_the_same() -> None:
    kinds = [frame["type"] for frame in frames(encoder().encode(batch(Done("stop"))))]
    assert kinds == ["message_start", "message_delta", "message_stop"]
