"""What runs keep, each in one transaction, on every kind of database."""

import anyio
import msgspec
import pytest
from tests.support.store_fixtures import clock, conversation, database, row, store

from duologue.conversations.runs.event_log import RunLog
from duologue.conversations.runs.plan import RunPlan
from duologue.conversations.runs.repository import RunRepository, StoredApprovals, find_approval
from duologue.errors import BadRequest, NotFound
from duologue.store.cluster.run_claims import MessageTaken
from duologue.store.database import Database
from duologue.store.stores import Stores
from duologue.values.conversations import Approval, Conversation, PendingMessage, TextContent
from duologue.values.runs import Run, RunDelta

__all__ = ["clock", "database", "store"]
pytestmark = pytest.mark.anyio

ADDED = (row("c", "u", None, "Hello"), row("c", "a", "u", "", "assistant", status="running", run="r"))


def planning(plan):
    """What plans this, whatever the conversation has."""
    return lambda conversation, tree: plan


STARTS = planning(RunPlan("u", "a", ADDED))


@pytest.fixture
async def keeping(store):
    await conversation(store, id="c", user="ann")
    return RunRepository(store)


async def test_a_run_begins_with_its_rows_its_leaf_and_its_title(keeping):
    await keeping.store.pending.add("ann", PendingMessage("u", "c", (TextContent("Hello"),)))
    plan = await keeping.begin(Run("r", "c", 1), "ann", b"{}", STARTS, title="Hello")
    assert [row.sequence > 0 for row in plan.added] == [True, True]
    kept = await keeping.store.conversations.get("ann", "c")
    assert (kept.leaf, kept.title, kept.title_source, kept.running) == ("a", "Hello", "first", "r")
    assert await keeping.store.pending.of("c") == []
    assert await keeping.store.runs.abandoned() == ["r"]


async def test_a_run_is_planned_by_the_tree_as_it_is_when_it_begins(keeping):
    await keeping.begin(Run("r", "c", 1), "ann", b"{}", STARTS)
    await keeping.end(Run("r", "c", 1, 2, "stopped"), [row("c", "a", "u", "Half", "assistant")], [])
    seen = []

    def plan(conversation, tree):
        seen.append((conversation.leaf, [row.text for row in tree]))
        return RunPlan("a", "a", continued=msgspec.structs.replace(tree[-1], status="running", run="r2"))

    await keeping.begin(Run("r2", "c", 3), "ann", b"{}", plan)
    assert seen == [("a", ["Hello", "Half"])]


async def test_a_conversation_keeps_its_title(keeping):
    await keeping.store.conversations.change("ann", "c", {"title": "Mine"})
    await keeping.begin(Run("r", "c", 1), "ann", b"{}", STARTS, title="Hello")
    assert (await keeping.store.conversations.get("ann", "c")).title == "Mine"


async def test_a_message_that_a_run_has_answered_begins_no_other(keeping):
    sent = (row("c", "u", None, "Hello", run="r"), ADDED[1])
    await keeping.begin(Run("r", "c", 1), "ann", b"{}", planning(RunPlan("u", "a", sent)), sends="u")
    await keeping.end(Run("r", "c", 1, 2, "done"), [], [])
    with pytest.raises(MessageTaken) as caught:
        await keeping.begin(Run("r2", "c", 3), "ann", b"{}", STARTS, sends="u")
    assert caught.value.run == "r"
    assert len(await keeping.store.messages.all("c")) == 2


async def test_a_queued_message_that_is_gone_begins_nothing(keeping):
    queued = await keeping.store.pending.add("ann", PendingMessage("u", "c", (TextContent("Hello"),)))
    await keeping.store.pending.remove("c", "u")
    with pytest.raises(MessageTaken):
        await keeping.begin(Run("r", "c", 1), "ann", b"{}", STARTS, sends="u", queued=queued)
    assert await keeping.store.messages.all("c") == ()


async def test_a_run_that_cannot_begin_leaves_nothing(keeping):
    orphan = row("c", "x", "nowhere", "Hello")
    with pytest.raises(BadRequest):
        await keeping.begin(Run("r", "c", 1), "ann", b"{}", planning(RunPlan("u", "x", (*ADDED, orphan))))
    assert await keeping.store.messages.all("c") == ()
    assert await keeping.store.runs.abandoned() == []


async def test_a_row_that_goes_on_is_saved_and_shown(keeping):
    await keeping.begin(Run("r", "c", 1), "ann", b"{}", STARTS)
    await keeping.end(Run("r", "c", 1, 2, "stopped"), [row("c", "a", "u", "Half", "assistant")], [])
    going = row("c", "a", "u", "Half", "assistant", status="running", run="r2")
    going_on = RunPlan("a", "a", continued=going)
    assert await keeping.begin(Run("r2", "c", 3), "ann", b"{}", planning(going_on)) == going_on
    assert (await keeping.store.messages.get("c", "a")).status == "running"


async def test_rows_and_log_are_kept_together_or_not_at_all(keeping):
    await keeping.begin(Run("r", "c", 1), "ann", b"{}", STARTS)
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


@pytest.fixture
async def several(keeping):
    """Runs r0 to r3, each in a conversation of its own with a row that it writes."""
    for number in range(4):
        made = await conversation(keeping.store, id=f"c{number}", user="ann")
        rows = (row(made.id, "a", None, "", "assistant", status="running", run=f"r{number}"),)
        run = Run(f"r{number}", made.id, 1)
        await keeping.begin(run, "ann", b"{}", planning(RunPlan(None, "a", rows)))
    return keeping


async def grow(keeping, number, message="a"):
    log = RunLog()
    log.add(RunDelta("a", "text", "Half"))
    grown = row(f"c{number}", message, None, "Half", "assistant", status="running", run=f"r{number}")
    await keeping.save(f"r{number}", [grown], log.unsaved())


async def kept(keeping):
    """Of which runs the text and the log are stored."""
    numbers = range(4)
    texts = [(await keeping.store.messages.get(f"c{number}", "a")).text for number in numbers]
    logs = [len(await keeping.store.runs.log(f"r{number}")) for number in numbers]
    assert [bool(text) for text in texts] == [bool(log) for log in logs]
    return [number for number in numbers if texts[number]]


async def test_runs_that_are_saved_at_once_share_a_transaction(several, monkeypatch):
    writing, begun = several.store.writing, []

    def counted():
        begun.append(1)
        return writing()

    monkeypatch.setattr(several.store, "writing", counted)
    async with anyio.create_task_group() as tasks:
        for number in range(4):
            tasks.start_soon(grow, several, number)
    assert await kept(several) == [0, 1, 2, 3]
    assert len(begun) == 1


async def test_of_runs_that_are_saved_at_once_one_that_is_gone_fails_alone(several):
    failed = []

    async def grow_missing():
        with pytest.raises(NotFound):
            await grow(several, 2, "gone")
        failed.append(2)

    async with anyio.create_task_group() as tasks:
        for number in (0, 1, 3):
            tasks.start_soon(grow, several, number)
        tasks.start_soon(grow_missing)
    assert failed == [2]
    assert await kept(several) == [0, 1, 3]


async def test_entries_that_are_saved_again_after_a_lost_answer_are_stored_once(several):
    await grow(several, 0)
    await grow(several, 0)
    assert len(await several.store.runs.log("r0")) == 1


async def test_a_row_the_user_wrote_waits_no_more(keeping):
    await keeping.begin(Run("r", "c", 1), "ann", b"{}", STARTS)
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
