"""The answer of /v1/completions, whole and streamed."""

import json
from typing import Any

import pytest

from duologue.errors import EngineFailed, Problem
from duologue.values.events import (
    Done,
    Failed,
    Prefilled,
    Progress,
    Started,
    TextDelta,
    Timings,
    TokenLogprob,
    Usage,
)
from duologue.wire.completions.text_completion import TextCompletion, TextCompletionStream, TokenPlaces

DONE = Done("stop", Usage(7, 3, 2), Timings(1, 2, 3, 4))


def token(text: str, logprob: float, *top: tuple[str, float]) -> TokenLogprob:
    others = tuple(TokenLogprob(other, value, other.encode()) for other, value in top)
    return TokenLogprob(text, logprob, text.encode(), others)


def whole(*batches: list[Any], **options: Any) -> dict[str, Any]:
    answer = TextCompletion("cmpl-1", 5, "m", **options)
    for batch in batches:
        answer.add(batch)
    return dict(json.loads(answer.body()))


def stream(*batches: list[Any], **options: Any) -> list[Any]:
    encoder = TextCompletionStream("cmpl-1", 5, "m", **options)
    data = b"".join(encoder.encode(batch) for batch in batches)
    encoder.close()
    frames = [frame.removeprefix("data: ") for frame in data.decode().split("\n\n") if frame]
    return [json.loads(frame) if frame != "[DONE]" else frame for frame in frames]


def test_a_whole_answer():
    answer = whole(
        [(0, Started("m")), (0, Prefilled(7, 2))], [(0, TextDelta("Hel")), (0, TextDelta("lo")), (0, DONE)]
    )
    assert answer == {
        "id": "cmpl-1",
        "object": "text_completion",
        "created": 5,
        "model": "m",
        "choices": [{"index": 0, "text": "Hello", "logprobs": None, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 7,
            "completion_tokens": 3,
            "total_tokens": 10,
            "prompt_tokens_details": {"cached_tokens": 2},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
        "timings": {"queue_ms": 1.0, "prefill_ms": 2.0, "generate_ms": 3.0, "first_ms": 4.0},
    }


def test_completions_are_numbered_through_all_prompts_and_echo_theirs():
    batches = [(at, event) for at in range(4) for event in (TextDelta(str(at)), DONE)]
    answer = whole(batches, prompts=2, each=2, echo=("a", "b"))
    assert [(each["index"], each["text"]) for each in answer["choices"]] == [
        (0, "a0"),
        (1, "a1"),
        (2, "b2"),
        (3, "b3"),
    ]
    assert answer["usage"]["prompt_tokens"] == 14
    assert answer["usage"]["completion_tokens"] == 12
    assert answer["usage"]["prompt_tokens_details"]["cached_tokens"] == 4


def test_the_likeliest_are_kept_by_the_mean_of_their_tokens():
    batches: list[Any] = []
    for at, tokens in enumerate(([-1.0, -1.0], [-0.5, -0.5, -0.5], [-2.0], [])):
        batches += [(at, TextDelta(str(at), (token(str(at), value),))) for value in tokens]
        batches.append((at, DONE))
    answer = whole(batches, each=4, keep=2)
    assert [each["text"] for each in answer["choices"]] == ["111", "00"]
    assert [each["index"] for each in answer["choices"]] == [0, 1]
    assert [each["logprobs"] for each in answer["choices"]] == [None, None]
    assert answer["usage"]["completion_tokens"] == 12  # of all that were written


def test_logprobs_are_lists_with_the_token_among_its_alternatives():
    tokens = (token("Hi", -0.5, ("Hi", -0.5), ("Yo", -1.0)), token(" you", -3.0, ("!", float("-inf"))))
    answer = whole([(0, TextDelta("Hi you", tokens)), (0, DONE)], logprobs=True)
    assert answer["choices"][0]["logprobs"] == {
        "tokens": ["Hi", " you"],
        "token_logprobs": [-0.5, -3.0],
        "top_logprobs": [{"Hi": -0.5, "Yo": -1.0}, {" you": -3.0, "!": -9999.0}],
        "text_offset": [0, 2],
    }


def test_half_a_character_begins_where_the_character_does():
    face = "🙂".encode()
    pieces = [
        TokenLogprob("é", 0, "é".encode()),
        TokenLogprob("?", 0, face[:2]),
        TokenLogprob("?", 0, face[2:]),
        TokenLogprob("x", 0, b"x"),
    ]
    places = TokenPlaces(10)
    assert [places.next(each) for each in pieces] == [10, 11, 11, 12]


def test_a_stop_and_what_was_ignored_are_told():
    done = Done("stop", Usage(), Timings(), "END")
    answer = whole([(0, Prefilled(1, 0, ("user",))), (0, TextDelta("a")), (0, done)])
    assert answer["ignored"] == ["user"]
    assert answer["choices"][0]["stop_str"] == "END"


def test_an_answer_that_failed_or_broke_off_is_an_error():
    with pytest.raises(Problem, match="no"):
        whole([(0, Failed("x", "no"))])
    with pytest.raises(EngineFailed):
        whole([(0, TextDelta("a"))])
    with pytest.raises(EngineFailed, match="cancelled"):
        whole([(0, Done("cancelled"))])
    with pytest.raises(EngineFailed):
        stream([(0, TextDelta("a"))])
    with pytest.raises(Problem, match="no"):
        stream([(0, TextDelta("a")), (0, Failed("x", "no"))])


def test_a_stream_has_texts_then_the_reason_then_the_usage():
    *texts, last, end = stream(
        [(0, Prefilled(7)), (0, TextDelta("Hel"))], [(0, TextDelta("lo")), (0, DONE)], usage=True
    )
    assert [each["choices"][0]["text"] for each in texts] == ["Hel", "lo", ""]
    assert [each["choices"][0]["finish_reason"] for each in texts] == [None, None, "stop"]
    assert {each["object"] for each in texts} == {"text_completion"}
    assert all(each["usage"] is None for each in texts)
    assert last["choices"] == []
    assert last["usage"]["total_tokens"] == 10
    assert last["timings"]["first_ms"] == 4.0
    assert end == "[DONE]"


def test_without_asking_a_stream_has_no_usage():
    chunks = stream([(0, TextDelta("a")), (0, DONE)])
    assert all("usage" not in chunk for chunk in chunks[:-1])


def test_a_stream_begins_each_completion_with_its_prompt_and_its_offsets_behind_it():
    chunks = stream(
        [(1, Prefilled(1, 0, ("user",))), (1, TextDelta("x", (token("x", -1.0),))), (1, DONE)],
        [(0, TextDelta("y")), (0, DONE)],
        prompts=2,
        echo=("ab", "c"),
    )
    texts = [(each["choices"][0]["index"], each["choices"][0]["text"]) for each in chunks[:-1]]
    assert texts == [(1, "c"), (1, "x"), (1, ""), (0, "ab"), (0, "y"), (0, "")]
    assert chunks[0]["ignored"] == ["user"]
    assert chunks[1]["choices"][0]["logprobs"]["text_offset"] == [1]


def test_a_stop_is_told_in_the_last_chunk():
    chunks = stream([(0, TextDelta("a")), (0, Done("stop", Usage(), Timings(), "END"))])
    assert chunks[-2]["choices"][0]["stop_str"] == "END"


def test_a_silence_has_a_comment_that_says_what_goes_on():
    encoder = TextCompletionStream("cmpl-1", 5, "m")
    notes = [encoder.note]
    for event in (Progress(5, 9), Prefilled(9)):
        assert encoder.encode([(0, event)]) == b""
        notes.append(encoder.note)
    assert notes == [b": waiting\n\n", b": prefill 5/9\n\n", b": writing\n\n"]
