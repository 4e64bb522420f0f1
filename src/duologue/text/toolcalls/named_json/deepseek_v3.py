"""DeepSeek V3 and R1: a section of calls, each with its kind, its name and JSON in a fence.

    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f
    ```json
    {"a": "x"}
    ```<｜tool▁call▁end｜><｜tool▁calls▁end｜>

The bars are U+FF5C and the blanks U+2581. Other characters for those, which quantised models write, are read too, and so
is the form of V3.1 (`deepseek_v31.py`), which has the same markers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from duologue.text.grammars.gbnf_terms import literal
from duologue.text.toolcalls.named_json.named_calls import Named, NamedCallFormat, NamedCalls
from duologue.values.messages import Tool

BLANKS = ("▁", " ", "_", "\\_")


def marker(words: str, *others: str) -> tuple[str, ...]:
    """A marker in every spelling: `words` as it is written, and with other blanks; `others` mean the same."""
    names = [one.replace(" ", blank) for one in (words, *others) for blank in BLANKS]
    return tuple(dict.fromkeys(f"<｜{name}｜>" for name in names))


BEGIN, END = marker("tool calls begin", "tool calls"), marker("tool calls end")
CALL, CALL_END, SEPARATOR = marker("tool call begin"), marker("tool call end"), marker("tool sep")
HEADER = re.compile(
    rf"(?:function(?:{'|'.join(map(re.escape, SEPARATOR))}))?\s*([^\s<>{{}}\"]+?)\s*(?:{'|'.join(map(re.escape, SEPARATOR))})?"
)


def named(header: str, tools: Sequence[Tool]) -> Named | None:
    """The name, with its kind before it or a separator after it."""
    match = HEADER.fullmatch(header)
    return (match[1], None) if match else None


def deepseek_calls(before: str, after: str, close: str) -> NamedCalls:
    """Calls with these markers; the grammar's parts are those of `NamedCalls`."""
    return NamedCalls(
        sections=BEGIN,
        section_ends=END,
        calls=CALL,
        call_ends=CALL_END,
        separators=("\n", "```", "{"),
        inner=SEPARATOR,
        named=named,
        fenced=True,
        before=before,
        after=after,
        close=close,
    )


FORMAT = NamedCallFormat(
    deepseek_calls(
        literal(f"{CALL[0]}function{SEPARATOR[0]}"), literal("\n```json\n"), literal(f"\n```{CALL_END[0]}")
    )
)
