"""Kimi K2 and K2.5: a section of calls, each with its id, which contains the name.

    <|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": "x"}<|tool_call_end|>
    <|tool_calls_section_end|>

(in one line). `functions.f:0` is the id of the call: the model was trained on ids of this form, so they are kept. The
markers of the section may be missing, and a number alone is read where only one tool is offered.
"""

from __future__ import annotations

from collections.abc import Sequence

from duologue.text.grammars.gbnf_terms import literal
from duologue.text.toolcalls.named_json.named_calls import Named, NamedCallFormat, NamedCalls, plain_name
from duologue.values.messages import Tool

BEGIN, ARGUMENTS, END = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"


def named(header: str, tools: Sequence[Tool]) -> Named | None:
    """The name in an id."""
    name, colon, number = header.removeprefix("functions.").rpartition(":")
    if not colon:
        if number.isdecimal():
            return (tools[0].name, header) if len(tools) == 1 else None
        return plain_name(number, tools)
    if not name and number.isdecimal():
        return (tools[0].name, header) if len(tools) == 1 else None
    found = plain_name(name, tools)
    return (name, header) if found and number.isdecimal() else None


FORMAT = NamedCallFormat(
    NamedCalls(
        sections=("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"),
        section_ends=("<|tool_calls_section_end|>", "<|tool_call_section_end|>"),
        calls=(BEGIN,),
        call_ends=(END,),
        separators=(ARGUMENTS,),
        named=named,
        before=literal(f"{BEGIN}functions."),
        after=f'":" [0-9]{{1,6}} {literal(ARGUMENTS)}',
        close=literal(END),
    ),
    in_reasoning=True,
)
