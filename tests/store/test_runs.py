"""Runs and their logs, on every kind of database."""

from __future__ import annotations

import pytest
from tests.support.store_fixtures import conversation

from duologue.errors import BadRequest, NotFound
from duologue.store.cluster.gateway_rows import GatewayRows
from duologue.store.cluster.run_claims import RunLost, RunTaken
from duologue.store.runs import LogEntry
from duologue.values.cluster.gateway_entry import GatewayEntry
from duologue.values.conversations import RowError
from duologue.values.runs import Run

pytestmark = pytest.mark.anyio


@pytest.fixture
async def run(store) -> Run:
    made = await conversation(store, "hello")
    return await store.runs.begin(Run("r", made.id, started=5), "local", b'{"verb":"send"}')


async def test_a_run_that_begins_is_the_one_its_conversation_runs(store, run):
    assert await store.runs.get("local", "r") == run
    assert await store.runs.request("r") == ("local", b'{"verb":"send"}')
    assert (await store.conversations.get("local", run.conversation)).running == "r"
    assert await store.runs.abandoned() == ["r"]


async def test_a_run_that_ended_is_finished(store, run):
    error = RowError("model", "worker_lost", "The worker ended.")
    ended = Run("r", run.conversation, 5, ended=9, outcome="failed", error=error, turns=2)
    await store.runs.end(ended)
    assert await store.runs.get("local", "r") == ended
    assert await store.runs.abandoned() == []
    assert (await store.conversations.get("local", run.conversation)).running is None


async def test_the_end_of_an_older_run_leaves_the_newer_one_running(store, run):
    await store.runs.begin(Run("r2", run.conversation, started=6), "local", b"{}")
    await store.runs.end(Run("r", run.conversation, 5, ended=9, outcome="done"))
    assert (await store.conversations.get("local", run.conversation)).running == "r2"


async def test_how_it_stands_can_be_saved_meanwhile(store, run):
    await store.runs.save(Run("r", run.conversation, 5, waiting="approval", turns=1))
    found = await store.runs.get("local", "r")
    assert (found.waiting, found.turns, found.outcome) == ("approval", 1, None)


async def test_the_same_run_begins_once(store, run):
    await store.runs.save(Run("r", run.conversation, 5, turns=1))
    again = await store.runs.begin(Run("r", run.conversation, started=50), "local", b"other")
    assert (again.started, again.turns) == (5, 1)
    other = await conversation(store, "hello")
    for conversation_id, user in ((other.id, "local"), (run.conversation, "anna")):
        with pytest.raises(BadRequest) as raised:
            await store.runs.begin(Run("r", conversation_id, started=1), user, b"")
        assert raised.value.code == "id_taken"


async def test_a_run_needs_its_conversation_and_is_its_users(store, run):
    with pytest.raises(NotFound):
        await store.runs.begin(Run("x", "gone", started=1), "local", b"")
    for asking in (store.runs.get("anna", "r"), store.runs.get("local", "gone"), store.runs.request("gone")):
        with pytest.raises(NotFound):
            await asking


async def test_a_log_is_read_from_any_point(store, run):
    entries = [LogEntry(1, 1, (), b"a"), LogEntry(2, 5, (1, 2, 3, 4), b"\x00b"), LogEntry(6, 6, (), b"c")]
    await store.runs.append("r", entries[:2])
    await store.runs.append("r", entries[2:])
    await store.runs.append("r", [])
    assert await store.runs.log("r") == entries
    assert await store.runs.log("r", after=1) == entries[1:]
    assert await store.runs.log("r", after=4) == entries[1:]
    assert await store.runs.log("r", after=5) == entries[2:]
    assert await store.runs.log("r", after=6) == []


async def test_an_entry_that_has_grown_replaces_itself(store, run):
    await store.runs.append("r", [LogEntry(1, 1, (), b"a"), LogEntry(2, 3, (1, 1), b"bc")])
    await store.runs.append("r", [LogEntry(2, 4, (1, 1, 1), b"bcd"), LogEntry(5, 5, (), b"e")])
    assert [entry.event for entry in await store.runs.log("r")] == [b"a", b"bcd", b"e"]


async def test_logs_of_runs_that_ended_long_ago_are_forgotten(store, run, clock):
    await store.runs.append("r", [LogEntry(1, 1, (), b"a")])
    assert await store.runs.forget_logs(0) == 0, "it has not ended"
    await store.runs.end(Run("r", run.conversation, 5, ended=clock(), outcome="done"))
    clock.forward(999)
    assert await store.runs.forget_logs(1000) == 0
    clock.forward(1)
    assert await store.runs.forget_logs(1000) == 1
    assert await store.runs.log("r") == []
    assert (await store.runs.get("local", "r")).outcome == "done"


async def gateway(store, id: str, *, living: bool = True) -> None:
    entry = GatewayEntry(id, f"data of {id}", "", "1", 7, 0, 0)
    await GatewayRows(store.database).join(entry, 600_000 if living else -1_000)


async def owned(store, id: str, gateway: str) -> Run:
    made = await conversation(store, "hello")
    return await store.runs.begin(Run(id, made.id, started=5), "local", b"{}", gateway=gateway)


async def test_a_run_is_abandoned_once_its_gateway_does_not_live_and_never_for_its_owner(store):
    await gateway(store, "a")
    await gateway(store, "dead", living=False)
    for id, owner in (("r1", "a"), ("r2", "dead"), ("r3", "gone"), ("r4", "")):
        await owned(store, id, owner)
    assert await store.runs.abandoned("a") == ["r2", "r3", "r4"]
    assert await store.runs.abandoned("dead") == ["r3", "r4"]


async def test_an_abandoned_run_is_taken_once_and_its_owner_has_lost_it(store):
    run = await owned(store, "r", "dead")
    async with store.writing() as connection:
        await store.runs.hold("r", gateway="dead", within=connection)
        assert await store.runs.take("r", "a", within=connection) == ("local", run)
    async with store.writing() as connection:
        await store.runs.end(Run("r", run.conversation, 5, ended=9, outcome="interrupted"), within=connection)
    async with store.writing() as connection:
        assert await store.runs.take("r", "b", within=connection) is None
        with pytest.raises(RunLost):
            await store.runs.hold("r", gateway="dead", within=connection)


async def test_the_run_of_a_living_gateway_is_not_taken(store):
    await gateway(store, "a")
    await owned(store, "r", "a")
    async with store.writing() as connection:
        assert await store.runs.take("r", "b", within=connection) is None


async def test_a_conversation_is_claimed_for_one_run_at_a_time(store):
    run = await owned(store, "r", "a")
    another = Run("r2", run.conversation, started=6)
    async with store.writing() as connection:
        with pytest.raises(RunTaken):
            await store.runs.claim(another, within=connection)
    await store.runs.end(Run("r", run.conversation, 5, ended=9, outcome="done"))
    async with store.writing() as connection:
        await store.runs.claim(another, within=connection)
        with pytest.raises(RunTaken):
            await store.runs.claim(run, within=connection)
