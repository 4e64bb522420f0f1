"""Reads raw replies of model families in every cutting, and describes a family for the tests that all of them pass.

A family's test file writes down what its published chat template writes; `tests/text/toolcalls/test_families.py` holds every
family to the same cases.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from duologue.text.output.channels import ChannelSplitter
from duologue.text.output.parsed import ParsedReply, joined
from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.toolcalls import ToolFormat
from duologue.text.toolcalls.catalogue import tool_format
from duologue.values.events import Delta, TextDelta, ToolCallDelta
from duologue.values.messages import Tool

SIZES = range(1, 12)
RANDOM_CUTTINGS = 5
SINGLE_CUTS = 60
"""Texts of fewer characters are cut once at every place, longer ones at about as many places, since each reads the whole text."""

CITY = Tool(
    "find_city",
    "Finds a city.",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "share": {"type": "number"},
            "exact": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "place": {"type": "object"},
            "note": {"type": ["string", "null"]},
        },
        "required": ["city"],
    },
)
CLOCK = Tool("clock", "Tells the time.", {"type": "object", "properties": {}})
TOOLS = (CITY, CLOCK)

Row = tuple[str, ...]


@dataclass(frozen=True)
class Call:
    """A call that a model means: `arguments` are values of Python, in their order."""

    name: str
    arguments: dict[str, object]


@dataclass(frozen=True)
class Family:
    """What the tests have to know of a family. `write` gives the raw text of calls as the family's published template
    writes them, one region where it has regions. `source`: where that form was read."""

    format: str
    write: Callable[[Sequence[Call]], str]
    source: str
    tags: ReasoningTags | None = None
    opened: str = ""
    """What the prompt leaves open before every reply."""
    lead: str = ""
    """What the family writes before text, where every message has markers."""
    before: bool = True
    """Text may come before a call."""
    after: bool = True
    """Text may come after a call."""
    several: bool = True
    """Several calls may stand in one reply."""
    needs_tools: bool = False
    """Only calls of tools that are offered are read, since the family writes no marker of its own."""


def read_reply(
    format: str | ToolFormat,
    raw: str,
    *,
    tools: Sequence[Tool] = TOOLS,
    tags: ReasoningTags | None = None,
    inside: bool = False,
    opened: str = "",
    everywhere: bool = True,
    sizes: Sequence[int] = SIZES,
) -> ParsedReply:
    """Parse `raw` whole, in pieces of 1 to 11 characters, at random and (`everywhere`) with a single cut: they must agree.
    Also checks that no delta is empty and that calls are numbered. With other `sizes`, in pieces of these sizes alone."""

    def one(pieces: Sequence[str]) -> tuple[list[Row], ParsedReply, int, int]:
        numbers = count()
        machine = ChannelSplitter(
            tool_format=(tool_format(format) if format else None) if isinstance(format, str) else format,
            reasoning=tags,
            start_in_reasoning=inside,
            tools=tools,
            opened=opened,
            new_call_id=lambda: f"call_{next(numbers)}",
        )
        deltas = [delta for piece in pieces for delta in machine.feed(piece)]
        deltas += machine.finish()
        reply = joined(deltas, truncated=machine.truncated)
        return merged(deltas), reply, machine.complete_calls, machine.broken_calls

    whole = one([raw])
    for pieces in cuttings(raw, sizes, everywhere=everywhere):
        assert one(pieces) == whole, pieces
    return whole[1]


def cuttings(raw: str, sizes: Sequence[int] = SIZES, *, everywhere: bool) -> Iterator[list[str]]:
    for size in sizes:
        yield [raw[at : at + size] for at in range(0, len(raw), size)]
    if sizes is not SIZES:
        return
    generator = random.Random(7)
    for _ in range(RANDOM_CUTTINGS):
        places = sorted(generator.randrange(len(raw) + 1) for _ in range(len(raw) // 5))
        yield [raw[a:b] for a, b in zip([0, *places], [*places, len(raw)], strict=True)]
    if everywhere:
        for cut in range(1, len(raw), 1 + len(raw) // SINGLE_CUTS):
            yield [raw[:cut], raw[cut:]]


def merged(deltas: Sequence[Delta]) -> list[Row]:
    """The deltas with neighbours of one channel joined: what cutting must not change."""
    rows: list[Row] = []
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


def calls_of(reply: ParsedReply) -> list[tuple[str, str]]:
    """Names and the JSON text of arguments."""
    return [(call.name, call.arguments) for call in reply.tool_calls]
