"""`duologue key limit` and `duologue key show`."""

import anyio
import pytest
from tests.cli.usage.conftest import TODAY
from typer.testing import CliRunner

from duologue.cli import main
from duologue.errors import BadRequest, NotFound
from duologue.store.database import Database
from duologue.store.usage.usage_rows import UsageRows
from duologue.values.usage.usage_counts import UsageCounts, UsageRow, UsageSlot


def run(*arguments: str) -> str:
    result = CliRunner().invoke(main.app, arguments)
    if result.exception:
        raise result.exception
    return result.stdout


@pytest.fixture
def bob():
    """The id of a user's key."""
    run("key", "add", "ada")
    run("key", "add", "bob")
    return next(line.split()[0] for line in run("key", "list").splitlines() if " bob " in line)


def test_a_key_has_the_limits_of_the_settings_until_it_has_its_own(bob, monkeypatch):
    monkeypatch.setenv("DUOLOGUE_LIMITS__KEY__CONCURRENT", "4")
    shown = run("key", "show", bob)
    assert "bob (user)" in shown
    assert "  requests at a time   4 (default)\n" in shown
    assert "  tokens a day (UTC)   no limit (default)\n" in shown
    assert "  used today           nothing\n" in shown
    changed = run(
        "key", "limit", bob, "--concurrent", "2", "--tokens-per-day", "1_000_000", "--models", "qwen*, small"
    )
    assert "  requests at a time   2\n" in changed
    assert "  tokens a day (UTC)   1,000,000\n" in changed
    assert "  models               qwen*, small\n" in changed
    again = run("key", "limit", bob, "--concurrent", "default", "--models", "", "--weight", "2.5")
    assert "  requests at a time   4 (default)\n" in again
    assert "  models               all\n" in again
    assert "  weight in the queue  2.5\n" in again


def test_a_new_limit_is_in_the_audit_log(bob):
    run("key", "limit", bob, "--concurrent", "2")
    assert any("key.change" in line and bob in line for line in run("audit").splitlines())


def test_an_admins_key_has_no_default_limits(bob, monkeypatch):
    monkeypatch.setenv("DUOLOGUE_LIMITS__KEY__CONCURRENT", "4")
    ada = next(line.split()[0] for line in run("key", "list").splitlines() if " ada " in line)
    assert "  requests at a time   no limit (default)\n" in run("key", "show", ada)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Nothing to change"),
        (("--concurrent", "many"), "must be a number"),
        (("--concurrent", "-1"), "greater than or equal to 0"),
        (("--weight", "0"), "greater than or equal to 0.01"),
    ],
)
def test_a_limit_that_is_none_is_refused(bob, arguments, words):
    with pytest.raises(BadRequest, match=words):
        run("key", "limit", bob, *arguments)


def test_a_key_that_there_is_not_is_not_found(bob):
    for command in (("show",), ("limit", "--concurrent", "1")):
        with pytest.raises(NotFound, match="duologue key list"):
            run("key", command[0], "key_none", *command[1:])


def test_what_was_used_today_is_shown(bob, data):
    async def spend() -> None:
        async with Database.opened(None, data, now=lambda: 0) as database:
            slot = UsageSlot(TODAY, bob, "user_1", "bob", "duo_ab", "small", "chat")
            await UsageRows(database).add([UsageRow(slot, UsageCounts(12, 0, 3000, 1000, 500))])

    anyio.run(spend)
    assert "  used today           12 requests, 3,500 tokens (1,000 of them cached)\n" in run(
        "key", "show", bob
    )
