"""The tree of a conversation that two gateways change at the same time, over one PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from sqlalchemy import insert, text
from sqlalchemy.ext.asyncio import AsyncConnection
from tests.support.at_once import done_before
from tests.support.gateway_sites import GatewaySite, schema, sites
from tests.support.store_fixtures import row

from duologue.errors import Busy, NotFound
from duologue.store.schema.tables import permissions
from duologue.values.conversations import Conversation, PendingMessage, StoredMessage, TextContent
from duologue.values.runs import Run

__all__ = ["schema", "sites"]
pytestmark = pytest.mark.anyio


@pytest.fixture
async def tree(sites: tuple[GatewaySite, GatewaySite]) -> None:
    """Conversation `c` of ann: q1, a1 below it, q2 below that, which is shown."""
    store = sites[0].service.stores.durable
    await store.conversations.create("ann", Conversation("c", "Bread"))
    await store.messages.add(
        [row("c", "q1", text="1"), row("c", "a1", "q1", "2", "assistant"), row("c", "q2", "a1", "3")],
        leaf="q2",
    )


@asynccontextmanager
async def other_first(
    one: GatewaySite, act: Callable[[], Awaitable[Any]]
) -> AsyncIterator[tuple[AsyncConnection, list[Any]]]:
    """A transaction of gateway `one` that is committed when `act` at the other gateway waits for it, or is over. Then the result of
    `act`, or its error, is in the list."""
    async with done_before(one.service.stores.durable.database, act) as (within, results):
        yield within.connection, results


async def drawn(site: GatewaySite, conversation: str = "c") -> str:
    rows = await site.service.stores.durable.messages.all(conversation)
    return " ".join(f"{row.id}<{row.parent or ''}" for row in rows)


async def below(site: GatewaySite, connection: AsyncConnection, id: str, parent: str) -> None:
    await site.service.stores.durable.messages.add([row("c", id, parent)], leaf=id, within=connection)


async def test_a_deletion_takes_with_it_what_the_other_gateway_has_just_added_below(sites, tree):
    one, two = sites
    async with other_first(one, lambda: two.service.editing.delete("ann", "c", "a1")) as (held, results):
        await below(one, held, "new", "q2")
    assert set(results[0].deleted) == {"a1", "q2", "new"}
    assert (await drawn(one), results[0].leaf) == ("q1<", "q1")


async def test_a_message_cannot_be_added_below_one_that_the_other_gateway_deletes(sites, tree):
    one, two = sites
    late = [row("c", "new", "q2")]
    async with other_first(one, lambda: two.service.stores.durable.messages.add(late, leaf="new")) as (
        held,
        results,
    ):
        await one.service.stores.durable.messages.delete("c", ["q2"], within=held)
    assert results[0].code == "unknown_parent"
    assert await drawn(one) == "q1< a1<q1"


async def test_a_deletion_is_refused_when_a_reply_has_just_begun_at_the_other_gateway(sites, tree):
    one, two = sites
    store = one.service.stores.durable
    async with other_first(one, lambda: two.service.editing.delete("ann", "c", "r-a")) as (held, results):
        writing = StoredMessage("r-a", "c", "q2", "assistant", (), run="r", status="running")
        await store.messages.add([writing], leaf="r-a", within=held)
        await store.runs.begin(Run("r", "c", 1), "ann", b"{}", gateway=one.membership.id, within=held)
    assert isinstance(results[0], Busy)
    assert (await drawn(one)).endswith("r-a<q2")


async def test_a_system_message_is_above_what_the_other_gateway_has_just_added(sites, tree):
    one, two = sites
    put = two.service.editing.put_system
    async with other_first(one, lambda: put("ann", "c", "s", "Be kind.")) as (held, results):
        await one.service.stores.durable.messages.add([row("c", "q9", text="9")], within=held)
    assert results[0].id == "s"
    assert await drawn(one) == "q1<s a1<q1 q2<a1 q9<s s<"


async def test_both_gateways_can_set_the_system_message_at_once(sites, tree):
    one, two = sites
    put = two.service.editing.put_system
    async with other_first(one, lambda: put("ann", "c", "s2", "Be kind.")) as (held, results):
        await one.service.stores.durable.messages.add([row("c", "s1", role="system", text="Hi")], within=held)
    assert (results[0].id, results[0].text) == ("s1", "Be kind.")


async def test_a_message_that_the_other_gateway_deletes_is_not_edited(sites, tree):
    one, two = sites
    edit = two.service.editing.edit
    async with other_first(one, lambda: edit("ann", "c", "q2", [TextContent("new")])) as (held, results):
        await one.service.stores.durable.messages.delete("c", ["q2"], within=held)
    assert isinstance(results[0], NotFound)


async def test_a_deletion_of_the_same_message_at_both_gateways_is_one(sites, tree):
    one, two = sites
    answers = []

    async def delete(site: GatewaySite) -> None:
        answers.append(await site.ann.delete("/api/conversations/c/messages/a1"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(delete, one)
        tasks.start_soon(delete, two)
    assert [answer.status_code for answer in answers] == [200, 200]
    assert sorted(answer.json()["deleted"] for answer in answers) == [[], ["a1", "q2"]]
    assert await drawn(one) == "q1<"
    restored = await two.ann.post("/api/conversations/c/messages/a1/restore")
    assert restored.json()["leaf"] == "q2"


async def test_the_same_fork_at_both_gateways_is_one(sites, tree):
    one, two = sites
    answers = []

    async def fork(site: GatewaySite) -> None:
        body = {"id": "f", "message": "q2"}
        answers.append(await site.ann.post("/api/conversations/c/fork", json=body))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fork, one)
        tasks.start_soon(fork, two)
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json()["leaf"] == answers[1].json()["leaf"]
    assert len(await one.service.stores.durable.messages.all("f")) == 3


async def test_a_conversation_is_made_once_although_the_other_gateway_makes_it_at_the_same_time(sites):
    one, two = sites
    theirs = two.service.stores.durable.conversations
    made = one.service.stores.durable.conversations
    async with other_first(one, lambda: theirs.create("ann", Conversation("n", "Second"))) as (held, results):
        await made.create("ann", Conversation("n", "First"), within=held)
    assert results[0].title == "First"


async def test_a_message_that_is_queued_at_both_gateways_waits_once(sites, tree):
    one, _ = sites
    waiting = PendingMessage("m9", "c", (TextContent("And then?"),))
    ours, theirs = (site.service.stores.durable.pending for site in sites)
    async with other_first(one, lambda: theirs.add("ann", waiting)) as (held, results):
        await ours.add("ann", waiting, within=held)
    assert results == await ours.of("c")


async def test_a_tool_that_is_permitted_at_both_gateways_is_permitted_once(sites, tree):
    one, two = sites
    approvals = two.service.stores.durable.approvals
    async with other_first(one, lambda: approvals.allow("ann", "desk", "write")) as (held, results):
        permission = {"user": "ann", "server": "desk", "tool": "write", "created": 1}
        await held.execute(insert(permissions).values(permission))
    assert results == [None]
    assert await approvals.permissions("ann") == {("desk", "write")}


async def test_no_reply_begins_in_a_conversation_that_the_other_gateway_has_just_deleted(sites, tree):
    one, two = sites
    store = one.service.stores.durable

    async def begin() -> Any:
        return await two.send("Are you there?", 1, parent="q2")

    async with other_first(one, begin) as (held, results):
        await held.execute(text("UPDATE conversations SET deleted = 1 WHERE id = 'c'"))
    assert results[0].status_code == 404, results[0].text
    assert not await store.runs.abandoned()
    assert not two.service.runs.active


async def test_deleting_a_conversation_stops_its_reply_at_the_other_gateway(sites, tree):
    one, two = sites
    one.model.hold = anyio.Event()
    begun = await one.send("Are you there?", 1, parent="q2")
    assert begun.status_code == 202, begun.text
    assert (await two.ann.delete("/api/conversations/c")).status_code == 204
    await one.end("r1", "stopped")


async def test_what_was_restored_at_one_gateway_is_not_purged_at_the_other(sites, tree):
    one, two = sites
    store = one.service.stores.durable
    await store.conversations.delete("ann", "c")

    async with other_first(one, lambda: two.service.stores.durable.conversations.purge(-1_000)) as (
        held,
        results,
    ):
        await held.execute(text("UPDATE conversations SET deleted = 0 WHERE id = 'c'"))
    assert results == [[]]
    assert (await store.conversations.get("ann", "c")).title == "Bread"


async def test_two_gateways_that_send_and_delete_at_random_leave_a_whole_tree(sites, tree):
    """Whatever the order, every answer is one that a client understands, and each message is below one that is there."""
    one, two = sites
    answers: list[Any] = []

    async def send() -> None:
        for number in range(6):
            answers.append(await one.send(f"Number {number}", number, parent="q1"))
            await one.service.stores.durable.messages.all("c")

    async def delete() -> None:
        for number in range(6):
            answers.append(await two.ann.delete(f"/api/conversations/c/messages/m{number}"))
            answers.append(
                await two.ann.put("/api/conversations/c/system", json={"text": f"Be kind {number}."})
            )

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(send)
        tasks.start_soon(delete)
    assert {answer.status_code for answer in answers} <= {200, 202, 204, 409}, [a.text for a in answers]
    rows = await one.service.stores.durable.messages.all("c")
    ids = {row.id for row in rows}
    assert all(row.parent is None or row.parent in ids for row in rows)
    assert sum(row.parent is None for row in rows) == 1
