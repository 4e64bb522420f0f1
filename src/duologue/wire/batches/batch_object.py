"""The body of `POST /v1/batches`, and batches as answers have them.

Used by `gateway/batches`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field, WithJsonSchema

from duologue.values.batches.stored_batch import BatchStatus, LineError, StoredBatch
from duologue.wire.batches.file_object import ExpiresAfterBody
from duologue.wire.validation import Body

ENDPOINTS = ("/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses")
"""What the lines of a batch may be sent to."""
TIMES = ("in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled")


class BatchBody(Body):
    """The body of `POST /v1/batches`."""

    input_file_id: str = Field(max_length=256, description="A file that was stored with the purpose batch.")
    endpoint: Annotated[str, WithJsonSchema({"type": "string", "enum": list(ENDPOINTS)})] = Field(
        max_length=256, description="Where each of its lines would be sent."
    )
    completion_window: Literal["24h"] = "24h"
    metadata: dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=512)]] = Field(
        default_factory=dict, max_length=16
    )
    output_expires_after: ExpiresAfterBody | None = None


class BatchErrors(msgspec.Struct, frozen=True):
    """What is wrong with the input of a batch that failed."""

    data: list[LineError]
    object: Literal["list"] = "list"


class BatchCounts(msgspec.Struct, frozen=True):
    total: int
    completed: int
    failed: int


class BatchObject(msgspec.Struct, frozen=True):
    """A batch. Times are in seconds since 1970, null for what has not happened."""

    id: str
    endpoint: str
    model: str | None
    errors: BatchErrors | None
    input_file_id: str
    completion_window: Literal["24h"]
    status: BatchStatus
    output_file_id: str | None
    error_file_id: str | None
    created_at: int
    expires_at: int
    in_progress_at: int | None
    finalizing_at: int | None
    completed_at: int | None
    failed_at: int | None
    expired_at: int | None
    cancelling_at: int | None
    cancelled_at: int | None
    request_counts: BatchCounts
    usage: dict[str, Any]
    metadata: dict[str, str] | None
    object: Literal["batch"] = "batch"

    @classmethod
    def of(cls, batch: StoredBatch) -> BatchObject:
        counts, usage = batch.counts, batch.usage
        happened = {f"{name}_at": _seconds(batch.times.get(name)) for name in TIMES}
        return cls(
            batch.id,
            batch.endpoint,
            batch.model or None,
            BatchErrors(list(batch.errors)) if batch.errors else None,
            batch.input_file,
            "24h",
            batch.status,
            # Until they are complete nobody can fetch them.
            batch.output_file or None if batch.ended else None,
            batch.error_file or None if batch.ended else None,
            batch.created // 1000,
            batch.expires // 1000,
            **happened,  # type: ignore[arg-type]
            request_counts=BatchCounts(counts.total, counts.completed, counts.failed),
            usage={
                "input_tokens": usage.input,
                "input_tokens_details": {"cached_tokens": usage.cached},
                "output_tokens": usage.output,
                "output_tokens_details": {"reasoning_tokens": usage.reasoning},
                "total_tokens": usage.input + usage.output,
            },
            metadata=dict(batch.metadata) or None,
        )


class BatchList(msgspec.Struct, frozen=True):
    """A page of batches."""

    data: list[BatchObject]
    first_id: str | None
    last_id: str | None
    has_more: bool
    object: Literal["list"] = "list"

    @classmethod
    def of(cls, batches: Sequence[StoredBatch], limit: int) -> BatchList:
        """The page of the first `limit` of these, of which one more tells that there are more."""
        page = batches[:limit]
        first, last = (page[0].id, page[-1].id) if page else (None, None)
        return cls([BatchObject.of(batch) for batch in page], first, last, len(batches) > limit)


def _seconds(milliseconds: int | None) -> int | None:
    return None if milliseconds is None else milliseconds // 1000
