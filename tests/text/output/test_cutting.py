"""Replies that mix code, thoughts and calls are read the same however they are cut."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.text.output.channels import ChannelSplitter
from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.toolcalls.catalogue import tool_format
from duologue.values.events import Delta, ReasoningDelta, TextDelta, ToolCallDelta

Row = tuple[str, str]

WORDS = st.sampled_from(
    ["word ", "a < b", "x>y", "<i>", "é漢😀", "~", "~~~", "> ", "  ", "\t", "\n", "\n\n", "# "]
)
LINES = st.sampled_from(
    ["if a < b:", "    print(f'<b>{x}</b>')", "", "<tool_call>", "</think>", "``", "``` x", "~~~", "> q"]
)
FENCES = st.builds(
    lambda indent, mark, language, lines, close: (
        f"{indent}{mark}{language}\n" + "".join(f"{indent}{line}\n" for line in lines) + close
    ),
    st.sampled_from(["", "  ", "> "]),
    st.sampled_from(["```", "~~~", "````"]),
    st.sampled_from(["", "python", "a`b"]),
    st.lists(LINES, max_size=4),
    st.sampled_from(["```\n", "```", "````  \n", "~~~\n", "", "> ```\n"]),
)
INLINE = st.sampled_from(["`x`", "``a`b``", "`<think>`", "`</tool_call>` ", "`", "``", "`<tool_call>\n"])
MARKERS = st.sampled_from(
    ["<think>", "</think>", "<tool_call>", "</tool_call>", "<thi", "</tool", "<", "<function=f>"]
)
THOUGHTS = st.sampled_from(
    ["<think>so</think>", "<think>\n\n</think>\n\n", "<think>```\nhm < hm\n</think>\n"]
)
JSON_CALL = '<tool_call>\n{{"name": "f", "arguments": {{"a": {}}}}}\n</tool_call>'
XML_CALL = "<tool_call>\n<function=f>\n<parameter=a>\n{}\n</parameter>\n</function>\n</tool_call>"
CALLS = st.builds(
    str.format,
    st.sampled_from([JSON_CALL, XML_CALL]),
    st.sampled_from(
        ['"x"', '"a\\n\\"b\\" \\u00e9"', '"</tool_call> `<think>`"', '[1, {"b": "c d e"}]', '"a\nb"', "", '"'], )
)  # fmt: skip
REPLIES = st.lists(st.one_of(WORDS, FENCES, INLINE, MARKERS, THOUGHTS, CALLS), max_size=9).map("".join)


def rows(text: str, pieces: list[str], format: str, *, positions: bool) -> tuple[list[Row], int, int, bool]:
    """What comes out, with neighbours of one kind joined, and how the calls ended."""
    numbers = count()
    made = ChannelSplitter(
        tool_format=tool_format(format),
        reasoning=ReasoningTags(),
        start_in_reasoning=False,
        new_call_id=lambda: f"call_{next(numbers)}",
        positions=positions,
    )
    out: list[Row] = []
    for piece in [*pieces, None]:
        deltas = made.finish() if piece is None else made.feed(piece)
        for index, delta in enumerate(deltas):
            if positions:
                check_place(text, delta, made.positions()[index])
            kind, words = described(delta)
            if out and out[-1][0] == kind:
                words = out.pop()[1] + words
            out.append((kind, words))
    return out, made.complete_calls, made.broken_calls, made.truncated


def check_place(text: str, delta: Delta, place: int) -> None:
    if isinstance(delta, TextDelta | ReasoningDelta):
        assert text[place : place + len(delta.text)] == delta.text
    else:
        assert place == -1


def described(delta: Delta) -> Row:
    if isinstance(delta, ToolCallDelta):
        return f"call {delta.index}", f"{delta.name or ''}{delta.arguments}"
    assert isinstance(delta, TextDelta | ReasoningDelta)
    return type(delta).__name__, delta.text


@pytest.mark.parametrize("format", ["hermes", "qwen3_xml"])
@settings(max_examples=150, deadline=None)
@given(text=REPLIES, cut=st.integers(0, 400), positions=st.booleans())
def test_all_cuttings_agree(format: str, text: str, cut: int, positions: bool) -> None:
    whole = rows(text, [text], format, positions=positions)
    assert rows(text, [text[:cut], text[cut:]], format, positions=not positions) == whole
    for size in (1, 2, 3, 4, 5, 7, 11):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert rows(text, pieces, format, positions=positions) == whole, size


def test_inside_a_block_a_line_end_comes_at_once() -> None:
    made = ChannelSplitter(
        tool_format=tool_format("hermes"), reasoning=None, start_in_reasoning=False, new_call_id=lambda: "id"
    )
    out = [made.feed(piece) for piece in ["```\n", "a <", " b\n", "  ", "``", "\n", "```", "\n", "<to"]]
    assert out[:6] == [
        [TextDelta("```"), TextDelta("\n")],
        [TextDelta("a <")],
        [TextDelta(" b\n")],
        [TextDelta("  ")],
        [TextDelta("``")],
        [TextDelta("\n")],
    ]
    # The block is over: a call may follow, to which this line end would belong.
    assert out[6:] == [[TextDelta("```")], [], []]
    assert made.finish() == [TextDelta("\n<to")]
