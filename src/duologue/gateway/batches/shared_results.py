"""The results of one batch while it runs, in the database that several gateways share, so that another one can continue after this one has died.

Like `ResultFiles`, whose folder holds the finished files until they are stored. Used by `batch_run`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from duologue.errors import Unavailable
from duologue.gateway.batches.result_files import ResultFiles, ResultProgress
from duologue.gateway.files.stored_files import PRIVATE_FILE, PRIVATE_FOLDER
from duologue.store.batches.result_rows import ResultOutcome, ResultRow, ResultRows
from duologue.threads import disk_io
from duologue.wire.batches.batch_lines import ResultLine, known_result, line_key


class SharedResults(ResultFiles):
    """`claim`: the name under which the gateway that carries out the batch has claimed it."""

    def __init__(self, folder: Path, rows: ResultRows, batch: str, claim: str) -> None:
        super().__init__(folder)
        self._rows, self._batch, self._claim = rows, batch, claim

    async def recover(self) -> ResultProgress:
        progress = ResultProgress(set())
        for outcome in ("output", "errors"):
            async for rows in self._rows.of(self._batch, outcome):
                await disk_io(_count, rows, progress)
            if outcome == "output":
                progress.completed = len(progress.keys)
        progress.failed = len(progress.keys) - progress.completed
        return progress

    async def append(self, results: Sequence[ResultLine]) -> int:
        rows = [_row(result) for result in results]
        if not rows:
            return 0
        if not await self._rows.add(self._batch, self._claim, rows):
            raise Unavailable(
                "Another server of this installation has taken over this batch.", code="batch_taken_over"
            )
        return sum(len(row.data) for row in rows)

    async def prepare(self) -> None:
        """Write what is in the rows into the two files."""
        await self._write("output", self.output)
        await self._write("errors", self.errors)

    async def _write(self, outcome: ResultOutcome, path: Path) -> None:
        await disk_io(_emptied, path)
        async for rows in self._rows.of(self._batch, outcome):
            await disk_io(_add, path, [data for _, data in rows])

    async def remove(self) -> None:
        await self._rows.forget(self._batch)
        await super().remove()


def _row(result: ResultLine) -> ResultRow:
    outcome: ResultOutcome = "output" if result.succeeded else "errors"
    return ResultRow(line_key(result.custom_id), outcome, result.encode().decode())


def _count(rows: Sequence[tuple[bytes, str]], progress: ResultProgress) -> None:
    for key, data in rows:
        progress.keys.add(key)
        progress.usage = progress.usage.plus(known_result(data.encode())[1])
        progress.size += len(data)


def _emptied(path: Path) -> None:
    path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)


def _add(path: Path, lines: Sequence[str]) -> None:
    if not path.exists():
        path.touch(mode=PRIVATE_FILE)
    with path.open("a", encoding="utf-8", newline="") as file:
        file.writelines(lines)
