"""The list feed over several gateways."""

from __future__ import annotations

import anyio
import pytest
from tests.support.gateway_sites import GatewaySite, schema, sites

from duologue.conversations.list_feed import Feed
from duologue.values.cluster.notices import NoticesLost
from duologue.values.runs import ListChanged, ListEvent, ListReset

__all__ = ["schema", "sites"]
pytestmark = pytest.mark.anyio


async def until_told(feed: Feed, after: int, wanted: type[ListEvent]) -> list[ListEvent]:
    """The events of ann after this number, up to the first of this kind."""
    told: list[ListEvent] = []
    with anyio.fail_after(60):
        async for entry in feed.events("ann", after):
            told.append(entry.event)
            if isinstance(entry.event, wanted):
                break
    return told


def feeds(sites: tuple[GatewaySite, GatewaySite]) -> tuple[Feed, Feed]:
    one, two = sites
    return one.service.feed, two.service.feed


async def test_what_changes_at_one_gateway_is_told_at_the_other(sites):
    one, two = feeds(sites)
    start = two.number
    two.publish("bob", ListChanged("before"))
    await sites[0].conversation()
    assert ListChanged("c") in await until_told(two, start, ListChanged)
    assert one.number != two.number


async def test_a_reader_from_another_gateway_reads_everything_again(sites):
    one, two = feeds(sites)
    for number in range(3):
        one.publish("ann", ListChanged(f"c{number}"))
        two.publish("ann", ListChanged(f"d{number}"))
    assert await until_told(two, one.number, ListReset) == [ListReset()]
    assert await until_told(one, two.number, ListReset) == [ListReset()]


async def test_after_a_time_without_notices_readers_read_everything_again(sites):
    _, two = feeds(sites)
    start = two.number
    sites[0].membership.link.notices.post(NoticesLost())
    assert await until_told(two, start, ListReset) == [ListReset()]
