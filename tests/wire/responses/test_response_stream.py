"""Events of a generation become those of a response: their order, their numbers, and the state they tell."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from duologue.values.events import (
    Done,
    Event,
    Failed,
    Fitted,
    FittingNote,
    Prefilled,
    Progress,
    Queued,
    ReasoningDelta,
    Started,
    TextDelta,
    TokenLogprob,
    ToolCallDelta,
    Usage,
)
from duologue.values.requests import ModelCard
from duologue.wire.responses.response_body import ResponseBody
from duologue.wire.responses.response_object import fixed_fields
from duologue.wire.responses.response_stream import ResponseEncoder, ResponseEvent
from duologue.wire.responses.response_tools import CalledTool
from duologue.wire.validation import validate

CARD = ModelCard("mini", "scripted", 2048)
USAGE = Usage(input=7, output=3, cached=2, reasoning=1)
BEGIN = ["response.created", "response.in_progress"]
MESSAGE = ["response.output_item.added", "response.content_part.added"]
MESSAGE_END = ["response.output_text.done", "response.content_part.done", "response.output_item.done"]
THOUGHT_END = ["response.reasoning_text.done", "response.content_part.done", "response.output_item.done"]


def encoder(**options: Any) -> ResponseEncoder:
    body = validate(ResponseBody, {"input": "Hello"})
    return ResponseEncoder(fixed_fields(body, CARD, "resp_1", 1700000000), **options)


def fed(encoder: ResponseEncoder, *events: Event) -> list[dict[str, Any]]:
    """The data of the events, which are numbered from where the encoder was."""
    said = [one for event in events for one in encoder.feed(event, 1700000009)]
    return [told(event) for event in said]


def told(event: ResponseEvent) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(event.data)
    assert (data["type"], data["sequence_number"]) == (event.type, event.number)
    assert event.frame == b"event: " + event.type.encode() + b"\ndata: " + event.data + b"\n\n"
    return data


def kinds(events: list[dict[str, Any]]) -> list[str]:
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return [event["type"] for event in events]


def of_sdk(events: list[dict[str, Any]]) -> list[Any]:
    """The events as the official client reads them, strictly."""
    from openai.types.responses import ResponseStreamEvent

    adapter: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    return [adapter.validate_python(event) for event in events]


def test_a_text_is_a_message_with_one_part() -> None:
    events = fed(
        encoder(), Started("mini"), Prefilled(7), TextDelta("Hel"), TextDelta("lo"), Done("stop", USAGE)
    )
    deltas = ["response.output_text.delta"] * 2
    assert kinds(events) == [*BEGIN, *MESSAGE, *deltas, *MESSAGE_END, "response.completed"]
    assert {event["item_id"] for event in events if "item_id" in event} == {"msg_10"}
    assert {event["output_index"] for event in events if "output_index" in event} == {0}
    assert [event["delta"] for event in events if "delta" in event] == ["Hel", "lo"]
    response = events[-1]["response"]
    assert (response["status"], response["completed_at"]) == ("completed", 1700000009)
    part = {"type": "output_text", "text": "Hello", "annotations": [], "logprobs": []}
    message = {"id": "msg_10", "type": "message", "status": "completed", "role": "assistant"}
    assert response["output"] == [message | {"content": [part]}]
    assert response["usage"] == {
        "input_tokens": 7,
        "input_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 0},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 1},
        "total_tokens": 10,
    }


def test_a_thought_comes_before_the_answer_as_an_item_of_its_own() -> None:
    events = fed(
        encoder(), Prefilled(7), ReasoningDelta("Hm"), ReasoningDelta("."), TextDelta("5"), Done("stop")
    )
    thought = ["response.reasoning_text.delta"] * 2
    assert kinds(events) == [
        *BEGIN, *MESSAGE, *thought, *THOUGHT_END, *MESSAGE, "response.output_text.delta", *MESSAGE_END,
        "response.completed",
    ]  # fmt: skip
    reasoning, message = events[-1]["response"]["output"]
    assert reasoning["content"] == [{"type": "reasoning_text", "text": "Hm."}]
    assert (reasoning["summary"], reasoning["id"], message["id"]) == ([], "rs_10", "msg_11")
    assert "encrypted_content" not in reasoning


def test_a_thought_is_its_own_summary_where_that_was_asked_for() -> None:
    events = fed(encoder(summary=True, sealed=True), ReasoningDelta("Hm"), TextDelta("5"), Done("stop"))
    summaries = [event["type"] for event in events if "reasoning_summary" in event["type"]]
    assert summaries == [
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
    ]
    thought = events[-1]["response"]["output"][0]
    assert thought["summary"] == [{"type": "summary_text", "text": "Hm"}]
    assert thought["encrypted_content"].startswith("drt1.")


def test_calls_stay_open_beside_each_other_and_end_in_order() -> None:
    events = fed(
        encoder(),
        TextDelta("Let me see."),
        TextDelta("\n\n"),
        ToolCallDelta(0, '{"city": ', "call_1", "weather"),
        ToolCallDelta(0, '"Rome"}'),
        ToolCallDelta(1, "", "call_2", "time"),
        ToolCallDelta(1, "{}"),
        Done("tool_calls", USAGE),
    )
    added, delta = "response.output_item.added", "response.function_call_arguments.delta"
    ends = ["response.function_call_arguments.done", "response.output_item.done"] * 2
    text = ["response.output_text.delta"] * 2
    assert kinds(events) == [
        *BEGIN, *MESSAGE, *text, *MESSAGE_END, added, delta, delta, added, delta, *ends, "response.completed",
    ]  # fmt: skip
    done = [event for event in events if event["type"] == "response.function_call_arguments.done"]
    assert [(one["output_index"], one["name"], one["arguments"]) for one in done] == [
        (1, "weather", '{"city": "Rome"}'),
        (2, "time", "{}"),
    ]
    calls = events[-1]["response"]["output"][1:]
    assert [(call["call_id"], call["status"]) for call in calls] == [
        ("call_1", "completed"),
        ("call_2", "completed"),
    ]


def test_a_line_break_between_a_thought_and_a_call_is_no_message() -> None:
    events = fed(
        encoder(),
        ReasoningDelta("Hm"),
        TextDelta("\n\n"),
        ToolCallDelta(0, "{}", "call_1", "time"),
        Done("tool_calls"),
    )
    assert [item["type"] for item in events[-1]["response"]["output"]] == ["reasoning", "function_call"]


def test_a_reply_without_words_is_an_empty_message() -> None:
    events = fed(encoder(), Prefilled(7), Done("stop"))
    assert kinds(events) == [*BEGIN, *MESSAGE, *MESSAGE_END, "response.completed"]
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == ""
    events = fed(encoder(), TextDelta(" \n"), Done("stop"))
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == " \n"


def test_a_custom_tool_gets_its_input_and_a_namespace_its_own_names() -> None:
    names = {
        "patch": CalledTool("patch", custom=True),
        "agents__close": CalledTool("close", "agents"),
    }
    events = fed(
        encoder(called_tools=names),
        ToolCallDelta(0, '{"input": "a\\n', "call_1", "patch"),
        ToolCallDelta(0, 'b"}'),
        ToolCallDelta(1, "{}", "call_2", "agents__close"),
        Done("tool_calls"),
    )
    said = {event["type"]: event for event in events}
    assert said["response.custom_tool_call_input.delta"]["delta"] == "a\nb"
    assert said["response.custom_tool_call_input.done"]["input"] == "a\nb"
    custom, namespaced = events[-1]["response"]["output"]
    assert (custom["type"], custom["input"], custom["name"]) == ("custom_tool_call", "a\nb", "patch")
    assert (namespaced["name"], namespaced["namespace"]) == ("close", "agents")


def test_at_the_limit_the_response_is_incomplete_and_so_is_its_last_item() -> None:
    events = fed(encoder(), ReasoningDelta("Hm"), TextDelta("Hel"), Done("length", USAGE))
    assert events[-1]["type"] == "response.incomplete"
    response = events[-1]["response"]
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}
    assert [item["status"] for item in response["output"]] == ["completed", "incomplete"]
    assert response["completed_at"] is None


def test_a_failure_before_anything_was_said_says_nothing() -> None:
    told_nothing = encoder()
    failed = Failed("context_length_exceeded", "Too long.", 400)
    assert fed(told_nothing, Queued("q_1", 1, 2.0, 1), Started("mini"), failed) == []
    assert told_nothing.ended
    assert told_nothing.failed == failed


def test_a_later_failure_ends_the_response() -> None:
    encoded = encoder()
    events = fed(encoded, TextDelta("Hel"), Failed("worker_lost", "It is gone.", 503))
    assert events[-1]["type"] == "response.failed"
    response = events[-1]["response"]
    assert (response["status"], response["error"]["code"]) == ("failed", "worker_lost")
    assert response["output"][0]["status"] == "incomplete"
    assert encoded.ended


def test_a_reply_that_was_cancelled_on_the_server_failed() -> None:
    events = fed(encoder(), TextDelta("Hel"), Done("cancelled"))
    assert (events[-1]["type"], events[-1]["response"]["error"]["code"]) == ("response.failed", "cancelled")


def test_in_the_background_the_queue_is_told_and_the_start_too() -> None:
    encoded = encoder()
    waiting = [told(event) for event in encoded.queued()]
    assert [(event["type"], event["response"]["status"]) for event in waiting] == [
        ("response.created", "queued"),
        ("response.queued", "queued"),
    ]
    started = fed(encoded, Queued("q_1", 1, 2.0, 1), Started("mini"))
    assert [(event["type"], event["sequence_number"]) for event in started] == [("response.in_progress", 2)]
    fed(encoded, TextDelta("Hel"))
    *_, last = [told(event) for event in encoded.cancelled(1700000010)]
    assert (last["type"], last["response"]["status"]) == ("response.incomplete", "cancelled")
    assert last["response"]["output"][0]["status"] == "incomplete"


def test_a_failure_in_the_background_is_told_even_at_once() -> None:
    encoded = encoder()
    encoded.queued()
    events = fed(encoded, Failed("queue_full", "Too many wait.", 503))
    assert [event["type"] for event in events] == ["response.failed"]
    again = encoder()
    again.queued()
    assert [told(event)["type"] for event in again.broken("x", "It broke.")] == ["response.failed"]


def test_logprobs_are_in_the_deltas_and_in_the_message() -> None:
    token = TokenLogprob("Hi", -0.5, b"Hi", (TokenLogprob("Ho", float("-inf"), b"Ho"),))
    events = fed(encoder(logprobs=True), TextDelta("Hi", (token,)), Done("stop"))
    shown = {
        "token": "Hi",
        "bytes": [72, 105],
        "logprob": -0.5,
        "top_logprobs": [{"token": "Ho", "bytes": [72, 111], "logprob": -9999.0}],
    }
    delta = next(event for event in events if event["type"] == "response.output_text.delta")
    assert delta["logprobs"] == [shown]
    assert events[-1]["response"]["output"][0]["content"][0]["logprobs"] == [shown]


def test_notes_and_extras() -> None:
    encoded = encoder()
    assert encoded.note == b": waiting\n\n"
    fed(encoded, Progress(2, 8))
    assert encoded.note == b": prefill 2/8\n\n"
    note = FittingNote("messages[0].content[1]", "image", "resized", count=1)
    fed(encoded, Fitted(notes=(note,)), Prefilled(7, 0, ("top_k",)))
    assert encoded.note == b": writing\n\n"
    events = fed(encoded, TextDelta("Hi"), Done("stop", stop="END"))
    response = events[-1]["response"]
    assert (response["ignored"], response["stop_str"]) == (["top_k"], "END")
    assert response["fitted"][0]["became"] == "resized"


def test_where_nobody_listens_only_the_end_is_an_event() -> None:
    quiet = encoder(streams=False)
    said = [
        one for event in (Prefilled(7), TextDelta("Hi"), Done("stop", USAGE)) for one in quiet.feed(event, 9)
    ]
    assert [(event.data, event.final) for event in said] == [(b"", True)]
    assert quiet.response["output"][0]["content"][0]["text"] == "Hi"


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_the_official_types_admit_every_event(finish: Any) -> None:
    names = {"patch": CalledTool("patch", custom=True)}
    encoded = encoder(summary=True, sealed=True, called_tools=names)
    events = fed(
        encoded,
        Prefilled(7),
        ReasoningDelta("Hm"),
        TextDelta("Hi"),
        ToolCallDelta(0, "{}", "call_1", "time"),
        ToolCallDelta(1, '{"input": "x"}', "call_2", "patch"),
        Done(finish, USAGE),
    )
    assert [event.type for event in of_sdk(events)] == [event["type"] for event in events]
    failing = encoder()
    events = [told(event) for event in failing.queued()]
    events += fed(failing, TextDelta("Hi"), Failed("server_error", "It broke."))
    assert of_sdk(events)[-1].response.status == "failed"
