"""The command for backups, from its flags to a folder that has everything again."""

from __future__ import annotations

import anyio
import pytest
import typer
from typer.testing import CliRunner

from duologue.cli import backup
from duologue.errors import StartFailed
from duologue.gateway import process_lock
from duologue.store.stores import Stores
from duologue.values.conversations import Conversation

app = typer.Typer()
app.command()(backup.backup)


@pytest.fixture(autouse=True)
def _clean_environment(tmp_path, monkeypatch):
    for name in ("DATA", "DATABASE", "CONFIG"):
        monkeypatch.delenv(f"DUOLOGUE_{name}", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run():
    """Run the command with these arguments; gives its output. What it raises comes through."""

    def call(*arguments: object) -> str:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
        return result.output

    return call


def write(folder, *ids: str) -> None:
    async def create() -> None:
        async with Stores.opened(None, folder, now=lambda: 1) as stores:
            for id in ids:
                await stores.create("local", Conversation(id=id))

    anyio.run(create)


def ids(folder) -> list[str]:
    async def listed() -> list[str]:
        async with Stores.opened(None, folder, now=lambda: 1) as stores:
            return [one.id for one in await stores.durable.conversations.listed("local")]

    return anyio.run(listed)


def test_a_copy_is_made_while_a_server_runs_and_put_back(run, tmp_path):
    data, file = tmp_path / "data", tmp_path / "copy.tar"
    write(data, "a", "b")
    with process_lock.data_folder(data, "http://127.0.0.1:8006"):
        assert run(file, "--data", data).startswith(f"{file}: 2 conversations, 0 files, ")
    write(data, "c")
    said = run(file, "--restore", "--data", data)
    assert f"{data} now holds 2 conversations, 0 files." in said
    assert "replaced-" in said
    assert sorted(ids(data)) == ["a", "b"]


def test_nothing_is_put_back_into_a_folder_in_use(run, tmp_path):
    data, file = tmp_path / "data", tmp_path / "copy.tar"
    write(data, "a")
    run(file, "--data", data)
    write(data, "b")
    with (
        process_lock.data_folder(data, "http://127.0.0.1:8006"),
        pytest.raises(StartFailed, match=r"in use by a Duologue server.*Stop that one"),
    ):
        run(file, "--restore", "--data", data)
    assert sorted(ids(data)) == ["a", "b"]


def test_there_must_be_a_copy_to_put_back(run, tmp_path):
    with pytest.raises(StartFailed, match=r"There is no file gone\.tar"):
        run("gone.tar", "--restore", "--data", tmp_path)


@pytest.mark.parametrize("flags", [(), ("--restore",)])
def test_postgresql_has_a_tool_of_its_own(run, tmp_path, monkeypatch, flags):
    monkeypatch.setenv("DUOLOGUE_DATABASE", "postgresql://anna:secret@db/duologue")
    with pytest.raises(StartFailed, match="pg_dump") as raised:
        run(tmp_path / "copy.tar", *flags)
    assert "secret" not in str(raised.value)


def test_every_flag_explains_itself():
    command = typer.main.get_command(app)
    assert command.help
    assert all(getattr(parameter, "help", None) for parameter in command.params if parameter.name != "help")
