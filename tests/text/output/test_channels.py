"""What belongs to reasoning, to content and to calls, however the reply is cut."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import count, pairwise
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.text.output.channels import PIECE, ChannelSplitter
from duologue.text.output.parsed import ParsedReply, joined
from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.toolcalls.catalogue import tool_format
from duologue.values.events import Delta, ReasoningDelta, TextDelta, ToolCallDelta

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "x"}}\n</tool_call>'
OTHER = CALL.replace('"f"', '"g"')
ARGUMENTS = '{"a": "x"}'


def machine(
    *,
    format: str = "hermes",
    reasoning: ReasoningTags | None = ReasoningTags(),  # noqa: B008  (an immutable value)
    inside: bool = False,
    positions: bool = False,
) -> ChannelSplitter:
    numbers = count()
    return ChannelSplitter(
        tool_format=tool_format(format) if format else None,
        reasoning=reasoning,
        start_in_reasoning=inside,
        new_call_id=lambda: f"call_{next(numbers)}",
        positions=positions,
    )


def run(made: ChannelSplitter, pieces: Sequence[str]) -> list[Delta]:
    deltas: list[Delta] = []
    for piece in pieces:
        deltas += made.feed(piece)
    return deltas + made.finish()


def merged(deltas: Sequence[Delta]) -> list[tuple[str, ...]]:
    """The deltas with neighbours of one channel joined: what cutting must not change."""
    rows: list[tuple[str, ...]] = []
    for delta in deltas:
        if isinstance(delta, ToolCallDelta):
            if delta.id is not None:
                rows.append(("call", str(delta.index), delta.id, str(delta.name), delta.arguments))
                continue
            last = rows[-1]
            assert last[:2] == ("call", str(delta.index))
            assert delta.name is None
            rows[-1] = (*last[:-1], last[-1] + delta.arguments)
            continue
        kind = "text" if isinstance(delta, TextDelta) else "reasoning"
        assert delta.text, "no empty delta"
        if rows and rows[-1][0] == kind:
            rows[-1] = (kind, rows[-1][1] + delta.text)
        else:
            rows.append((kind, delta.text))
    return rows


def chunks(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def read(text: str, *, format: str = "hermes", inside: bool = False, tags: bool = True) -> ParsedReply:
    """Parse `text` in one piece, in pieces of 1 to 7 characters, and at every single cut; they must agree."""

    def one(pieces: Sequence[str]) -> tuple[list[tuple[str, ...]], ParsedReply, int, int]:
        made = machine(format=format, inside=inside, reasoning=ReasoningTags() if tags else None)
        deltas = run(made, pieces)
        reply = joined(deltas, truncated=made.truncated)
        return merged(deltas), reply, made.complete_calls, made.broken_calls

    whole = one([text])
    for size in range(1, 8):
        assert one(chunks(text, size)) == whole, size
    for cut in range(1, len(text)):
        assert one([text[:cut], text[cut:]]) == whole, cut
    return whole[1]


def calls(reply: ParsedReply) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in reply.tool_calls]


def said(text: str, **options: object) -> tuple[str, str, list[tuple[str, str]]]:
    reply = read(text, **options)  # type: ignore[arg-type]
    return reply.reasoning, reply.content, calls(reply)


# -- reasoning ----------------------------------------------------------------------------------------------------


def test_text_without_markers_is_content() -> None:
    assert said("Hello, who is there?\n\nA friend.\n") == ("", "Hello, who is there?\n\nA friend.\n", [])


def test_reasoning_runs_from_marker_to_marker() -> None:
    assert said("<think>hm</think>Hi") == ("hm", "Hi", [])


def test_reasoning_the_template_opened_runs_from_the_start() -> None:
    assert said("hm</think>Hi", inside=True) == ("hm", "Hi", [])


def test_an_opening_marker_repeated_by_the_model_is_swallowed() -> None:
    assert said("<think>hm<think>m</think>Hi", inside=True) == ("hmm", "Hi", [])


def test_reasoning_never_closed_is_all_reasoning() -> None:
    assert said("<think>on and on\n") == ("on and on\n", "", [])


def test_a_second_span_is_reasoning_too() -> None:
    assert said("<think>a</think>B<think>c</think>D") == ("ac", "BD", [])


@pytest.mark.parametrize("blank", ["", "\n", "\n\n", "  \n"])
def test_an_empty_span_gives_no_reasoning(blank: str) -> None:
    assert said(f"<think>{blank}</think>Hi") == ("", "Hi", [])


@pytest.mark.parametrize(
    ("raw", "content"),
    [
        ("<think>hm</think>\n\nHi", "Hi"),
        ("<think>hm</think>\n \n    a = 1", "    a = 1"),
        ("<think>hm</think> Hi", " Hi"),
        ("\n\n<think>hm</think>\nHi", "Hi"),
        ("Oh,<think>hm</think>\nhi", "Oh,\nhi"),
        ("\n\nHi", "\n\nHi"),
    ],
)
def test_blank_lines_between_a_thought_and_the_answer_are_dropped(raw: str, content: str) -> None:
    assert said(raw)[1] == content


def test_whitespace_behind_reasoning_is_dropped_when_nothing_follows() -> None:
    assert said("<think>hm</think>\n\n") == ("hm", "", [])


def test_a_closing_marker_on_its_own_does_not_leak() -> None:
    assert said("Hi</think> there") == ("", "Hi there", [])


@pytest.mark.parametrize(
    "text", ["a <b", "x <", "<thin", "<think", "</thinking is not it", "<tool_cal", "a<b</c<tool"]
)
def test_what_only_looks_like_a_marker_is_text(text: str) -> None:
    assert said(text) == ("", text, [])


def test_a_false_start_gives_back_one_character_only() -> None:
    assert said("p <<think>hm</think>Hi") == ("hm", "p <Hi", [])


def test_of_two_markers_the_longer_one_is_meant() -> None:
    long = ReasoningTags("<think:open>", "</think:open>")
    deltas = run(machine(reasoning=long), chunks("<think:open>hm</think:open>Hi <think", 3))
    assert merged(deltas) == [("reasoning", "hm"), ("text", "Hi <think")]


def test_without_reasoning_tags_they_are_text() -> None:
    assert said("<think>hm</think>Hi", tags=False) == ("", "<think>hm</think>Hi", [])


def test_thinking_tells_where_the_text_ends() -> None:
    made = machine()
    made.feed("<think>hm")
    assert made.thinking
    made.feed("</think>")
    assert not made.thinking


# -- calls --------------------------------------------------------------------------------------------------------


def test_a_call_is_no_content() -> None:
    assert said(CALL) == ("", "", [("f", ARGUMENTS)])


def test_parallel_calls_count_up() -> None:
    deltas = run(machine(), [CALL + "\n" + OTHER])
    assert merged(deltas) == [
        ("call", "0", "call_0", "f", ARGUMENTS),
        ("call", "1", "call_1", "g", ARGUMENTS),
    ]


def test_text_around_calls_keeps_its_order() -> None:
    reply = run(machine(), chunks(f"A {CALL} B {OTHER} C", 3))
    assert [row[0] for row in merged(reply)] == ["text", "call", "text", "call", "text"]
    assert said(f"A {CALL} B {OTHER} C") == ("", "A  B  C", [("f", ARGUMENTS), ("g", ARGUMENTS)])


@pytest.mark.parametrize("before", ["\n\n", "", "<think>hm</think>\n\n", "<think>\n\n</think>\n\n"])
def test_no_content_of_whitespace_alone_comes_before_a_call(before: str) -> None:
    assert said(before + CALL)[1] == ""


def test_line_ends_between_text_and_call_belong_to_neither() -> None:
    assert said("Let me look.\n\n" + CALL + "\n") == ("", "Let me look.", [("f", ARGUMENTS)])


def test_line_ends_around_a_call_come_out_when_text_follows() -> None:
    assert said("A\n" + CALL + "\nB") == ("", "A\n\nB", [("f", ARGUMENTS)])


def test_line_ends_at_the_very_end_of_an_answer_are_text() -> None:
    assert said("Hi\n\n")[1] == "Hi\n\n"


def test_a_call_inside_reasoning_is_collected_and_ends_it() -> None:
    assert said(f"<think>hm {CALL} so") == ("hm ", " so", [("f", ARGUMENTS)])


def test_the_closing_marker_that_comes_after_such_a_call_is_dropped() -> None:
    assert said(f"<think>hm{CALL}</think>\n\nDone") == ("hm", "Done", [("f", ARGUMENTS)])


def test_prose_about_the_marker_inside_reasoning_stays_reasoning() -> None:
    assert said("<think>the <tool_call> tag and </tool_call> end</think>Hi") == (
        "the <tool_call> tag and </tool_call> end",
        "Hi",
        [],
    )


def test_without_a_format_calls_are_content() -> None:
    assert said(CALL, format="") == ("", CALL, [])


def test_without_format_and_tags_everything_is_content_at_once() -> None:
    made = machine(format="", reasoning=None)
    assert made.feed("\n<think>`") == [TextDelta("\n<think>`")]
    assert made.finish() == []


def test_a_closing_marker_of_calls_on_its_own_does_not_leak() -> None:
    assert said(CALL + "</tool_call>\nHi") == ("", "Hi", [("f", ARGUMENTS)])


def test_prose_about_the_markers_is_given_back_whole() -> None:
    text = "The <tool_call> tag is closed by </tool_call>, see?"
    assert said(text) == ("", text, [])


def test_reasoning_markers_in_an_argument_are_its_text() -> None:
    assert said(CALL.replace('"x"', '"<think>x</think>"')) == ("", "", [("f", '{"a": "<think>x</think>"}')])


def test_a_second_call_that_is_broken_leaves_the_first_alone() -> None:
    broken = '<tool_call>\n{"name: f}\n</tool_call>'
    assert said(CALL + broken) == ("", broken, [("f", ARGUMENTS)])


def test_a_cut_call_is_told_and_not_closed() -> None:
    reply = read(CALL[: CALL.index("x") + 1])
    assert reply.truncated
    assert calls(reply) == [("f", '{"a": "x')]


def test_only_whole_calls_of_valid_json_count_as_complete() -> None:
    made = machine()
    run(made, [CALL, CALL.replace('"x"', "[1"), CALL[:-30]])
    assert (made.complete_calls, made.broken_calls, made.truncated) == (1, 1, True)


def test_a_reply_that_ended_in_text_is_not_truncated() -> None:
    assert not read(CALL + "Hi").truncated


def test_arguments_come_while_they_are_written() -> None:
    made = machine()
    assert made.feed('<tool_call>{"name": "f", "arguments": {"a": "one') == [
        ToolCallDelta(0, "", "call_0", "f"),
        ToolCallDelta(0, "{"),
        ToolCallDelta(0, '"a": "one'),
    ]
    assert made.feed(" two") == [ToolCallDelta(0, " two")]
    assert made.feed('"}}') == [ToolCallDelta(0, '"}')]
    assert made.complete_calls == 1


# -- quoted markers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{CALL}\n```\nlike this",
        f"```xml\n{CALL}\n```",
        f"~~~\n{CALL}\n~~~",
        f"> ```\n> {CALL}\n> ```",
        f"````\n```\n{CALL}\n```\n````",
        f"```\n{CALL}",
        "write `<think>` and `</think>`",
        "write `` `<tool_call>` `` so",
        "```\n<think>no thought</think>\n```",
        "````\nnot closed by ```\n<think>\n",
    ],
)
def test_markers_in_code_are_text(text: str) -> None:
    assert said(text) == ("", text, [])


@pytest.mark.parametrize(
    "before",
    ["```\ncode\n```\n", "a `b` c ", "a lone ` on its line\n", "```a``` b ", "~ ~~ ", "it's `fine`.\n\n"],
)
def test_markers_behind_code_count(before: str) -> None:
    assert said(before + CALL) == ("", before.rstrip("\n"), [("f", ARGUMENTS)])


@pytest.mark.parametrize("positions", [False, True])
@pytest.mark.parametrize("before", ["```json\n", "```\nx\n", "so `", "~~~\n", "```"])
def test_a_control_token_is_meant_where_the_same_text_would_be_a_quotation(
    before: str, positions: bool
) -> None:
    first, rest = CALL[: len("<tool_call>")], CALL[len("<tool_call>") :]
    quoted, meant = machine(positions=positions), machine(positions=positions)
    assert merged(run(quoted, [before, first])) == [("text", before + first)]
    deltas = [*meant.feed(before), *meant.feed(first, control=True), *meant.feed(rest), *meant.finish()]
    text, call = merged(deltas)
    assert (text[0], text[1].rstrip("\n")) == ("text", before.rstrip("\n"))
    assert call == ("call", "0", "call_0", "f", ARGUMENTS)


def test_a_control_token_inside_a_call_changes_nothing() -> None:
    made = machine()
    text = '<tool_call>\n{"name": "f", "arguments": {"a": "'
    deltas = [
        *made.feed(text),
        *made.feed("<tool_call>", control=True),
        *made.feed('"}}\n</tool_call>'),
        *made.finish(),
    ]
    assert merged(deltas) == [("call", "0", "call_0", "f", '{"a": "<tool_call>"}')]


def test_a_fence_left_open_in_reasoning_does_not_swallow_the_answer() -> None:
    assert said("<think>```\nhm</think>Hi") == ("```\nhm", "Hi", [])


# -- cutting, cost, positions --------------------------------------------------------------------------------------

FRAGMENTS = st.sampled_from(
    [
        "<think>", "</think>", "<tool_call>", "</tool_call>", "<", "</", "<t", "<tool", "<think", " ", "\n", "\n\n",
        "`", "```", "~~~", "```\n", "\n```\n", "{", "}", "{{", "}}", "[", "]", ",", ":", '"', "\\", '{"name": "f"',
        '"name": "g"', ', "arguments": ', '"arguments": {', '{"a": 1}', '{"b": "</tool_call>"}', '"\\"', "null",
        '"{\\"a\\": 1}"', "1.50", CALL, "word", "é漢😀", "\t", "'a'", "\r\n", "> ", "\x01",
    ]
)  # fmt: skip
REPLIES = st.lists(FRAGMENTS, max_size=24).map("".join)


@settings(max_examples=600)
@given(text=REPLIES, inside=st.booleans(), cuts=st.lists(st.integers(0, 200), max_size=8))
def test_cutting_elsewhere_changes_nothing(text: str, inside: bool, cuts: list[int]) -> None:
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in pairwise(bounds)]
    whole = machine(inside=inside)
    expected = merged(run(whole, [text]))
    for pieces_ in (pieces, list(text)):
        made = machine(inside=inside)
        assert merged(run(made, pieces_)) == expected
        assert (made.truncated, made.complete_calls, made.broken_calls) == (
            whole.truncated,
            whole.complete_calls,
            whole.broken_calls,
        )


@settings(max_examples=400)
@given(text=REPLIES, size=st.integers(1, 9))
def test_positions_name_the_raw_text(text: str, size: int) -> None:
    made = machine(positions=True)
    for piece in [*chunks(text, size), None]:
        deltas = made.finish() if piece is None else made.feed(piece)
        places = made.positions()
        assert len(places) == len(deltas)
        for delta, place in zip(deltas, places, strict=True):
            if isinstance(delta, ToolCallDelta):
                assert place == -1
            else:
                assert text[place : place + len(delta.text)] == delta.text


WORDS = st.lists(st.one_of(FRAGMENTS.filter(lambda part: '"' not in part), st.just("WORD")), max_size=20)


@settings(max_examples=400)
@given(parts=WORDS, size=st.integers(1, 9))
def test_no_word_is_lost_and_none_comes_twice(parts: list[str], size: int) -> None:
    parts = [f"w{number}w" if part == "WORD" else part for number, part in enumerate(parts)]
    text = "".join(parts)
    reply = joined(run(machine(), chunks(text, size)))
    out = reply.reasoning + reply.content + "".join(call.arguments for call in reply.tool_calls)
    for word in (part for part in parts if part.startswith("w") and part.endswith("w")):
        assert out.count(word) == 1


def test_positions_are_refused_where_they_were_not_asked_for() -> None:
    with pytest.raises(RuntimeError):
        machine().positions()


def test_plain_text_goes_out_as_it_comes() -> None:
    made = machine()
    made.feed("Once ")
    assert made.feed("upon a time") == [TextDelta("upon a time")]
    made.feed(" <think>so")
    assert made.feed(" it is") == [ReasoningDelta(" it is")]
    assert made.feed("") == []


HARD = {
    "angle brackets": lambda size: "<" * size,
    "backticks": lambda size: "`" * size,
    "line ends": lambda size: "\n" * size,
    "fences": lambda size: "```\n" * (size // 4),
    "opening markers": lambda size: "<tool_call>" * (size // 11),
    "half markers": lambda size: "<tool_" * (size // 6),
    "thoughts": lambda size: "<think>a</think>\n" * (size // 17),
    "calls": lambda size: CALL * (size // len(CALL)),
    "a long string": lambda size: CALL[:-20] + "x" * size,
    "backslashes": lambda size: CALL[:-20] + "\\" * size,
    "brackets": lambda size: '<tool_call>{"name": "f", "arguments": {"a": ' + "[" * size,
    "half markers in arguments": lambda size: (
        '<tool_call>{"name": "f", "arguments": {"a": ' + "</tool" * (size // 6)
    ),
    "whitespace in a call": lambda size: "<tool_call>" + "\n" * size,
    "whitespace behind a call": lambda size: CALL[:-13] + "\n" * size + "x",
    "broken call": lambda size: "<tool_call>{" + "x<" * (size // 2),
    "line ends in a string": lambda size: CALL[:-20] + "\n" * size,
    "arguments first": lambda size: '<tool_call>{"arguments": {"a": "' + "x" * size,
}


def work(text: str, size: int) -> int:
    """Calls made, Python's and C's, and the characters the machine keeps back at any time."""
    made, done, kept = machine(), 0, 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal done
        done += 1

    pieces = chunks(text, size)
    sys.setprofile(note)
    try:
        for piece in pieces:
            made.feed(piece)
            scanner = made._scanner
            kept = max(kept, len(made._pending), len(getattr(scanner, "_pending", "")))
        made.finish()
    finally:
        sys.setprofile(None)
    assert kept < len("</tool_call>")
    return done


@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("size", [4, PIECE * 4])
def test_ten_times_the_text_is_ten_times_the_work(kind: str, size: int) -> None:
    """Every call looks at no more than its piece and a marker's length, so counting calls counts the work."""
    small, large = work(HARD[kind](6_000), size), work(HARD[kind](60_000), size)
    assert large <= 10.5 * small + 500
