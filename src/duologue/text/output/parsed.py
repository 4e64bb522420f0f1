"""Parses a complete raw reply, for `duologue parse` and for tests of tool-call formats.

The text goes through the same splitter as a running reply, in pieces of any size.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count

import msgspec

from duologue.text.output.channels import ChannelSplitter
from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.toolcalls.catalogue import tool_format
from duologue.text.toolcalls.json_values import is_json
from duologue.values.events import Delta, ReasoningDelta, TextDelta
from duologue.values.messages import Tool, ToolCall

THINK = ReasoningTags()


class ParsedReply(msgspec.Struct, frozen=True):
    """A reply by channel. `truncated`: it ended inside a call."""

    reasoning: str = ""
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    truncated: bool = False


def joined(deltas: Sequence[Delta], *, truncated: bool = False) -> ParsedReply:
    """The reply that these deltas form."""
    reasoning: list[str] = []
    content: list[str] = []
    calls: list[tuple[str, str, list[str]]] = []
    for delta in deltas:
        if isinstance(delta, TextDelta):
            content.append(delta.text)
        elif isinstance(delta, ReasoningDelta):
            reasoning.append(delta.text)
        else:
            if delta.index == len(calls):
                calls.append((delta.id or "", delta.name or "", []))
            calls[delta.index][2].append(delta.arguments)
    tool_calls = tuple(ToolCall(id, name, "".join(pieces)) for id, name, pieces in calls)
    return ParsedReply("".join(reasoning), "".join(content), tool_calls, truncated)


def parse_reply(
    raw: str,
    format: str = "hermes",
    start_in_reasoning: bool = False,
    chunk: int = 0,
    tools: Sequence[Tool] = (),
    reasoning: ReasoningTags | None = THINK,
) -> ParsedReply:
    """Parse `raw`, fed in pieces of `chunk` characters (0: all at once). `format` is a name in `TOOL_FORMATS`, or ""
    for plain text without calls. Raises BadRequest for an unknown one."""
    numbers = count()
    machine = ChannelSplitter(
        tool_format=tool_format(format) if format else None,
        reasoning=reasoning,
        start_in_reasoning=start_in_reasoning,
        tools=tools,
        new_call_id=lambda: f"call_{next(numbers)}",
    )
    size = chunk if chunk > 0 else max(1, len(raw))
    deltas = [delta for at in range(0, len(raw), size) for delta in machine.feed(raw[at : at + size])]
    deltas += machine.finish()
    return joined(deltas, truncated=machine.truncated)


def parse(
    raw: str,
    format: str = "hermes",
    start_in_reasoning: bool = False,
    chunk: int = 0,
    tools: Sequence[Tool] = (),
) -> dict[str, object]:
    """`{"reasoning", "content", "tool_calls": [{"name", "arguments"}]}`. Arguments are the value of their JSON text,
    or the text itself if it is not JSON."""
    reply = parse_reply(raw, format, start_in_reasoning, chunk, tools)
    return {
        "reasoning": reply.reasoning,
        "content": reply.content,
        "tool_calls": [{"name": call.name, "arguments": _value(call.arguments)} for call in reply.tool_calls],
    }


def parse_to_json(
    raw: str,
    format: str = "hermes",
    start_in_reasoning: bool = False,
    chunk: int = 0,
    tools: Sequence[Tool] = (),
) -> str:
    """The result of parse() as one line of JSON, in which arguments are exactly the characters the model wrote: a
    number too long for a float keeps its digits, and a repeated key stays repeated."""
    return reply_to_json(parse_reply(raw, format, start_in_reasoning, chunk, tools))


def reply_to_json(reply: ParsedReply) -> str:
    """A reply as parse_to_json() writes it."""
    calls = [
        {
            "name": call.name,
            "arguments": msgspec.Raw(call.arguments.encode()) if is_json(call.arguments) else call.arguments,
        }
        for call in reply.tool_calls
    ]
    whole = {"reasoning": reply.reasoning, "content": reply.content, "tool_calls": calls}
    return msgspec.json.encode(whole).decode()


def _value(arguments: str) -> object:
    if not is_json(arguments):
        return arguments
    try:
        value: object = json.loads(arguments)
    except ValueError:
        # An integer longer than Python converts.
        return arguments
    return value
