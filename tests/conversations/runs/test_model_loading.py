"""Runs whose model is not loaded: it is loaded first, or another answers, and the events say so."""

import anyio
import pytest
from tests.conversations.fakes.run_dependencies import CARD, says
from tests.conversations.fakes.world import opened
from tests.support.store_fixtures import Clock

from duologue.errors import ModelNotFound, Problem
from duologue.values.conversations import GenerationOptions
from duologue.values.requests import ModelCard
from duologue.values.runs import RunProgress, RunStarted

pytestmark = pytest.mark.anyio


class Loading:
    """The models as the test sets them. Loading `tiny` gives the shares and then its card, or the problem."""

    def __init__(self, around):
        self.around = around
        self.states = {"mini": "usable", "tiny": "unloaded"}
        self.admins = {"ann"}
        self.coming_default = ""
        self.shares: list[float | None] = [None, 0.5]
        self.problem: Problem | None = None
        self.loaded = []
        self.hold: anyio.Event | None = None

    def may_load(self, user):
        return user in self.admins

    async def state(self, name):
        return self.states.get(name, "gone")

    async def ready(self, name, user, *, load):
        if name in self.around.cards or not (load or self.states.get(name) == "usable"):
            return
        self.loaded.append((name, user))
        for share in self.shares:
            yield share
        if self.hold is not None:
            await self.hold.wait()
        if self.problem is not None:
            raise self.problem
        self.around.cards[name] = ModelCard(name, "llama", 1000, verbs=CARD.verbs)
        self.states[name] = "usable"


@pytest.fixture
async def world(anyio_backend):
    async with opened(Clock()) as world:
        world.around.models = Loading(world.around)
        async with world.serving():
            yield world


async def started(world, **fields):
    """The first event of a reply, all of them, and its row."""
    events = await world.events(await world.send(**fields))
    assert isinstance(events[0], RunStarted)
    return events[0], events, (await world.path())[-1]


async def test_the_model_of_a_conversation_is_loaded_with_its_progress_and_answers(world):
    await world.create("c2", options=GenerationOptions(model="tiny"))
    run = await world.send("Hello", conversation="c2")
    events = await world.events(run)
    assert (events[0].model, events[0].wanted) == ("tiny", "")
    told = [event for event in events if isinstance(event, RunProgress) and event.waiting == "load"]
    assert told[-1] == RunProgress("load", model="tiny", loaded=0.5)
    assert world.around.models.loaded == [("tiny", "ann")]
    assert world.model.requests[0].model == "tiny"
    assert events[-1].outcome == "done"


async def test_a_loaded_model_is_not_waited_for(world):
    start, events, _ = await started(world, options=GenerationOptions(model="mini"))
    assert start.model == "mini"
    assert not [event for event in events if isinstance(event, RunProgress) and event.waiting == "load"]


async def test_who_may_not_load_models_is_answered_by_the_default_which_says_so(world):
    world.around.models.admins.clear()
    start, events, reply = await started(world, options=GenerationOptions(model="tiny"))
    assert (start.model, start.wanted, start.reason) == ("mini", "tiny", "unloaded")
    assert (events[-1].outcome, reply.model, reply.status) == ("done", "mini", "done")
    assert world.around.models.loaded == []


@pytest.mark.parametrize("reason", ["failed", "gone"])
async def test_a_model_that_cannot_be_loaded_is_replaced_by_the_default(world, reason):
    world.around.models.states["tiny"] = reason
    start, events, _ = await started(world, options=GenerationOptions(model="tiny"))
    assert (start.model, start.wanted, start.reason) == ("mini", "tiny", reason)
    assert events[-1].outcome == "done"


async def test_a_preference_for_new_chats_loads_nothing(world):
    world.around.defaults = GenerationOptions(model="tiny")
    start, _, _ = await started(world)
    assert (start.model, start.wanted) == ("mini", "")


async def test_a_load_that_fails_ends_the_reply_with_its_reason(world):
    world.around.models.problem = Problem("Too little memory.", code="not_enough_memory", status=409)
    _, events, reply = await started(world, options=GenerationOptions(model="tiny"))
    assert events[-1].outcome == "failed"
    assert (reply.status, reply.error.code, reply.error.message) == (
        "failed",
        "not_enough_memory",
        "Too little memory.",
    )


async def test_a_reply_that_waits_for_its_model_can_be_stopped(world):
    world.around.models.hold = anyio.Event()
    run = await world.send(options=GenerationOptions(model="tiny"))
    await world.until(run, lambda event: isinstance(event, RunProgress) and event.waiting == "load")
    assert (await world.runs.lookup.get("ann", run.id)).waiting == "load"
    ended = await world.runs.stop("ann", run.id)
    assert ended.outcome == "stopped"
    assert world.model.requests == []


async def test_a_model_that_the_start_of_the_server_loads_is_waited_for_by_everyone(world):
    world.around.models.states["tiny"] = "usable"
    world.around.models.admins.clear()
    start, events, _ = await started(world, options=GenerationOptions(model="tiny"))
    assert (start.model, events[-1].outcome) == ("tiny", "done")
    assert world.around.models.loaded == [("tiny", "ann")]


async def test_a_chat_without_a_choice_waits_for_the_default_that_the_start_of_the_server_loads(world):
    world.around.models.states["tiny"] = "usable"
    world.around.models.coming_default = "tiny"
    start, events, _ = await started(world)
    assert (start.model, events[-1].outcome) == ("tiny", "done")
    assert world.around.models.loaded == [("tiny", "ann")]


async def test_a_message_that_waits_behind_a_reply_is_checked_against_the_model_that_will_answer(world):
    world.around.models.admins.clear()
    go_on = anyio.Event()
    world.model.plays([*says("One")[:1], go_on, *says("One")[1:]], says("Two"))
    first = await world.send("First")
    await world.send("Second", options=GenerationOptions(model="tiny"), busy="queue")
    go_on.set()
    await world.done(first)
    with anyio.fail_after(30):
        while len(await world.shown()) < 4 or (await world.path())[-1].status == "running":
            await anyio.lowlevel.checkpoint()
    assert await world.shown() == ["user: First", "assistant: One", "user: Second", "assistant: Two"]


async def test_without_a_way_to_load_models_an_unknown_one_is_an_error(anyio_backend):
    async with opened(Clock()) as world, world.serving():
        with pytest.raises(ModelNotFound):
            await world.send(options=GenerationOptions(model="tiny"))
