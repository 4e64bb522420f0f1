"""Daily copies: consistent while others write, numbered, private, and never more than are kept."""

from __future__ import annotations

import shutil
import sqlite3
from collections import namedtuple
from contextlib import closing

import pytest
from tests.store.backup.damage import conversations, make_database

from duologue.errors import Unavailable
from duologue.store.backup import daily_copies
from duologue.store.backup.archive import restore
from duologue.store.backup.integrity import always, check
from duologue.store.database import FILE

NOW = 1_800_000_000_000
DAY = 86_400_000


def copied(data, at: int = NOW, most: int = 7):
    unfinished = daily_copies.make(data / FILE, data / "backups", at, always)
    assert unfinished is not None
    return daily_copies.keep(unfinished, most)


def test_a_copy_is_one_private_file_named_after_its_number_and_time(tmp_path):
    make_database(tmp_path, "a")
    made = copied(tmp_path)
    assert made == (tmp_path / "backups" / "daily-000001-20270115-080000.db", 1, NOW)
    assert made.file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in made.file.parent.iterdir()] == [made.file.name]
    assert check(made.file)


def test_a_copy_has_one_state_of_things_while_others_write_and_they_do_not_wait(tmp_path, monkeypatch):
    file = make_database(tmp_path, "a")
    monkeypatch.setattr(daily_copies, "PAGES", 5)
    written = 0
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        before = writer.execute("SELECT count(*) FROM messages").fetchone()

        def write() -> bool:
            nonlocal written
            writer.execute("UPDATE conversations SET title = title || 'x'")
            written += 1
            return True

        unfinished = daily_copies.make(file, tmp_path / "backups", NOW, write)
    assert unfinished is not None
    assert written > 5
    with closing(sqlite3.connect(unfinished)) as copy:
        assert copy.execute("SELECT title FROM conversations").fetchone() == ("",)
        assert copy.execute("SELECT count(*) FROM messages").fetchone() == before
    assert check(unfinished)


def test_the_newest_are_kept_by_their_number_whatever_the_clock_said(tmp_path):
    make_database(tmp_path, "a")
    for at in (NOW + 900 * DAY, NOW, NOW + DAY, NOW - 900 * DAY):
        copied(tmp_path, at, most=3)
    kept = daily_copies.copies(tmp_path / "backups")
    assert [(copy.number, copy.made) for copy in kept] == [(2, NOW), (3, NOW + DAY), (4, NOW - 900 * DAY)]
    newest = daily_copies.newest(tmp_path / "backups")
    assert newest is not None
    assert newest.number == 4


def test_foreign_files_in_the_folder_are_left_alone(tmp_path):
    make_database(tmp_path, "a")
    folder = tmp_path / "backups"
    folder.mkdir()
    for name in (
        "daily-notes.db",
        "daily-000009-99999999-999999.db",
        "replaced-20260101-000000.db",
        "mine.txt",
    ):
        (folder / name).write_text("mine")
    copied(tmp_path, most=1)
    copied(tmp_path, NOW + DAY, most=1)
    assert len(list(folder.iterdir())) == 5


def test_a_copy_that_is_told_to_stop_leaves_nothing(tmp_path):
    make_database(tmp_path, "a")
    assert daily_copies.make(tmp_path / FILE, tmp_path / "backups", NOW, lambda: False) is None
    assert list((tmp_path / "backups").iterdir()) == []


def test_a_disk_without_room_is_a_sentence_and_the_backup_is_not_begun(tmp_path, monkeypatch):
    make_database(tmp_path, "a")
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(10**12, 10**12, 10**7))
    with pytest.raises(
        Unavailable, match=r"No backup was made\. The disk of .* has 10 MB left.*backups\.keep"
    ):
        copied(tmp_path)
    assert list((tmp_path / "backups").iterdir()) == []


def test_a_disk_that_fills_up_meanwhile_leaves_no_half_copy_and_the_earlier_ones(tmp_path, monkeypatch):
    make_database(tmp_path, "a")
    first = copied(tmp_path)
    connect = sqlite3.connect

    def small(path, *arguments):
        connection = connect(path, *arguments)
        if str(path).endswith(".part"):
            connection.execute("PRAGMA max_page_count = 3")
        return connection

    monkeypatch.setattr(sqlite3, "connect", small)
    with pytest.raises(Unavailable, match=r"No backup was made\. The disk that holds .* is full"):
        copied(tmp_path)
    assert list((tmp_path / "backups").iterdir()) == [first.file]


def test_a_half_copy_of_a_server_that_was_killed_is_removed_by_the_next(tmp_path):
    make_database(tmp_path, "a")
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / "daily-000001-20270115-080000.db.part").write_bytes(b"half")
    copied(tmp_path)
    assert len(list((tmp_path / "backups").iterdir())) == 1


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
    make_database(tmp_path, "a")
    (tmp_path / "backups").write_text("a file")
    with pytest.raises(Unavailable, match="cannot be written"):
        copied(tmp_path)


def test_a_copy_is_restored_with_what_is_missing_counted(tmp_path):
    make_database(tmp_path / "data", "a")
    with closing(sqlite3.connect(tmp_path / "data" / FILE)) as database, database:
        columns = [
            row[1] for row in database.execute("PRAGMA table_info(blobs)") if row[3] and row[4] is None
        ]
        values = {"hash": "f" * 64, "mime": "image/png"}
        database.execute(
            f"INSERT INTO blobs ({', '.join(columns)}) VALUES ({', '.join('?' for _ in columns)})",
            [values.get(column, 1) for column in columns],
        )
    made = copied(tmp_path / "data")
    back = restore(made.file, tmp_path / "elsewhere", lambda: NOW)
    assert (back.conversations, back.files, back.missing, back.replaced) == (1, 0, 1, None)
    assert conversations(tmp_path / "elsewhere") == ["a"]
    assert made.file.exists()
