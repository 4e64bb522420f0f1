"""Events become OpenAI's chunks and OpenAI's whole reply, and both say the same."""

import base64
import json
from typing import Any

import pytest

from duologue.errors import EngineFailed, Problem
from duologue.values.events import (
    AudioDelta,
    Done,
    Event,
    Failed,
    Fitted,
    FittingNote,
    Prefilled,
    Progress,
    ReasoningDelta,
    Started,
    TextDelta,
    Timings,
    TokenLogprob,
    ToolCallDelta,
    Usage,
)
from duologue.values.speech import TranscribedPart
from duologue.wire.completion import AudioId, Completion, CompletionStream

Batch = list[tuple[int, Event]]


def stream(count: int = 1, usage: bool = False) -> CompletionStream:
    return CompletionStream('chatcmpl-"1"', 1700000000, "mini", count=count, usage=usage)


def chunks(data: bytes) -> list[Any]:
    """The data of the events; "[DONE]" as it is."""
    events = data.decode().split("\n\n")
    assert events.pop() == ""
    assert all(event.startswith("data: ") for event in events)
    return [event[6:] if event[6:] == "[DONE]" else json.loads(event[6:]) for event in events]


def choices(data: bytes) -> list[tuple[int, dict[str, Any], str | None]]:
    return [
        (choice["index"], choice["delta"], choice["finish_reason"])
        for chunk in chunks(data)
        if chunk != "[DONE]"
        for choice in chunk["choices"]
    ]


def whole(batch: Batch, count: int = 1) -> dict[str, Any]:
    completion = Completion("chatcmpl-1", 1700000000, "mini", count=count)
    completion.add(batch)
    reply: dict[str, Any] = json.loads(completion.body())
    return reply


def test_a_stream_is_a_role_then_content_then_a_finish_then_done() -> None:
    encoder = stream()
    assert encoder.encode([(0, Started("mini", 2048))]) == b""
    data = encoder.encode([(0, Prefilled(3)), (0, TextDelta("Hel")), (0, TextDelta('"lo"\n'))])
    assert choices(data) == [
        (0, {"role": "assistant", "content": ""}, None),
        (0, {"content": "Hel"}, None),
        (0, {"content": '"lo"\n'}, None),
    ]
    for chunk in chunks(data):
        assert (chunk["id"], chunk["object"]) == ('chatcmpl-"1"', "chat.completion.chunk")
        assert (chunk["created"], chunk["model"]) == (1700000000, "mini")
        assert chunk["choices"][0]["logprobs"] is None
        assert "usage" not in chunk
    assert not encoder.ended
    data = encoder.encode([(0, Done("length"))])
    assert choices(data) == [(0, {}, "length")]
    assert chunks(data)[-1] == "[DONE]"
    assert encoder.ended
    encoder.close()


def test_empty_pieces_say_nothing() -> None:
    encoder = stream()
    encoder.encode([(0, Prefilled(3))])
    assert encoder.encode([(0, TextDelta("")), (0, ReasoningDelta(""))]) == b""
    assert stream().encode([(0, TextDelta(""))]) == b""


def test_the_role_comes_once_even_when_prefill_said_nothing() -> None:
    encoder = stream()
    data = encoder.encode([(0, TextDelta("a")), (0, Prefilled(3)), (0, TextDelta("b"))])
    assert [delta for _, delta, _ in choices(data)] == [
        {"role": "assistant", "content": ""},
        {"content": "a"},
        {"content": "b"},
    ]


def test_reasoning_is_sent_under_both_names_and_not_as_content() -> None:
    encoder = stream()
    encoder.encode([(0, Prefilled(3))])
    assert choices(encoder.encode([(0, ReasoningDelta("hm"))])) == [
        (0, {"reasoning_content": "hm", "reasoning": "hm"}, None)
    ]


def test_a_call_has_its_id_type_and_name_once_and_then_only_arguments() -> None:
    encoder = stream()
    encoder.encode([(0, Prefilled(3))])
    data = encoder.encode(
        [
            (0, ToolCallDelta(0, "", "call_1", "f")),
            (0, ToolCallDelta(0, '{"a":')),
            (0, ToolCallDelta(0, "1}")),
            (0, ToolCallDelta(1, "{}", "call_2", "g")),
            (0, Done("tool_calls")),
        ]
    )
    assert [delta["tool_calls"][0] for _, delta, _ in choices(data)[:-1]] == [
        {"index": 0, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"a":'}},
        {"index": 0, "function": {"arguments": "1}"}},
        {"index": 1, "id": "call_2", "type": "function", "function": {"name": "g", "arguments": "{}"}},
    ]
    assert choices(data)[-1] == (0, {}, "tool_calls")


def test_choices_interleave_by_index_with_one_usage_at_the_end() -> None:
    encoder = stream(count=2, usage=True)
    first = encoder.encode(
        [(1, TextDelta("b")), (0, TextDelta("a")), (1, Done("stop", Usage(7, 2, 3), Timings(generate=1)))]
    )
    assert [(index, finish) for index, _, finish in choices(first)] == [
        (1, None), (1, None), (0, None), (0, None), (1, "stop"),
    ]  # fmt: skip
    assert all(chunk["usage"] is None for chunk in chunks(first))
    assert not encoder.ended
    *_, counted, end = chunks(encoder.encode([(0, Done("stop", Usage(7, 4, 0, 1), Timings(1, 2, 9, 4)))]))
    assert end == "[DONE]"
    assert counted["choices"] == []
    assert counted["usage"] == {
        "prompt_tokens": 7,
        "completion_tokens": 6,
        "total_tokens": 13,
        "prompt_tokens_details": {"cached_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 1},
    }
    assert counted["timings"] == {"queue_ms": 1, "prefill_ms": 2, "generate_ms": 9, "first_ms": 4}


TOKENS = (TokenLogprob("é", -0.25, b"\xc3\xa9", (TokenLogprob("e", float("-inf"), b"e"),)),)
LOGPROBS = {
    "content": [
        {
            "token": "é",
            "logprob": -0.25,
            "bytes": [195, 169],
            "top_logprobs": [{"token": "e", "logprob": -9999.0, "bytes": [101]}],
        }
    ],
    "refusal": None,
}


def test_logprobs_ride_on_their_chunk_and_minus_infinity_is_a_number() -> None:
    encoder = stream()
    (_, chunk) = chunks(encoder.encode([(0, TextDelta("é", TOKENS))]))
    assert chunk["choices"][0]["logprobs"] == LOGPROBS
    assert chunk["choices"][0]["delta"] == {"content": "é"}
    assert whole([(0, TextDelta("é", TOKENS)), (0, Done("stop"))])["choices"][0]["logprobs"] == LOGPROBS


def test_ignored_fields_are_told_with_the_first_chunk_and_in_the_whole_reply() -> None:
    (chunk,) = chunks(stream().encode([(0, Prefilled(3, 0, ("mirostat",)))]))
    assert chunk["ignored"] == ["mirostat"]
    assert whole([(0, Prefilled(3, 0, ("mirostat",))), (0, Done("stop"))])["ignored"] == ["mirostat"]
    assert "ignored" not in whole([(0, Done("stop"))])
    cut = whole([(0, Prefilled(3, 0, ("max_slices",))), (0, Done("stop"))])
    assert cut["ignored"] == ["image_url.max_slice_nums"]


def test_the_note_tells_what_is_going_on() -> None:
    encoder = stream()
    notes = [encoder.note]
    for event in (Progress(512, 4096), Prefilled(3)):
        encoder.encode([(0, event)])
        notes.append(encoder.note)
    assert notes == [b": waiting\n\n", b": prefill 512/4096\n\n", b": writing\n\n"]


def test_a_failure_ends_the_stream_after_what_was_said_before_it() -> None:
    encoder = stream()
    failed = Failed("worker_lost", "The worker ended.", 503)
    data = encoder.encode([(0, TextDelta("Hi")), (0, failed), (0, TextDelta("late"))])
    assert choices(data)[-1] == (0, {"content": "Hi"}, None)
    assert encoder.ended
    with pytest.raises(Problem, match="The worker ended"):
        encoder.close()


def test_half_a_reply_is_no_reply() -> None:
    encoder = stream(count=2)
    encoder.encode([(0, Done("stop"))])
    with pytest.raises(EngineFailed):
        encoder.close()
    completion = Completion("c", 1, "mini", count=2)
    completion.add([(0, Done("stop"))])
    with pytest.raises(EngineFailed):
        completion.body()


def test_the_whole_reply_says_everything_at_once() -> None:
    reply = whole(
        [
            (0, Prefilled(3)),
            (0, ReasoningDelta("hm")),
            (0, TextDelta("Hel")),
            (0, TextDelta("lo")),
            (0, Done("stop", Usage(3, 2, 1, 1), Timings(1, 2, 3, 4))),
        ]
    )
    assert (reply["object"], reply["model"], reply["created"]) == ("chat.completion", "mini", 1700000000)
    assert reply["choices"] == [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Hello",
                "refusal": None,
                "reasoning_content": "hm",
                "reasoning": "hm",
            },
            "logprobs": None,
            "finish_reason": "stop",
        }
    ]
    assert reply["usage"]["total_tokens"] == 5
    assert reply["timings"]["generate_ms"] == 3


def test_content_is_null_where_nothing_was_said() -> None:
    called = whole([(0, ToolCallDelta(0, "{}", "c", "f")), (0, Done("tool_calls"))])["choices"][0]["message"]
    assert called["content"] is None
    assert called["tool_calls"] == [
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    ]
    for blank in ("", " \n"):
        message = whole([(0, TextDelta(blank)), (0, Done("length"))])["choices"][0]["message"]
        assert message["content"] is None


def test_a_stop_string_is_named() -> None:
    stopped: Batch = [(0, TextDelta("One.")), (0, Done("stop", stop="\n\n"))]
    assert whole(stopped)["choices"][0]["stop_str"] == "\n\n"
    assert "stop_str" not in whole([(0, TextDelta("One.")), (0, Done("stop"))])["choices"][0]


def test_estimated_counts_are_marked() -> None:
    assert whole([(0, Done("stop", Usage(3, 2, estimated=True)))])["usage"]["estimated"] is True


def test_a_choice_that_failed_fails_the_whole_reply() -> None:
    with pytest.raises(Problem, match="broke"):
        whole([(0, Done("stop")), (1, Failed("engine_failed", "It broke."))], count=2)


def test_a_reply_cancelled_on_the_server_is_not_passed_off_as_a_finished_one() -> None:
    with pytest.raises(EngineFailed, match="cancelled"):
        stream().encode([(0, Done("cancelled"))])


def test_the_stream_joined_is_the_whole_reply_however_the_events_are_batched() -> None:
    events: Batch = [
        (0, Prefilled(3)), (0, ReasoningDelta("h")), (0, ReasoningDelta("m")), (0, TextDelta("a")),
        (0, ToolCallDelta(0, "{", "c", "f")), (0, ToolCallDelta(0, "}")), (0, TextDelta("b")),
        (0, Done("tool_calls", Usage(3, 5))),
    ]  # fmt: skip
    message = whole(events)["choices"][0]["message"]
    at_once = stream().encode(events)
    for size in range(1, len(events)):
        encoder = stream()
        pieces = [encoder.encode(events[at : at + size]) for at in range(0, len(events), size)]
        assert b"".join(pieces) == at_once
    deltas = [delta for _, delta, _ in choices(at_once)]
    assert "".join(delta.get("content", "") for delta in deltas) == message["content"]
    assert "".join(delta.get("reasoning", "") for delta in deltas) == message["reasoning"]
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    joined = "".join(call["function"]["arguments"] for call in calls)
    assert joined == message["tool_calls"][0]["function"]["arguments"]


AUDIO_ID = AudioId("audio_1", 1700003600)


def test_the_text_of_a_spoken_reply_is_the_transcript_of_its_sound() -> None:
    encoder = CompletionStream("c", 1, "mini", audio_id=AUDIO_ID)
    data = encoder.encode(
        [
            (0, Prefilled(3)),
            (0, TextDelta("Hel")),
            (0, TextDelta("lo", (TokenLogprob("lo", -1.0, b"lo"),))),
            (0, AudioDelta(b"abcd")),
            (0, Done("stop")),
        ]
    )
    deltas = [delta for _, delta, _ in choices(data)]
    assert deltas[1:] == [
        {"audio": {"id": "audio_1", "transcript": "Hel"}},
        {"audio": {"id": "audio_1", "transcript": "lo"}},
        {"audio": {"id": "audio_1", "data": base64.b64encode(b"abcd").decode()}},
        {"audio": {"id": "audio_1", "expires_at": 1700003600}},
        {},
    ]


def test_a_whole_spoken_reply_has_its_sound_and_no_content() -> None:
    completion = Completion("c", 1, "mini")
    completion.add(
        [(0, TextDelta("Hello")), (0, AudioDelta(b"ab")), (0, AudioDelta(b"cd")), (0, Done("stop"))]
    )
    assert (completion.text, completion.sound) == ("Hello", b"abcd")
    completion.set_audio(AUDIO_ID, b"file")
    message = json.loads(completion.body())["choices"][0]["message"]
    assert message["content"] is None
    assert message["audio"] == {
        "id": "audio_1",
        "data": base64.b64encode(b"file").decode(),
        "transcript": "Hello",
        "expires_at": 1700003600,
    }


def test_what_was_written_down_is_told_with_the_first_chunk_and_in_the_whole_reply() -> None:
    transcripts = (TranscribedPart(0, 1, "hi"),)
    said = [{"message": 0, "part": 1, "text": "hi"}]
    encoder = stream()
    notes = (FittingNote("messages[0].content[1]", "audio", "text"),)
    assert not encoder.encode([(0, Fitted(transcripts, notes))])
    first, *rest = chunks(
        encoder.encode([(0, Prefilled(3, 0, ("top_k",))), (0, TextDelta("Ho")), (0, Done("stop"))])
    )
    assert (first["transcripts"], first["ignored"]) == (said, ["top_k"])
    assert first["fitted"] == [{"where": "messages[0].content[1]", "kind": "audio", "became": "text"}]
    assert not any("transcripts" in chunk for chunk in rest)
    completion = Completion("c", 1, "mini")
    completion.add([(0, Fitted(transcripts, notes))])
    completion.add([(0, Done("stop"))])
    assert json.loads(completion.body())["transcripts"] == said


CALL: Batch = [
    (0, Prefilled(3)),
    (0, ToolCallDelta(0, "", "call_1", "clock")),
    (0, ToolCallDelta(0, '{"zone": "München"}')),
    (0, Done("tool_calls", Usage(3, 9))),
]


def test_a_call_is_answered_in_the_older_form_where_it_was_asked_in_it() -> None:
    encoder = CompletionStream("chatcmpl-1", 1700000000, "mini", functions=True)
    sent = choices(encoder.encode(CALL))
    assert [(delta, finish) for _, delta, finish in sent] == [
        ({"role": "assistant", "content": ""}, None),
        ({"function_call": {"name": "clock", "arguments": ""}}, None),
        ({"function_call": {"arguments": '{"zone": "München"}'}}, None),
        ({}, "function_call"),
    ]
    completion = Completion("chatcmpl-1", 1700000000, "mini", functions=True)
    completion.add(CALL)
    choice = json.loads(completion.body())["choices"][0]
    assert choice["finish_reason"] == "function_call"
    assert choice["message"]["function_call"] == {"name": "clock", "arguments": '{"zone": "München"}'}
    assert "tool_calls" not in choice["message"]


def test_letters_are_sent_as_they_are_and_not_as_escapes() -> None:
    said: Batch = [(0, TextDelta("Grüße 🙂 日本")), (0, ReasoningDelta("Ü")), *CALL[1:]]
    encoder, completion = stream(), Completion("chatcmpl-1", 1700000000, "mini")
    completion.add(said)
    for sent in (encoder.encode(said), completion.body()):
        assert b"\\u" not in sent
        assert all(word in sent.decode() for word in ("Grüße 🙂 日本", "Ü", "München"))
