"""Events become blocks, one after the other."""

from duologue.values.events import Event, ReasoningDelta, TextDelta, ToolCallDelta
from duologue.wire.anthropic.block_sequence import (
    BlockBegins,
    BlockEnds,
    BlockGrows,
    BlockSequence,
    BlockStep,
)
from duologue.wire.anthropic.thoughts import Display, hidden_thought


def steps(*events: Event, display: Display = "shown") -> list[BlockStep]:
    sequence = BlockSequence(display)
    return [step for event in events for step in sequence.feed(event)] + list(sequence.finish())


def test_thought_text_and_call_are_blocks_in_turn() -> None:
    assert steps(
        ReasoningDelta("hm"),
        TextDelta("I "),
        TextDelta("look."),
        ToolCallDelta(0, "", "call_1", "f"),
        ToolCallDelta(0, "{}"),
        ToolCallDelta(1, "{}", "call_2", "g"),
    ) == [
        BlockBegins(0, "thinking"),
        BlockGrows(0, "thinking", "hm"),
        BlockGrows(0, "signature", "duologue"),
        BlockEnds(0),
        BlockBegins(1, "text"),
        BlockGrows(1, "text", "I "),
        BlockGrows(1, "text", "look."),
        BlockEnds(1),
        BlockBegins(2, "tool_use", "toolu_call_1", "f"),
        BlockGrows(2, "tool_use", "{}"),
        BlockEnds(2),
        BlockBegins(3, "tool_use", "toolu_call_2", "g"),
        BlockGrows(3, "tool_use", "{}"),
        BlockEnds(3),
    ]


def test_blanks_alone_make_no_block_and_are_kept_before_words() -> None:
    assert steps(TextDelta("\n\n"), ToolCallDelta(0, "", "c", "f"), TextDelta("\n")) == [
        BlockBegins(0, "tool_use", "toolu_c", "f"),
        BlockEnds(0),
    ]
    assert steps(ReasoningDelta("\n"), TextDelta(" "), TextDelta("a")) == [
        BlockBegins(0, "text"),
        BlockGrows(0, "text", " a"),
        BlockEnds(0),
    ]


def test_thoughts_that_nobody_asked_for_are_no_block() -> None:
    assert steps(ReasoningDelta("hm"), TextDelta("a"), display="hidden") == [
        BlockBegins(0, "text"),
        BlockGrows(0, "text", "a"),
        BlockEnds(0),
    ]


def test_an_omitted_thought_is_in_its_signature() -> None:
    begins, signed, ends = steps(ReasoningDelta("h"), ReasoningDelta("m"), display="omitted")
    assert (begins, ends) == (BlockBegins(0, "thinking"), BlockEnds(0))
    assert isinstance(signed, BlockGrows)
    assert (signed.kind, hidden_thought(signed.text)) == ("signature", "hm")


def test_calls_that_grow_in_turns_keep_their_blocks() -> None:
    grown = steps(
        ToolCallDelta(0, "{", None, "f"),
        ToolCallDelta(1, "[", "b", "g"),
        ToolCallDelta(0, "}"),
    )
    assert grown[0] == BlockBegins(0, "tool_use", "toolu_call_0", "f")
    assert BlockGrows(0, "tool_use", "}") in grown


def test_nothing_is_no_block() -> None:
    assert steps(TextDelta("")) == []
