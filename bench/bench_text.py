"""Measure how fast the reply parser reads a reply in 4-character pieces, and that its cost is linear.

    python bench/bench_text.py [--long]

Prints megabytes (millions of characters) per second for plain content, reasoning and tool arguments, each next to a floor
measured in the same run: the bare loop that cuts the text and creates a TextDelta of every piece. Then the time per character
as the reply grows, which stays level for a linear parser. `--long` goes on to 10 million characters. Times are the process's own, so
that other work on the machine counts for less.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from itertools import count

from duologue.text.output.channels import ChannelSplitter
from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.stream.stops import StopMatcher
from duologue.text.toolcalls.catalogue import tool_format
from duologue.values.events import TextDelta

PIECE = 4
SIZE = 400_000
PROSE = (
    "The harbour was quiet when the first boats came in, and nobody had swept the steps yet. Nets hung over the "
    "rail, still wet; a boy counted baskets and wrote the numbers on the wall.\n\nBy noon the market had taken all "
    "of it. What was left went to the kitchens behind the church, where soup is made of anything that swims.\n"
)
CODE = (
    "Use the function like this:\n\n```python\nfor name in names:\n    if name < limit and name > 0:\n"
    "        print(f'<b>{name}</b>')\n```\n\nThe `limit` is checked first; `names` may be empty.\n"
)


SOURCE = (
    "\n```c\nstatic int next(struct list *list, int limit)\n{\n\tfor (int at = 0; at < list->size && at < limit; at++) {\n"
    "\t\tif (list->items[at] > 0) {\n\t\t\treturn list->items[at] << 1;\n\t\t}\n\t}\n\n\treturn -1;\n}\n```\n"
)


def repeated(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size]


def content(size: int) -> str:
    return repeated(PROSE, size)


def markdown(size: int) -> str:
    return repeated(CODE, size)


def source(size: int) -> str:
    return repeated(SOURCE, size)


def thoughts(size: int) -> str:
    return "<think>" + repeated(PROSE, size) + "</think>\n\nDone."


def written_file(size: int) -> str:
    """One call whose argument is a long text."""
    arguments = json.dumps({"path": "a.txt", "text": repeated(PROSE, size)})
    return f'<tool_call>\n{{"name": "write", "arguments": {arguments}}}\n</tool_call>'


def written_code(size: int) -> str:
    """One call whose argument is source code: escaped quotes and line ends."""
    arguments = json.dumps({"path": "a.c", "text": repeated(SOURCE, size)})
    return f'<tool_call>\n{{"name": "write", "arguments": {arguments}}}\n</tool_call>'


def table(size: int) -> str:
    """One call whose arguments are mostly structure."""
    row = {"id": 1234, "tags": ["a", "b"], "at": [1.5, -2.25], "ok": True}
    arguments = json.dumps({"rows": [row] * (size // len(json.dumps(row)))})
    return f'<tool_call>\n{{"name": "insert", "arguments": {arguments}}}\n</tool_call>'


def short_calls(size: int) -> str:
    call = '<tool_call>\n{"name": "f", "arguments": {"city": "Oslo", "days": 3}}\n</tool_call>\n'
    return call * (size // len(call))


def floor(text: str) -> None:
    for at in range(0, len(text), PIECE):
        for _ in (TextDelta(text[at : at + PIECE]),):
            pass


def split(text: str) -> None:
    numbers = count()
    machine = ChannelSplitter(
        tool_format=tool_format("hermes"),
        reasoning=ReasoningTags(),
        start_in_reasoning=False,
        new_call_id=lambda: f"call_{next(numbers)}",
    )
    feed = machine.feed
    for at in range(0, len(text), PIECE):
        for _ in feed(text[at : at + PIECE]):
            pass
    machine.finish()


def stopped(text: str) -> None:
    machine = StopMatcher(("\nUser:", "<|im_end|>"))
    for at in range(0, len(text), PIECE):
        machine.feed(text[at : at + PIECE])
    machine.finish()


def best(work: Callable[[str], None], text: str, rounds: int = 5) -> float:
    """Seconds of the fastest round."""
    times = []
    for _ in range(rounds):
        began = time.process_time()
        work(text)
        times.append(time.process_time() - began)
    return min(times)


def main() -> None:
    print(f"{'what':<34}{'MB/s':>8}{'of floor':>10}")
    rows: list[tuple[str, Callable[[str], None], Callable[[int], str]]] = [
        ("floor: cut and TextDelta", floor, content),
        ("plain content", split, content),
        ("content with code", split, markdown),
        ("content, almost all code", split, source),
        ("reasoning", split, thoughts),
        ("tool arguments, a long text", split, written_file),
        ("tool arguments, source code", split, written_code),
        ("tool arguments, a table", split, table),
        ("short calls", split, short_calls),
        ("stop strings on content", stopped, content),
    ]
    rates = {}
    for name, work, make in rows:
        text = make(SIZE)
        rates[name] = len(text) / best(work, text) / 1e6
        print(f"{name:<34}{rates[name]:>8.2f}{rates[name] / rates[rows[0][0]]:>9.0%}")
    print(
        f"\n{'characters':>12}" + "".join(f"{make.__name__:>14}" for _, _, make in rows[1:9]) + "   ns/char"
    )
    long = (10_000_000,) if "--long" in sys.argv else ()
    for size in (10_000, 100_000, 1_000_000, *long):
        cells = []
        for _, work, make in rows[1:9]:
            text = make(size)
            cells.append(best(work, text, 3 if size <= 1_000_000 else 1) / len(text) * 1e9)
        print(f"{size:>12,}" + "".join(f"{cell:>14.0f}" for cell in cells))


if __name__ == "__main__":
    main()
