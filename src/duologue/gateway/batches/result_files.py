"""The results of one batch while it runs: two files that grow, and survive whatever ends the server.

Every result is on the disk when `append` returns. Results that were cut off in the middle of a line are dropped when the batch goes on
after a restart. Used by `batch_run`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from duologue.errors import Unavailable
from duologue.gateway.files.stored_files import PRIVATE_FILE, PRIVATE_FOLDER
from duologue.threads import ThreadLane
from duologue.values.batches.stored_batch import BatchUsage
from duologue.wire.batches.batch_lines import ResultLine, known_result

T = TypeVar("T")

OUTPUT, ERRORS = "output.jsonl", "errors.jsonl"


class ResultProgress(Struct):
    """What the files have: the keys of the answered requests, how many succeeded and failed, the tokens used, and the bytes."""

    keys: set[bytes]
    completed: int = 0
    failed: int = 0
    usage: BatchUsage = BatchUsage()
    size: int = 0


class ResultFiles:
    """The files of one batch, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # One thread: two results never mix.
        self._lane = ThreadLane(1)

    @property
    def output(self) -> Path:
        """The answers of the requests that succeeded."""
        return self._folder / OUTPUT

    @property
    def errors(self) -> Path:
        """Those of the others."""
        return self._folder / ERRORS

    async def recover(self) -> ResultProgress:
        """What is there, after a half of a line at the end was cut off. Raises Unavailable."""
        return await self._do(self._recover)

    async def append(self, results: Sequence[ResultLine]) -> int:
        """Write results, all or none; gives their bytes. They are on the disk when this returns. Raises Unavailable."""
        return await self._do(self._append, results)

    async def prepare(self) -> None:
        """Have everything in the two files: they are about to become stored files."""

    async def sizes(self) -> tuple[int, int]:
        """The bytes of the output and of the errors."""
        return await self._do(lambda: (_size(self.output), _size(self.errors)))

    async def remove(self) -> None:
        """Remove the folder with what is still in it."""
        await self._do(shutil.rmtree, self._folder, True)

    def _append(self, results: Sequence[ResultLine]) -> int:
        self._folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        written = 0
        for path, succeeded in ((self.output, True), (self.errors, False)):
            data = b"".join(result.encode() for result in results if result.succeeded is succeeded)
            if data:
                _add(path, data)
                written += len(data)
        return written

    def _recover(self) -> ResultProgress:
        progress = ResultProgress(set())
        if self.output.exists():
            _recover(self.output, progress)
        progress.completed = len(progress.keys)
        if self.errors.exists():
            _recover(self.errors, progress)
        progress.failed = len(progress.keys) - progress.completed
        return progress

    async def _do(self, function: Callable[..., T], *args: object) -> T:
        try:
            return await self._lane.run(function, *args)
        except OSError as error:
            raise Unavailable(
                f"The folder {self._folder} cannot be used: {error.strerror or error}. Check its free space and permissions.",
                code="storage_unavailable",
            ) from None


def _add(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE_FILE)
    with os.fdopen(descriptor, "ab") as file:
        start = file.tell()
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            with suppress(OSError):
                os.ftruncate(file.fileno(), start)
            raise


def _recover(path: Path, progress: ResultProgress) -> None:
    good = 0
    with path.open("r+b") as file:
        for line in file:
            try:
                if not line.endswith(b"\n"):
                    break
                key, usage = known_result(line)
            except msgspec.DecodeError:
                break
            good += len(line)
            progress.keys.add(key)
            progress.usage = progress.usage.plus(usage)
        file.truncate(good)
    progress.size += good


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
