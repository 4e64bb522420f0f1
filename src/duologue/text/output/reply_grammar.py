"""What a reply may be: free until it calls, and then a call of a tool that is offered; or held from its beginning to a call,
to JSON of a schema, or to either.

Pure. Owns how a reply is put together of a thought, calls and content; the calls themselves are written by their format,
what is in them by `json_grammar.py`. Knows no engine: the grammar is GBNF, and `trigger` the text from which on it holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import msgspec
from msgspec import Struct

from duologue.text.output.channels import ReasoningTags
from duologue.text.toolcalls import tool_format
from duologue.text.toolcalls.schema_grammar import JsonGrammar, literal
from duologue.values.messages import Tool

MOST = 256 * 1024
"""Characters of a grammar. It is compiled for every reply on the engine's one loop, while every slot waits: 340,000, of 160 tools,
take it 12 ms. Where schemas of tools are larger, only their names are held to."""


KEPT = 1024 * 1024
"""Bytes of tools or of a schema whose rules are kept for the next turn."""


class ReplyGrammar(Struct, frozen=True):
    """`text` is GBNF with a rule `root`. With a `trigger` it holds from there on, and begins with it; without one from the
    reply's first character on."""

    text: str
    trigger: str = ""


class AllowedToolCalls(Struct, frozen=True):
    """The calls there may be: of these tools, in the format of this name; `several` behind each other."""

    format: str
    tools: tuple[Tool, ...]
    several: bool = True


class Thought(Struct, frozen=True):
    """What may stand before the reply. `open`: the prompt has begun it."""

    tags: ReasoningTags
    open: bool = False


_encode = msgspec.json.Encoder().encode
_decode_calls = msgspec.json.Decoder(AllowedToolCalls).decode


def offered(calls: AllowedToolCalls) -> ReplyGrammar:
    """A reply that may call."""
    rules, _ = _known_rules(calls, None)
    return ReplyGrammar(f"root ::= reply\n{rules}", tool_format(calls.format).starts[0])


def held(
    calls: AllowedToolCalls | None, schema: Mapping[str, object] | None, thought: Thought | None
) -> ReplyGrammar | None:
    """A reply that is one of these calls, or else JSON of the schema. None where it cannot be held to all of the schema."""
    rules, exact = _known_rules(calls, schema)
    if schema is not None and not exact:
        return None
    if thought is None:
        return ReplyGrammar(f"root ::= space reply\n{rules}")
    start, end = thought.tags.start, thought.tags.end
    rest = f"thought {literal(end)}"
    first = rest if thought.open else f"(space {literal(start)} {rest})?"
    return ReplyGrammar(f"root ::= {first} space reply\nthought ::= {_without(end)}\n{rules}")


def _known_rules(calls: AllowedToolCalls | None, schema: Mapping[str, object] | None) -> tuple[str, bool]:
    """The same tools come with every turn of a conversation."""
    asked = tuple(None if one is None else _encode(one) for one in (calls, schema))
    rules = _rules if sum(len(one or b"") for one in asked) <= KEPT else _rules.__wrapped__
    return rules(*asked)


@lru_cache(maxsize=64)
def _rules(calls: bytes | None, schema: bytes | None) -> tuple[str, bool]:
    """The rules of a reply, `reply` the first of them, and whether they admit nothing but the schema."""
    for shaped in (True, False):
        grammar = JsonGrammar()
        choices = []
        if schema is not None:
            choices.append(grammar.schema(msgspec.json.decode(schema), "content"))
        exact = not grammar.loose
        if calls is not None:
            choices.append(_calls(_decode_calls(calls), grammar, shaped))
        text = f"reply ::= {' | '.join(choices)}\n{grammar}"
        if len(text) <= MOST:
            return text, exact
    return text, False


def _calls(calls: AllowedToolCalls, grammar: JsonGrammar, shaped: bool) -> str:
    rules = [
        (
            tool.name,
            grammar.schema({"type": "object", **tool.parameters}, "arguments") if shaped else "object",
        )
        for tool in calls.tools
    ]
    call = tool_format(calls.format).calls(rules, grammar)
    return grammar.add("calls", f"{call} (space {call})*" if calls.several else call)


def _without(marker: str) -> str:
    """Any text that does not hold a marker of two characters or more. Its first character may not be doubled either."""
    first = _excluded(marker[0])
    steps = [f"[^{first}]"]
    for at in range(1, len(marker)):
        steps.append(f"{literal(marker[:at])} [^{first}{_excluded(marker[at])}]")
    return f"({' | '.join(steps)})*"


def _excluded(character: str) -> str:
    return "\\" + character if character in "]^-\\[" else character
