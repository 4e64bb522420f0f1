"""`duologue audit`, over what the other commands recorded."""

import csv
import io

from typer import Typer
from typer.testing import CliRunner

from duologue.cli import keys
from duologue.cli.accounts import audit, users

shown = Typer()
shown.command()(audit.audit)


def run(app, *arguments: str) -> tuple[str, str]:
    result = CliRunner().invoke(app, arguments)
    if result.exception:
        raise result.exception
    return result.stdout, result.stderr


def rows(*arguments: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(run(shown, "--csv", *arguments)[0])))


def test_commands_are_in_the_log_without_the_values_of_keys():
    value = run(keys.keys, "add", "ada")[0].strip()
    second = run(keys.keys, "add", "bob", "--label", "laptop", "--expires", "90d")[0].strip()
    reset = run(keys.keys, "reset", "bob")[0].strip()
    run(users.users, "role", "bob", "admin")
    run(users.users, "sign-out", "bob")
    run(keys.keys, "user", "bob", "--disable")
    run(keys.keys, "revoke", "bob")
    found = rows()
    assert [(row["act"], row["target"]) for row in found][:2] == [
        ("key.create", "ada"),
        ("key.create", "bob"),
    ]
    assert found[2]["act"] == "key.reset"
    assert [row["act"] for row in found[3:]] == ["user.change", "user.sign_out", "user.change", "key.revoke"]
    assert {row["name"] for row in found} == {"command line"}
    assert "system_user" in found[0]["details"]
    assert not any(secret in str(found) for secret in (value, second, reset))
    assert [row["act"] for row in rows("--act", "user.")] == ["user.change", "user.sign_out", "user.change"]
    assert [row["act"] for row in rows("--limit", "1")] == ["key.revoke"]
    assert rows("--actor", "ada") == []


def test_it_is_a_table_with_the_newest_last():
    assert "nothing in the audit log" in run(shown)[1]
    run(keys.keys, "add", "ada")
    run(keys.keys, "add", "bob")
    header, first, last = run(shown)[0].splitlines()
    assert header.split()[:3] == ["TIME", "WHO", "ACT"]
    assert "ada" in first
    assert "bob" in last


def test_what_was_refused_changed_nothing_and_is_not_recorded():
    run(keys.keys, "add", "ada")
    assert CliRunner().invoke(users.users, ["disable", "ada"]).exception
    assert [row["act"] for row in rows()] == ["key.create"]
