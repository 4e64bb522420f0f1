"""The journal of downloads is read again as it was written, and anything else is ignored."""

from pathlib import Path

import anyio
import pytest

from duologue.gateway.models.download_journal import LONGEST, DownloadJournal, JournalEntry

pytestmark = pytest.mark.anyio
ENTRIES = [JournalEntry("qwen3-4b", True, "ann", "qwen3-4b", 1), JournalEntry("a/b:Q8_0")]


async def test_what_was_written_is_read_again(tmp_path):
    path = tmp_path / "new" / "downloads.json"
    await DownloadJournal(path).write(ENTRIES)
    assert await DownloadJournal(path).read() == ENTRIES
    assert [file.name for file in path.parent.iterdir()] == ["downloads.json"]


async def test_an_empty_journal_is_no_file(tmp_path):
    path = tmp_path / "downloads.json"
    journal = DownloadJournal(path)
    assert await journal.read() == []
    await journal.write(ENTRIES)
    await journal.write([])
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'[{"what": 1}]', b"[" * LONGEST])
async def test_a_damaged_journal_is_ignored(tmp_path, content, caplog):
    path = tmp_path / "downloads.json"
    path.write_bytes(content)
    assert await DownloadJournal(path).read() == []
    assert "ignored" in caplog.text


async def test_a_folder_that_cannot_be_written_stops_nothing(tmp_path, caplog):
    (tmp_path / "file").write_bytes(b"")
    await DownloadJournal(tmp_path / "file" / "downloads.json").write(ENTRIES)
    assert "cannot be written" in caplog.text


def test_a_download_outside_of_a_server_is_noted_until_it_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "downloads.json"
    mine = JournalEntry("mine", use=True)
    with DownloadJournal(path).holding(ENTRIES[0]), DownloadJournal(path).holding(mine):
        assert anyio.run(DownloadJournal(path).read) == [ENTRIES[0], mine]
    assert not path.exists()


def test_a_download_that_fails_outside_of_a_server_is_not_resumed(tmp_path: Path) -> None:
    path = tmp_path / "downloads.json"
    with pytest.raises(OSError, match="gone"), DownloadJournal(path).holding(ENTRIES[0]):
        raise OSError("gone")
    assert not path.exists()
