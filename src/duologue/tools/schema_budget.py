"""Fits tool schemas to a model: compact, in a stable order, and within a token budget.

Pure. The tool block comes first in a prompt, so any change to it invalidates the whole prompt cache: tools are sorted
by server and name, and a server is included with all its tools or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from msgspec import Struct

from duologue.tools.values import BUILTIN, LeftOut, OfferedTool

TOOL_DESCRIPTION = 1000
"""Maximum characters of a tool's description."""
PARAMETER_DESCRIPTION = TOOL_DESCRIPTION // 4
DEPTH = 12
"""Levels of a schema; deeper levels accept any value."""
# JSON Schema keywords that a model does not need to write arguments.
BALLAST = frozenset(
    ("$schema", "$id", "$comment", "title", "default", "examples", "example", "deprecated", "readOnly")
) | {"writeOnly", "additionalProperties", "contentEncoding", "contentMediaType"}
# Keywords whose value maps names to schemas: their keys are not keywords, a parameter may be called "title".
NAMED = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))


class Candidate(Struct, frozen=True):
    """A server that could be offered: its tools, their size in tokens, and when it was last used (a growing counter; 0:
    never)."""

    server: str
    tools: tuple[OfferedTool, ...]
    tokens: int
    used: int = 0


def shorten(text: str, length: int) -> str:
    """Collapse whitespace and cut `text` to `length` characters, at the end of a sentence or word."""
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    head = text[: length - 1]
    sentence = head.rfind(". ")
    if sentence > length // 2:
        return head[: sentence + 1]
    return head[: max(head.rfind(" "), length // 2)].rstrip() + "…"


def compact(schema: Mapping[str, object]) -> dict[str, object]:
    """Reduce a tool's schema to what a model needs to write arguments. The result is always an object schema."""
    small = _compact(schema, 0)
    if not isinstance(small, dict) or small.get("type", "object") != "object":
        return {"type": "object", "properties": {}}
    properties = small.get("properties")
    rest = {name: value for name, value in small.items() if name not in ("type", "properties")}
    return {"type": "object", "properties": properties if isinstance(properties, dict) else {}} | rest


def _compact(value: object, depth: int) -> object:
    if isinstance(value, list):
        return [_compact(item, depth) for item in value]
    if not isinstance(value, Mapping):
        return value
    if depth > DEPTH:
        return {}
    small: dict[str, object] = {}
    for name, inner in value.items():
        if name in BALLAST and not (name == "additionalProperties" and isinstance(inner, Mapping) and inner):
            continue
        if name in NAMED and isinstance(inner, Mapping):
            small[name] = {key: _compact(child, depth + 1) for key, child in inner.items()}
        elif name == "description" and isinstance(inner, str):
            small[name] = shorten(inner, PARAMETER_DESCRIPTION)
        elif name in ("enum", "const", "required"):
            small[name] = inner
        else:
            small[name] = _compact(inner, depth + 1)
    return small


def estimate_tokens(tools: Sequence[OfferedTool]) -> int:
    """A conservative estimate of the tokens `tools` add to a prompt."""
    return sum(len(_prompt_text(tool)) for tool in tools) * 2 // 7 + 8 * len(tools)


def _prompt_text(tool: OfferedTool) -> str:
    return json.dumps([tool.name, tool.description, tool.parameters], ensure_ascii=False)


def fit(
    candidates: Sequence[Candidate], room: int | None
) -> tuple[tuple[OfferedTool, ...], tuple[LeftOut, ...]]:
    """The tools that fit into `room` tokens (None: all), in stable order, and the servers that do not.

    The built-in tools come first, then servers by most recent use; the least recently used are omitted.
    """
    left = room
    inside: list[Candidate] = []
    outside: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda one: (one.server != BUILTIN, -one.used, one.server)):
        if left is not None and candidate.tokens > left:
            outside.append(candidate)
            continue
        inside.append(candidate)
        left = None if left is None else left - candidate.tokens
    tools = [tool for candidate in inside for tool in candidate.tools]
    tools.sort(key=lambda tool: (tool.server != BUILTIN, tool.server, tool.tool))
    reasons = [
        LeftOut(one.server, _too_large(one, room or 0)) for one in sorted(outside, key=lambda one: one.server)
    ]
    return tuple(tools), tuple(reasons)


def _too_large(candidate: Candidate, room: int) -> str:
    count = len(candidate.tools)
    tools = "1 tool" if count == 1 else f"{count} tools"
    return (
        f"Its {tools} would take about {candidate.tokens:,} tokens; all tools together may take {room:,}, a third "
        "of the model's context. Switch other servers off, or use a model with a larger context."
    )
