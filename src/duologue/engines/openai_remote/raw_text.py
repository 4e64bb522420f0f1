"""Reads thoughts and tool calls that an upstream leaves in its text: one that runs without a parser for its model.

`stream` feeds it the content of a reply. Pure. What the upstream reads by itself wins: from its first thought or tool call in a field
of its own on, such text is text. How a model writes is said in the settings, or found out where it is certain: by a marker of thoughts
that is the first text, and with tools offered by a marker that only calls have (`text/toolcalls/any_family.py`).
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from duologue.errors import BadRequest
from duologue.text.output.channels import ChannelSplitter
from duologue.text.output.logprob_alignment import LogprobAlignment
from duologue.text.output.reasoning_tags import KNOWN_TAGS, ReasoningTags
from duologue.text.output.reply_format import named_format
from duologue.text.toolcalls import ToolFormat
from duologue.text.toolcalls.any_family import any_family
from duologue.text.toolcalls.catalogue import tool_format
from duologue.values.events import Delta, TextDelta, TokenLogprob, ToolCallDelta
from duologue.values.messages import Tool
from duologue.values.requests import ChatRequest, RawFormat

NONE = "none"
MESSAGES = {
    "<|start|>assistant to=self<|message|>": "muse_glimmer",
    "<|start|>assistant to=user<|message|>": "muse_glimmer",
    "<|message_model|>": "inkling",
    "<|content_thinking|>": "inkling",
    "<|open|>": "kimi_k3",
    "<|channel|>": "harmony",
    "<|start|>": "harmony",
}
"""How a reply begins whose format has markers around every message, and the format."""
TAGS = {start: tags for tags in KNOWN_TAGS if not tags.sentences for start in tags.starts}
"""By their opening marker; of families that share one, the last is the plainest."""
BEGINNINGS = (*(start for start in TAGS if not start.startswith(tuple(MESSAGES))), *MESSAGES)
FIND_OUT = RawFormat()


class TextReading(Struct, frozen=True):
    """How the text of one reply is read. `guesses`: its first text may tell how thoughts are marked."""

    format: ToolFormat | None = None
    tags: ReasoningTags | None = None
    guesses: bool = False
    begins_inside: bool = False
    tools: tuple[Tool, ...] = ()
    one_call: bool = False
    """The reply ends with its first tool call."""
    logprobs: bool = False

    @property
    def opening(self) -> str:
        """What the prompt left open, so that the reply lacks it."""
        return "" if self.format is None or self.begins_inside else self.format.opening


def check_format(raw: RawFormat) -> None:
    """Raises BadRequest for a format or a marker that nobody knows."""
    if raw.tool_format not in ("", NONE):
        tool_format(raw.tool_format)
    if raw.thoughts not in ("", NONE, *TAGS):
        raise BadRequest(
            f"No model marks its thoughts with {raw.thoughts!r}. Known: {', '.join(sorted(TAGS))}, and {NONE}.",
            param="thoughts",
        )


def reading_of(raw: RawFormat, request: ChatRequest) -> TextReading:
    """How the reply to this request is read. Raises BadRequest as `check_format`."""
    check_format(raw)
    if request.prompt is not None:
        return TextReading(logprobs=request.sampling.logprobs is not None)
    tools = () if request.tool_choice == "none" else request.tools
    format: ToolFormat | None = None
    tags = None if raw.thoughts in ("", NONE) else TAGS[raw.thoughts]
    if raw.tool_format == "":
        format = any_family() if tools else None
    elif raw.tool_format != NONE:
        named = tool_format(raw.tool_format)
        format = named if tools or named.frames else None
        if named.frames and raw.thoughts == "":
            tags = named_format(raw.tool_format).reasoning
    if raw.opens_thoughts and tags is None and raw.thoughts == "":
        tags = TAGS["<think>"]
    return TextReading(
        format,
        tags,
        raw.thoughts == "" and tags is None,
        raw.opens_thoughts and request.thinking is not False and not request.continue_final,
        tools,
        not request.parallel_tool_calls,
        request.sampling.logprobs is not None,
    )


class RawText:
    """The content of one reply. `feed` every piece and `finish` once; `native_thought` and `native_call` before what comes in fields
    of its own."""

    def __init__(self, reading: TextReading) -> None:
        self._reading = reading
        self._waiting: list[tuple[str, tuple[TokenLogprob, ...]]] | None = [] if reading.guesses else None
        """The first pieces, while they may still become a marker."""
        self._begun = ""
        """What they are without the blanks before them."""
        self._splitter: ChannelSplitter | None = None
        self._alignment = LogprobAlignment()
        self._complete = 0
        self._first = 0
        """The number of the splitter's first call."""
        self.calls = 0
        """Calls so far."""
        self.truncated = False
        """After `finish`: the reply ended inside a call."""
        if not reading.guesses:
            self._split()

    @property
    def complete(self) -> int:
        """Complete calls so far."""
        return self._complete + (self._splitter.complete_calls if self._splitter is not None else 0)

    @property
    def over(self) -> bool:
        """Whether the reply has the one tool call that it may have."""
        return self._reading.one_call and self.complete > 0

    def feed(self, text: str, logprobs: tuple[TokenLogprob, ...] = ()) -> list[Delta]:
        """What is certain now."""
        if self._waiting is None:
            return self._read(text, logprobs)
        self._waiting.append((text, logprobs))
        self._begun += text if self._begun else text.lstrip()
        if any(beginning.startswith(self._begun) for beginning in BEGINNINGS if beginning != self._begun):
            return []
        marker = next((marker for marker in BEGINNINGS if self._begun.startswith(marker)), "")
        if marker in MESSAGES:
            named = named_format(MESSAGES[marker])
            self._reading = replace(self._reading, format=tool_format(named.format), tags=named.reasoning)
        elif marker:
            self._reading = replace(self._reading, tags=TAGS[marker])
        return self._begin()

    def native_thought(self) -> list[Delta]:
        """The upstream tells thoughts apart itself."""
        if self._waiting is None and self._reading.tags is None:
            return []
        return self._reread(replace(self._reading, tags=None, begins_inside=False))

    def native_call(self) -> list[Delta]:
        """The upstream reads tool calls itself."""
        if self._waiting is None and self._splitter is None:
            return []
        return self._reread(TextReading(logprobs=self._reading.logprobs))

    def finish(self) -> list[Delta]:
        """The reply is over: what was held back."""
        deltas = self._begin()
        if self._splitter is not None:
            deltas += self._passed(self._splitter.finish())
            self.truncated = self._splitter.truncated
        return deltas

    def _reread(self, reading: TextReading) -> list[Delta]:
        """End what is open, and read what follows in another way."""
        deltas = self.finish()
        self.truncated = False
        self._reading = reading
        self._split()
        return deltas

    def _begin(self) -> list[Delta]:
        """Read the pieces that waited."""
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return []
        self._split()
        return [delta for text, logprobs in waiting for delta in self._read(text, logprobs)]

    def _split(self) -> None:
        """Make the splitter for what follows, if any is needed."""
        reading, begins = self._reading, self._splitter is None
        if self._splitter is not None:
            self._complete += self._splitter.complete_calls
        self._first, self._splitter, self._alignment = self.calls, None, LogprobAlignment()
        if reading.format is not None or reading.tags is not None:
            self._splitter = ChannelSplitter(
                tool_format=reading.format,
                opened=reading.opening if begins else "",
                reasoning=reading.tags,
                start_in_reasoning=reading.begins_inside,
                tools=reading.tools,
                new_call_id=new_call_id,
                positions=reading.logprobs,
            )

    def _read(self, text: str, logprobs: tuple[TokenLogprob, ...]) -> list[Delta]:
        if self._splitter is None:
            return [TextDelta(text, logprobs)] if text else []
        if self._reading.logprobs:
            self._alignment.add(text, logprobs)
        return self._passed(self._splitter.feed(text))

    def _passed(self, deltas: Sequence[Delta]) -> list[Delta]:
        """The splitter's deltas with their logprobs; nothing after the one call that the reply may have."""
        splitter = self._splitter
        assert splitter is not None
        positions = splitter.positions() if self._reading.logprobs else [-1] * len(deltas)
        passed: list[Delta] = []
        for delta, at in zip(deltas, positions, strict=True):
            if isinstance(delta, ToolCallDelta):
                if self._reading.one_call and delta.index + self._first > 0:
                    break
                self.calls = max(self.calls, self._first + delta.index + 1)
                delta = replace(delta, index=self._first + delta.index) if self._first else delta
            elif isinstance(delta, TextDelta):
                if self.over and self.calls:
                    break
                if at >= 0:
                    delta = TextDelta(delta.text, self._alignment.take(at, len(delta.text)))
            passed.append(delta)
        return passed


def new_call_id() -> str:
    """An id for a tool call that came without one."""
    return f"call_{secrets.token_hex(12)}"
