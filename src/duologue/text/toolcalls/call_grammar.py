"""What a model may write once it calls: a call to a tool it was offered, with arguments of that tool's shape.

Pure. Owns how a reply with calls is put together; the calls themselves are written by their format, what is in them by
`json_grammar.py`. Knows no engine: the grammar is GBNF, and `trigger` the text from which on it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec
from msgspec import Struct

from duologue.text.channels import ReasoningTags
from duologue.text.json_grammar import JsonGrammar, literal
from duologue.text.toolcalls import ToolFormat, tool_format
from duologue.values.messages import Tool

MOST = 256 * 1024
"""Characters of a grammar. It is compiled for every reply on the engine's one loop, while every slot waits: 340,000, of 160 tools,
take it 12 ms. Where schemas are larger, only the names of the tools are held to."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(tuple[Tool, ...]).decode


class CallGrammar(Struct, frozen=True):
    """`text` is GBNF with a rule `root`. With a `trigger` it holds from there on, and begins with it; without one from the
    reply's first character on."""

    text: str
    trigger: str = ""


def offered_calls(format: str, tools: Sequence[Tool], *, several: bool) -> CallGrammar:
    """A reply that may call, in the format of this name: free until a call begins."""
    calls = _calls(format, _encode(tuple(tools)), several)
    return CallGrammar(f"root ::= calls\n{calls}", tool_format(format).starts[0])


def forced_calls(
    format: str,
    tools: Sequence[Tool],
    *,
    several: bool,
    reasoning: ReasoningTags | None,
    thinking: bool,
) -> CallGrammar:
    """A reply that has to call. It may think first where the model can: `thinking` is a thought that stands open."""
    calls = _calls(format, _encode(tuple(tools)), several)
    if reasoning is None:
        return CallGrammar(f"root ::= space calls\n{calls}")
    thought = f"thought {literal(reasoning.end)}"
    first = thought if thinking else f"(space {literal(reasoning.start)} {thought})?"
    return CallGrammar(f"root ::= {first} space calls\nthought ::= {_without(reasoning.end)}\n{calls}")


@lru_cache(maxsize=64)
def _calls(format: str, encoded: bytes, several: bool) -> str:
    """The rules of calls, `calls` the first of them. The same tools come with every turn of a conversation."""
    tools = _decode(encoded)
    text = _rules(tool_format(format), tools, several, shaped=True)
    return text if len(text) <= MOST else _rules(tool_format(format), tools, several, shaped=False)


def _rules(format: ToolFormat, tools: Sequence[Tool], several: bool, *, shaped: bool) -> str:
    grammar = JsonGrammar()
    arguments = [
        grammar.schema({"type": "object", **tool.parameters}, "arguments") if shaped else "object"
        for tool in tools
    ]
    call = format.calls([(tool.name, rule) for tool, rule in zip(tools, arguments, strict=True)], grammar)
    return f"calls ::= {f'{call} (space {call})*' if several else call}\n{grammar}"


def _without(marker: str) -> str:
    """Any text that does not hold a marker of two characters or more. Its first character may not be doubled either."""
    first = _excluded(marker[0])
    steps = [f"[^{first}]"]
    for at in range(1, len(marker)):
        steps.append(f"{literal(marker[:at])} [^{first}{_excluded(marker[at])}]")
    return f"({' | '.join(steps)})*"


def _excluded(character: str) -> str:
    return "\\" + character if character in "]^-\\[" else character
