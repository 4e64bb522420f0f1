"""`duologue key`: create, list, reset and revoke keys.

A key is printed alone on standard output, everything else on standard error. The commands work on the database of the
settings, whether or not a server is running.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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
from duologue.cli.accounts.users import change_user
from duologue.errors import BadRequest

if TYPE_CHECKING:
    from duologue.store.users import Account, Key, NewKey, Users

UNITS = {"m": 60, "h": 3600, "d": 24 * 3600, "w": 7 * 24 * 3600}
ROLES = ("user", "admin", "worker")
MOST_SECONDS = 100 * 366 * UNITS["d"]

keys = typer.Typer(
    name="key",
    help="Create, list, reset and revoke the keys of users.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Expires = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="When the key ends: after 90d, 12h, 30m or 2w, at the end of a day such as 2027-06-30 (UTC), or never.",
    ),
]


@keys.command()
def add(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The user's name; an unknown one creates the user.")
    ],
    admin: Annotated[bool, typer.Option("--admin", help="The user may administer the server.")] = False,
    role: Annotated[
        str,
        typer.Option(
            metavar="user|admin|worker",
            help="The role of the user; a key with the role worker only lets workers on other machines join.",
        ),
    ] = "user",
    label: Annotated[
        str, typer.Option("--label", metavar="TEXT", help="What the key is for, such as laptop.")
    ] = "",
    expires: Expires = None,
    config: Config = None,
    data: Data = None,
) -> None:
    """Create a key. It is printed once and cannot be shown again."""
    if role not in ROLES or (admin and role == "worker"):
        raise BadRequest("The role must be user, admin or worker, and --admin is for users.", param="role")
    admin = admin or role == "admin"
    settings = settings_of(config, data)
    own, end = has_own_key(settings), _end(expires) or 0

    async def work(users: Users) -> NewKey:
        if own:
            await users.know_local()
        return await users.add_key(
            name, admin=admin, worker=role == "worker", label=label, expires=end, of_settings=own
        )

    def act(new: NewKey) -> RecordedAct:
        return RecordedAct("key.create", new.account.name, {"key": new.key.id, "role": new.account.role})

    new_key = with_users(settings, work, act)
    print(new_key.value)
    _note_value(new_key, "This is")
    if new_key.first:
        note(
            "It is the first key: from now on every request needs one, and everything stored so far belongs to "
            f"{new_key.account.name}."
        )


@keys.command("list")
def list_(config: Config = None, data: Data = None) -> None:
    """List the keys and their users."""
    settings = settings_of(config, data)

    async def work(users: Users) -> tuple[tuple[Key, ...], tuple[Account, ...]]:
        return await users.keys(), await users.accounts()

    all_keys, accounts = with_users(settings, work)
    if has_own_key(settings):
        note("The settings contain a key too; its user is local, an admin.")
    if not all_keys:
        note("There are no keys yet. `duologue key add NAME` creates one.")
        return
    by_id = {account.id: account for account in accounts}
    rows = [("ID", "USER", "ROLE", "KEY", "LABEL", "CREATED", "EXPIRES", "LAST USED")]
    for key in all_keys:
        account = by_id[key.user]
        created, ends = minute(key.created), minute(key.expires)
        shown = (key.id, account.name, account.role, f"{key.prefix}...", key.label or "-", created, ends)
        rows.append((*shown, _use(key, account)))
    print_table(rows)


@keys.command()
def reset(
    key: Annotated[
        str, typer.Argument(metavar="ID|NAME", help="A key's id, or the name of a user who has one key.")
    ],
    expires: Expires = None,
    config: Config = None,
    data: Data = None,
) -> None:
    """Give a key a new value. Its id, label and limits stay; the old value, and the logins made with it, end within a second."""
    settings = settings_of(config, data)
    own, end = has_own_key(settings), _end(expires)

    async def work(users: Users) -> NewKey:
        return await users.reset_key(key, expires=end, of_settings=own)

    new_key = with_users(
        settings, work, lambda new: RecordedAct("key.reset", new.key.id, {"user": new.account.name})
    )
    print(new_key.value)
    _note_value(new_key, "This is the new value of")


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
        count = with_users(settings, lambda users: users.clear(), lambda _: RecordedAct("key.revoke", "all"))
        print(f"{_counted(count)} deleted.")
        return
    revoked = with_users(settings, lambda users: users.revoke(key), lambda _: RecordedAct("key.revoke", key))
    print(f"{_counted(len(revoked.keys))} revoked." if revoked.keys else "The key was already revoked.")
    if not revoked.left and not has_own_key(settings):
        note(
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
    """Change a user's role, or disable the user, as `duologue user` does."""
    if role is None and disabled is None:
        raise BadRequest("Nothing to change: pass --role, --disable or --enable.", param="role")
    change_user(name, role=role, disabled=disabled, config=config, data=data)


def end_of(text: str, now: int) -> int:
    """When a key ends (ms), from `90d`, `12h`, `30m`, `2w`, `2027-06-30` or `never`, which is 0. `now`: ms. Raises BadRequest."""
    from datetime import UTC, datetime, timedelta

    text = text.strip().lower()
    if text == "never":
        return 0
    number, unit = text[:-1], text[-1:]
    if (
        unit in UNITS
        and number.isascii()
        and number.isdigit()
        and 0 < int(number) * UNITS[unit] < MOST_SECONDS
    ):
        return now + int(number) * UNITS[unit] * 1000
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise BadRequest(
            "--expires is a time such as 90d, 12h, 30m or 2w, a day such as 2027-06-30, or never.",
            param="expires",
        ) from None
    return int((day + timedelta(days=1)).timestamp() * 1000)


def _end(text: str | None) -> int | None:
    from duologue.gateway.auth.keys import wall_clock

    return None if text is None else end_of(text, wall_clock())


def _use(key: Key, account: Account) -> str:
    from duologue.gateway.auth.keys import wall_clock

    if key.revoked:
        return "revoked"
    if account.disabled:
        return "disabled"
    return minute(key.last_used) if key.is_valid(wall_clock()) else "expired"


def _note_value(new: NewKey, begins: str) -> None:
    ends = f" It ends at {minute(new.key.expires)} (UTC)." if new.key.expires else ""
    note(
        f"{begins} the key of {new.account.name} ({new.account.role}). Store it safely: it is not shown again.{ends}"
    )


def _counted(number: int) -> str:
    return f"{number} key is" if number == 1 else f"{number} keys are"
