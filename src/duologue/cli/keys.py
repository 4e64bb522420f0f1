"""`duologue key`: create, list and revoke keys, and change users.

A new key is printed alone on standard output, everything else on standard error. The commands work on the database of the
settings, whether or not a server is running.
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
    help="Create, list and revoke the keys of users, and change users.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@keys.command()
def add(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The user's name; an unknown one creates the user.")
    ],
    admin: Annotated[bool, typer.Option("--admin", help="The user may administer the server.")] = False,
    config: Config = None,
    data: Data = None,
) -> None:
    """Create a key. It is printed once and cannot be shown again."""
    settings = settings_of(config, data)
    own = _has_own_key(settings)

    async def work(users: Users) -> NewKey:
        if own:
            await users.know_local()
        return await users.add_key(name, admin=admin)

    new_key = run_on_users(settings, work)
    print(new_key.value)
    _note(
        f"This is the key of {new_key.account.name} ({new_key.account.role}). Store it safely: it is not shown again."
    )
    if new_key.first:
        _note(
            "It is the first key: from now on every request needs one, and everything stored so far belongs to "
            f"{new_key.account.name}."
        )


@keys.command("list")
def list_(config: Config = None, data: Data = None) -> None:
    """List the keys and their users."""
    settings = settings_of(config, data)

    async def work(users: Users) -> tuple[tuple[Key, ...], tuple[Account, ...]]:
        return await users.keys(), await users.accounts()

    all_keys, accounts = run_on_users(settings, work)
    if _has_own_key(settings):
        _note("The settings contain a key too; its user is local, an admin.")
    if not all_keys:
        _note("There are no keys yet. `duologue key add NAME` creates one.")
        return
    by_id = {account.id: account for account in accounts}
    rows = [("ID", "USER", "ROLE", "KEY", "CREATED", "LAST USED")]
    for key in all_keys:
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
            help="Delete every key: a server on loopback is then open again, as if there had never been one.",
        ),
    ] = False,
    config: Config = None,
    data: Data = None,
) -> None:
    """Revoke a key and end the logins of its user. A running server notices within a second."""
    if (key is None) is not everything:
        raise BadRequest("Name the key to revoke by its id, a user by name, or pass --all.", param="key")
    settings = settings_of(config, data)
    if key is None:
        count = run_on_users(settings, lambda users: users.clear())
        print(f"{_counted(count)} deleted.")
        return
    revoked = run_on_users(settings, lambda users: users.revoke(key))
    print(f"{_counted(len(revoked.keys))} revoked." if revoked.keys else "The key was already revoked.")
    if not revoked.left and not _has_own_key(settings):
        _note(
            "No valid key is left, so nobody can log in. `duologue key add NAME` creates one; `duologue key revoke --all` "
            "opens the server again to everyone on this machine."
        )


@keys.command()
def user(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The user's name.")],
    role: Annotated[str | None, typer.Option("--role", metavar="user|admin", help="The new role.")] = None,
    disabled: Annotated[
        bool | None,
        typer.Option(
            "--disable/--enable", help="Disable or enable the user's keys and logins; nothing is deleted."
        ),
    ] = None,
    config: Config = None,
    data: Data = None,
) -> None:
    """Change a user's role, or disable the user. A running server notices within a second."""
    new_role: Role | None = "admin" if role == "admin" else "user" if role == "user" else None
    if role != new_role:
        raise BadRequest("--role must be user or admin.", param="role")
    if role is None and disabled is None:
        raise BadRequest("Nothing to change: pass --role, --disable or --enable.", param="role")
    settings = settings_of(config, data)
    own = _has_own_key(settings)

    async def work(users: Users) -> Account:
        return await users.change(name, role=new_role, disabled=disabled, key_of_settings=own)

    account = run_on_users(settings, work)
    print(f"{account.name} is {account.role}{', and disabled' if account.disabled else ''}.")


def run_on_users(settings: Settings, work: Callable[[Users], Awaitable[T]]) -> T:
    """Run `work` on the users of the settings' database, and return its result."""
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


def _note(sentence: str) -> None:
    print(sentence, file=sys.stderr)


def _counted(number: int) -> str:
    return f"{number} key is" if number == 1 else f"{number} keys are"


def _day(at: int) -> str:
    """A time in ms since 1970 as UTC to the minute; 0 is "never"."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M") if at else "never"


def settings_of(config: Path | None, data: Path | None) -> Settings:
    """The settings of a command with these options."""
    from duologue.config import load

    return load(config, os.environ, {"data": data})
