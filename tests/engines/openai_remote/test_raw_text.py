"""Thoughts and tool calls that an upstream leaves in its text."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from tests.support.tool_call_families import TOOLS, cuttings, merged

from duologue.engines.openai_remote.raw_text import RawText, check_format, reading_of
from duologue.errors import BadRequest
from duologue.text.toolcalls.catalogue import tool_format
from duologue.values.events import Delta, ReasoningDelta, TextDelta, TokenLogprob, ToolCallDelta
from duologue.values.messages import user
from duologue.values.requests import ChatRequest, RawFormat, Sampling

ASKED = ChatRequest((user("What time is it?"),), tools=TOOLS)
CHAT = ChatRequest((user("Hello"),))
FOUND_OUT = RawFormat()
CALL = '<tool_call>\n{"name": "clock", "arguments": {}}\n</tool_call>'


def once(raw: Sequence[str], request: ChatRequest, how: RawFormat) -> tuple[list[tuple[str, ...]], RawText]:
    reply = RawText(reading_of(how, request))
    deltas = [delta for piece in raw for delta in reply.feed(piece)]
    rows = merged([*deltas, *reply.finish()])
    return [tuple(re.sub("call_[0-9a-f]{24}", "ID", cell) for cell in row) for row in rows], reply


def read(raw: str, request: ChatRequest = ASKED, how: RawFormat = FOUND_OUT) -> list[tuple[str, ...]]:
    """The reply, which no cutting changes."""
    whole, _ = once([raw], request, how)
    for pieces in cuttings(raw, everywhere=True):
        assert once(pieces, request, how)[0] == whole, pieces
    return whole


def call(number: int = 0, name: str = "clock", arguments: str = "{}") -> tuple[str, ...]:
    return ("call", str(number), "ID", name, arguments)


class TestFoundOut:
    @pytest.mark.parametrize(
        ("raw", "expected"),
        [
            ("Noon.", [("text", "Noon.")]),
            ("<think>\nHm.\n</think>\n\nNoon.", [("reasoning", "\nHm.\n"), ("text", "Noon.")]),
            ("[THINK]Hm.[/THINK]Noon.", [("reasoning", "Hm."), ("text", "Noon.")]),
            ("<|channel>thought\nHm.<channel|>Noon.", [("reasoning", "Hm."), ("text", "Noon.")]),
            ("<thinking> is a tag", [("text", "<thinking> is a tag")]),
            ("So <think> is a tag</think>.", [("text", "So <think> is a tag</think>.")]),
            ("<", [("text", "<")]),
        ],
    )
    def test_a_marker_of_thoughts_counts_as_the_first_text(
        self, raw: str, expected: list[tuple[str, ...]]
    ) -> None:
        assert read(raw) == read(raw, CHAT) == expected

    def test_thoughts_and_calls(self) -> None:
        raw = f"<think>Look it up.</think>\n\nOne moment.\n{CALL}"
        assert read(raw) == [("reasoning", "Look it up."), ("text", "One moment."), call()]

    def test_messages_with_markers(self) -> None:
        raw = (
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.clock "
            "<|constrain|>json<|message|>{}<|call|>"
        )
        assert read(raw) == [("reasoning", "Hm."), call()]

    @pytest.mark.parametrize(
        "raw",
        [
            "<|message_model|><|content_thinking|>Hm.<|end_message|>"
            '<|message_model|>clock<|content_invoke_tool_json|>{"name":"clock","args":{}}<|end_message|>',
            "<|start|>assistant to=self<|message|>Hm.<|eom|><|start|>assistant to=clock<|message|>"
            '<atem:function_calls>\n<atem:invoke name="clock">\n</atem:invoke>\n</atem:function_calls><|eot|>',
            "<|open|>think<|sep|>Hm.<|close|>think<|sep|><|open|>response<|sep|><|close|>response<|sep|><|open|>tools<|sep|>"
            '<|open|>call tool="clock" index="1"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
        ],
        ids=["inkling", "muse_glimmer", "kimi_k3"],
    )
    def test_the_first_message_tells_the_family(self, raw: str) -> None:
        assert read(raw) == [("reasoning", "Hm."), call()]

    def test_without_tools_nothing_is_a_call(self) -> None:
        assert read(CALL, CHAT) == [("text", CALL)]

    def test_tools_that_may_not_be_called_are_not(self) -> None:
        request = ChatRequest(ASKED.messages, tools=TOOLS, tool_choice="none")
        assert read(CALL, request) == [("text", CALL)]

    def test_a_quoted_call_is_text(self) -> None:
        raw = f"Write:\n```\n{CALL}\n```\nas it stands."
        assert read(raw) == [("text", raw)]

    def test_plain_text_passes_at_once_and_as_it_is(self) -> None:
        reply = RawText(reading_of(RawFormat(), CHAT))
        logprobs = (TokenLogprob(" Hi", -0.1, b" Hi"),)
        assert reply.feed("  ") == []
        assert reply.feed("Hi", logprobs) == [TextDelta("  "), TextDelta("Hi", logprobs)]
        assert reply.feed(" <think>\n") == [TextDelta(" <think>\n")]


class TestSaid:
    def test_a_format_without_a_marker_of_its_own(self) -> None:
        raw = '{"name": "clock", "parameters": {}}'
        assert read(raw) == [("text", raw)]
        assert read(raw, how=RawFormat("llama3_json")) == [call()]

    def test_a_reply_may_begin_inside_a_thought(self) -> None:
        how = RawFormat(opens_thoughts=True)
        assert read("Hm.</think>Noon.", how=how) == [("reasoning", "Hm."), ("text", "Noon.")]
        assert read("<think>Hm.</think>Noon.", how=how) == [("reasoning", "Hm."), ("text", "Noon.")]

    @pytest.mark.parametrize(
        "request_",
        [ChatRequest(CHAT.messages, thinking=False), ChatRequest(CHAT.messages, continue_final=True)],
    )
    def test_but_not_if_it_does_not_think_or_goes_on(self, request_: ChatRequest) -> None:
        assert read("Noon.", request_, RawFormat(opens_thoughts=True)) == [("text", "Noon.")]

    def test_a_marker_may_be_named(self) -> None:
        how = RawFormat(thoughts="[THINK]")
        assert read("So: [THINK]Hm.[/THINK]noon.", how=how)[1] == ("reasoning", "Hm.")

    def test_a_format_of_messages_brings_its_thoughts(self) -> None:
        raw = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Noon."
        assert read(raw, CHAT, RawFormat("gpt-oss")) == [("reasoning", "Hm."), ("text", "Noon.")]

    @pytest.mark.parametrize(
        ("format", "raw"),
        [
            ("inkling", "<|content_thinking|>Hm.<|end_message|><|message_model|><|content_text|>Noon."),
            ("muse_glimmer", " to=self<|message|>Hm.<|eom|><|start|>assistant to=user<|message|>Noon."),
            ("kimi_k3", "<|open|>think<|sep|>Hm.<|close|>think<|sep|><|open|>response<|sep|>Noon."),
        ],
    )
    def test_a_reply_may_lack_what_the_prompt_had_opened(self, format: str, raw: str) -> None:
        expected = [("reasoning", "Hm."), ("text", "Noon.")]
        assert read(raw, CHAT, RawFormat(format)) == expected
        assert read(tool_format(format).opening + raw, CHAT, RawFormat(format)) == expected

    def test_text_may_be_left_as_it_is(self) -> None:
        raw = f"<think>Hm.</think>{CALL}"
        assert read(raw, how=RawFormat("none", "none")) == [("text", raw)]

    @pytest.mark.parametrize("how", [RawFormat("nobody"), RawFormat(thoughts="<idea>")])
    def test_an_unknown_name_is_refused(self, how: RawFormat) -> None:
        with pytest.raises(BadRequest, match="Known"):
            check_format(how)


class TestWhatTheUpstreamReads:
    def test_its_thoughts_win(self) -> None:
        reply = RawText(reading_of(RawFormat(), ASKED))
        assert reply.native_thought() == []
        deltas: list[Delta] = [*reply.feed("<think>"), *reply.feed(f" is a tag.\n{CALL}"), *reply.finish()]
        assert merged(deltas)[0] == ("text", "<think> is a tag.")
        assert reply.complete == 1

    def test_they_end_a_thought_in_the_text(self) -> None:
        reply = RawText(reading_of(RawFormat(opens_thoughts=True), CHAT))
        assert reply.feed("Hm.") == [ReasoningDelta("Hm.")]
        assert reply.native_thought() == []
        assert reply.feed("Noon.") == [TextDelta("Noon.")]

    def test_its_calls_win(self) -> None:
        reply = RawText(reading_of(RawFormat(), ASKED))
        assert reply.feed("Well, <tool") == [TextDelta("Well, ")]
        assert reply.native_call() == [TextDelta("<tool")]
        assert reply.feed(CALL) == [TextDelta(CALL)]
        assert (reply.calls, reply.complete) == (0, 0)


class TestEnds:
    def test_one_call_ends_a_reply_that_may_have_one(self) -> None:
        request = ChatRequest(ASKED.messages, tools=TOOLS, parallel_tool_calls=False)
        rows, reply = once([f"Both.\n{CALL}\n{CALL}\nThere."], request, RawFormat())
        assert rows == [("text", "Both."), call()]
        assert reply.over

    def test_otherwise_calls_are_numbered(self) -> None:
        assert read(f"{CALL}\n{CALL}") == [call(), call(1)]

    def test_a_call_that_is_cut_off_is_no_complete_one(self) -> None:
        rows, reply = once(['<tool_call>\n{"name": "clock", "arguments": {"a'], ASKED, RawFormat())
        assert rows == [call(arguments='{"a')]
        assert (reply.truncated, reply.complete, reply.over) == (True, 0, False)


def test_logprobs_stay_with_their_text() -> None:
    request = ChatRequest(ASKED.messages, tools=TOOLS, sampling=Sampling(logprobs=0))
    reply = RawText(reading_of(RawFormat(), request))
    pieces = ["<think>", "Hm", "</think>", "No", "on.", "\n", CALL]
    deltas: list[Delta] = []
    for piece in pieces:
        deltas += reply.feed(piece, (TokenLogprob(piece, -0.5, piece.encode()),))
    deltas += reply.finish()
    texts = [delta for delta in deltas if isinstance(delta, TextDelta)]
    assert [(delta.text, [entry.token for entry in delta.logprobs]) for delta in texts] == [
        ("No", ["No"]),
        ("on.", ["on."]),
    ]
    assert any(isinstance(delta, ToolCallDelta) for delta in deltas)
