"""A damaged database refuses to start, and says which command restores the newest backup."""

from __future__ import annotations

import shlex

import anyio
import pytest
from tests.store.backup.damage import DAMAGES, conversations, make_database, truncated, zeroed_pages

from duologue.errors import StartFailed
from duologue.store.backup import archive, daily_copies, integrity
from duologue.store.backup.integrity import DatabaseDamaged, always, check, check_at_start, mark_damaged
from duologue.store.database import FILE
from duologue.store.stores import Stores

NOW = 1_800_000_000_000


def opened(data) -> None:
    async def start() -> None:
        async with Stores.opened(None, data, now=lambda: NOW):
            pass

    anyio.run(start)


def copied(data):
    """A daily copy of the database of this folder."""
    unfinished = daily_copies.make(data / FILE, data / daily_copies.FOLDER, NOW, always)
    assert unfinished is not None
    return daily_copies.keep(unfinished, 7).file


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_database_does_not_start_and_the_command_it_names_restores_the_newest_backup(
    tmp_path, damage
):
    file = make_database(tmp_path / "data", "a", "b")
    copy = copied(tmp_path / "data")
    damage(file)
    was = file.read_bytes()
    with pytest.raises(StartFailed) as refusal:
        opened(tmp_path / "data")
    assert f"The database {file} is damaged (" in refusal.value.message
    command = shlex.split(refusal.value.message.rpartition(": ")[2])
    assert command == ["duologue", "backup", "--restore", str(copy), "--data", str(tmp_path / "data")]
    restored = archive.restore(copy, tmp_path / "data", lambda: NOW)
    assert restored.conversations == 2
    assert conversations(tmp_path / "data") == ["a", "b"]
    # What is left of the damaged one is kept, as it was.
    assert restored.replaced is not None
    aside = restored.replaced.read_bytes()
    assert aside == was or restored.replaced.name.startswith("replaced-")
    opened(tmp_path / "data")


def test_a_database_without_a_backup_says_so(tmp_path):
    truncated(make_database(tmp_path, "a"))
    with pytest.raises(StartFailed, match=r"There is no backup of it in .*backups\. Restore one of your own"):
        opened(tmp_path)


def test_a_damaged_backup_is_passed_over_for_an_older_one(tmp_path):
    file = make_database(tmp_path, "a")
    older, newer = copied(tmp_path), copied(tmp_path)
    truncated(newer)
    truncated(file)
    with pytest.raises(StartFailed) as refusal:
        opened(tmp_path)
    assert str(older) in refusal.value.message


def test_a_file_that_became_empty_is_damage_where_there_are_backups_and_new_where_there_are_none(tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / FILE).touch()
    opened(tmp_path / "new")
    file = make_database(tmp_path / "old", "a")
    copied(tmp_path / "old")
    file.write_bytes(b"")
    with pytest.raises(StartFailed, match=r"is damaged \(the file is empty\)"):
        opened(tmp_path / "old")


def test_the_database_of_another_program_is_told_as_that_and_left_alone(tmp_path):
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.execute("CREATE TABLE conversations (recipe TEXT)")
    with pytest.raises(StartFailed, match="tables of another program"):
        opened(tmp_path)


def test_a_large_file_is_checked_later_unless_it_was_found_damaged(tmp_path, monkeypatch):
    file = make_database(tmp_path, "a")
    assert check_at_start(file) is True
    zeroed_pages(file)
    monkeypatch.setattr(integrity, "CHECKED_AT_START", 1000)
    assert check_at_start(file) is False
    mark_damaged(file)
    with pytest.raises(StartFailed, match="is damaged"):
        check_at_start(file)


def test_the_mark_goes_when_the_database_is_sound_again(tmp_path):
    file = make_database(tmp_path, "a")
    mark_damaged(file)
    assert check_at_start(file) is True
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(integrity.MARK)] == []


def test_a_check_ends_when_it_is_told_to(tmp_path, monkeypatch):
    monkeypatch.setattr(integrity, "STEPS", 1)
    file = make_database(tmp_path, "a", "b", "c")
    assert check(file, lambda: False) is False
    assert check(file) is True


def test_a_locked_or_missing_file_is_no_damage(tmp_path):
    assert check(tmp_path / "no" / "folder.db") is False
    (tmp_path / "folder").mkdir()
    assert check(tmp_path / "folder") is False


def test_the_words_of_the_check_are_one_short_line(tmp_path):
    file = make_database(tmp_path, "a")
    zeroed_pages(file)
    with pytest.raises(DatabaseDamaged) as damage:
        check(file)
    assert 0 < len(str(damage.value)) <= 300
    assert "\n" not in str(damage.value)
