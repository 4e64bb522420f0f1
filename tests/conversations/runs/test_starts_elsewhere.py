"""Replies and queued messages that two gateways begin at the same moment, over one PostgreSQL."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import anyio
import pytest
from tests.support.gateway_sites import GatewaySite, schema, sites, until

from duologue.conversations.runs.repository import RunRepository
from duologue.values.conversations import PendingMessage, TextContent

__all__ = ["schema", "sites"]
pytestmark = pytest.mark.anyio


@pytest.fixture
def before(monkeypatch: pytest.MonkeyPatch) -> Callable[[GatewaySite, Callable[[], Awaitable[object]]], None]:
    """Have something happen each time this gateway has prepared a reply, and has not stored its beginning."""

    def arrange(site: GatewaySite, happens: Callable[[], Awaitable[object]]) -> None:
        begin = RunRepository.begin

        async def later(self: RunRepository, *args: Any, **fields: Any) -> Any:
            if self._cluster is not None and self._cluster.gateway == site.membership.id:
                await happens()
            return await begin(self, *args, **fields)

        monkeypatch.setattr(RunRepository, "begin", later)

    return arrange


async def queued(site: GatewaySite, text: str = "And then?", id: str = "m2") -> None:
    """A message that is queued while nothing runs, as when its reply has just ended."""
    await site.service.stores.durable.pending.add("ann", PendingMessage(id, "c", (TextContent(text),)))


async def at_rest(site: GatewaySite, texts: int) -> None:
    """Wait until there are so many messages, all of them complete."""

    async def is_so() -> bool:
        rows = (await site.whole())["messages"]
        return len(rows) >= texts and all(row.get("status", "done") == "done" for row in rows)

    await until(is_so)


async def test_an_edit_at_another_gateway_is_in_the_reply_that_goes_on(sites, before):
    one, two = sites
    await one.conversation()
    one.model.hold = anyio.Event()
    await one.send("Hello there", 1)
    await one.ann.post("/api/runs/r1/stop")
    cut = (await one.whole())["messages"][-1]["id"]

    async def edit() -> None:
        content = [{"type": "text", "text": "Changed "}]
        changed = await two.ann.patch(f"/api/conversations/c/messages/{cut}", json={"content": content})
        assert changed.status_code == 200, changed.text

    before(one, edit)
    one.model.hold = None
    one.model.says = lambda request: "and on"
    go_on = {"verb": "continue", "run": "r2", "message": cut}
    assert (await one.ann.post("/api/conversations/c/runs", json=go_on)).status_code == 202
    await one.events("r2")
    assert (await two.texts())[-1] == "Changed and on"
    assert one.model.asked[-1].messages[-1].text == "Changed "


async def test_a_title_that_was_given_at_another_gateway_stays(sites, before):
    one, two = sites
    await one.conversation()
    before(one, partial(two.ann.patch, "/api/conversations/c", json={"title": "Mine"}))
    await one.say("Hello", 1)
    assert (await two.whole())["conversation"]["title"] == "Mine"


async def test_a_message_follows_what_another_gateway_has_just_added(sites, before):
    one, two = sites
    await one.conversation()
    await one.say("Hello", 1)
    before(one, partial(two.say, "And you?", 2))
    await one.say("Well", 3)
    rows = (await one.whole())["messages"]
    parents = [row.get("parent") for row in rows]
    assert parents == [None, *(row["id"] for row in rows[:-1])]


async def test_a_queued_message_that_two_gateways_send_is_answered_once(sites, before):
    one, two = sites
    await one.conversation()
    await queued(one)

    async def the_other_is_done() -> None:
        await one.service.runs.send_pending("ann", "c")
        # Looked at where it is not written: there a reply is complete when it is stored.
        await at_rest(two, 2)

    before(two, the_other_is_done)
    await two.service.runs.send_pending("ann", "c")
    assert await two.texts() == ["And then?", "You said: And then?"]
    assert len(one.model.asked) + len(two.model.asked) == 1
    assert await two.service.stores.durable.pending.of("c") == []


async def test_a_queued_message_goes_out_as_it_was_changed_at_another_gateway(sites, before):
    one, two = sites
    await one.conversation()
    await queued(one)
    content = [{"type": "text", "text": "Shorter?"}]
    before(one, partial(two.ann.patch, "/api/conversations/c/pending/m2", json={"content": content}))
    await one.service.runs.send_pending("ann", "c")
    await at_rest(one, 2)
    assert await one.texts() == ["Shorter?", "You said: Shorter?"]


@pytest.mark.parametrize("how", ["delete", "hold"])
async def test_a_queued_message_that_was_taken_back_at_another_gateway_is_not_sent(sites, before, how):
    one, two = sites
    await one.conversation()
    await queued(one)
    pending = two.service.stores.durable.pending
    taken_back = {
        "delete": partial(pending.remove, "c", "m2"),
        "hold": partial(pending.change, "c", "m2", {"how": "hold"}),
    }
    before(one, taken_back[how])
    await one.service.runs.send_pending("ann", "c")
    assert await one.texts() == []
    assert one.model.asked == []
    assert len(await one.service.stores.durable.pending.of("c")) == (0 if how == "delete" else 1)


async def test_a_queued_message_whose_client_sent_it_again_meanwhile_is_answered_once(sites):
    one, two = sites
    await one.conversation()
    await one.say("And then?", 2)
    await queued(two)
    await two.service.runs.send_pending("ann", "c")
    assert await two.texts() == ["And then?", "You said: And then?"]
    assert await one.service.stores.durable.pending.of("c") == []


async def test_a_message_that_is_sent_again_at_another_gateway_gets_the_run_that_answered_it(sites, before):
    one, two = sites
    await one.conversation()
    before(two, partial(one.say, "Hello", 1))
    again = await two.send("Hello", 1, run="r2")
    assert (again.status_code, again.json().get("id")) == (202, "r1"), again.text
    assert await two.texts() == ["Hello", "You said: Hello"]


async def test_of_two_messages_that_may_wait_one_waits_for_the_other(sites, before):
    one, two = sites
    await one.conversation()
    one.model.hold = release = anyio.Event()

    async def the_other_begins() -> None:
        if one.service.runs.live("c") is None:
            await one.send("First", 1)

    before(two, the_other_begins)
    second = await two.send("Second", 2, busy="queue")
    assert second.status_code == 202, second.text
    assert second.json()["pending"]["id"] == "m2"
    one.model.hold = None
    release.set()
    await at_rest(one, 4)
    assert await one.texts() == ["First", "You said: First", "Second", "You said: Second"]
