"""`duologue user`: listed, changed, disabled, renamed, signed out."""

import anyio
import pytest
from typer.testing import CliRunner

from duologue.cli import keys
from duologue.cli.accounts import users
from duologue.errors import BadRequest, NotFound
from duologue.gateway.auth.keys import wall_clock
from duologue.store.database import Database
from duologue.store.users import Users


def run(app, *arguments: str) -> tuple[str, str]:
    result = CliRunner().invoke(app, arguments)
    if result.exception:
        raise result.exception
    return result.stdout, result.stderr


def user(*arguments: str) -> tuple[str, str]:
    return run(users.users, *arguments)


@pytest.fixture
def _two():
    run(keys.keys, "add", "ada")
    run(keys.keys, "add", "bob")


@pytest.mark.usefixtures("_two")
def test_users_are_listed_with_their_keys_and_browsers():
    header, ada, bob = user("list")[0].splitlines()
    assert header.split()[:4] == ["NAME", "ROLE", "CREATED", "KEYS"]
    assert ada.split()[:2] == ["ada", "admin"]
    assert bob.endswith("-")
    user("disable", "bob")
    assert "disabled 20" in user("list")[0].splitlines()[2]


def test_without_users_it_says_how_to_make_one():
    assert "duologue key add" in user("list")[1]


@pytest.mark.usefixtures("_two")
def test_a_user_is_changed_and_nothing_of_them_is_lost():
    assert user("role", "bob", "admin")[0] == "bob is admin.\n"
    assert user("disable", "bob")[0] == "bob is admin, and disabled.\n"
    assert user("enable", "bob")[0] == "bob is admin.\n"
    assert user("rename", "bob", "Robert")[0] == "Robert is admin.\n"
    assert "Robert" in run(keys.keys, "list")[0]
    with pytest.raises(BadRequest, match="user or admin"):
        user("role", "Robert", "owner")
    with pytest.raises(NotFound, match="There is Robert, ada"):
        user("disable", "bob")


@pytest.mark.usefixtures("_two")
def test_the_last_admin_is_not_shut_out():
    for command in (("disable", "ada"), ("role", "ada", "user")):
        with pytest.raises(BadRequest) as caught:
            user(*command)
        assert caught.value.code == "last_admin"


@pytest.mark.usefixtures("_two")
def test_a_user_is_signed_out_of_every_browser(tmp_path):
    async def sign_in() -> None:
        async with Database.opened(None, tmp_path / "data", now=wall_clock) as database:
            stored = Users(database, wall_clock)
            bob = await stored.named("bob")
            for digest in (b"one", b"two"):
                await stored.logins.open(digest, bob.id, wall_clock() + 10**7)

    anyio.run(sign_in)
    assert user("list")[0].splitlines()[2].split()[5] == "2"
    assert user("sign-out", "bob")[0] == "bob is signed out of 2 browsers.\n"
    assert user("sign-out", "bob")[0] == "bob is signed out of 0 browsers.\n"
