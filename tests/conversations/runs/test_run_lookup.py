"""Runs and sent messages are found by their ids, by their user alone."""

import pytest
from tests.support.conversation_service import Site, site

from duologue.errors import BadRequest, NotFound

__all__ = ["site"]
pytestmark = pytest.mark.anyio


async def test_a_run_is_found_by_its_id_or_by_the_message_it_took(site: Site):
    await site.conversation()
    await site.say("Hello", 1)
    lookup = site.service.runs.lookup

    assert (await lookup.get("ann", "r1")).outcome == "done"
    for run, message in (("r1", ""), ("another", "m1")):
        found = await lookup.find("ann", "c", run, message)
        assert found is not None
        assert found.id == "r1"
    assert await lookup.find("ann", "c", "another", "m9") is None
    assert await lookup.is_sent("c", "m1")
    assert not await lookup.is_sent("c", "m9")


async def test_a_run_of_another_conversation_or_user_is_not_there(site: Site):
    await site.conversation()
    await site.say("Hello", 1)
    lookup = site.service.runs.lookup

    with pytest.raises(BadRequest):
        await lookup.find("ann", "other", "r1")
    with pytest.raises(NotFound):
        await lookup.get("bob", "r1")
