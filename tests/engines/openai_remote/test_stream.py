"""What an OpenAI-compatible server streams, as our events."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.engines.openai_remote.reply_sound import ReplySound
from duologue.engines.openai_remote.stream import MAX_LINE, EventLines, ReplyTranslator, UpstreamError
from duologue.errors import EngineFailed
from duologue.values.audio import wav_header
from duologue.values.events import (
    AudioDelta,
    Done,
    Event,
    Prefilled,
    ReasoningDelta,
    TextDelta,
    Timings,
    TokenLogprob,
    ToolCallDelta,
    Usage,
)

STREAM = (
    ": ping\r\n\r\n"
    "event: message\r\n"
    'data: {"a": "héllo 🎉"}\r\n\r\n'
    "<html>garbage</html>\n"
    'data:{"b": "\u2028"}\n\n'
    "data:\n"
    "data: [DONE]\n\n"
).encode()
DATA = ['{"a": "héllo 🎉"}', '{"b": "\u2028"}', "[DONE]"]


def cut(stream: bytes, places: list[int]) -> list[str]:
    lines, found, start = EventLines(), [], 0
    for end in [*sorted(places), len(stream)]:
        found += lines.feed(stream[start:end])
        start = end
    return [data.decode() for data in found + lines.finish()]


def test_only_the_data_of_events_is_passed_on() -> None:
    assert cut(STREAM, []) == DATA


def test_one_byte_at_a_time_changes_nothing() -> None:
    assert cut(STREAM, list(range(len(STREAM)))) == DATA


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_cutting_elsewhere_changes_nothing(places: list[int]) -> None:
    assert cut(STREAM, places) == DATA


def test_a_last_line_without_an_end_counts() -> None:
    assert cut(b"data: 1\ndata: 2", [3]) == ["1", "2"]


def test_an_event_without_end_is_refused() -> None:
    lines = EventLines()
    assert lines.feed(b"x" * MAX_LINE) == []
    with pytest.raises(EngineFailed, match="more than"):
        lines.feed(b"x")


def chunk(delta: dict[str, object] | None = None, finish: str | None = None, **more: object) -> bytes:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return json.dumps({"choices": [choice], **more}).encode()


def translate(*chunks: bytes, took: float = 0.0) -> list[Event]:
    translation = ReplyTranslator(10.0, 7)
    events = [event for data in chunks for event in translation.feed(data, 10.0 + took)]
    last = translation.finished(10.0 + 2 * took)
    assert last is not None
    return events + last


USAGE = json.dumps({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}).encode()


def test_a_reply_is_prefilled_once_then_text_then_done() -> None:
    events = translate(
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "Hel"}),
        chunk({"content": "lo"}),
        chunk(finish="stop"),
        USAGE,
    )
    assert events == [Prefilled(None), TextDelta("Hel"), TextDelta("lo"), Done("stop", Usage(5, 2))]


def test_times_are_counted_from_the_request() -> None:
    *_, done = translate(chunk({"content": "a"}), chunk(finish="stop"), took=0.25)
    assert isinstance(done, Done)
    assert done.timings == Timings(prefill=250.0, generate=250.0, first=250.0)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_goes_by_two_names(name: str) -> None:
    events = translate(chunk({name: "hm"}), chunk({"content": "a"}), chunk(finish="stop"), USAGE)
    assert events[1:3] == [ReasoningDelta("hm"), TextDelta("a")]


def test_reasoning_under_both_names_comes_once() -> None:
    assert translate(chunk({"reasoning": "hm", "reasoning_content": "hm"}), chunk(finish="stop"))[
        1
    ] == ReasoningDelta("hm")


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("model_length", "length"),
        ("tool_calls", "stop"),
        ("eos", "stop"),
    ],
)
def test_why_it_ended(reason: str, finish: str) -> None:
    done = translate(chunk({"content": "a"}, finish=reason))[-1]
    assert isinstance(done, Done)
    assert done.finish == finish


def test_an_empty_reply_is_prefilled_and_done() -> None:
    assert translate(chunk(finish="stop"), USAGE) == [Prefilled(None), Done("stop", Usage(5, 2))]


def test_a_reply_without_an_end_is_no_reply() -> None:
    translation = ReplyTranslator(0.0, 0)
    translation.feed(chunk({"content": "a"}), 0.0)
    assert translation.finished(0.0) is None


def test_without_usage_it_is_estimated_and_says_so() -> None:
    done = translate(chunk({"content": "x" * 10}), chunk(finish="stop"))[-1]
    assert isinstance(done, Done)
    assert done.usage == Usage(7, 3, estimated=True)


def test_usage_brings_its_details() -> None:
    usage = {
        "prompt_tokens": 5,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    done = translate(chunk({"content": "a"}), chunk(finish="stop", usage=usage))[-1]
    assert isinstance(done, Done)
    assert done.usage == Usage(5, 9, 4, 3)


def test_a_null_usage_on_every_chunk_is_none() -> None:
    done = translate(chunk({"content": "a"}, usage=None), chunk(finish="stop", usage=None), USAGE)[-1]
    assert isinstance(done, Done)
    assert done.usage == Usage(5, 2)


def test_the_stop_string_is_passed_on_where_the_server_says_it() -> None:
    said = json.dumps({"choices": [{"delta": {}, "finish_reason": "stop", "stop_reason": "END"}]}).encode()
    token = json.dumps({"choices": [{"delta": {}, "finish_reason": "stop", "stop_reason": 151645}]}).encode()
    assert [translate(data)[-1].stop for data in (said, token)] == ["END", None]


def call(index: int | None = 0, **fields: object) -> dict[str, object]:
    made: dict[str, object] = {} if index is None else {"index": index}
    if "id" in fields:
        made["id"] = fields.pop("id")
    return {"tool_calls": [{**made, "function": fields}]}


def calls(*deltas: dict[str, object], finish: str = "tool_calls") -> list[Event]:
    events = translate(*(chunk(delta) for delta in deltas), chunk(finish=finish), USAGE)
    assert events[0] == Prefilled(None)
    assert events[-1] == Done("tool_calls", Usage(5, 2))
    return events[1:-1]


def test_a_call_has_its_id_and_name_once() -> None:
    pieces = calls(call(id="c1", name="add", arguments=""), call(arguments='{"a":'), call(arguments="1}"))
    assert pieces == [ToolCallDelta(0, "", "c1", "add"), ToolCallDelta(0, '{"a":'), ToolCallDelta(0, "1}")]


def test_repeated_ids_and_names_are_not_repeated() -> None:
    pieces = calls(call(id="c1", name="add", arguments="{"), call(id="c1", name="add", arguments="}"))
    assert pieces == [ToolCallDelta(0, "{", "c1", "add"), ToolCallDelta(0, "}")]


def test_parallel_calls_count_up_from_zero() -> None:
    pieces = calls(
        call(1, id="c1", name="add", arguments="{"),
        call(2, id="c2", name="sub", arguments="{"),
        call(1, arguments="}"),
        call(2, arguments="}"),
    )
    assert pieces == [
        ToolCallDelta(0, "{", "c1", "add"),
        ToolCallDelta(1, "{", "c2", "sub"),
        ToolCallDelta(0, "}"),
        ToolCallDelta(1, "}"),
    ]


def test_calls_that_all_have_index_zero_are_told_apart_by_their_ids() -> None:
    pieces = calls(call(0, id="c1", name="add", arguments="{}"), call(0, id="c2", name="add", arguments="[]"))
    assert pieces == [ToolCallDelta(0, "{}", "c1", "add"), ToolCallDelta(1, "[]", "c2", "add")]


def test_calls_without_index_go_by_id_and_then_to_the_last() -> None:
    pieces = calls(
        call(None, id="c1", name="add", arguments="{"),
        call(None, arguments="}"),
        call(None, id="c2", name="sub", arguments="[]"),
    )
    assert pieces == [
        ToolCallDelta(0, "{", "c1", "add"),
        ToolCallDelta(0, "}"),
        ToolCallDelta(1, "[]", "c2", "sub"),
    ]


def test_a_call_without_id_gets_one() -> None:
    (piece,) = calls(call(name="add", arguments="{}"))
    assert isinstance(piece, ToolCallDelta)
    assert piece.id is not None
    assert piece.id.startswith("call_")


def test_arguments_that_come_before_the_name_wait_for_it() -> None:
    assert calls(call(id="c1", arguments="{"), call(name="add", arguments="}")) == [
        ToolCallDelta(0, "{}", "c1", "add")
    ]


def test_arguments_as_an_object_become_text() -> None:
    assert calls(call(id="c", name="add", arguments={"a": 1})) == [ToolCallDelta(0, '{"a": 1}', "c", "add")]


@pytest.mark.parametrize("arguments", ["", None])
def test_a_call_without_arguments_takes_none(arguments: str | None) -> None:
    assert calls(call(id="c", name="now", arguments=arguments)) == [
        ToolCallDelta(0, "", "c", "now"),
        ToolCallDelta(0, "{}"),
    ]


def test_a_server_that_ends_calls_with_stop_means_tool_calls() -> None:
    calls(call(id="c", name="add", arguments="{}"), finish="stop")


@pytest.mark.parametrize("index", [0, None])
def test_calls_without_ids_that_come_whole_are_told_apart_by_their_names(index: int | None) -> None:
    pieces = calls(
        call(index, name="add", arguments='{"a": 1}'),
        call(index, name="sub", arguments="{}"),
        call(index, name="sub", arguments='{"b": 2}'),
    )
    assert [piece.index for piece in pieces if isinstance(piece, ToolCallDelta)] == [0, 1, 2]
    assert len({piece.id for piece in pieces if isinstance(piece, ToolCallDelta)}) == 3


def test_a_name_on_every_piece_without_an_id_is_one_call() -> None:
    pieces = calls(*(call(0, name="add", arguments=piece) for piece in ('{"a"', ": {}", "}")))
    assert [(piece.name, piece.arguments) for piece in pieces if isinstance(piece, ToolCallDelta)] == [
        ("add", '{"a"'),
        (None, ": {}"),
        (None, "}"),
    ]


def test_a_new_id_on_every_piece_is_still_one_call() -> None:
    pieces = calls(
        call(0, id="x1", name="add", arguments='{"a"'), call(0, id="x2", name="add", arguments=": 1}")
    )
    assert pieces == [ToolCallDelta(0, '{"a"', "x1", "add"), ToolCallDelta(0, ": 1}")]


@pytest.mark.parametrize(
    ("delta", "thought"),
    [
        ({"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}, "hm"),
        ({"reasoning_details": [{"type": "reasoning.summary", "summary": "in short"}]}, "in short"),
        ({"reasoning": "hm", "reasoning_details": [{"text": "hm"}]}, "hm"),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}, "hm"),
    ],
)
def test_thoughts_are_read_in_every_shape_and_once(delta: dict[str, object], thought: str) -> None:
    events = translate(chunk(delta), chunk({"content": "so"}), chunk(finish="stop"))
    assert events[1:3] == [ReasoningDelta(thought), TextDelta("so")]


@pytest.mark.parametrize(
    ("reason", "words"), [("content_filter", "filter"), ("abort", "aborted"), ("error", "could not")]
)
def test_a_reply_that_was_given_up_is_not_taken_for_a_whole_one(reason: str, words: str) -> None:
    with pytest.raises(UpstreamError, match=words):
        translate(chunk({"content": "a"}), chunk(finish=reason))


def test_an_error_in_the_choice_is_told() -> None:
    choice = {"delta": {}, "finish_reason": "error", "error": {"message": "provider is down"}}
    with pytest.raises(UpstreamError, match="provider is down"):
        translate(json.dumps({"choices": [choice]}).encode())


@pytest.mark.parametrize("line", [b'error: {"error": {"message": "oh"}}', b'{"error": {"message": "oh"}}'])
def test_an_error_without_the_word_data_is_an_event_too(line: bytes) -> None:
    (data,) = EventLines().feed(line + b"\n")
    with pytest.raises(UpstreamError, match="oh"):
        translate(data)


def test_logprobs_ride_on_their_text() -> None:
    entry = {
        "token": "é",
        "logprob": -0.5,
        "bytes": [195, 169],
        "top_logprobs": [{"token": "e", "logprob": -1, "bytes": None}],
    }
    data = json.dumps(
        {"choices": [{"delta": {"content": "é"}, "logprobs": {"content": [entry]}, "finish_reason": "stop"}]}
    ).encode()
    assert translate(data)[1] == TextDelta(
        "é", (TokenLogprob("é", -0.5, "é".encode(), (TokenLogprob("e", -1.0, b"e"),)),)
    )


def test_a_whole_answer_of_a_server_that_does_not_stream_is_taken_too() -> None:
    answer = json.dumps(
        {
            "choices": [{"message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 2},
        }
    ).encode()
    assert translate(answer) == [Prefilled(None), TextDelta("Hello"), Done("stop", Usage(5, 2))]


def test_content_in_parts_is_joined() -> None:
    assert translate(chunk({"content": [{"type": "text", "text": "a"}, {"text": "b"}]}, finish="stop"))[
        1
    ] == TextDelta("ab")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"error": {"message": "out of memory", "code": 500}}, "out of memory"),
        ({"error": {"type": "overloaded"}}, "overloaded"),
        ({"error": "no"}, "no"),
        ({"object": "error", "message": "bad"}, "bad"),
    ],
)
def test_an_error_in_the_stream_is_in_the_upstreams_words(answer: dict[str, object], words: str) -> None:
    with pytest.raises(UpstreamError, match=words):
        translate(json.dumps(answer).encode())


@pytest.mark.parametrize("data", [b"{", b"[]", b"3", b"\xff{}"])
def test_what_is_no_json_object_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        translate(data)


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b'{"choices": null}',
        b'{"choices": [3]}',
        b'{"choices": [{}]}',
        b'{"choices": [{"delta": {"content": 5, "tool_calls": [3, {"function": 4}, {"index": "x"}]}}]}',
        b'{"choices": [{"delta": {"content": null}, "logprobs": {"content": 3}}], "usage": 7}',
    ],
)
def test_odd_shapes_do_no_harm(data: bytes) -> None:
    assert [
        event for event in translate(data, chunk(finish="stop")) if not isinstance(event, Prefilled | Done)
    ] == []


class TestSpokenReplies:
    PCM = bytes(range(200)) * 2

    def audio(self, **fields: object) -> bytes:
        if isinstance(pcm := fields.get("data"), bytes):
            fields["data"] = base64.b64encode(pcm).decode()
        return chunk({"audio": fields})

    def spoken(self, *chunks: bytes) -> list[Event]:
        translation = ReplyTranslator(0.0, 7, ("logit_bias",), ReplySound())
        events = [event for data in chunks for event in translation.feed(data, 0.0)]
        return events + (translation.finished(0.0) or [])

    def test_the_transcript_is_the_text_and_the_sound_is_sound(self) -> None:
        events = self.spoken(
            chunk({"role": "assistant", "content": ""}),
            self.audio(id="a1", transcript="Hello "),
            self.audio(data=self.PCM[:101]),
            self.audio(transcript="you", data=self.PCM[101:]),
            self.audio(id="a1", expires_at=9),
            chunk(finish="stop"),
        )
        assert events[0] == Prefilled(None, ignored=("logit_bias",))
        assert [event.text for event in events if isinstance(event, TextDelta)] == ["Hello ", "you"]
        assert b"".join(event.pcm for event in events if isinstance(event, AudioDelta)) == self.PCM
        assert isinstance(events[-1], Done)

    def test_text_that_comes_twice_is_told_once(self) -> None:
        events = self.spoken(
            chunk({"content": "Hello"}), self.audio(transcript="Hello", data=self.PCM), chunk(finish="stop")
        )
        assert [event.text for event in events if isinstance(event, TextDelta)] == ["Hello"]

    def test_a_server_may_send_files_of_sound_as_content(self) -> None:
        wav = base64.b64encode(wav_header(24_000, 4) + b"abcd").decode()
        events = self.spoken(
            chunk({"content": "Hi"}, modality="text"),
            chunk({"content": wav}, modality="audio"),
            chunk(finish="stop", modality="audio"),
        )
        assert [event.text for event in events if isinstance(event, TextDelta)] == ["Hi"]
        assert [event.pcm for event in events if isinstance(event, AudioDelta)] == [b"abcd"]

    def test_a_whole_reply_has_its_sound_too(self) -> None:
        message = {"content": None, "audio": {"id": "a", "data": "YWJjZA==", "transcript": "Hi"}}
        body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
        events = self.spoken(body)
        assert events[1:3] == [TextDelta("Hi"), AudioDelta(b"abcd")]

    def test_sound_that_nobody_asked_for_is_left_out(self) -> None:
        events = translate(self.audio(transcript="Hi", data=self.PCM), chunk(finish="stop"))
        assert not any(isinstance(event, AudioDelta) for event in events)
        assert TextDelta("Hi") in events

    def test_sound_that_is_none_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="sound"):
            self.spoken(self.audio(data="!!!"))
