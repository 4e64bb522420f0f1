"""The database of commands, and what they record where they must not change it."""

import sqlite3

import anyio

from duologue.cli.accounts.account_store import RecordedAct, minute, record, settings_of, with_audit
from duologue.gateway.auth.keys import wall_clock
from duologue.store.database import Database

ACT = RecordedAct("model.download", "qwen3:4b")


def test_an_act_is_recorded_in_a_database_that_is_there(tmp_path):
    settings = settings_of(None, tmp_path)

    async def make() -> None:
        async with Database.opened(None, tmp_path, now=wall_clock):
            pass

    anyio.run(make)
    record(settings, ACT)
    (row,) = with_audit(settings, lambda rows: rows.page())
    assert (row.name, row.act, row.target) == ("command line", "model.download", "qwen3:4b")
    assert "system_user" in row.details


def test_no_database_is_made_for_a_row(tmp_path, capsys):
    record(settings_of(None, tmp_path), ACT)
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().err == ""


def test_a_database_of_another_version_is_left_alone_and_it_is_said(tmp_path, capsys):
    with sqlite3.connect(tmp_path / "duologue.db") as connection:
        connection.execute("CREATE TABLE other (id)")
    record(settings_of(None, tmp_path), ACT)
    assert "not in the audit log" in capsys.readouterr().err
    with sqlite3.connect(tmp_path / "duologue.db") as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("other",)]


def test_times_are_to_the_minute():
    assert minute(0) == "never"
    assert minute(1_800_000_000_000) == "2027-01-15 08:00"
