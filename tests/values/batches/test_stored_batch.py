"""A batch as the database has it."""

from msgspec.structs import replace

from duologue.values.batches.stored_batch import RUNNING, BatchUsage, StoredBatch


def test_a_batch_has_ended_in_any_state_that_does_not_run():
    batch = StoredBatch("batch_1", "ada", "/v1/chat/completions", "file-1", 1, 2)
    assert not any(replace(batch, status=status).ended for status in RUNNING)
    assert all(replace(batch, status=end).ended for end in ("failed", "completed", "expired", "cancelled"))


def test_usage_adds_up():
    assert BatchUsage(1, 2, 3, 4).plus(BatchUsage(1, 1, 1, 1)) == BatchUsage(2, 3, 4, 5)
