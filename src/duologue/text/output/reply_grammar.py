"""Grammars for whole replies: free text that may call offered tools, or a reply constrained to calls, to JSON of a
schema, or to either.

Combines the thought, the calls and the content of a reply. The calls themselves are written by their format, their
JSON by `grammars/schema_grammar.py`. The result is GBNF for llama.cpp, and the `trigger` text from which on it
applies. `sessions/chat/constraint.py` decides which grammar a request needs.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec
from msgspec import Struct

from duologue.text.grammars.gbnf_terms import literal
from duologue.text.grammars.pattern_grammar import pattern_rule
from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.toolcalls.catalogue import tool_format
from duologue.values.messages import Tool
from duologue.values.requests import OutputFormat

MAX_GRAMMAR = 256 * 1024
"""Characters of a grammar. It is compiled for each reply on the engine's only loop while every slot waits: 340,000
characters, for 160 tools, take 12 ms. For larger tool schemas only the names are enforced."""


ANY_OBJECT: dict[str, object] = {"type": "object"}
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
_decode_format = msgspec.json.Decoder(OutputFormat).decode


def optional_tool_calls(calls: AllowedToolCalls) -> ReplyGrammar | None:
    """The grammar of a reply that may call; None where nothing tells the beginning of a call from text."""
    trigger = tool_format(calls.format).trigger
    if not trigger:
        return None
    rules, _ = _cached_rules(calls, None, triggered=True)
    return ReplyGrammar(f"root ::= reply\n{rules}", trigger)


def constrained_reply(
    calls: AllowedToolCalls | None,
    content: OutputFormat | None,
    thought: ThoughtPrefix | None,
    *,
    at_once: bool = False,
) -> ReplyGrammar | None:
    """The grammar of a reply that is one of these calls, or else content of this format, which is no grammar itself. None if it
    cannot enforce the whole format. `at_once`: no white space comes before it. Raises UnreadablePattern."""
    rules, exact = _cached_rules(calls, content)
    if content is not None and not exact:
        return None
    if thought is None:
        # Where the prompt has begun a header, the reply is the rest of it.
        headed = calls is not None and tool_format(calls.format).opening
        return ReplyGrammar(f"root ::= {'' if headed or at_once else 'space '}reply\n{rules}")
    start, end = thought.tags.begins or thought.tags.start, thought.tags.end
    rest = f"thought {literal(end)}"
    first = rest if thought.open else f"(space {literal(start)} {rest})?"
    return ReplyGrammar(f"root ::= {first} space reply\nthought ::= {_without(end)}\n{rules}")


def _cached_rules(
    calls: AllowedToolCalls | None, content: OutputFormat | None, *, triggered: bool = False
) -> tuple[str, bool]:
    """The rules, from the cache if possible: every turn of a conversation has the same tools."""
    keys = tuple(None if one is None else _encode(one) for one in (calls, content))
    rules = _rules if sum(len(one or b"") for one in keys) <= MAX_CACHED else _rules.__wrapped__
    return rules(*keys, triggered)


@lru_cache(maxsize=64)
def _rules(calls: bytes | None, content: bytes | None, triggered: bool) -> tuple[str, bool]:
    """The rules of a reply, beginning with `reply`, and whether they admit nothing but the content and the calls. `triggered`: the calls
    begin with the format's trigger."""
    for shaped in (True, False):
        # Arguments may be long, a file for instance; a call that repeats itself ends elsewhere.
        grammar = JsonGrammar()
        choices = []
        if content is not None:
            choices.append(_content(_decode_format(content), grammar))
        exact = not grammar.loose
        if calls is not None:
            choices.append(_calls(_decode_calls(calls), grammar, shaped, triggered))
        text = f"reply ::= {' | '.join(choices)}\n{grammar}"
        if len(text) <= MAX_GRAMMAR:
            return text, exact
    return text, False


def _content(format: OutputFormat, grammar: JsonGrammar) -> str:
    if format.kind == "regex":
        return grammar.add("content", pattern_rule(format.pattern))
    if format.kind == "choice":
        return grammar.add("content", " | ".join(literal(choice) for choice in format.choices))
    schema = ANY_OBJECT if format.kind == "json_object" else format.schema
    return grammar.schema(schema or ANY_OBJECT, "content")


def _calls(calls: AllowedToolCalls, grammar: JsonGrammar, shaped: bool, triggered: bool) -> str:
    format = tool_format(calls.format)
    if triggered:
        return format.triggered_calls(calls.tools, grammar, shaped, calls.several)
    return (format.several_calls if calls.several else format.calls)(calls.tools, grammar, shaped)


def _without(marker: str) -> str:
    """Text that does not contain a marker of two or more characters. Its first character may not be doubled either."""
    first = _excluded(marker[0])
    steps = [f"[^{first}]"]
    for at in range(1, len(marker)):
        steps.append(f"{literal(marker[:at])} [^{first}{_excluded(marker[at])}]")
    return f"({' | '.join(steps)})*"


def _excluded(character: str) -> str:
    return "\\" + character if character in "]^-\\[" else character
