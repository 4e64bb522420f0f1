"""A service of batches over a database in memory, whose requests a stand-in answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from tests.support.store_fixtures import Clock, clock, memory
from tests.support.stored_files import stored
from tests.support.user_files import file_folder

from duologue.config.sections.batches import BatchSettings, FileSettings
from duologue.errors import AccessRevoked
from duologue.gateway.batches.line_executor import Answer
from duologue.gateway.batches.service import BatchService
from duologue.gateway.files.stored_files import StoredFiles
from duologue.notifier import Notifier
from duologue.store.batches.batch_rows import BatchRows
from duologue.store.batches.file_rows import FileRows
from duologue.store.database import Database
from duologue.values.batches.stored_batch import StoredBatch
from duologue.wire.batches.batch_object import BatchBody

__all__ = ["clock", "memory"]

URL = "/v1/chat/completions"


class StandIn:
    """Answers each request with its own body; one that says `hold` waits for `release`, one that says `status` fails with it, and one
    that says `bug` raises. `seen` is what came, `held` how many wait."""

    paths = (URL, "/v1/completions")

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.held = 0
        self.running = self.most = 0
        self.release = anyio.Event()
        self.news = Notifier()

    async def carry_out(self, path: str, body: bytes, user: str, role: str) -> Answer:
        fields = json.loads(body)
        self.seen.append((fields["n"], user, role))
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            self.news.notify()
            if "bug" in fields:
                raise RuntimeError("a bug")
            if "hold" in fields:
                self.held += 1
                self.news.notify()
                await self.release.wait()
            usage = {"prompt_tokens": 2, "completion_tokens": 1}
            reply = msgspec.json.encode({"n": fields["n"], "usage": usage})
            return Answer(fields.get("status", 200), f"req_{fields['n']}", reply)
        finally:
            self.running -= 1

    async def until(self, true: Callable[[], bool]) -> None:
        with anyio.fail_after(60):
            while not true():
                await self.news.wait()


def lines(count: int, first: int = 0, **body: Any) -> bytes:
    """An input of so many requests; `body` is what they have besides their number."""
    return b"".join(
        json.dumps(
            {"custom_id": f"r{number}", "method": "POST", "url": URL, "body": {"n": number, **body}}
        ).encode()
        + b"\n"
        for number in range(first, first + count)
    )


class Access:
    """Who may do what; a key or user in `revoked` may have nothing go on, once `end` was called."""

    def __init__(self) -> None:
        self.roles: dict[str, str] = {"ada": "user", "ben": "admin"}
        self.revoked: set[str] = set()
        self.scopes: dict[anyio.CancelScope, tuple[str, str]] = {}

    def role(self, user: str) -> str | None:
        return self.roles.get(user)

    def end(self, name: str) -> None:
        self.revoked.add(name)
        for scope, names in self.scopes.items():
            if name in names:
                scope.cancel()

    @contextmanager
    def allowed(self, user: str, key: str) -> Iterator[None]:
        if {user, key} & self.revoked or user not in self.roles:
            raise AccessRevoked
        with anyio.CancelScope() as scope:
            self.scopes[scope] = user, key
            yield
        if scope.cancelled_caught:
            raise AccessRevoked


class Place:
    """The parts of a server, which can be started and killed again and again."""

    def __init__(self, memory: Database, clock: Clock, folder: Path) -> None:
        self.clock, self.folder = clock, folder
        self.rows = BatchRows(memory, clock)
        self.file_rows = FileRows(memory, clock)
        self.requests = StandIn()
        self.access = Access()
        self.files = StoredFiles(FileSettings(), file_folder(folder), limit_mb=100, now=clock)
        self.service: BatchService

    @asynccontextmanager
    async def running(
        self, files: FileSettings | None = None, **settings: Any
    ) -> AsyncIterator[BatchService]:
        """A server from its start until it is killed: what runs is cancelled."""
        self.files = StoredFiles(
            files or FileSettings(), file_folder(self.folder), limit_mb=100, now=self.clock
        )
        self.service = BatchService(
            BatchSettings(**settings),
            self.folder / "batches",
            self.files,
            self.requests,  # type: ignore[arg-type]
            access=self.access,
            now=self.clock,
            again=0.01,
        )
        async with anyio.create_task_group() as tasks:
            await tasks.start(self.files.run, self.file_rows)
            await tasks.start(self.service.run, self.rows)
            yield self.service
            tasks.cancel_scope.cancel()

    async def made(self, data: bytes, user: str = "ada", **more: Any) -> StoredBatch:
        """A batch of these lines."""
        file = await stored(self.files, data, user)
        body = BatchBody.model_validate({"input_file_id": file.id, "endpoint": URL, **more})
        return await self.service.create(user, body)

    async def until(self, true: Callable[[], Awaitable[bool]]) -> None:
        with anyio.fail_after(60):
            while not await true():  # noqa: ASYNC110 (a client of the API is told nothing either)
                await anyio.sleep(0.002)

    async def ended(self, batch: StoredBatch) -> StoredBatch:
        """The batch once it has ended."""

        async def has_ended() -> bool:
            return (await self.service.get(batch.user, batch.id)).ended

        await self.until(has_ended)
        return await self.service.get(batch.user, batch.id)

    async def answered(self, batch: StoredBatch, count: int) -> None:
        """Return once so many answers of a batch that runs are on the disk."""

        async def are_there() -> bool:
            return (await self.service.get(batch.user, batch.id)).counts.completed >= count

        await self.until(are_there)

    async def results(self, user: str, id: str) -> list[dict[str, Any]]:
        """The lines of a file of results; none without one."""
        if not id:
            return []
        _, data = await self.files.read(user, id, 10**9)
        return [json.loads(line) for line in data.splitlines()]


Running = AbstractAsyncContextManager[BatchService]


@pytest.fixture
def place(memory: Database, clock: Clock, tmp_path: Path) -> Place:
    return Place(memory, clock, tmp_path)
