"""Runs and their logs, on every kind of database."""

from __future__ import annotations

import pytest
from tests.support.store_fixtures import conversation

from duologue.errors import BadRequest, NotFound
from duologue.store.runs import LogEntry
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
    assert await store.runs.unfinished() == [run]


async def test_a_run_that_ended_is_finished(store, run):
    error = RowError("model", "worker_lost", "The worker ended.")
    ended = Run("r", run.conversation, 5, ended=9, outcome="failed", error=error, turns=2)
    await store.runs.end(ended)
    assert await store.runs.get("local", "r") == ended
    assert await store.runs.unfinished() == []
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
