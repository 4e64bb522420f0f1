"""Every kind of storage for users' files: a data folder, a shared folder, and object storage on the stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.s3_stand_in import KEY, SECRET, S3StandIn, s3_stand_in

from duologue.config.machines.storage import S3Settings
from duologue.storage.file_store import FileStorage
from duologue.storage.folder_store import FolderStorage

KINDS = ("data", "shared", "s3")


def object_storage(stand_in: S3StandIn, data: Path, **changed: str) -> FileStorage:
    """Object storage on the stand-in; `changed` settings."""
    pytest.importorskip("obstore")
    from duologue.storage.object_store import ObjectStorage

    settings = {
        "bucket": "users",
        "endpoint": stand_in.address,
        "prefix": "duologue/",
        "access_key": KEY,
        "secret_key": SECRET,
    }
    return ObjectStorage(S3Settings.model_validate(settings | changed), data)


@contextmanager
def storages(kind: str, folder: Path, gateways: int = 1) -> Iterator[list[FileStorage]]:
    """A storage of this kind, as so many gateways see it, each with a data folder of its own."""
    data = [folder / f"data-{number}" for number in range(gateways)]
    if kind == "data":
        yield [FolderStorage(own) for own in data]
    elif kind == "shared":
        shared = folder / "shared"
        shared.mkdir()
        yield [FolderStorage(shared, is_shared=True) for _ in data]
    else:
        with s3_stand_in() as stand_in:
            yield [object_storage(stand_in, own) for own in data]
