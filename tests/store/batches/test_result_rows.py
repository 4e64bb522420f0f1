"""One result for each request of a batch, stored by the gateway that has the batch."""

import pytest
from tests.store.cluster.test_claim_rows import claims_of
from tests.support.store_fixtures import clock, database

from duologue.store.batches.result_rows import ResultRow, ResultRows

__all__ = ["clock", "database"]
pytestmark = pytest.mark.anyio


@pytest.fixture
def shared(database):
    if not database.is_postgresql:
        pytest.skip("a database in a file has one gateway")
    return database


async def lines(rows: ResultRows, outcome="output") -> list[str]:
    return [data async for some in rows.of("b", outcome) for _, data in some]


async def test_results_are_kept_in_order_and_the_first_of_a_request_stays(shared):
    claims = await claims_of(shared, "one")
    await claims.take("batch:b")
    rows = ResultRows(shared, claims)
    assert await rows.add(
        "b", "batch:b", [ResultRow(b"1", "output", "first\n"), ResultRow(b"2", "errors", "bad\n")]
    )
    assert await rows.add(
        "b", "batch:b", [ResultRow(b"1", "output", "again\n"), ResultRow(b"3", "output", "third\n")]
    )
    assert await lines(rows) == ["first\n", "third\n"]
    assert await lines(rows, "errors") == ["bad\n"]
    await rows.forget("b")
    assert await lines(rows) == []


async def test_who_does_not_have_the_batch_any_more_stores_nothing(shared):
    one, two = await claims_of(shared, "one"), await claims_of(shared, "two")
    await two.take("batch:b")
    rows = ResultRows(shared, one)
    assert not await rows.add("b", "batch:b", [ResultRow(b"1", "output", "late\n")])
    assert await lines(rows) == []
