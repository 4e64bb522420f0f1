"""Who has a piece of work, and who may take it from a gateway that has died."""

import pytest
from tests.store.cluster.test_gateway_rows import A_MINUTE, OVER, entry
from tests.support.store_fixtures import clock, database

from duologue.store.cluster.claim_rows import ClaimRows
from duologue.store.cluster.gateway_rows import GatewayRows

__all__ = ["clock", "database"]
pytestmark = pytest.mark.anyio


async def claims_of(database, id: str, lease_ms: int = A_MINUTE) -> ClaimRows:
    await GatewayRows(database).join(entry(id), lease_ms)
    return ClaimRows(database, id)


async def test_one_gateway_has_it_and_keeps_it(database):
    one, two = await claims_of(database, "one"), await claims_of(database, "two")
    assert await one.take("batch:1")
    assert await one.take("batch:1")
    assert not await two.take("batch:1")
    assert await two.owner("batch:1") == "one"
    assert await two.owner("batch:2") is None
    assert await two.held_elsewhere("batch:") == {"1"}
    assert await one.held_elsewhere("batch:") == set()


async def test_what_a_dead_gateway_had_is_taken_by_another(database):
    one, two = await claims_of(database, "one", OVER), await claims_of(database, "two")
    assert await one.take("batch:1")
    assert await two.take("batch:2")  # a living claim of another thing
    assert await two.held_elsewhere("batch:") == set()
    assert await two.take("batch:1")
    async with database.writing() as connection:
        assert not await one.holds("batch:1", within=connection)
        assert await two.holds("batch:1", within=connection)


async def test_a_gateway_whose_lease_has_ended_holds_nothing(database):
    one = await claims_of(database, "one", OVER)
    await one.take("batch:1")
    async with database.writing() as connection:
        assert not await one.holds("batch:1", within=connection)


async def test_what_is_given_back_is_anybodys_and_nobody_gives_back_what_others_have(database):
    one, two = await claims_of(database, "one"), await claims_of(database, "two")
    await one.take("a")
    await two.release(["a"])
    assert not await two.take("a")
    await one.release(["a"])
    assert await two.take("a")


async def test_a_round_is_done_once_until_the_next_is_due(database):
    one, two = await claims_of(database, "one"), await claims_of(database, "two")
    assert await one.take_turn("round:retention", A_MINUTE)
    assert not await one.take_turn("round:retention", A_MINUTE)
    assert not await two.take_turn("round:retention", A_MINUTE)
    assert await two.take_turn("round:audit", OVER)
    assert await one.take_turn("round:audit", A_MINUTE)


async def test_claims_of_forgotten_gateways_are_deleted_but_not_their_rounds(database):
    one, two = await claims_of(database, "one"), await claims_of(database, "two")
    await one.take("conversation:a")
    await one.take_turn("round:audit", A_MINUTE)
    await GatewayRows(database).leave("one")
    await two.forget_dead()
    assert await two.owner("conversation:a") is None
    assert await two.owner("round:audit") == "one"
