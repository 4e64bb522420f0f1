"""`duologue key`: made, listed and revoked on the database of the settings, also while a server runs on it."""

from __future__ import annotations

import os
import subprocess
import sys

import anyio
import pytest
from typer.testing import CliRunner

from duologue.cli import keys
from duologue.errors import BadRequest, NotFound
from duologue.gateway.auth.keys import Keys, wall_clock
from duologue.store.database import Database
from duologue.store.users import Users


@pytest.fixture(autouse=True)
def _clean_environment(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.startswith("DUOLOGUE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("DUOLOGUE_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def key(*arguments: str) -> tuple[str, str]:
    """What the command prints: on its output, and on the error stream."""
    result = CliRunner().invoke(keys.keys, arguments)
    if result.exception:
        raise result.exception
    return result.stdout, result.stderr


def test_a_new_key_stands_alone_on_the_output_and_the_rest_beside_it():
    output, beside = key("add", "ada")
    assert output.startswith("duo_")
    assert len(output.splitlines()) == 1
    assert "ada (admin)" in beside
    assert "first key" in beside
    output, beside = key("add", "bob")
    assert "bob (user)" in beside
    assert "first key" not in beside
    assert "eve (admin)" in key("add", "eve", "--admin")[1]


def test_the_list_tells_keys_apart_and_shows_none():
    assert "There are no keys yet" in key("list")[1]
    value = key("add", "ada")[0].strip()
    key("add", "bob")
    key("revoke", "bob")
    output, _ = key("list")
    header, ada, bob = output.splitlines()
    assert header.split()[:4] == ["ID", "USER", "ROLE", "KEY"]
    assert f"{value[:10]}..." in ada
    assert ada.endswith("never")
    assert bob.endswith("revoked")
    assert value not in output


def test_a_user_is_changed_kept_out_and_let_in_again():
    key("add", "ada")
    key("add", "bob")
    assert key("user", "bob", "--role", "admin")[0] == "bob is admin.\n"
    assert key("user", "bob", "--role", "user", "--disable")[0] == "bob is user, and disabled.\n"
    assert key("list")[0].splitlines()[2].endswith("disabled")
    assert key("user", "bob", "--enable")[0] == "bob is user.\n"
    assert key("list")[0].splitlines()[2].endswith("never")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("bob",), "Nothing to change"),
        (("bob", "--role", "owner"), "user or admin"),
        (("ada", "--disable"), "last admin"),
        (("eve", "--enable"), "There is ada, bob"),
    ],
)
def test_a_change_that_cannot_be_made_is_told_why(arguments, words):
    key("add", "ada")
    key("add", "bob")
    with pytest.raises((BadRequest, NotFound), match=words):
        key("user", *arguments)


def test_a_key_is_revoked_by_its_id_and_a_user_by_the_name():
    for _ in range(3):
        key("add", "ada")
    first = key("list")[0].splitlines()[1].split()[0]
    assert key("revoke", first)[0] == "1 key is revoked.\n"
    assert key("revoke", first)[0] == "The key was already revoked.\n"
    output, beside = key("revoke", "ada")
    assert output == "2 keys are revoked.\n"
    assert "No valid key is left, so nobody can log in" in beside


def test_all_keys_can_be_forgotten():
    key("add", "ada")
    assert key("revoke", "--all") == ("1 key is deleted.\n", "")
    assert "There are no keys yet" in key("list")[1]


@pytest.mark.parametrize("arguments", [["revoke"], ["revoke", "ada", "--all"]])
def test_revoking_needs_one_word_about_what(arguments):
    with pytest.raises(BadRequest, match="Name the key to revoke"):
        key(*arguments)


def test_what_is_not_there_is_said():
    with pytest.raises(NotFound, match="'ada'"):
        key("revoke", "ada")


def test_beside_a_key_of_the_settings_the_first_one_inherits_nothing(monkeypatch):
    monkeypatch.setenv("DUOLOGUE_KEY", "of-the-settings-0123")
    output, beside = key("add", "ada")
    assert "ada (user)" in beside
    assert "first key" not in beside
    assert "settings contain a key too" in key("list")[1]
    assert "No key is left" not in key("revoke", "ada")[1]
    assert "of-the-settings" not in output + beside


def test_the_data_folder_of_the_flag_is_used(tmp_path):
    key("add", "ada", "--data", str(tmp_path / "other"))
    assert (tmp_path / "other" / "duologue.db").is_file()
    assert not (tmp_path / "data").exists()


@pytest.mark.anyio
async def test_a_running_server_takes_the_key_and_lets_it_go_again(tmp_path):
    class Clock:
        now = 0.0

        def __call__(self) -> float:
            return self.now

    clock = Clock()

    async def command(*arguments: str) -> str:
        code = "from duologue.cli.keys import keys; keys()"
        done = await anyio.run_process([sys.executable, "-c", code, *arguments])
        return done.stdout.decode().strip()

    async with Database.opened(None, tmp_path / "data", now=wall_clock) as database:
        keys = Keys(None, clock=clock)
        await keys.use(Users(database, wall_clock))
        value = await command("add", "ada")
        clock.now += 1
        await keys.refresh()
        assert (keys.user(value) or ())[:3] == ("local", "admin", "ada")
        assert await command("revoke", "ada") == "1 key is revoked."
        clock.now += 1
        await keys.refresh()
        assert keys.user(value) is None
        assert keys.required


def test_asking_for_help_imports_no_database():
    code = (
        "import sys; from duologue.cli.keys import keys\n"
        "assert not {'sqlalchemy', 'anyio', 'fastapi', 'pydantic'} & sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("text", "later"),
    [("30m", 1_800_000), ("12h", 43_200_000), ("90d", 7_776_000_000), (" 2W ", 1_209_600_000)],
)
def test_a_key_ends_after_a_time(text, later):
    assert keys.end_of(text, 1_000) == 1_000 + later


def test_a_key_ends_with_a_day_or_never():
    assert keys.end_of("never", 5) == 0
    assert keys.end_of("2027-01-15", 5) == 1_800_057_600_000


@pytest.mark.parametrize("text", ["", "soon", "0d", "-1d", "5", "9999999d", "2027-13-01", "\u0663d"])
def test_what_is_no_time_is_refused_with_examples(text):
    with pytest.raises(BadRequest, match="90d"):
        keys.end_of(text, 5)


def test_a_key_has_a_label_and_an_end_in_the_list():
    key("add", "ada")
    output, beside = key("add", "bob", "--label", "laptop", "--expires", "90d")
    assert output.startswith("duo_")
    assert "It ends at 20" in beside
    _, ada, bob = key("list")[0].splitlines()
    assert "laptop" in bob
    assert ada.count("never") == 2
    assert bob.count("never") == 1
    with pytest.raises(BadRequest, match="expired already"):
        key("add", "bob", "--expires", "2001-01-01")
    with pytest.raises(BadRequest, match="does not expire"):
        key("reset", "ada", "--expires", "1d")


def test_a_reset_key_is_printed_alone_and_keeps_its_id():
    key("add", "ada")
    first = key("add", "bob", "--label", "phone")[0]
    before = key("list")[0].splitlines()[2]
    value, beside = key("reset", "bob")
    assert value.startswith("duo_")
    assert value != first
    assert "new value of the key of bob" in beside
    after = key("list")[0].splitlines()[2]
    assert after.split()[0] == before.split()[0]
    assert f"{value[:10]}..." in after
    key("add", "bob")
    with pytest.raises(BadRequest, match="several keys"):
        key("reset", "bob")
