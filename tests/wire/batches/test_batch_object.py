"""Batches as clients ask for them and get them."""

import msgspec
import pytest

from duologue.errors import BadRequest
from duologue.values.batches.stored_batch import BatchUsage, LineCounts, LineError, StoredBatch
from duologue.wire.batches.batch_object import BatchBody, BatchList, BatchObject
from duologue.wire.validation import validate

ASKED = {"input_file_id": "file-1", "endpoint": "/v1/chat/completions", "completion_window": "24h"}
BATCH = StoredBatch("batch_1", "ada", "/v1/chat/completions", "file-1", 5000, 86_405_000)


def test_a_body_is_read():
    expires = {"anchor": "created_at", "seconds": 3600}
    body = validate(BatchBody, {**ASKED, "metadata": {"a": "b"}, "output_expires_after": expires})
    assert (body.endpoint, body.metadata) == ("/v1/chat/completions", {"a": "b"})
    assert body.output_expires_after is not None
    assert body.output_expires_after.seconds == 3600
    assert validate(BatchBody, {**ASKED, "metadata": None}).metadata == {}


@pytest.mark.parametrize(
    ("wrong", "param"),
    [
        ({"input_file_id": None}, "input_file_id"),
        ({"endpoint": 5}, "endpoint"),
        ({"completion_window": "1h"}, "completion_window"),
        ({"metadata": {str(number): "" for number in range(17)}}, "metadata"),
        ({"metadata": {"a": "x" * 513}}, "metadata.a"),
    ],
)
def test_what_is_wrong_is_named(wrong, param):
    with pytest.raises(BadRequest) as caught:
        validate(BatchBody, {**ASKED, **wrong})
    assert str(caught.value.param).startswith(param)


def test_results_are_named_only_once_they_can_be_fetched():
    running = msgspec.structs.replace(BATCH, status="finalizing", output_file="file-2", error_file="file-3")
    assert BatchObject.of(running).output_file_id is None
    ended = BatchObject.of(msgspec.structs.replace(running, status="completed", error_file=""))
    assert (ended.output_file_id, ended.error_file_id) == ("file-2", None)


def test_a_batch_is_written_as_openai_writes_it():
    batch = msgspec.structs.replace(
        BATCH,
        status="failed",
        times={"failed": 7000},
        counts=LineCounts(3, 1, 2),
        usage=BatchUsage(10, 4, 5, 1),
        errors=(LineError("invalid_url", "Wrong.", 2, "url"), LineError("empty_file", "Empty.")),
        metadata={"a": "b"},
    )
    written = msgspec.to_builtins(BatchObject.of(batch))
    assert written["object"] == "batch"
    assert (written["created_at"], written["expires_at"], written["failed_at"]) == (5, 86_405, 7)
    assert written["completed_at"] is None
    assert written["request_counts"] == {"total": 3, "completed": 1, "failed": 2}
    assert written["usage"]["total_tokens"] == 15
    assert written["usage"]["input_tokens_details"] == {"cached_tokens": 4}
    assert written["errors"]["data"] == [
        {"code": "invalid_url", "message": "Wrong.", "line": 2, "param": "url"},
        {"code": "empty_file", "message": "Empty."},
    ]
    assert written["metadata"] == {"a": "b"}


def test_a_page_tells_whether_there_are_more():
    page = BatchList.of([BATCH, BATCH], 1)
    assert (len(page.data), page.has_more, page.last_id) == (1, True, "batch_1")
