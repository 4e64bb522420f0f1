"""Gateways join, stay, die and leave, in the time of the database."""

from dataclasses import dataclass

import msgspec
import pytest
from tests.support.store_fixtures import clock, database

from duologue.store.cluster.gateway_rows import GatewayRows
from duologue.values.cluster.gateway_entry import GatewayEntry

__all__ = ["clock", "database"]
pytestmark = pytest.mark.anyio
A_MINUTE = 60_000
OVER = -1_000
"""A lease that ended before it began."""


def entry(id: str, instance: str = "") -> GatewayEntry:
    return GatewayEntry(id, instance or f"data of {id}", f"http://{id}:8006", "1", 7, 0, 0)


@dataclass
class Seen:
    ids: list[str]
    living: list[str]


async def seen(rows: GatewayRows) -> Seen:
    entries = await rows.all()
    return Seen([each.id for each in entries], [each.id for each in entries if each.living])


async def test_a_gateway_lives_while_its_lease_lasts(database):
    rows = GatewayRows(database)
    await rows.join(entry("a"), A_MINUTE)
    await rows.join(entry("b"), OVER)

    assert (await seen(rows)).living == ["a"]
    assert sorted((await seen(rows)).ids) == ["a", "b"]


async def test_its_row_says_what_it_said_of_itself(database):
    rows = GatewayRows(database)
    await rows.join(entry("a"), A_MINUTE)

    [row] = await rows.all()
    assert msgspec.structs.replace(row, started=0, lease_until=0) == entry("a")
    assert row.lease_until - row.started == pytest.approx(A_MINUTE, abs=1_000)


async def test_a_renewed_lease_says_whether_it_had_ended(database):
    rows = GatewayRows(database)
    await rows.join(entry("a"), A_MINUTE)
    await rows.join(entry("b"), OVER)

    assert await rows.renew("a", A_MINUTE)
    assert not await rows.renew("b", A_MINUTE)
    assert not await rows.renew("nobody", A_MINUTE)
    assert sorted((await seen(rows)).living) == ["a", "b"]


async def test_the_next_process_of_a_data_folder_takes_the_place_of_the_last(database):
    rows = GatewayRows(database)
    await rows.join(entry("first", "folder"), A_MINUTE)
    await rows.join(entry("neighbour"), A_MINUTE)
    await rows.join(entry("second", "folder"), A_MINUTE)

    assert sorted((await seen(rows)).ids) == ["neighbour", "second"]


async def test_one_that_died_more_than_an_hour_ago_is_not_listed_even_if_none_joins_after_it(database):
    rows = GatewayRows(database)
    await rows.join(entry("dead"), -59 * A_MINUTE)
    await rows.join(entry("long dead"), -61 * A_MINUTE)

    assert (await seen(rows)).ids == ["dead"]


async def test_gateways_that_left_or_died_long_ago_are_forgotten(database):
    rows = GatewayRows(database)
    await rows.join(entry("left"), A_MINUTE)
    await rows.join(entry("long dead"), -100 * A_MINUTE)
    await rows.leave("left")
    await rows.join(entry("a"), A_MINUTE)

    assert (await seen(rows)).ids == ["a"]
