"""The commands for keys, `duologue key`. Thin, as `cli` is, and imported as cheaply.

Owns their flags and what they print: a new key alone on the output, everything about it on the error stream. They work
on the database of the settings, whether or not a server runs on it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from duologue.cli import Config, Data
from duologue.errors import BadRequest

if TYPE_CHECKING:
    from duologue.config import Settings
    from duologue.store.users import Account, Key, NewKey, Role, Users

T = TypeVar("T")

keys = typer.Typer(
    name="key",
    help="Make, list and revoke the keys of users, and change users.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@keys.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The user's name; a new one makes the user.")],
    admin: Annotated[bool, typer.Option("--admin", help="The user may administer the server.")] = False,
    config: Config = None,
    data: Data = None,
) -> None:
    """Make a key. It is printed once, and never again."""
    settings = _settings(config, data)
    own = _has_own_key(settings)

    async def work(users: Users) -> NewKey:
        if own:
            await users.know_local()
        return await users.add_key(name, admin=admin)

    made = _with(settings, work)
    print(made.value)
    _tell(f"The key of {made.account.name} ({made.account.role}). Keep it: it is not shown again.")
    if made.first:
        _tell(
            "It is the first one: from now on every request needs a key, and what was written without one belongs to "
            f"{made.account.name}."
        )


@keys.command("list")
def list_(config: Config = None, data: Data = None) -> None:
    """List the keys and their users."""
    settings = _settings(config, data)

    async def work(users: Users) -> tuple[tuple[Key, ...], tuple[Account, ...]]:
        return await users.keys(), await users.accounts()

    found, accounts = _with(settings, work)
    if _has_own_key(settings):
        _tell("The settings hold a key too; its user is local, an admin.")
    if not found:
        _tell("No key was made yet. `duologue key add NAME` makes one.")
        return
    by_id = {account.id: account for account in accounts}
    rows = [("ID", "USER", "ROLE", "KEY", "MADE", "LAST USED")]
    for key in found:
        account = by_id[key.user]
        used = "revoked" if key.revoked else "disabled" if account.disabled else _day(key.last_used)
        rows.append((key.id, account.name, account.role, f"{key.prefix}...", _day(key.created), used))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@keys.command()
def revoke(
    key: Annotated[
        str | None, typer.Argument(metavar="ID|NAME", help="A key's id, or a user's name for all of theirs.")
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Forget every key: a server on loopback is then open again, as if none had been made.",
        ),
    ] = False,
    config: Config = None,
    data: Data = None,
) -> None:
    """Revoke a key. Its user's logins end too; a running server knows within a second."""
    if (key is None) is not everything:
        raise BadRequest("Say which: the id of a key, the name of a user, or --all.", param="key")
    settings = _settings(config, data)
    if key is None:
        count = _with(settings, lambda users: users.clear())
        print(f"{_counted(count)} forgotten.")
        return
    gone = _with(settings, lambda users: users.revoke(key))
    print(f"{_counted(len(gone.keys))} revoked." if gone.keys else "It was revoked before.")
    if not gone.left and not _has_own_key(settings):
        _tell(
            "No key is left, so nobody can come in. `duologue key add NAME` makes one; `duologue key revoke --all` lets "
            "everybody in again who uses this machine."
        )


@keys.command()
def user(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The user's name.")],
    role: Annotated[
        str | None, typer.Option("--role", metavar="user|admin", help="What they may do.")
    ] = None,
    disabled: Annotated[
        bool | None,
        typer.Option(
            "--disable/--enable", help="Whether their keys and logins open nothing; nothing is deleted."
        ),
    ] = None,
    config: Config = None,
    data: Data = None,
) -> None:
    """Change a user's role, or keep them out for a while. A running server knows within a second."""
    wanted: Role | None = "admin" if role == "admin" else "user" if role == "user" else None
    if role != wanted:
        raise BadRequest("--role is user or admin.", param="role")
    if role is None and disabled is None:
        raise BadRequest("Say what to change: --role, --disable or --enable.", param="role")
    settings = _settings(config, data)
    own = _has_own_key(settings)

    async def work(users: Users) -> Account:
        return await users.change(name, role=wanted, disabled=disabled, key_of_settings=own)

    account = _with(settings, work)
    print(f"{account.name} is {account.role}{', and disabled' if account.disabled else ''}.")


def _with(settings: Settings, work: Callable[[Users], Awaitable[T]]) -> T:
    """What `work` gives on the users of the settings' database."""
    import anyio

    from duologue.gateway.auth.keys import wall_clock
    from duologue.store.database import Database
    from duologue.store.users import Users

    async def run() -> T:
        url = settings.database.get_secret_value() if settings.database else None
        async with Database.opened(url, settings.data, now=wall_clock) as database:
            return await work(Users(database, wall_clock))

    return anyio.run(run)


def _has_own_key(settings: Settings) -> bool:
    from duologue.gateway.auth.keys import read_key

    return read_key(settings.key.get_secret_value() if settings.key else None, settings.key_file) is not None


def _tell(sentence: str) -> None:
    print(sentence, file=sys.stderr)


def _counted(number: int) -> str:
    return f"{number} key is" if number == 1 else f"{number} keys are"


def _day(at: int) -> str:
    """A moment as a person reads it, in UTC to the minute; 0 is never."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M") if at else "never"


def _settings(config: Path | None, data: Path | None) -> Settings:
    from duologue.config import load

    return load(config, os.environ, {"data": data})
