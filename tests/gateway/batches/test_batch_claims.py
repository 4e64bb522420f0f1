"""A batch is carried out by one gateway, and what another one stores of it late changes nothing."""

import pytest
from msgspec.structs import replace
from tests.store.cluster.test_claim_rows import claims_of
from tests.store.cluster.test_gateway_rows import A_MINUTE, OVER
from tests.support.store_fixtures import clock, database

from duologue.errors import Unavailable
from duologue.gateway.batches.batch_claims import TAKEN_OVER, BatchClaims, SharedClaims
from duologue.store.batches.batch_rows import BatchRows
from duologue.store.cluster.work_turns import WorkTurns
from duologue.values.batches.stored_batch import StoredBatch

__all__ = ["clock", "database"]
pytestmark = pytest.mark.anyio
BATCH = StoredBatch("batch_1", "ada", "/v1/chat/completions", "file-1", 1, 2)


@pytest.fixture
def shared(database):
    if not database.is_postgresql:
        pytest.skip("a database in a file has one gateway")
    return database


async def shared_claims(database, id: str, lease_ms: int = A_MINUTE) -> SharedClaims:
    claims = await claims_of(database, id, lease_ms)
    return SharedClaims(database, claims, WorkTurns(claims))


async def test_a_gateway_that_is_alone_has_every_batch():
    claims = BatchClaims()
    assert await claims.take("batch_1")
    assert await claims.elsewhere() == set()


async def test_the_second_leaves_it_to_the_first_until_that_is_dead(shared):
    one, two = await shared_claims(shared, "one"), await shared_claims(shared, "two")
    assert await one.take("batch_1")
    assert not await two.take("batch_1")
    assert await two.elsewhere() == {"batch_1"}
    await one.release("batch_1")
    assert await two.take("batch_1")


async def test_one_that_lost_it_stores_nothing_of_it(shared, clock):
    rows = BatchRows(shared, clock)
    await rows.add(BATCH)
    one, two = await shared_claims(shared, "one", OVER), await shared_claims(shared, "two")
    await one.take("batch_1")
    assert await two.take("batch_1")
    await two.saver(rows, "batch_1").save(replace(BATCH, status="in_progress"))
    with pytest.raises(Unavailable) as raised:
        await one.saver(rows, "batch_1").save(replace(BATCH, status="failed"))
    assert raised.value.code == TAKEN_OVER
    assert (await rows.get("ada", "batch_1")).status == "in_progress"
