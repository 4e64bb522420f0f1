"""Functionary 3.2: every part of a reply has a line that says whom it is for.

    >>>all
    I will look.>>>f
    {"a": "x"}

`all` is the user. The prompt may end in `>>>`, so that a reply begins with the name. `>>>` is also what Python's prompt looks
like: it counts only before `all` and before tools that are offered.
"""

from __future__ import annotations

from collections.abc import Sequence

from duologue.text.grammars.gbnf_terms import literal
from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.toolcalls.named_json.named_calls import NamedCallFormat, NamedCalls
from duologue.values.messages import Tool

START = ">>>"


class FunctionaryV32(NamedCallFormat):
    """The format."""

    frames = True
    opening = START

    @property
    def trigger(self) -> str:
        return ""

    def several_calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        call = self._call(tools, grammar, shaped, '""')
        return grammar.add("region", f"{literal(START)}? {call} (space {literal(START)} {call})*")


FORMAT = FunctionaryV32(
    NamedCalls(
        calls=(START,),
        separators=("\n",),
        content="all",
        offered=True,
        before=f"{literal(START)}?",
        after=literal("\n"),
    )
)
