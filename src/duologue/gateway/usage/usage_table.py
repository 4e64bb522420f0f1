"""Usage as JSON and as CSV. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from typing import Any

from duologue.values.usage.usage_counts import UsageRow

OWNER = ("user", "name", "key", "prefix")
NUMBERS = (
    "requests",
    "errors",
    "prompt_tokens",
    "cached_tokens",
    "completion_tokens",
    "total_tokens",
    "sound_in_seconds",
    "sound_out_seconds",
)
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would calculate."""


def columns(by: Collection[str]) -> list[str]:
    """The columns of a table that is grouped by these."""
    shown = [name for name in ("day", "user", "key", "model", "kind") if name in by]
    if "key" in by:
        place = shown.index("user") if "user" in by else shown.index("key")
        shown = [name for name in shown if name not in OWNER]
        shown[place:place] = OWNER
    elif "user" in by:
        shown.insert(shown.index("user") + 1, "name")
    return [*shown, *NUMBERS]


def entry(row: UsageRow, by: Collection[str]) -> dict[str, Any]:
    """A row as an object. Seconds have milliseconds."""
    slot, counts = row.slot, row.counts
    values = {name: getattr(slot, name) for name in slot.__struct_fields__} | {
        "requests": counts.requests,
        "errors": counts.errors,
        "prompt_tokens": counts.prompt,
        "cached_tokens": counts.cached,
        "completion_tokens": counts.completion,
        "total_tokens": counts.prompt + counts.completion,
        "sound_in_seconds": counts.heard_ms / 1000,
        "sound_out_seconds": counts.spoken_ms / 1000,
    }
    return {name: values[name] for name in columns(by)}


def as_csv(rows: Sequence[UsageRow], by: Collection[str]) -> str:
    """A table with a header, as RFC 4180 has it. A text that a spreadsheet would take for a formula has an apostrophe before it."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)  # lines end in CR LF
    names = columns(by)
    writer.writerow(names)
    for row in rows:
        writer.writerow([_cell(value) for value in entry(row, by).values()])
    return file.getvalue()


def _cell(value: str | float) -> str | float:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
