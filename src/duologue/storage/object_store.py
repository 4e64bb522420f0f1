"""Users' files in S3-compatible object storage, through obstore. `opening.py` makes it.

Owns the client: its addresses and time limits, uploads in parts and downloads in ranges. Nothing else imports the library.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from duologue.config.machines.storage import S3Settings
from duologue.errors import NotFound, Problem, StartFailed
from duologue.storage.file_store import FileStorage, FileStore, StoredEntry
from duologue.storage.local_copies import LocalCopies
from duologue.storage.object_errors import is_past_end, problem_of

if TYPE_CHECKING:
    from obstore.store import S3Config, S3Store

RANGE = 4 * 2**20
"""Bytes of one request while a file is read: a slow reader holds no more than that, and no connection."""
PART = 8 * 2**20
PARTS_AT_A_TIME = 3
"""Of one upload; each is in memory."""
CHECK_S = 20.0
REQUEST = "120s"
"""The longest that one request may take, with its body."""
CONNECT = "5s"
RETRIES, RETRY_FOR = 3, timedelta(seconds=15)
WAITS = (timedelta(milliseconds=100), timedelta(seconds=2))


class ObjectStorage(FileStorage):
    """`data`: the folder for what is still arriving, and for copies. Raises StartFailed without the library or with settings that cannot
    be right."""

    is_shared = True

    def __init__(self, settings: S3Settings, data: Path) -> None:
        self.place = f"The bucket {settings.bucket}{f' at {settings.endpoint}' if settings.endpoint else ''}"
        self._client = _client(settings)
        self._data = data

    def section(self, name: str, missing: NotFound) -> FileStore:
        return ObjectStore(self._client, name, self.place, missing, self._data)

    async def check(self) -> None:
        store = self.section("check", NotFound("a file that was just written is not there"))
        name = secrets.token_hex(16)
        try:
            with anyio.fail_after(CHECK_S):
                # Listed first: of a missing bucket only this answer names it.
                async for _ in store.entries():
                    break
                await store.put_bytes(name, b"Duologue")
                await store.read(name, 0, 4)
                await store.delete(name)
        except Problem as problem:
            raise StartFailed(f"Files cannot be stored. {problem.message}") from problem
        except TimeoutError as error:
            raise StartFailed(
                f"Files cannot be stored. {self.place} did not answer within {CHECK_S:.0f} s. Check storage.s3.endpoint."
            ) from error


class ObjectStore(FileStore):
    """Objects `SECTION/NAME` below the prefix of the settings."""

    is_shared = True

    def __init__(self, client: S3Store, section: str, place: str, missing: NotFound, data: Path) -> None:
        self.incoming = data / section / "incoming"
        self._client, self._section, self._place, self._missing = client, section, place, missing
        self._copies = LocalCopies(data / "copies" / section)

    async def put(self, name: str, file: Path) -> None:
        import obstore

        with self._problems():
            await obstore.put_async(
                self._client, self._key(name), file, chunk_size=PART, max_concurrency=PARTS_AT_A_TIME
            )
        with anyio.CancelScope(shield=True):
            await self._copies.adopt(name, file)

    async def put_bytes(self, name: str, data: bytes) -> None:
        import obstore

        with self._problems():
            await obstore.put_async(self._client, self._key(name), data, use_multipart=False)

    async def size(self, name: str) -> int:
        import obstore

        with self._problems():
            return (await obstore.head_async(self._client, self._key(name)))["size"]

    async def read(self, name: str, start: int = 0, size: int = -1) -> bytes:
        import obstore

        if size < 0:
            # Whole files and not ranges, so that an empty one is no error.
            with self._problems():
                whole = await (await obstore.get_async(self._client, self._key(name))).bytes_async()
                return bytes(memoryview(whole)[start:])
        return await self._range(name, start, start + size) if size else b""

    async def pieces(self, name: str, start: int, end: int) -> AsyncIterator[bytes]:
        while start < end:
            piece = await self._range(name, start, min(start + RANGE, end))
            if not piece:
                return
            start += len(piece)
            yield piece

    async def _range(self, name: str, start: int, end: int) -> bytes:
        import obstore
        from obstore.exceptions import BaseError

        try:
            found = await obstore.get_range_async(self._client, self._key(name), start=start, end=end)
            return bytes(memoryview(found))
        except (BaseError, FileNotFoundError) as error:
            if is_past_end(str(error)):
                return b""
            raise problem_of(str(error), self._place, self._missing) from error

    def path(self, name: str) -> Path | None:
        return None

    async def source(self, name: str) -> Path:
        length = await self.size(name)
        return (await self._copies.get(name, lambda: self.pieces(name, 0, length))).absolute()

    async def delete(self, *names: str) -> None:
        import obstore

        for name in names:
            await self._copies.drop(name)
            try:
                with self._problems():
                    await obstore.delete_async(self._client, self._key(name))
            except NotFound:
                continue

    async def entries(self, folder: str = "") -> AsyncIterator[StoredEntry]:
        import obstore

        with self._problems():
            async for some in obstore.list(
                self._client, prefix=self._key(folder) if folder else self._section
            ):
                for found in some:
                    modified = round(found["last_modified"].timestamp() * 1000)
                    yield StoredEntry(
                        found["path"].removeprefix(f"{self._section}/"), found["size"], modified
                    )

    def _key(self, name: str) -> str:
        return f"{self._section}/{name}"

    @contextmanager
    def _problems(self) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, FileNotFoundError) as error:
            raise problem_of(str(error), self._place, self._missing) from error


def _client(settings: S3Settings) -> S3Store:
    try:
        from obstore.exceptions import BaseError
        from obstore.store import S3Store
    except ImportError as error:
        raise StartFailed(
            "Files in object storage (storage.s3) need another package. Install it: pip install 'duologue[s3]'."
        ) from error
    config: S3Config = {
        "region": settings.region,
        "virtual_hosted_style_request": False,
        # Not every compatible server knows requests that delete many objects.
        "disable_bulk_delete": True,
    }
    if settings.endpoint:
        config["endpoint"] = settings.endpoint
    if settings.access_key:
        config |= {"access_key_id": settings.access_key, "secret_access_key": settings.secret}
    try:
        return S3Store(
            settings.bucket,
            prefix=settings.prefix.strip("/") or None,
            config=config,
            client_options={
                "allow_http": settings.endpoint.startswith("http://"),
                "timeout": REQUEST,
                "connect_timeout": CONNECT,
            },
            retry_config={
                "max_retries": RETRIES,
                "retry_timeout": RETRY_FOR,
                "backoff": {"init_backoff": WAITS[0], "max_backoff": WAITS[1], "base": 2},
            },
        )
    except BaseError as error:
        reason = str(error).splitlines()[0]
        raise StartFailed(
            f"The settings of the object storage (storage.s3) are not usable: {reason}."
        ) from error
