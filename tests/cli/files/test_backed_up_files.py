"""The files of a backup in object storage."""

from __future__ import annotations

from pathlib import Path

from tests.support.file_stores import object_storage
from tests.support.s3_stand_in import s3_stand_in

from duologue.cli.files.backed_up_files import ObjectFiles
from duologue.storage.opening import blob_store

HASH = "ab" * 32


def test_each_file_is_on_the_disk_only_while_it_is_read(tmp_path: Path) -> None:
    with s3_stand_in() as stand_in:
        files = ObjectFiles(blob_store(object_storage(stand_in, tmp_path / "data")))
        assert not files.has(HASH)
        with files.opened(HASH) as path:
            assert path is None
        (tmp_path / "new").write_bytes(b"words")
        files.keep(HASH, tmp_path / "new")
        assert files.has(HASH)
        assert not (tmp_path / "new").exists()
        with files.opened(HASH) as path:
            assert path is not None
            assert path.read_bytes() == b"words"
        assert not path.exists()
