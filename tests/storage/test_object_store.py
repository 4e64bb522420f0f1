"""Object storage: what goes wrong is told in a sentence, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.file_stores import object_storage
from tests.support.ports import free_port
from tests.support.s3_stand_in import S3StandIn, s3_stand_in

from duologue.config.machines.storage import S3Settings, StorageSettings
from duologue.errors import NotFound, Problem, StartFailed, Unavailable
from duologue.storage.file_store import FileStore
from duologue.storage.opening import file_storage

pytestmark = pytest.mark.anyio


@pytest.fixture
def stand_in() -> Iterator[S3StandIn]:
    with s3_stand_in() as server:
        yield server


@pytest.fixture
def files(stand_in: S3StandIn, tmp_path: Path) -> FileStore:
    return object_storage(stand_in, tmp_path).section("files", NotFound("gone"))


def arrived(files: FileStore, data: bytes = b"words") -> Path:
    files.incoming.mkdir(parents=True, exist_ok=True)
    path = files.incoming / "new"
    path.write_bytes(data)
    return path


async def test_names_begin_with_the_prefix(stand_in: S3StandIn, files: FileStore) -> None:
    await files.put_bytes("a/b", b"1")
    assert stand_in.names() == ["duologue/files/a/b"]


async def test_a_large_file_goes_up_in_parts(stand_in: S3StandIn, files: FileStore) -> None:
    await files.put("large", arrived(files, bytes(9 * 2**20)))
    assert stand_in.requests.count("PUT duologue/files/large") == 2
    assert stand_in.parts == {}


async def test_what_was_just_stored_is_read_from_the_disk(stand_in: S3StandIn, files: FileStore) -> None:
    await files.put("a", arrived(files))
    stand_in.requests.clear()
    assert (await files.source("a")).read_bytes() == b"words"
    assert stand_in.requests == ["HEAD duologue/files/a"], "it must be there still, but is not fetched"


async def test_a_wrong_key_is_told_at_the_start(stand_in: S3StandIn, tmp_path: Path) -> None:
    with pytest.raises(
        StartFailed, match=r"bucket users at http.* refuses the access key.*storage\.s3\.access_key"
    ):
        await object_storage(stand_in, tmp_path, secret_key="wrong").check()


async def test_a_missing_bucket_is_told_at_the_start(stand_in: S3StandIn, tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match=r"bucket nobodys at http.* does not exist\. Make the bucket"):
        await object_storage(stand_in, tmp_path, bucket="nobodys").check()


async def test_a_server_that_does_not_answer_is_told_at_the_start(
    stand_in: S3StandIn, tmp_path: Path
) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(StartFailed, match=r"cannot be used: no answer\. Check that the server"):
        await object_storage(stand_in, tmp_path, endpoint=nowhere).check()


async def test_a_key_that_may_not_delete_is_told_at_the_start(stand_in: S3StandIn, tmp_path: Path) -> None:
    stand_in.refuse = ("DELETE", 403, "AccessDenied")
    with pytest.raises(StartFailed, match=r"refuses the access key \(AccessDenied\).*list and delete"):
        await object_storage(stand_in, tmp_path).check()


@pytest.mark.parametrize(
    ("status", "said", "code"),
    [
        (403, "AccessDenied", "storage_denied"),
        (404, "NoSuchBucket", "storage_bucket_missing"),
        (503, "SlowDown", "storage_unavailable"),
    ],
)
async def test_a_file_that_cannot_be_stored_stays_where_it_arrived(
    stand_in: S3StandIn, files: FileStore, status: int, said: str, code: str
) -> None:
    stand_in.refuse = ("PUT", status, said)
    path = arrived(files)
    with pytest.raises(Unavailable) as told:
        await files.put("a", path)
    assert told.value.code == code
    assert path.read_bytes() == b"words"
    stand_in.refuse = None
    await files.put("a", path)
    assert await files.read("a") == b"words"


async def test_a_storage_that_fails_while_a_file_is_read_is_told(
    stand_in: S3StandIn, files: FileStore
) -> None:
    await files.put_bytes("a", b"words")
    stand_in.refuse = ("GET", 500, "InternalError")
    with pytest.raises(Problem) as told:
        await files.read("a")
    assert (told.value.code, told.value.status) == ("storage_unavailable", 503)
    assert "it answered 500 InternalError" in told.value.message


def test_files_are_in_one_place(tmp_path: Path) -> None:
    both = StorageSettings(folder=tmp_path, s3=S3Settings(bucket="users"))
    with pytest.raises(StartFailed, match="not in both"):
        file_storage(both, tmp_path)


async def test_a_shared_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    storage = file_storage(StorageSettings(folder=tmp_path / "mount"), tmp_path)
    with pytest.raises(StartFailed, match=r"mount \(storage\.folder\) does not exist\. Mount it"):
        await storage.check()
    assert not (tmp_path / "mount").exists(), "it is not made: a disk may not be mounted"
    (tmp_path / "mount").write_text("a file")
    with pytest.raises(StartFailed):
        await storage.check()
