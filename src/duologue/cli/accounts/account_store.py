"""The accounts in the database of the settings, for commands: opened for one piece of work, which goes into the audit log.

Used by `keys`, `users`, `audit`, `backup` and `models`. The database is used whether or not a server runs on it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from duologue.config import Settings
    from duologue.store.accounts.audit_rows import AuditRow, AuditRows
    from duologue.store.users import Users

T = TypeVar("T")

COMMAND_LINE = "command line"


class RecordedAct(NamedTuple):
    """What the audit log says of a command: the same acts as those of the API."""

    name: str
    target: str
    details: dict[str, Any] = {}  # noqa: RUF012  # never changed

    def row(self) -> AuditRow:
        """It as a row, with the account of the machine that ran the command."""
        from duologue.gateway.auth.keys import wall_clock
        from duologue.store.accounts.audit_rows import AuditRow

        return AuditRow(
            wall_clock(),
            COMMAND_LINE,
            self.name,
            self.target,
            details=self.details | {"system_user": _system_user()},
        )


def with_users(
    settings: Settings, work: Callable[[Users], Awaitable[T]], act: Callable[[T], RecordedAct] | None = None
) -> T:
    """Run `work` on the users of the settings' database, record the act that it was, and return its result."""

    async def run(users: Users, rows: AuditRows) -> T:
        result = await work(users)
        if act is not None:
            await rows.append([act(result).row()])
        return result

    return _opened(settings, run)


def with_audit(settings: Settings, work: Callable[[AuditRows], Awaitable[T]]) -> T:
    """Run `work` on the audit log of the settings' database, and return its result."""
    return _opened(settings, lambda _, rows: work(rows))


def record(settings: Settings, act: RecordedAct) -> None:
    """Record an act that did not need the database, without making one or changing its schema. Says so where that is not possible."""
    if settings.database is not None:
        with_audit(settings, lambda rows: rows.append([act.row()]))
        return
    from duologue.store.accounts.audit_file import append_to_file
    from duologue.store.database import FILE

    file = settings.data / FILE
    if file.is_file() and not append_to_file(file, act.row()):
        note("This is not in the audit log: the database is of another version, or cannot be written.")


def has_own_key(settings: Settings) -> bool:
    """Whether the settings have a key too, whose user is an admin."""
    from duologue.gateway.auth.keys import read_key

    return read_key(settings.key.get_secret_value() if settings.key else None, settings.key_file) is not None


def note(sentence: str) -> None:
    """Print a sentence on standard error, beside the output of a command."""
    print(sentence, file=sys.stderr)


def minute(at: int) -> str:
    """A time in ms since 1970 as UTC to the minute; 0 is "never"."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M") if at else "never"


def print_table(rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows, the first of which is the header, in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def settings_of(config: Path | None, data: Path | None) -> Settings:
    """The settings of this command."""
    from duologue.config import load

    return load(config, os.environ, {"data": data})


def _opened(settings: Settings, work: Callable[[Users, AuditRows], Awaitable[T]]) -> T:
    import anyio

    from duologue.gateway.auth.keys import wall_clock
    from duologue.store.accounts.audit_rows import AuditRows
    from duologue.store.database import Database
    from duologue.store.users import Users

    async def run() -> T:
        url = settings.database_url
        async with Database.opened(url, settings.data, now=wall_clock) as database:
            return await work(Users(database, wall_clock), AuditRows(database))

    return anyio.run(run)


def _system_user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container without a name for its user
        return f"uid {os.getuid()}" if hasattr(os, "getuid") else ""
