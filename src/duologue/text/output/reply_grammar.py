"""Grammars for whole replies: free text that may call offered tools, or a reply constrained to calls, to JSON of a
schema, or to either.

Combines the thought, the calls and the content of a reply. The calls themselves are written by their format, their
JSON by `toolcalls/schema_grammar.py`. The result is GBNF for llama.cpp, and the `trigger` text from which on it
applies. `sessions/chat/constraint.py` decides which grammar a request needs.
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

MAX_GRAMMAR = 256 * 1024
"""Characters of a grammar. It is compiled for each reply on the engine's only loop while every slot waits: 340,000
characters, for 160 tools, take 12 ms. For larger tool schemas only the names are enforced."""


MAX_CACHED = 1024 * 1024
"""Bytes of tools or of a schema up to which their rules are cached for the next turn."""


class ReplyGrammar(Struct, frozen=True):
    """GBNF `text` with a rule `root`. With a `trigger` it applies from that text on, which it includes; without one
    from the reply's first character."""

    text: str
    trigger: str = ""


class AllowedToolCalls(Struct, frozen=True):
    """The allowed calls: of these tools, in the format of this name; `several` in a row if true."""

    format: str
    tools: tuple[Tool, ...]
    several: bool = True


class ThoughtPrefix(Struct, frozen=True):
    """A thought that may precede the reply. `open`: the prompt has begun it."""

    tags: ReasoningTags
    open: bool = False


_encode = msgspec.json.Encoder().encode
_decode_calls = msgspec.json.Decoder(AllowedToolCalls).decode


def optional_tool_calls(calls: AllowedToolCalls) -> ReplyGrammar:
    """The grammar of a reply that may call."""
    rules, _ = _cached_rules(calls, None)
    return ReplyGrammar(f"root ::= reply\n{rules}", tool_format(calls.format).starts[0])


def constrained_reply(
    calls: AllowedToolCalls | None, schema: Mapping[str, object] | None, thought: ThoughtPrefix | None
) -> ReplyGrammar | None:
    """The grammar of a reply that is one of these calls, or else JSON of the schema. None if it cannot enforce the
    whole schema."""
    rules, exact = _cached_rules(calls, schema)
    if schema is not None and not exact:
        return None
    if thought is None:
        return ReplyGrammar(f"root ::= space reply\n{rules}")
    start, end = thought.tags.start, thought.tags.end
    rest = f"thought {literal(end)}"
    first = rest if thought.open else f"(space {literal(start)} {rest})?"
    return ReplyGrammar(f"root ::= {first} space reply\nthought ::= {_without(end)}\n{rules}")


def _cached_rules(calls: AllowedToolCalls | None, schema: Mapping[str, object] | None) -> tuple[str, bool]:
    """The rules, from the cache if possible: every turn of a conversation has the same tools."""
    keys = tuple(None if one is None else _encode(one) for one in (calls, schema))
    rules = _rules if sum(len(one or b"") for one in keys) <= MAX_CACHED else _rules.__wrapped__
    return rules(*keys)


@lru_cache(maxsize=64)
def _rules(calls: bytes | None, schema: bytes | None) -> tuple[str, bool]:
    """The rules of a reply, beginning with `reply`, and whether they admit nothing but the schema."""
    for shaped in (True, False):
        grammar = JsonGrammar()
        choices = []
        if schema is not None:
            choices.append(grammar.schema(msgspec.json.decode(schema), "content"))
        exact = not grammar.loose
        if calls is not None:
            choices.append(_calls(_decode_calls(calls), grammar, shaped))
        text = f"reply ::= {' | '.join(choices)}\n{grammar}"
        if len(text) <= MAX_GRAMMAR:
            return text, exact
    return text, False


def _calls(calls: AllowedToolCalls, grammar: JsonGrammar, shaped: bool) -> str:
    call = tool_format(calls.format).calls(calls.tools, grammar, shaped)
    return grammar.add("calls", f"{call} (space {call})*" if calls.several else call)


def _without(marker: str) -> str:
    """Text that does not contain a marker of two or more characters. Its first character may not be doubled either."""
    first = _excluded(marker[0])
    steps = [f"[^{first}]"]
    for at in range(1, len(marker)):
        steps.append(f"{literal(marker[:at])} [^{first}{_excluded(marker[at])}]")
    return f"({' | '.join(steps)})*"


def _excluded(character: str) -> str:
    return "\\" + character if character in "]^-\\[" else character
