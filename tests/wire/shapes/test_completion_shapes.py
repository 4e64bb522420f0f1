"""The types that describe the answers of OpenAI's dialect fit the answers that are written: no field more, none less."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from duologue.values.events import (
    AudioDelta,
    Done,
    Event,
    Fitted,
    FittingNote,
    Prefilled,
    ReasoningDelta,
    TextDelta,
    Timings,
    TokenLogprob,
    ToolCallDelta,
    Usage,
)
from duologue.values.requests import ModelCard
from duologue.values.speech import TranscribedPart
from duologue.wire.completion import AudioId, Completion, CompletionStream
from duologue.wire.completions.text_completion import TextCompletion, TextCompletionStream
from duologue.wire.models.model_entries import model_entry, model_list
from duologue.wire.shapes.completion_shapes import (
    ChatCompletion,
    ChatCompletionChunk,
    CompletedText,
    CompletedTextChunk,
    ListedModels,
    ModelEntry,
)

TOKEN = TokenLogprob("a", -0.5, b"a", (TokenLogprob("b", -1.0, b"b"),))
END = Done("stop", Usage(3, 4, 1, 2), Timings(1, 2, 3, 4))
PLAIN: list[Event] = [Prefilled(3), TextDelta("a"), END]
MUCH: list[Event] = [
    Fitted(
        (TranscribedPart(0, 1, "hi"), TranscribedPart(0, 2, "", understood=False)),
        (
            FittingNote("messages[0]", "video", "frames", count=3, seconds=1.5),
            FittingNote("messages[1]", "image", "resized"),
        ),
    ),
    Prefilled(3, ignored=("seed",)),
    ReasoningDelta("hm"),
    TextDelta("a", (TOKEN,)),
    ToolCallDelta(0, "{", id="call_1", name="f"),
    ToolCallDelta(0, "}"),
    Done("tool_calls", Usage(3, 4, estimated=True), Timings(1, 2, 3, 4), stop="x"),
]
REPLIES = [PLAIN, MUCH]


def assert_fits(kind: type, answer: Any) -> None:
    assert msgspec.to_builtins(msgspec.convert(answer, kind)) == answer


@pytest.mark.parametrize("events", REPLIES)
@pytest.mark.parametrize("functions", [False, True])
def test_a_whole_reply_has_the_fields_of_its_type(events: list[Event], functions: bool) -> None:
    completion = Completion("id", 1, "mini", count=2, functions=functions)
    completion.add([(index, event) for event in events for index in range(2)])
    assert_fits(ChatCompletion, json.loads(completion.body()))


def test_a_spoken_reply_has_the_fields_of_its_type() -> None:
    completion = Completion("id", 1, "mini")
    completion.add([(0, event) for event in PLAIN])
    completion.set_audio(AudioId("audio_1", 5), b"RIFF")
    assert_fits(ChatCompletion, json.loads(completion.body()))


@pytest.mark.parametrize("events", [*REPLIES, [Prefilled(3), TextDelta("a"), AudioDelta(b"\0\0"), END]])
@pytest.mark.parametrize("functions", [False, True])
@pytest.mark.parametrize("usage", [False, True])
@pytest.mark.parametrize("audio", [None, AudioId("audio_1", 5)])
def test_chunks_have_the_fields_of_their_type(
    events: list[Event], functions: bool, usage: bool, audio: AudioId | None
) -> None:
    stream = CompletionStream("id", 1, "mini", usage=usage, functions=functions, audio_id=audio)
    data = stream.encode([(0, event) for event in events]).decode()
    chunks = [json.loads(event[6:]) for event in data.split("\n\n") if event and event[6:] != "[DONE]"]
    assert chunks
    for chunk in chunks:
        assert_fits(ChatCompletionChunk, chunk)


TEXTS: list[list[Event]] = [
    PLAIN,
    [Prefilled(3, ignored=("seed",)), TextDelta("a", (TOKEN,)), Done("length", END.usage, stop="x")],
]


@pytest.mark.parametrize("events", TEXTS)
@pytest.mark.parametrize("logprobs", [False, True])
def test_completions_of_a_text_have_the_fields_of_their_types(events: list[Event], logprobs: bool) -> None:
    whole = TextCompletion("id", 1, "mini", echo=("b",), logprobs=logprobs)
    whole.add([(0, event) for event in events])
    assert_fits(CompletedText, json.loads(whole.body()))
    stream = TextCompletionStream("id", 1, "mini", usage=logprobs, echo=("b",))
    data = stream.encode([(0, event) for event in events]).decode()
    for event in data.split("\n\n"):
        if event and event[6:] != "[DONE]":
            assert_fits(CompletedTextChunk, json.loads(event[6:]))


def test_models_have_the_fields_of_their_types() -> None:
    card = ModelCard("mini", "llama", 512, voices=("a",), defaults={"top_k": 40, "stop": ("x",)})
    assert_fits(ModelEntry, json.loads(json.dumps(model_entry(card, 1))))
    assert_fits(ListedModels, json.loads(model_list([card], {"gpt": card}, 1, ["other"])))
