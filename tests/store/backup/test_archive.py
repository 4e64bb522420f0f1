"""Everything into one file, and back."""

from __future__ import annotations

import hashlib
import io
import json
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.store_fixtures import conversation

from duologue.errors import StartFailed
from duologue.store.backup.archive import back_up, restore
from duologue.store.database import FILE
from duologue.store.stores import Stores
from duologue.values.conversations import Blob

pytestmark = pytest.mark.anyio

PICTURE = b"the bytes of a picture"
HASH = hashlib.sha256(PICTURE).hexdigest()


def keep_file(data: Path, content: bytes) -> str:
    hash = hashlib.sha256(content).hexdigest()
    place = data / "blobs" / hash[:2] / hash
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    return hash


@pytest.fixture
async def stores(tmp_path, clock, anyio_backend):
    async with Stores.opened(None, tmp_path / "data", now=clock) as opened:
        keep_file(tmp_path / "data", PICTURE)
        await opened.durable.blobs.put("local", Blob(HASH, "image/png", len(PICTURE)))
        await conversation(opened.durable, "hello", "hi", id="a")
        yield opened


async def test_a_copy_is_made_while_the_server_writes_and_comes_back_elsewhere(tmp_path, stores, clock):
    async with stores.durable.writing() as connection:
        await connection.exec_driver_sql("UPDATE conversations SET title = 'not committed'")
        made = back_up(tmp_path / "data", tmp_path / "copy.tar", clock)
    assert (made.conversations, made.files, made.missing) == (1, 1, 0)
    assert made.size == (tmp_path / "copy.tar").stat().st_size
    assert (tmp_path / "copy.tar").stat().st_mode & 0o777 == 0o600
    back = restore(tmp_path / "copy.tar", tmp_path / "elsewhere", clock)
    assert (back.conversations, back.files, back.replaced) == (1, 1, None)
    async with Stores.opened(None, tmp_path / "elsewhere", now=clock) as again:
        assert [row.text for row in await again.durable.messages.all("a")] == ["hello", "hi"]
        assert (await again.durable.conversations.get("local", "a")).title == ""
        assert len(await again.durable.search.find("local", "hello")) == 1
    assert (tmp_path / "elsewhere" / "blobs" / HASH[:2] / HASH).read_bytes() == PICTURE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.tar", "data", "elsewhere"]


async def test_restoring_keeps_what_was_there_before(tmp_path, stores, clock):
    back_up(tmp_path / "data", tmp_path / "copy.tar", clock)
    async with Stores.opened(None, tmp_path / "other", now=clock) as other:
        await conversation(other.durable, "older", id="old")
    hash = keep_file(tmp_path / "other", b"another file")
    back = restore(tmp_path / "copy.tar", tmp_path / "other", clock)
    assert back.replaced == tmp_path / "other" / "backups" / "replaced-20270115-080000.db"
    assert back.replaced is not None
    with closing(sqlite3.connect(back.replaced)) as replaced:
        assert replaced.execute("SELECT id FROM conversations").fetchall() == [("old",)]
    assert (tmp_path / "other" / "blobs" / hash[:2] / hash).exists()
    async with Stores.opened(None, tmp_path / "other", now=clock) as again:
        assert [one.id for one in await again.durable.conversations.listed("local")] == ["a"]


async def test_a_file_that_is_not_there_is_counted_and_the_rest_is_copied(tmp_path, stores, clock):
    (tmp_path / "data" / "blobs" / HASH[:2] / HASH).unlink()
    made = back_up(tmp_path / "data", tmp_path / "copy.tar", clock)
    assert (made.conversations, made.files, made.missing) == (1, 0, 1)


def test_there_must_be_something_to_copy_and_a_new_place_for_it(tmp_path, clock):
    with pytest.raises(StartFailed, match="nothing to back up"):
        back_up(tmp_path, tmp_path / "copy.tar", clock)
    (tmp_path / FILE).touch()
    (tmp_path / "copy.tar").touch()
    with pytest.raises(StartFailed, match="exists already"):
        back_up(tmp_path, tmp_path / "copy.tar", clock)
    with pytest.raises(StartFailed, match=r"cannot be written: No such file"):
        back_up(tmp_path, tmp_path / "gone" / "copy.tar", clock)


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w") as made:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
    return path


MANIFEST = json.dumps({"format": 1, "tables": "0001"}).encode()


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({}, "is not a backup"),
        ({"readme.txt": b"x"}, "is not a backup"),
        ({"duologue.json": json.dumps({"format": 1, "tables": "9999"}).encode()}, "newer Duologue"),
        ({"duologue.json": json.dumps({"format": 2, "tables": "0001"}).encode()}, "newer Duologue"),
        ({"duologue.json": MANIFEST}, "contains no database"),
        ({"duologue.json": MANIFEST, "../evil": b"x"}, "which is not part of a backup"),
        ({"duologue.json": MANIFEST, f"blobs/{HASH[:2]}/../../x": b"x"}, "which is not part of a backup"),
        ({"duologue.json": MANIFEST, f"blobs/{HASH[:2]}/{HASH}": b"other"}, "is damaged: the content"),
        (
            {"duologue.json": MANIFEST, FILE: b"not a database" * 999},
            "is damaged: its database is incomplete",
        ),
    ],
)
def test_what_is_no_backup_is_refused_and_the_folder_stays_as_it_was(tmp_path, clock, members, words):
    file = archive(tmp_path / "copy.tar", members)
    data = tmp_path / "data"
    data.mkdir()
    (data / FILE).write_bytes(b"what was there")
    with pytest.raises(StartFailed, match=words):
        restore(file, data, clock)
    assert (data / FILE).read_bytes() == b"what was there"
    assert not [path for path in data.rglob("*") if path.is_file() and path.name != FILE]


async def test_half_a_backup_is_refused(tmp_path, stores, clock):
    back_up(tmp_path / "data", tmp_path / "copy.tar", clock)
    whole = (tmp_path / "copy.tar").read_bytes()
    (tmp_path / "half.tar").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StartFailed, match="cannot be restored"):
        restore(tmp_path / "half.tar", tmp_path / "other", clock)
    assert not (tmp_path / "other" / FILE).exists()
