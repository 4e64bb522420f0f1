"""The trace of a raw reply: what each piece made certain, what is held back and why; and its answer as JSON."""

from __future__ import annotations

import pytest
from tests.support.tool_call_families import TOOLS, Call, Family
from tests.text.toolcalls.family_list import FAMILIES

from duologue.text.output.parse_trace import TracedReply, pieces, reply_fields, trace_lines, trace_reply
from duologue.text.output.reply_format import ANSWERS, THOUGHTS, ReplyFormat, named_format
from duologue.text.toolcalls.catalogue import tool_format
from duologue.values.messages import Tool

CITY = Tool(
    "f", "", {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
)


UNDECIDED = ("a call", "the header", "may become")


def traced(format: str, *chunks: str) -> TracedReply:
    return trace_reply(chunks, named_format(format), tools=[CITY], steps=True)


def held(format: str, *chunks: str) -> list[tuple[str, str]]:
    """What is held back after the last of these pieces."""
    return [(part.text, part.reason) for part in traced(format, *chunks).steps[len(chunks) - 1].held]


def test_text_that_begins_nothing_is_passed_on_at_once() -> None:
    read = traced("hermes", "Hello ", "there")
    assert [step.emitted for step in read.steps] == [({"content": "Hello "},), ({"content": "there"},), ()]
    assert [step.held for step in read.steps] == [(), (), ()]
    assert read.steps[-1].chunk is None


def test_the_beginning_of_a_marker_is_held_with_the_markers_it_may_become() -> None:
    assert held("hermes", "Hi <tool") == [("<tool", "may become `<tool_call>`")]
    assert held("hermes", "Hi <t") == [("<t", "may become `<think>` or `<tool_call>`")]
    assert held("hermes", "Hi </t") == [("</t", "may become `</think>` or `</tool_call>`")]


def test_line_ends_wait_for_text() -> None:
    assert held("hermes", "Hi\n", "\n") == [("\n\n", "line ends, until text follows")]
    assert held("hermes", "<think>hm</think>", "  ") == [("  ", "white space, until text follows")]


def test_a_call_is_held_until_it_is_certain_to_be_one() -> None:
    reason = "a call once its name and the beginning of its arguments are read"
    assert held("hermes", "<tool_call>", "\n") == [("<tool_call>\n", "a call if JSON follows")]
    assert held("hermes", '<tool_call>{"name": "f"') == [('<tool_call>{"name": "f"', reason)]
    assert held("hermes", '<tool_call>{"name": "f", "arguments": {"city') == []


def test_after_a_call_white_space_waits_for_text() -> None:
    assert held("hermes", '<tool_call>{"name": "f"}\n') == [
        ("\n", "after a call: dropped unless text follows")
    ]


def test_a_value_that_is_no_text_is_held_to_its_end() -> None:
    head = "<tool_call>\n<function=f>\n<parameter="
    assert held("qwen3_xml", head, "days>\n1") == [("1", "inside a call: `days` (integer), until its end")]
    assert held("qwen3_xml", head, "city>\nUlm") == []
    assert held("qwen3_xml", head, "city>\nUlm\n</par") == [("\n</par", "inside a call: may end `city`")]


def test_the_header_of_a_message_is_held_to_its_end() -> None:
    header = "<|channel|>commentary to=functions.f"
    assert held("harmony", header) == [(header, "the header of a message, until `<|message|>`")]
    assert held("harmony", header, '<|message|>{"city": ') == []
    assert held("harmony", header, '<|message|>{"city": "Ulm"}<|ca') == [("<|ca", "may become `<|call|>`")]


def test_of_a_long_text_only_the_end_is_shown() -> None:
    ((text, _),) = held("hermes", '<tool_call>{"arguments": {"city": "' + "x" * 500 + "y")
    assert text == "…" + "x" * 79 + "y"


def test_held_text_that_is_text_comes_with_the_end() -> None:
    assert traced("hermes", "Hi <tool").steps[-1].emitted == ({"content": "<tool"},)


def test_the_deltas_of_a_trace_are_the_deltas_of_the_reply() -> None:
    raw = '<think>hm</think>A\n<tool_call>{"name": "f", "arguments": {"city": "Ulm"}}</tool_call>B'
    for size in range(1, 12):
        read = trace_reply(pieces(raw, size), named_format("hermes"), steps=True)
        fields = reply_fields(read, named_format("hermes"), trace=True)
        assert [delta for step in read.steps for delta in step.emitted] == fields["deltas"]
        assert fields["tool_calls"] == [{"id": "call_0", "name": "f", "arguments": '{"city": "Ulm"}'}]
        assert (fields["reasoning"], fields["content"], fields["finish_reason"]) == (
            "hm",
            "A\nB",
            "tool_calls",
        )


@pytest.mark.parametrize("format", ["hermes", "qwen3_xml", "harmony"])
def test_asking_what_is_held_changes_nothing(format: str) -> None:
    raw = (
        "<|channel|>analysis<|message|>hm<|end|><|channel|>commentary to=functions.f<|message|>{}<|call|>"
        if format == "harmony"
        else "<think>hm</think>\n\nA `<tool_call>`\n<tool_call>\n<function=f>\n<parameter=days>\n3\n</parameter>\n"
        '</function>\n</tool_call>\n<tool_call>{"name": "f"}</tool_call>\n<think'
    )
    chunks = pieces(raw, 1)
    asked = trace_reply(chunks, named_format(format), tools=[CITY], steps=True)
    assert asked.deltas == trace_reply(chunks, named_format(format), tools=[CITY]).deltas
    assert asked.reply.tool_calls


def test_a_call_that_is_cut_off_ends_with_length() -> None:
    read = traced("hermes", '<tool_call>{"name": "f", "arguments": {"city')
    assert read.finish_reason == "length"
    assert read.reply.tool_calls[0].arguments == '{"city'
    assert traced("hermes", "Hi").finish_reason == "stop"


def test_the_first_delta_of_a_call_names_it() -> None:
    (step, _) = traced("hermes", '<tool_call>{"name": "f", "arguments": {}').steps
    begins, *_ = step.emitted
    assert begins == {"tool_call": {"index": 0, "id": "call_0", "name": "f", "arguments": ""}}


@pytest.mark.parametrize("name", [*THOUGHTS, *ANSWERS])
def test_the_markers_that_a_family_brings_are_known(name: str) -> None:
    tags = named_format(name).reasoning
    assert tags is not None
    read = trace_reply((f"{tags.start}hm{tags.closing or tags.end}Yes.",), named_format(name))
    assert (read.reply.reasoning, read.reply.content) == ("hm", "Yes.")


@pytest.mark.parametrize(
    ("format", "raw"),
    [
        ("muse_glimmer", " to=self<|message|>hm<|eom|><|start|>assistant to=user<|message|>Yes.<|eot|>"),
        (
            "inkling",
            "<|content_thinking|>hm<|end_message|><|message_model|><|content_text|>Yes.<|end_message|>",
        ),
        (
            "harmony",
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>",
        ),
    ],
)
def test_a_recorded_reply_may_lack_what_the_prompt_had_opened(format: str, raw: str) -> None:
    opened = tool_format(format).opening
    for recorded in (raw, opened + raw):
        read = trace_reply(pieces(recorded, 3), named_format(format))
        assert (read.reply.reasoning, read.reply.content) == ("hm", "Yes.")


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.format)
def test_every_family_says_what_it_holds_back(family: Family) -> None:
    """It is shown as it was written, and where it is not known yet whether it is a call, it is the end of what was read."""
    raw = family.write([Call("find_city", {"city": "Oslo", "days": 3, "tags": ["a"], "exact": True})])
    how = ReplyFormat(family.format, family.tags)
    steps = trace_reply(pieces(raw, 1), how, tools=TOOLS, steps=True).steps[:-1]
    reasons = set()
    for size, step in enumerate(steps, 1):
        for held in step.held:
            text, undecided = held.text.removeprefix("…"), held.reason.startswith(UNDECIDED)
            assert text
            assert raw[:size].endswith(text) if undecided else text.strip() in raw[:size]
            reasons.add(undecided)
    assert True in reasons


def test_the_lines_of_a_trace() -> None:
    read = traced("hermes", "Hi\n")
    assert list(trace_lines(read.steps)) == [
        '1: "Hi\\n"',
        '    content "Hi"',
        '    held "\\n": line ends, until text follows',
        "end",
        '    content "\\n"',
    ]
