"""What runs keep, each in one transaction, on every kind of database."""

import pytest
from tests.support.store_fixtures import clock, conversation, database, row, store

from duologue.conversations.runs.event_log import RunLog
from duologue.conversations.runs.repository import RunRepository, StoredApprovals, find_approval
from duologue.errors import BadRequest, NotFound
from duologue.store.database import Database
from duologue.store.stores import Stores
from duologue.values.conversations import Approval, Conversation, PendingMessage, TextContent
from duologue.values.runs import Run, RunDelta

__all__ = ["clock", "database", "store"]
pytestmark = pytest.mark.anyio

ADDED = (row("c", "u", None, "Hello"), row("c", "a", "u", "", "assistant", status="running", run="r"))


@pytest.fixture
async def keeping(store):
    await conversation(store, id="c", user="ann")
    return RunRepository(store)


async def test_a_run_begins_with_its_rows_its_leaf_and_its_title(keeping):
    await keeping.store.pending.add("ann", PendingMessage("u", "c", (TextContent("Hello"),)))
    added = await keeping.begin(Run("r", "c", 1), "ann", b"{}", added=ADDED, leaf="a", title="Hello")
    assert [row.sequence > 0 for row in added] == [True, True]
    kept = await keeping.store.conversations.get("ann", "c")
    assert (kept.leaf, kept.title, kept.title_source, kept.running) == ("a", "Hello", "first", "r")
    assert await keeping.store.pending.of("c") == []
    assert await keeping.store.runs.abandoned() == ["r"]


async def test_a_run_that_cannot_begin_leaves_nothing(keeping):
    orphan = row("c", "x", "nowhere", "Hello")
    with pytest.raises(BadRequest):
        await keeping.begin(Run("r", "c", 1), "ann", b"{}", added=(*ADDED, orphan), leaf="x")
    assert await keeping.store.messages.all("c") == ()
    assert await keeping.store.runs.abandoned() == []


async def test_a_row_that_goes_on_is_saved_and_shown(keeping):
    await keeping.begin(Run("r", "c", 1), "ann", b"{}", added=ADDED, leaf="a")
    await keeping.end(Run("r", "c", 1, 2, "stopped"), [row("c", "a", "u", "Half", "assistant")], [])
    going = row("c", "a", "u", "Half", "assistant", status="running", run="r2")
    assert await keeping.begin(Run("r2", "c", 3), "ann", b"{}", added=(), leaf="a", saved=going) == ()
    assert (await keeping.store.messages.get("c", "a")).status == "running"


async def test_rows_and_log_are_kept_together_or_not_at_all(keeping):
    await keeping.begin(Run("r", "c", 1), "ann", b"{}", added=ADDED, leaf="a")
    log = RunLog()
    log.add(RunDelta("a", "text", "Half"))
    with pytest.raises(NotFound):
        await keeping.save("r", [row("c", "gone")], log.unsaved())
    assert await keeping.store.runs.log("r") == []
    await keeping.save("r", [row("c", "a", "u", "Half", "assistant", status="running")], log.unsaved())
    assert len(await keeping.store.runs.log("r")) == 1
    await keeping.end(Run("r", "c", 1, 2, "done"), [row("c", "a", "u", "Half.", "assistant")], [])
    assert (await keeping.store.conversations.get("ann", "c")).running is None
    assert (await keeping.store.messages.get("c", "a")).text == "Half."


async def test_a_row_the_user_wrote_waits_no_more(keeping):
    await keeping.begin(Run("r", "c", 1), "ann", b"{}", added=ADDED, leaf="a")
    await keeping.store.pending.add("ann", PendingMessage("s", "c", (TextContent("More"),), "steer"))
    await keeping.add("r", [row("c", "s", "a", "More")])
    assert await keeping.store.pending.of("c") == []
    assert (await keeping.store.conversations.get("ann", "c")).leaf == "s"


async def test_a_question_is_found_wherever_it_is_kept(clock, anyio_backend):
    async with Database.memory() as durable, Database.memory() as temporary:
        stores = Stores(durable, temporary, clock)
        for id, is_temporary in (("c", False), ("t", True)):
            await stores.create("ann", Conversation(id, temporary=is_temporary))
            place = stores.of(id)
            await place.runs.begin(Run(f"r{id}", id, 1), "ann", b"{}")
            questions = StoredApprovals(RunRepository(place), "ann")
            await questions.add(Approval(f"q{id}", f"r{id}", id))
            found, asked = await find_approval(stores, "ann", f"q{id}")
            assert (found is place, asked.answered) == (True, 0)
            await questions.close(f"q{id}")
            assert (await find_approval(stores, "ann", f"q{id}"))[1].answered
            with pytest.raises(NotFound):
                await find_approval(stores, "bob", f"q{id}")
