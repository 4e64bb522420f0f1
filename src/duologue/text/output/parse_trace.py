"""Reads a recorded raw reply as a running one is read, and says after each piece what came out and what is held back.

For `duologue parse` and `POST /v1/parse`. The text goes through the same splitter as a running reply.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import count

from msgspec import Struct

from duologue.text.output.channels import ChannelSplitter
from duologue.text.output.parsed import ParsedReply, joined
from duologue.text.output.reply_format import ReplyFormat
from duologue.text.stream.held_text import HeldText
from duologue.text.toolcalls.catalogue import tool_format
from duologue.values.events import Delta, ReasoningDelta, TextDelta
from duologue.values.messages import Tool


class TraceStep(Struct, frozen=True):
    """One piece of the text, None for its end; what it made certain; and what is held back after it."""

    chunk: str | None
    emitted: tuple[dict[str, object], ...]
    held: tuple[HeldText, ...]


class TracedReply(Struct, frozen=True):
    """A reply with all its deltas. `steps`: one for each piece and one for the end, if they were asked for."""

    reply: ParsedReply
    deltas: tuple[Delta, ...]
    steps: tuple[TraceStep, ...] = ()

    @property
    def finish_reason(self) -> str:
        """`length` where the text ends inside a call, as if it had been cut off there."""
        if self.reply.truncated:
            return "length"
        return "tool_calls" if self.reply.tool_calls else "stop"


def trace_reply(
    chunks: Sequence[str],
    how: ReplyFormat,
    *,
    start_in_reasoning: bool = False,
    tools: Sequence[Tool] = (),
    steps: bool = False,
) -> TracedReply:
    """Read a reply that came in these pieces, after the beginning that the format's prompts leave open. Ids that it does not write
    are `call_0`, `call_1` and so on."""
    numbers = count()
    format = tool_format(how.format) if how.format else None
    machine = ChannelSplitter(
        tool_format=format,
        opened=format.opening if format is not None and not start_in_reasoning else "",
        reasoning=how.reasoning,
        start_in_reasoning=start_in_reasoning,
        tools=tools,
        new_call_id=lambda: f"call_{next(numbers)}",
    )
    deltas: list[Delta] = []
    taken: list[TraceStep] = []
    for chunk in chunks:
        new = machine.feed(chunk)
        deltas += new
        if steps:
            taken.append(TraceStep(chunk, tuple(map(delta_fields, new)), machine.held))
    new = machine.finish()
    deltas += new
    if steps:
        taken.append(TraceStep(None, tuple(map(delta_fields, new)), ()))
    return TracedReply(joined(deltas, truncated=machine.truncated), tuple(deltas), tuple(taken))


def pieces(text: str, size: int) -> tuple[str, ...]:
    """The text in pieces of `size` characters; in one if that is 0."""
    return tuple(text[at : at + size] for at in range(0, len(text), size)) if size else (text,)


def delta_fields(delta: Delta) -> dict[str, object]:
    """A delta as JSON has it: `reasoning`, `content`, or `tool_call` with its index, more of its arguments, and with the
    first delta its id and name."""
    if isinstance(delta, TextDelta):
        return {"content": delta.text}
    if isinstance(delta, ReasoningDelta):
        return {"reasoning": delta.text}
    begins = {} if delta.name is None else {"id": delta.id, "name": delta.name}
    return {"tool_call": {"index": delta.index, **begins, "arguments": delta.arguments}}


def reply_fields(read: TracedReply, how: ReplyFormat, *, trace: bool) -> dict[str, object]:
    """The answer of `POST /v1/parse`."""
    reply = read.reply
    fields: dict[str, object] = {
        "reasoning": reply.reasoning,
        "content": reply.content,
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in reply.tool_calls
        ],
        "deltas": [delta_fields(delta) for delta in read.deltas],
        "finish_reason": read.finish_reason,
        "format": how.format,
    }
    if trace:
        fields["trace"] = read.steps
    return fields


def trace_lines(steps: Sequence[TraceStep]) -> Iterator[str]:
    """The trace for people: each piece with what came out under it, and what is held back and why."""
    for number, step in enumerate(steps, 1):
        yield "end" if step.chunk is None else f"{number}: {_quoted(step.chunk)}"
        for fields in step.emitted:
            yield from (f"    {kind} {_quoted(value)}" for kind, value in fields.items())
        for held in step.held:
            yield f"    held {_quoted(held.text)}: {held.reason}" if held.text else f"    {held.reason}"


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
