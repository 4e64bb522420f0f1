import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.values.events import AudioDelta, Done, Failed, Prefilled, TextDelta, ToolCallDelta, Usage
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, Tool, ToolCall, VideoPart
from duologue.values.questions.worker_answers import (
    Counted,
    Described,
    Detokenized,
    Rendered,
    TemplateUsed,
    Tokenized,
)
from duologue.values.questions.worker_questions import (
    CountPrompt,
    DescribeModel,
    DetokenizeTokens,
    RenderChat,
    TokenizeText,
    UseTemplate,
)
from duologue.values.requests import ChatRequest, ModelCard, Sampling
from duologue.wire import worker_protocol

REQUEST = ChatRequest(
    messages=(
        Message("user", (TextPart("héllo"), ImagePart(b"\x00\xff"), AudioPart(b"1234"), VideoPart(b"v"))),
        Message("assistant", reasoning="hm", tool_calls=(ToolCall("c1", "clock", '{"a": 1}'),)),
        Message("tool", (TextPart("noon"),), tool_call_id="c1"),
    ),
    sampling=Sampling(temperature=0.5, seed=7, logit_bias={"3": -1.0}),
    tools=(Tool("clock", "tells the time", {"type": "object", "properties": {}}),),
    thinking=False,
)
DOWN: list[worker_protocol.Down] = [
    worker_protocol.Begin(1, 0, REQUEST, "r1"),
    worker_protocol.Cancel(1),
    worker_protocol.Grant(1, 9),
    worker_protocol.EndThought(3),
    worker_protocol.Ask(4, CountPrompt(REQUEST)),
    worker_protocol.Ask(5, RenderChat(REQUEST, tokens=True)),
    worker_protocol.Ask(6, TokenizeText("a", start=True, pieces=True)),
    worker_protocol.Ask(7, DetokenizeTokens((1, 2), control=False)),
    worker_protocol.Ask(8, DescribeModel("m")),
    worker_protocol.Ask(9, UseTemplate("{{ messages }}")),
]
UP: list[worker_protocol.Up] = [
    worker_protocol.Emit(
        1, (TextDelta("a"), ToolCallDelta(0, "{", "c", "f"), AudioDelta(b"pcm"), Prefilled(None))
    ),
    worker_protocol.Emit(1, (Done("stop", Usage(3, 4)),)),
    worker_protocol.Emit(2, (Failed("x", "y", 503),)),
    worker_protocol.Closed(1),
    worker_protocol.AskAnswered(4, Counted(120, 4096, estimated=True)),
    worker_protocol.AskAnswered(5, Rendered("<|im_start|>", (1,))),
    worker_protocol.AskAnswered(6, Tokenized((1,), (b"\xf0",))),
    worker_protocol.AskAnswered(7, Detokenized("a")),
    worker_protocol.AskAnswered(8, Described("{{ messages }}", "<s>", "</s>")),
    worker_protocol.AskAnswered(9, TemplateUsed()),
    worker_protocol.AskAnswered(5, code="template_error", message="No.", status=400, param="messages"),
    worker_protocol.Report("w", "ready", card=ModelCard("m", "llama", 4096)),
]


def test_every_message_down_survives_the_wire():
    assert worker_protocol.decode_down(worker_protocol.encode(DOWN)) == DOWN


def test_every_message_up_survives_the_wire():
    assert worker_protocol.decode_up(worker_protocol.encode(UP)) == UP


def test_a_message_of_the_wrong_direction_is_refused():
    with pytest.raises(msgspec.ValidationError):
        worker_protocol.decode_down(worker_protocol.encode(UP))


@given(st.binary(max_size=5 * worker_protocol.PIECE // 2), st.binary(max_size=200))
def test_fragments_of_two_messages_join_again_when_interleaved(one, two):
    joiner = worker_protocol.FragmentJoiner()
    lines = [
        list(worker_protocol.fragments(number, data)) for number, data in ((1, one or b"x"), (2, two or b"y"))
    ]
    joined = []
    while any(lines):
        for line in lines:
            if line and (frame := joiner.add(line.pop(0))) is not None:
                joined.append(frame)
    assert sorted(joined) == sorted([one or b"x", two or b"y"])


def test_no_fragment_is_larger_than_a_piece():
    pieces = list(worker_protocol.fragments(1, bytes(3 * worker_protocol.PIECE + 1)))
    assert [len(piece.data) for piece in pieces] == [worker_protocol.PIECE] * 3 + [1]
    assert [piece.last for piece in pieces] == [False, False, False, True]


def test_a_message_without_end_is_refused_and_forgotten():
    limit = 10 + 2 * worker_protocol.FRAGMENT_OVERHEAD
    joiner = worker_protocol.FragmentJoiner(limit)
    joiner.add(worker_protocol.Fragment(1, b"12345"))
    with pytest.raises(ValueError, match=f"more than {limit} bytes"):
        joiner.add(worker_protocol.Fragment(1, b"678901"))
    assert joiner.add(worker_protocol.Fragment(1, b"ok", last=True)) == b"ok"


def test_many_messages_without_end_are_bounded_together():
    joiner = worker_protocol.FragmentJoiner(10 * worker_protocol.FRAGMENT_OVERHEAD)
    with pytest.raises(ValueError, match="unfinished messages"):  # noqa: PT012
        for number in range(11):
            joiner.add(worker_protocol.Fragment(number, b""))
