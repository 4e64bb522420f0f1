"""A call in a conversation of another gateway, over one PostgreSQL."""

from __future__ import annotations

import pytest
from tests.support.gateway_sites import die, schema, sites

from duologue.conversations.call_turns import open_call_turns
from duologue.errors import NotFound
from duologue.store.cluster.claim_rows import ClaimRows

__all__ = ["schema", "sites"]
pytestmark = pytest.mark.anyio


@pytest.fixture
def sharing(sites):
    """Two gateways that claim their temporary chats."""
    for site in sites:
        stores = site.service.stores
        stores.claims = ClaimRows(stores.durable.database, site.membership.id)
    return sites


async def test_a_call_in_a_stored_chat_begins_at_either_gateway(sharing):
    one, two = sharing
    await one.conversation()
    assert (await open_call_turns(two.service, "ann", "c")).request.messages == ()


async def test_a_temporary_chat_of_a_gateway_that_died_is_not_there_any_more(sharing):
    one, two = sharing
    await one.conversation("t", temporary=True)
    await die(one)
    with pytest.raises(NotFound):
        await open_call_turns(two.service, "ann", "t")


async def test_a_chat_that_nobody_has_is_not_there(sharing):
    one, two = sharing
    await one.conversation("t2", temporary=True)
    with pytest.raises(NotFound):
        await open_call_turns(two.service, "ann", "t")
