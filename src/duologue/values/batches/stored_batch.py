"""Files that clients of the API stored, and batches of requests, as the database has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

FilePurpose = Literal["batch", "batch_output", "user_data", "assistants", "vision"]
BatchStatus = Literal[
    "validating", "failed", "in_progress", "finalizing", "completed", "expired", "cancelling", "cancelled"
]
RUNNING: tuple[BatchStatus, ...] = ("validating", "in_progress", "finalizing", "cancelling")
"""The states of a batch that has not ended."""


class StoredFile(Struct, frozen=True):
    """A file; its bytes are in the data folder, under the id. Times are milliseconds since 1970 (UTC), `expires` 0 for never."""

    id: str
    user: str
    purpose: FilePurpose
    name: str
    size: int
    created: int
    expires: int = 0


class LineError(Struct, frozen=True, omit_defaults=True):
    """What is wrong with a line of a batch's input; `line` counts from 1, None where it is about the whole file."""

    code: str
    message: str
    line: int | None = None
    param: str | None = None


class LineCounts(Struct, frozen=True):
    """How many requests a batch has, and how many of them were answered or failed."""

    total: int = 0
    completed: int = 0
    failed: int = 0


class BatchUsage(Struct, frozen=True):
    """The tokens of all answers of a batch."""

    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0

    def plus(self, other: BatchUsage) -> BatchUsage:
        return BatchUsage(
            self.input + other.input,
            self.cached + other.cached,
            self.output + other.output,
            self.reasoning + other.reasoning,
        )


class StoredBatch(Struct, frozen=True):
    """A batch. `times`: when it came into each of its states but the first (ms); `created`, `expires`: when it was made, and until when
    it runs; `keep_seconds`: how long its results are kept, 0 as long as the settings say. `output_file` and `error_file` are ids, "" for
    none (yet). `key`: the id of the key it was made with, None without one."""

    id: str
    user: str
    endpoint: str
    input_file: str
    created: int
    expires: int
    status: BatchStatus = "validating"
    times: Mapping[str, int] = {}
    counts: LineCounts = LineCounts()
    usage: BatchUsage = BatchUsage()
    model: str = ""
    errors: tuple[LineError, ...] = ()
    metadata: Mapping[str, str] = {}
    keep_seconds: int = 0
    output_file: str = ""
    error_file: str = ""
    key: str | None = None

    @property
    def ended(self) -> bool:
        return self.status not in RUNNING
