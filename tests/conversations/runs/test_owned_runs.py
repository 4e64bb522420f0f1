"""The owner of a run looks at what is stored for it, also when it was not told."""

from __future__ import annotations

import pytest
from tests.conversations.runs.test_elsewhere import held, stored, until_said
from tests.support.gateway_sites import schema, sites

from duologue.values.cluster.notices import NoticesLost
from duologue.values.conversations import PendingMessage, TextContent

__all__ = ["schema", "sites"]
pytestmark = pytest.mark.anyio


async def test_after_a_time_without_notices_a_run_finds_what_steers_it(sites):
    one, two = sites
    await one.conversation()
    release = await held(one)
    await stored(one)
    unnoticed = PendingMessage("s1", "c", (TextContent("Shorter, please"),), "steer")
    await two.service.stores.durable.pending.add("ann", unnoticed)

    two.membership.link.notices.post(NoticesLost())
    one.model.hold = None
    release.set()
    await until_said(two, "Shorter, please")


async def test_a_run_that_nobody_steers_is_left_alone_then(sites):
    one, two = sites
    await one.conversation()
    release = await held(one)
    await stored(one)

    two.membership.link.notices.post(NoticesLost())
    release.set()
    await one.end("r1", "done")
    assert len(one.model.asked) == 1
