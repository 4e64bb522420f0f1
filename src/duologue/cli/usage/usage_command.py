"""`duologue usage`: what was used with each key, as a table or as CSV.

Reads the database of the settings, whether or not a server runs; of a running one the last few seconds are missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from duologue.cli import Config, Data
from duologue.errors import BadRequest

if TYPE_CHECKING:
    from duologue.values.usage.usage_counts import UsageRow

FORMATS = ("table", "csv", "json")
GROUPS = ("day", "user", "key", "model", "kind")
SHOWN = ("requests", "errors", "prompt_tokens", "cached_tokens", "completion_tokens")
DEFAULT_DAYS = 30


def usage(
    first: Annotated[
        str | None, typer.Option("--from", metavar="DAY", help="The first day (UTC), such as 2026-11-01.")
    ] = None,
    last: Annotated[str | None, typer.Option("--to", metavar="DAY", help="The last day (today).")] = None,
    group: Annotated[
        str,
        typer.Option(
            metavar="NAMES", help="What to count by: day, user, key, model, kind, separated by commas."
        ),
    ] = "day,key,model",
    style: Annotated[str, typer.Option("--format", metavar="FORMAT", help="table, csv or json.")] = "table",
    config: Config = None,
    data: Data = None,
) -> None:
    """Show what was used with each key."""
    import time

    from duologue.cli.accounts.account_store import settings_of, with_users
    from duologue.gateway.usage.usage_table import as_csv, entry
    from duologue.store.usage.usage_rows import UsageRows
    from duologue.store.users import Users
    from duologue.values.usage.usage_counts import day_of, days_before

    if style not in FORMATS:
        raise BadRequest("--format must be table, csv or json.", param="format")
    names = {name.strip() for name in group.split(",")}
    if not names <= set(GROUPS):
        raise BadRequest(f"--group must have some of {', '.join(GROUPS)}.", param="group")
    by: Any = tuple(name for name in GROUPS if name in names)
    end = _day(last, "--to") or day_of(time.time())
    begin = _day(first, "--from") or days_before(end, DEFAULT_DAYS - 1)

    async def read(users: Users) -> list[UsageRow]:
        return await UsageRows(users.database).totals(begin, end, by)

    rows = with_users(settings_of(config, data), read)
    if style == "csv":
        print(as_csv(rows, by), end="")
    elif style == "json":
        import msgspec

        print(msgspec.json.format(msgspec.json.encode([entry(row, by) for row in rows])).decode())
    elif not rows:
        print(f"Nothing was used from {begin} to {end}.")
    else:
        _print_table([entry(row, by) for row in rows], by)


def _print_table(entries: list[dict[str, Any]], by: tuple[str, ...]) -> None:
    names = [name for name in entries[0] if name in by or name in ("name", "prefix")]
    names = [
        name for name in names if name not in ("user", "key")
    ]  # ids; the name and the key's beginning say it
    has_sound = any(entry["sound_in_seconds"] or entry["sound_out_seconds"] for entry in entries)
    shown = (*SHOWN, *(("sound_in_seconds", "sound_out_seconds") if has_sound else ()))
    header = [
        name.upper().replace("_", " ").replace("NAME", "USER").replace("PREFIX", "KEY")
        for name in (*names, *shown)
    ]
    rows = [
        [*(str(entry[name]) or "-" for name in names), *(f"{entry[name]:,.10g}" for name in shown)]
        for entry in entries
    ]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        cells = [
            cell.ljust(width) if place < len(names) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def _day(text: str | None, flag: str) -> str:
    from datetime import date

    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError:
        raise BadRequest(f"{flag} must be a day like 2026-11-27.") from None
