"""Functionary 3.1, a fine-tune of Llama 3.1: the name in a tag.

<function=f>{"a": "x"}</function>
"""

from __future__ import annotations

from duologue.text.grammars.gbnf_terms import literal
from duologue.text.toolcalls.named_json.named_calls import NamedCallFormat, NamedCalls

START, END = "<function=", "</function>"

FORMAT = NamedCallFormat(
    NamedCalls(
        calls=(START,),
        call_ends=(END,),
        separators=(">",),
        before=literal(START),
        after=literal(">"),
        close=literal(END),
    )
)
