"""`duologue key show` and `duologue key limit`: the limits of a key, and what it used today."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from duologue.cli import Config, Data
from duologue.cli.accounts.account_store import RecordedAct, settings_of, with_users
from duologue.errors import BadRequest

if TYPE_CHECKING:
    from duologue.config import Settings
    from duologue.store.usage.usage_rows import UsageColumn
    from duologue.store.users import Account, Key
    from duologue.values.usage.key_limits import AppliedLimits
    from duologue.values.usage.usage_counts import UsageRow

KeyId = Annotated[str, typer.Argument(metavar="ID", help="A key's id, as `duologue key list` shows it.")]
DEFAULT = "default"
NUMBERS = ("concurrent", "requests_per_minute", "tokens_per_minute", "tokens_per_day")
LABELS = {
    "concurrent": "requests at a time",
    "requests_per_minute": "requests a minute",
    "tokens_per_minute": "tokens a minute",
    "tokens_per_day": "tokens a day (UTC)",
    "models": "models",
    "weight": "weight in the queue",
}


def _number(name: str) -> Any:
    return typer.Option(
        metavar="N", help=f"{LABELS[name].capitalize()}; 0: no limit; default: as the settings say."
    )


def limit(
    key: KeyId,
    concurrent: Annotated[str | None, _number("concurrent")] = None,
    requests_per_minute: Annotated[str | None, _number("requests_per_minute")] = None,
    tokens_per_minute: Annotated[str | None, _number("tokens_per_minute")] = None,
    tokens_per_day: Annotated[str | None, _number("tokens_per_day")] = None,
    models: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help='Models it may use, separated by commas; * is any characters; "": all; default: as the settings say.',
        ),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(metavar="N", help="Its share of the queue while others wait too, 0.01 to 100."),
    ] = None,
    config: Config = None,
    data: Data = None,
) -> None:
    """Change the limits of a key. A running server notices within a second."""
    given = {
        "concurrent": concurrent,
        "requests_per_minute": requests_per_minute,
        "tokens_per_minute": tokens_per_minute,
        "tokens_per_day": tokens_per_day,
        "models": models,
        "weight": weight,
    }
    changes = {name: _value(name, text) for name, text in given.items() if text is not None}
    if not changes:
        raise BadRequest("Nothing to change: pass a limit, such as --concurrent 2.", param="concurrent")
    settings = settings_of(config, data)
    said = {name: text for name, text in given.items() if text is not None}
    act = RecordedAct("key.change", key, said)
    changed = with_users(settings, lambda users: users.limit(key, _checked(changes)), lambda _: act)
    _show(settings, changed)


def show(key: KeyId, config: Config = None, data: Data = None) -> None:
    """Show a key: its user, its limits, and what it used today."""
    settings = settings_of(config, data)
    _show(settings, with_users(settings, lambda users: users.key(key)))


def _value(name: str, text: str) -> Any:
    """The value of an option. Raises BadRequest."""
    if text.strip().lower() == DEFAULT:
        return None
    if name == "models":
        return tuple(part.strip() for part in text.split(",") if part.strip())
    try:
        return float(text) if name == "weight" else int(text.replace("_", "").replace(",", ""))
    except ValueError:
        flag = name.replace("_", "-")
        raise BadRequest(f"--{flag} must be a number, or the word default.", param=name) from None


def _checked(changes: dict[str, Any]) -> dict[str, Any]:
    """The changes, within the bounds of the settings. Raises BadRequest."""
    from pydantic import ValidationError

    from duologue.config.sections.key_limits import KeyLimitSettings

    try:
        KeyLimitSettings(**{name: value for name, value in changes.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise BadRequest(f"--{name.replace('_', '-')}: {first['msg']}.", param=name) from None
    return changes


def _show(settings: Settings, key: Key) -> None:
    import time

    from duologue.store.database import Database
    from duologue.store.usage.usage_rows import UsageRows
    from duologue.store.users import Users
    from duologue.values.usage.key_limits import UNLIMITED
    from duologue.values.usage.usage_counts import day_of

    async def read(users: Users) -> tuple[tuple[Account, ...], list[UsageRow]]:
        database: Database = users.database
        today = day_of(time.time())
        by_key: tuple[UsageColumn, ...] = ("key",)
        return await users.accounts(), await UsageRows(database).totals(today, today, by_key)

    accounts, today = with_users(settings, read)
    account = next(account for account in accounts if account.id == key.user)
    defaults = UNLIMITED if account.role == "admin" else settings.limits.key.applied()
    state = ", revoked" if key.revoked else ", disabled" if account.disabled else ""
    print(f"{key.id}  {key.prefix}...  {account.name} ({account.role}){state}")
    for name, text in _limit_lines(key, defaults):
        print(f"  {LABELS[name]:<20} {text}")
    counts = next((row.counts for row in today if row.slot.key == key.id), None)
    if counts is None:
        print("  used today           nothing")
    else:
        used = f"{counts.requests:,} requests, {counts.prompt + counts.completion:,} tokens"
        print(f"  used today           {used} ({counts.cached:,} of them cached)")


def _limit_lines(key: Key, defaults: AppliedLimits) -> list[tuple[str, str]]:
    applied = key.limits.over(defaults)
    lines = []
    for name in LABELS:
        value = getattr(applied, name)
        if name == "models":
            text = ", ".join(value) or "all"
        elif name == "weight":
            text = f"{value:g}"
        else:
            text = f"{value:,}" if value else "no limit"
        own = getattr(key.limits, name) is not None
        lines.append((name, text if own else f"{text} (default)"))
    return lines
