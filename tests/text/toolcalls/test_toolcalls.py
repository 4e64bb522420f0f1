"""What the text machine does for a format: regions at a line's beginning, regions that say which channel goes on, and
a region that the prompt left open."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pytest

from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.output.channels import ChannelSplitter
from duologue.text.output.parsed import ParsedReply, joined
from duologue.text.toolcalls import ToolCallSink, ToolFormat
from duologue.values.messages import Tool


class LineScanner:
    """A call is the rest of its line if that ends in `!`; anything else is text."""

    unclosed = False
    pending = None

    def __init__(self, start: str, sink: ToolCallSink) -> None:
        self._text, self._sink = start, sink

    def feed(self, text: str) -> str | None:
        line, end, rest = text.partition("\n")
        self._text += line
        if not end:
            return None
        self._end()
        return end + rest

    def finish(self) -> bool:
        self._end()
        return False

    def _end(self) -> None:
        if self._text.endswith("!"):
            self._sink.open(self._text.strip("{`!"))
            self._sink.arguments("{}")
            self._sink.close(True)
        else:
            self._sink.reject(self._text, 0)


class MessageScanner:
    """The header of a message, which says which channel it is in, up to `>`."""

    unclosed = False
    pending = None

    def __init__(self, start: str, sink: ToolCallSink) -> None:
        self._text, self._sink, self._start = start, sink, start

    def feed(self, text: str) -> str | None:
        header, end, rest = text.partition(">")
        self._text += header
        if not end:
            return None
        if "thought" in self._text:
            self._sink.enter("reasoning")
        elif "answer" in self._text:
            self._sink.enter("content")
        else:
            self._sink.reject(self._text + end, 0)
        return rest

    def finish(self) -> bool:
        self._sink.reject(self._text, 0)
        return False


class Bare(ToolFormat):
    line_starts = ("{", "```call")

    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> LineScanner:
        return LineScanner(start, sink)

    def calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        return grammar.add("call", '"{"')


class Framed(ToolFormat):
    starts = ("<to ",)
    ends = ("<end>",)
    frames = True
    quotable = False
    in_reasoning = True

    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> MessageScanner:
        return MessageScanner(start, sink)

    def calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        return grammar.add("call", '"<to "')

    def opened(self, added: str) -> str:
        return "<to " if added.endswith("<to ") else ""


def read(format: ToolFormat, raw: str, opened: str = "") -> ParsedReply:
    def one(size: int) -> ParsedReply:
        numbers = count()
        machine = ChannelSplitter(
            tool_format=format,
            reasoning=None,
            start_in_reasoning=False,
            opened=opened,
            new_call_id=lambda: f"call_{next(numbers)}",
        )
        deltas = [delta for at in range(0, len(raw), size) for delta in machine.feed(raw[at : at + size])]
        return joined(deltas + machine.finish())

    whole = one(max(1, len(raw)))
    assert all(one(size) == whole for size in range(1, 8))
    return whole


def names(reply: ParsedReply) -> list[str]:
    return [call.name for call in reply.tool_calls]


@pytest.mark.parametrize("raw", ["{f!", "\n  {f!\n", "{f!\n"])
def test_a_bare_word_opens_a_region_where_a_line_begins(raw: str) -> None:
    reply = read(Bare(), raw)
    assert (reply.content, names(reply)) == ("", ["f"])


@pytest.mark.parametrize(
    "raw",
    ["a {f!", "`{f!`", "```\n{f!\n```", "{f", "a ``` {f!", "```js\n{f!\n{f!\n```", "``\n", "```calling\n"],
)
def test_elsewhere_it_is_text(raw: str) -> None:
    assert read(Bare(), raw) == ParsedReply(content=raw)


def test_text_and_calls_on_lines_of_their_own_take_turns() -> None:
    reply = read(Bare(), "One.\n{f!\nTwo {x}.\n{g!")
    assert names(reply) == ["f", "g"]
    assert reply.content.split() == ["One.", "Two", "{x}."]


def test_a_fence_that_is_no_call_is_a_fence_all_the_same() -> None:
    raw = "```call me\n{f!\n```\n"
    assert read(Bare(), raw) == ParsedReply(content=raw)
    assert names(read(Bare(), f"{raw}{{f!")) == ["f"]


def test_a_fence_may_open_a_region() -> None:
    assert names(read(Bare(), "Here:\n```call!\n")) == ["call"]


def test_a_message_says_which_channel_goes_on() -> None:
    reply = read(Framed(), "<to thought>Hm.<end><to answer>Yes.\n\n```\nopen<end><to thought>And?<end>")
    assert (reply.reasoning, reply.content) == ("Hm.And?", "Yes.\n\n```\nopen")


def test_a_region_that_the_prompt_left_open_begins_the_reply() -> None:
    assert Framed().opened("user <to ") == "<to "
    assert read(Framed(), "thought>Hm.<end><to answer>Yes.", opened="<to ") == ParsedReply("Hm.", "Yes.")


def test_what_the_prompt_wrote_of_a_region_is_not_given_back() -> None:
    assert read(Framed(), "nobody> x", opened="<to ") == ParsedReply(content="nobody> x")
    assert read(Framed(), "nob", opened="<to ") == ParsedReply(content="nob")


def test_a_format_leaves_no_region_open_unless_it_says_so() -> None:
    assert Bare().opened("anything") == ""
