"""Users' files on moto's server: S3 as others understand it. The same tests as those of every storage."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

moto = pytest.importorskip("moto.server", reason="moto's server is tried by make test-engines NAMES=s3")
pytest.importorskip("obstore")
from tests.storage.test_file_store import (  # noqa: F401 - the tests, over the storage below
    files,
    test_a_file_is_kept_whole_and_is_gone_from_where_it_arrived,
    test_a_missing_file_is_missing_however_it_is_asked_for,
    test_an_empty_file_is_a_file,
    test_any_part_of_a_file_can_be_read,
    test_files_are_listed_and_deleted,
    test_it_can_be_used,
    test_sections_are_apart,
    test_small_files_are_replaced_whole,
)

from duologue.config.machines.storage import S3Settings
from duologue.errors import StartFailed
from duologue.storage.file_store import FileStorage

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server with the bucket `users`."""
    import httpx

    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    httpx.put(f"http://{host}:{port}/users").raise_for_status()
    yield f"http://{host}:{port}"
    server.stop()


def opened(address: str, data: Path, **changed: str) -> FileStorage:
    from duologue.storage.object_store import ObjectStorage

    given = {"bucket": "users", "endpoint": address, "access_key": "any", "secret_key": "key"}
    return ObjectStorage(S3Settings.model_validate(given | changed), data)


@pytest.fixture
def storage(address: str, tmp_path: Path) -> FileStorage:
    return opened(address, tmp_path, prefix=tmp_path.name)


async def test_a_missing_bucket_is_told(address: str, tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match="does not exist"):
        await opened(address, tmp_path, bucket="nobodys").check()
