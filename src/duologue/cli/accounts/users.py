"""`duologue user`: list users, change their role or name, disable them, sign them out.

The commands work on the database of the settings; a running server notices within a second. Nothing of a user is ever deleted here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duologue.cli import Config, Data
from duologue.cli.accounts.account_store import (
    RecordedAct,
    has_own_key,
    minute,
    note,
    print_table,
    settings_of,
    with_users,
)
from duologue.errors import BadRequest

if TYPE_CHECKING:
    from duologue.store.accounts.login_rows import Login
    from duologue.store.users import Account, Key, Role, Users

users = typer.Typer(
    name="user",
    help="List, change, disable and sign out users.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user's name.")]


@users.command("list")
def list_(config: Config = None, data: Data = None) -> None:
    """List the users with their keys and signed-in browsers."""
    settings = settings_of(config, data)

    async def work(found: Users) -> tuple[tuple[Account, ...], tuple[Key, ...], list[Login]]:
        return await found.accounts(), await found.keys(), await found.logins.all()

    accounts, keys, logins = with_users(settings, work)
    if not accounts:
        note("There are no users yet. `duologue key add NAME` creates one.")
        return
    rows = [("NAME", "ROLE", "CREATED", "KEYS", "SIGNED IN", "LAST SEEN", "STATE")]
    for account in accounts:
        own = [key for key in keys if key.user == account.id and not key.revoked]
        signed_in = [login for login in logins if login.user == account.id]
        seen = max((*(key.last_used for key in own), *(login.last_seen for login in signed_in)), default=0)
        state = f"disabled {minute(account.disabled)}" if account.disabled else "-"
        counts = (str(len(own)), str(len(signed_in)))
        rows.append((account.name, account.role, minute(account.created), *counts, minute(seen), state))
    print_table(rows)


@users.command()
def disable(name: Name, config: Config = None, data: Data = None) -> None:
    """Reject a user's keys and logins, and end their running work. Nothing is deleted."""
    change_user(name, disabled=True, config=config, data=data)


@users.command()
def enable(name: Name, config: Config = None, data: Data = None) -> None:
    """Accept a disabled user's keys and logins again."""
    change_user(name, disabled=False, config=config, data=data)


@users.command()
def role(
    name: Name,
    role: Annotated[str, typer.Argument(metavar="user|admin", help="The new role.")],
    config: Config = None,
    data: Data = None,
) -> None:
    """Change a user's role. The last admin stays one."""
    change_user(name, role=role, config=config, data=data)


@users.command()
def rename(
    name: Name,
    new_name: Annotated[str, typer.Argument(metavar="NEW-NAME", help="The name from now on.")],
    config: Config = None,
    data: Data = None,
) -> None:
    """Give a user another name. Keys, logins and everything stored stay."""
    change_user(name, new_name=new_name, config=config, data=data)


@users.command("sign-out")
def sign_out(name: Name, config: Config = None, data: Data = None) -> None:
    """End a user's logins in every browser. Their keys stay valid."""

    async def work(found: Users) -> int:
        return await found.logins.end_all((await found.named(name)).id)

    ended = with_users(settings_of(config, data), work, lambda _: RecordedAct("user.sign_out", name))
    print(f"{name} is signed out of {ended} browser{'' if ended == 1 else 's'}.")


def change_user(
    name: str,
    *,
    role: str | None = None,
    disabled: bool | None = None,
    new_name: str | None = None,
    config: Path | None,
    data: Path | None,
) -> None:
    """Change a user, and print what they are now."""
    new_role: Role | None = "admin" if role == "admin" else "user" if role == "user" else None
    if role != new_role:
        raise BadRequest("The role must be user or admin.", param="role")
    settings = settings_of(config, data)
    own = has_own_key(settings)
    changes: dict[str, Any] = {"role": new_role, "disabled": disabled, "new_name": new_name}

    async def work(found: Users) -> Account:
        return await found.change(name, **changes, key_of_settings=own)

    said = {field: value for field, value in changes.items() if value is not None}
    account = with_users(settings, work, lambda _: RecordedAct("user.change", name, said))
    print(f"{account.name} is {account.role}{', and disabled' if account.disabled else ''}.")
