"""The command for backups, from its flags to a folder that has everything again."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

import anyio
import pytest
import typer
from tests.support.file_stores import object_storage
from tests.support.s3_stand_in import KEY, SECRET, S3StandIn, s3_stand_in
from tests.support.store_fixtures import drop_schema, make_schema
from typer.testing import CliRunner

from duologue.cli import backup
from duologue.errors import StartFailed
from duologue.gateway import process_lock
from duologue.storage.file_store import FileStorage
from duologue.storage.opening import blob_store
from duologue.store.stores import Stores
from duologue.values.conversations import Blob, Conversation

SCHEMA = "duologue_backup_command"
PICTURE = b"the bytes of a picture"

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


def write(folder, *ids: str, url: str | None = None) -> None:
    async def create() -> None:
        async with Stores.opened(url, folder, now=lambda: 1) as stores:
            for id in ids:
                await stores.create("local", Conversation(id=id))

    anyio.run(create)


def set_s3(monkeypatch: pytest.MonkeyPatch, stand_in: S3StandIn) -> None:
    """Have the command keep files on the stand-in."""
    values = {"BUCKET": "users", "ENDPOINT": stand_in.address, "PREFIX": "duologue/"}
    for name, value in (values | {"ACCESS_KEY": KEY, "SECRET_KEY": SECRET}).items():
        monkeypatch.setenv(f"DUOLOGUE_STORAGE__S3__{name}", value)


def ids(folder, url: str | None = None) -> list[str]:
    async def listed() -> list[str]:
        async with Stores.opened(url, folder, now=lambda: 1) as stores:
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


def test_a_postgresql_that_cannot_be_reached_is_told_without_its_password(run, tmp_path, monkeypatch):
    monkeypatch.setenv("DUOLOGUE_DATABASE", "postgresql://anna:secret@127.0.0.1:1/duologue")
    with pytest.raises(StartFailed, match=r"127\.0\.0\.1 cannot be reached") as raised:
        run(tmp_path / "copy.tar", "--data", tmp_path / "data")
    assert "secret" not in str(raised.value)


@pytest.fixture
def postgresql(monkeypatch):
    """An empty schema, whose address the command gets."""
    url = asyncio.run(make_schema(SCHEMA))
    monkeypatch.setenv("DUOLOGUE_DATABASE", url)
    yield url
    asyncio.run(drop_schema(SCHEMA))


async def kept_file(storage: FileStorage, url: str | None, data: Path) -> str:
    """Store a file and its row; gives its hash."""
    hash = hashlib.sha256(PICTURE).hexdigest()
    files = blob_store(storage)
    await files.put_bytes(f"{hash[:2]}/{hash}", PICTURE)
    async with Stores.opened(url, data, now=lambda: 1) as stores:
        await stores.durable.blobs.put("local", Blob(hash, "image/png", len(PICTURE)))
    return hash


def test_a_backup_of_postgresql_restores_into_sqlite_and_back(run, tmp_path, monkeypatch, postgresql):
    data, file = tmp_path / "data", tmp_path / "copy.tar"
    write(data, "a", "b", url=postgresql)
    with s3_stand_in() as stand_in:
        storage = object_storage(stand_in, tmp_path / "elsewhere")
        hash = anyio.run(kept_file, storage, postgresql, data)
        set_s3(monkeypatch, stand_in)
        assert run(file, "--data", data).startswith(f"{file}: 2 conversations, 1 files, ")
        assert not list((data / "copies").rglob("*-*")), "nothing stays on the disk"
        stand_in.objects["users"].clear()
        write(data, "c", url=postgresql)
        told = run(file, "--restore", "--data", data)
        assert told.startswith("The PostgreSQL database now holds 2 conversations, 1 files.")
        assert stand_in.names() == [f"duologue/blobs/{hash[:2]}/{hash}"]
        assert ids(data, postgresql) == ["b", "a"]
    for name in ("DATABASE", "STORAGE__S3__BUCKET"):
        monkeypatch.delenv(f"DUOLOGUE_{name}")
    (replaced,) = (data / "backups").glob("replaced-*.db")
    run(replaced, "--restore", "--data", tmp_path / "former")
    assert ids(tmp_path / "former") == ["c", "b", "a"], "what was there is a SQLite database now"
    run(file, "--restore", "--data", tmp_path / "sqlite")
    assert ids(tmp_path / "sqlite") == ["b", "a"]
    assert (tmp_path / "sqlite" / "blobs" / hash[:2] / hash).read_bytes() == PICTURE


def test_sqlite_moves_to_postgresql(run, tmp_path, monkeypatch, postgresql):
    monkeypatch.delenv("DUOLOGUE_DATABASE")
    write(tmp_path / "data", "a", "b")
    run(tmp_path / "copy.tar", "--data", tmp_path / "data")
    monkeypatch.setenv("DUOLOGUE_DATABASE", postgresql)
    run(tmp_path / "copy.tar", "--restore", "--data", tmp_path / "gateway")
    assert ids(tmp_path / "gateway", postgresql) == ["b", "a"]


def test_every_flag_explains_itself():
    command = typer.main.get_command(app)
    assert command.help
    assert all(getattr(parameter, "help", None) for parameter in command.params if parameter.name != "help")
