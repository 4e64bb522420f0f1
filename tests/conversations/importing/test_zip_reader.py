import random
import zipfile
from io import BytesIO

import pytest

from duologue.conversations.importing import zip_reader
from duologue.conversations.importing.zip_reader import Archive
from duologue.errors import BadRequest, TooLarge


def packed(**members: bytes) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("folder/", b"")
        for name, data in members.items():
            target.writestr(name, data)
    return buffer.getvalue()


def test_members_are_read_by_name():
    archive = Archive(packed(a=b"one", b=b"two"))
    assert archive.names == ("a", "b")
    assert archive.read("b") == b"two"
    assert "a" in archive
    assert "folder/" not in archive
    with pytest.raises(KeyError):
        archive.read("c")


def test_what_is_no_archive_is_refused():
    with pytest.raises(BadRequest) as met:
        Archive(b"PK\x03\x04 and nothing behind it")
    assert met.value.code == "import_unreadable"


def test_a_damaged_member_is_refused_and_named():
    data = packed(a=b"hello " * 100)
    # A local header is 30 bytes and the name. Searched for by its name instead, the member was missed
    # at the times of day whose stamp holds the letter.
    start = zipfile.ZipFile(BytesIO(data)).getinfo("a").header_offset + 30 + len("a")
    with pytest.raises(BadRequest, match="a in this archive"):
        Archive(data[:start] + b"\xff\xff\xff\xff" + data[start + 4 :]).read("a")


def test_no_more_is_unpacked_than_the_limits_allow():
    data = packed(a=bytes(1000), b=bytes(1000))
    with pytest.raises(TooLarge):
        Archive(data, member=999).read("a")
    archive = Archive(data, whole=1500)
    archive.read("a")
    with pytest.raises(TooLarge):
        archive.read("b")


def test_a_large_member_that_is_packed_beyond_reason_is_refused_before_it_is_read(monkeypatch):
    monkeypatch.setattr(zip_reader, "SMALL_BYTES", 1000)
    archive = Archive(
        packed(blanks=bytes(1_000_000), text=random.Random(1).randbytes(2000), small=bytes(1000))
    )
    with pytest.raises(TooLarge, match="blanks in this archive unpacks to more than 200 times its size"):
        archive.read("blanks")
    assert len(archive.read("text")) == 2000
    assert len(archive.read("small")) == 1000


def test_a_file_is_found_by_the_beginning_of_its_name():
    archive = Archive(
        packed(**{"file-Ab1-cat.png": b"1", "dalle/file-Cd2.webp": b"2", "u/file_00-x-y.jpg": b"3"})
    )
    assert archive.starting_with("file-Ab1") == "file-Ab1-cat.png"
    assert archive.starting_with("file-Cd2") == "dalle/file-Cd2.webp"
    assert archive.starting_with("file_00") == "u/file_00-x-y.jpg"
    assert archive.starting_with("file-Ab1-cat.png") == "file-Ab1-cat.png"
    assert archive.starting_with("file-A") is None
