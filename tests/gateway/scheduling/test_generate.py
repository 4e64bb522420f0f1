"""`generate`, over a pool whose leases are played by the test."""

import itertools
from contextlib import contextmanager

import anyio
import pytest
from tests.support.stand_in import StandIn

from duologue.errors import Busy, QueueFull, Unavailable
from duologue.gateway.scheduling.generate import Generator
from duologue.gateway.scheduling.scheduler import Moved, Scheduler
from duologue.threads import LARGE
from duologue.values.events import (
    Done,
    Failed,
    Queued,
    ReasoningDelta,
    TextDelta,
    Timings,
    ToolCallDelta,
    Usage,
)
from duologue.values.messages import system, user
from duologue.values.prefixes.prefix_digest import chain, opening, reading_size
from duologue.values.requests import ChatRequest, ModelCard, Sampling

pytestmark = pytest.mark.anyio

REQUEST = ChatRequest((user("hello"),), model="m", sampling=Sampling(seed=5))


class PlayedLease:
    """Two slots by default; each begun choice says one word and is done."""

    ticket = "q_1"

    def __init__(self, places=(), problem=None, slots=2):
        self._places, self._problem = places, problem
        self.idle = slots
        self.begun = []
        self.released_idle = False
        self.missing = 0
        self.refusal = None
        self.reports = []
        self._batches = []
        self.says = None
        """What the first choice says instead."""

    async def places(self):
        for place in self._places:
            yield place
        if self._problem is not None:
            raise self._problem

    def begin(self, choice, request, request_id):
        self.idle -= 1
        self.begun.append((choice, request.sampling.seed, request_id))
        said = [(choice, TextDelta(str(choice))), (choice, Done("stop", timings=Timings(first=1)))]
        self._batches.extend(self.says or [said])

    def release_idle(self):
        self.released_idle = True

    def progress(self, choice, tokens):
        self.reports.append((choice, tokens))

    async def take(self):
        self.idle += 1
        return self._batches.pop(0)


class PlayedPool(StandIn):
    def __init__(self, lease):
        self.played = lease
        self.asked = {}
        self.returned = 0
        self.learned = []

    def replied(self, model, kind, prompt, done):
        self.learned.append((model, kind, prompt, done.usage.output))

    def addressed(self, request):
        return request

    @contextmanager
    def lease(self, model, **asked):
        self.asked = {"model": model, **asked}
        try:
            yield self.played
        finally:
            self.returned += 1


async def everything(pool, **more):
    seen = []
    times = itertools.chain([0.0], itertools.repeat(2.0))
    relay = Generator(pool, clock=times.__next__, observe=lambda model, kind, event: seen.append(event))
    events = []
    async with relay(REQUEST, request_id="r", **more) as batches:
        async for batch in batches:
            events.extend(batch)
    return events, seen


async def test_a_choice_is_begun_and_its_events_come_through():
    pool = PlayedPool(PlayedLease())
    events, seen = await everything(pool)
    assert [type(event) for _, event in events] == [TextDelta, Done]
    assert pool.asked["model"] == "m"
    assert pool.asked["need"] == 1
    assert pool.returned == 1
    assert len(seen) == 1


async def test_the_wait_is_added_to_the_timings_in_milliseconds():
    events, _ = await everything(PlayedPool(PlayedLease()))
    assert events[-1][1].timings == Timings(queue=2000.0, first=2001.0)


async def test_places_become_queued_events():
    places = [Moved("q_1", 2, 9.0, 3), Moved("q_1", 1, 4.0, 2)]
    events, _ = await everything(PlayedPool(PlayedLease(places)))
    assert [event for _, event in events[:2]] == [Queued("q_1", 2, 9.0, 3), Queued("q_1", 1, 4.0, 2)]


async def test_a_refusal_is_one_failed_event_and_the_end():
    pool = PlayedPool(PlayedLease(problem=QueueFull("The queue is full.")))
    events, seen = await everything(pool)
    assert events == [(0, Failed("queue_full", "The queue is full.", 503))]
    assert seen == [events[0][1]]
    assert pool.returned == 1


async def test_more_choices_than_slots_run_in_waves_each_with_its_own_seed():
    lease = PlayedLease(slots=2)
    pool = PlayedPool(lease)
    events, _ = await everything(pool, count=5)
    assert [choice for choice, _, _ in lease.begun] == [0, 1, 2, 3, 4]
    assert [seed for _, seed, _ in lease.begun] == [5, 6, 7, 8, 9]
    assert sum(isinstance(event, Done) for _, event in events) == 5
    assert pool.asked["need"] == 5


async def test_slots_are_released_idle_only_once_no_choice_is_left_to_begin():
    lease = PlayedLease(slots=1)
    async with Generator(PlayedPool(lease))(REQUEST, count=2) as batches:
        await anext(batches)
        assert not lease.released_idle
        await anext(batches)
        assert lease.released_idle


async def test_the_tokens_of_a_reply_are_told_as_they_come_and_the_rest_at_its_end():
    lease = PlayedLease(slots=1)
    lease.says = [
        [(0, ReasoningDelta("hm")), (0, TextDelta("a"))],
        [(0, ToolCallDelta(0, "{}"))],
        [(0, TextDelta("b")), (0, Done("stop", Usage(output=9)))],
    ]
    told: list[int] = []
    async with Generator(PlayedPool(lease), wrote=told.append)(REQUEST) as batches:
        async for _ in batches:
            pass
    assert told == [2, 1, 5, 1]
    assert sum(told) == 9


async def test_the_first_token_is_reported_and_then_twice_a_second_and_an_ended_reply_is_learned_from():
    lease = PlayedLease(slots=1)
    words = [[(0, TextDelta("a"))] for _ in range(12)]
    lease.says = [*words, [(0, Done("stop", Usage(output=12)))]]
    pool = PlayedPool(lease)
    times = itertools.chain([0.0, 0.0], itertools.count(0.0, 0.125))
    async with Generator(pool, clock=times.__next__)(REQUEST) as batches:
        async for _ in batches:
            pass
    assert lease.reports == [(0, 1), (0, 5), (0, 9)]
    assert pool.learned == [("m", "chat", reading_size(REQUEST), 12)]
    assert pool.asked["prompt"] == reading_size(REQUEST)


async def test_the_next_choice_is_begun_when_the_slot_is_free_which_is_after_the_end_of_the_one_before():
    class Slow(PlayedLease):
        async def take(self):
            if self._batches:
                return self._batches.pop(0)
            self.idle += 1
            return []

    lease = Slow(slots=1)
    events, _ = await everything(PlayedPool(lease), count=2)
    assert [choice for choice, event in events if isinstance(event, Done)] == [0, 1]


async def test_choices_that_still_wait_when_their_model_goes_fail_one_by_one():
    class Going(PlayedLease):
        async def take(self):
            self.missing, self.refusal = 0, Unavailable("It goes.", code="model_unloaded")
            return self._batches.pop(0)

    lease = Going(slots=1)
    lease.missing = 2
    events, seen = await everything(PlayedPool(lease), count=3)
    ends = [(choice, event) for choice, event in events if isinstance(event, Done | Failed)]
    assert [(choice, type(event)) for choice, event in ends] == [(0, Done), (1, Failed), (2, Failed)]
    assert len(seen) == 3


async def test_a_reply_that_was_left_is_told_as_cancelled_once():
    seen = []
    relay = Generator(PlayedPool(PlayedLease(slots=1)), observe=lambda model, kind, event: seen.append(event))
    async with relay(REQUEST, count=2) as batches:
        await anext(batches)
        await anext(batches)
    assert [event.finish for event in seen] == ["stop", "stop"]
    seen.clear()
    lease = PlayedLease(slots=1)
    lease.says = [[(0, TextDelta("a"))]]
    async with Generator(PlayedPool(lease), observe=lambda model, kind, event: seen.append(event))(
        REQUEST
    ) as batches:
        await anext(batches)
    assert seen == [Done("cancelled")]


async def test_leaving_in_the_middle_returns_the_lease():
    pool = PlayedPool(PlayedLease())
    async with Generator(pool)(REQUEST) as batches:
        await anext(batches)
        assert pool.returned == 0
    assert pool.returned == 1


# ---- reading ahead


class Slots(StandIn):
    """A pool of one worker, as the queue has it."""

    def __init__(self, *leases, verbs=("prefill",), waiting=False):
        self.scheduler = Scheduler()
        self.scheduler.worker_ready("w", "m", 1, 0.0)
        if waiting:
            for ticket in ("a", "b"):
                self.scheduler.request(ticket, "m", 0.0)
        self._verbs = verbs
        self._leases = list(leases)
        self.asked = []
        self.returned = 0

    def cards(self):
        return [ModelCard("m", "scripted", 100, verbs=self._verbs)]

    def addressed(self, request):
        return request

    @contextmanager
    def lease(self, model, **asked):
        self.asked.append(asked)
        try:
            yield self._leases.pop(0)
        finally:
            self.returned += 1


AHEAD = ChatRequest((system("Be kind."), user("tell me")), model="m")


async def test_a_prompt_is_read_ahead_into_the_slot_its_reply_will_prefer_and_nothing_is_written():
    lease = PlayedLease(slots=1)
    pool = Slots(lease)
    seen = []
    await Generator(pool, observe=lambda model, kind, event: seen.append(event)).ahead(AHEAD, "ada")
    assert len(lease.begun) == 1
    assert pool.returned == 1
    [asked] = pool.asked
    assert (asked["kind"], asked["chain"]) == ("ahead", chain(AHEAD)[:1])
    assert seen == []


def test_the_reply_is_given_the_slot_its_prompt_was_read_into():
    queue = Scheduler()
    queue.worker_ready("w", "m", 2, 0.0)
    [granted] = queue.request("ahead", "m", 1.0, chain=chain(AHEAD)[:1])
    queue.release("ahead", "w", granted.slots[0], 2.0)
    said = ChatRequest((*AHEAD.messages[:1], user("tell me a story")), model="m")
    [reply] = queue.request("reply", "m", 3.0, chain=chain(said), ahead=True)
    assert reply.slots == granted.slots


def test_where_nothing_was_said_before_the_slot_is_found_by_what_opens_every_prompt():
    queue = Scheduler()
    queue.worker_ready("w", "m", 3, 0.0)
    first = ChatRequest((user("hello"),), model="m")
    [other] = queue.request("other", "m", 0.5, chain=chain(AHEAD), opening=opening(AHEAD))
    queue.release("other", "w", other.slots[0], 0.8)
    [granted] = queue.request("ahead", "m", 1.0, opening=opening(first))
    assert granted.slots != other.slots
    queue.release("ahead", "w", granted.slots[0], 2.0)
    [reply] = queue.request("reply", "m", 3.0, chain=chain(first), opening=opening(first), ahead=True)
    assert reply.slots == granted.slots


@pytest.mark.parametrize(
    ("pool", "request_"),
    [
        (Slots(verbs=()), AHEAD),
        (Slots(waiting=True), AHEAD),
        (Slots(), ChatRequest(AHEAD.messages, model="another")),
    ],
)
async def test_where_it_helps_nobody_or_holds_somebody_up_nothing_is_read_ahead(pool, request_):
    await Generator(pool).ahead(request_, "ada")
    assert pool.asked == []


async def test_without_an_idle_slot_nothing_is_read_ahead():
    lease = PlayedLease(slots=0)
    pool = Slots(lease)
    await Generator(pool).ahead(AHEAD, "ada")
    assert lease.begun == []
    assert pool.returned == 1


async def test_whoever_comes_to_wait_ends_what_is_read_ahead():
    class Endless(PlayedLease):
        async def take(self):
            await anyio.sleep_forever()

    pool = Slots(Endless(slots=1), PlayedLease(places=[Moved("q_2", 1, 1.0, 1)]))
    relay = Generator(pool)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(relay.ahead, AHEAD, "ada")
        await anyio.wait_all_tasks_blocked()
        assert pool.returned == 0
        async with relay(REQUEST) as batches:
            await anext(batches)
            await anyio.wait_all_tasks_blocked()
            assert pool.returned == 1


async def test_a_large_request_is_digested_in_a_thread_and_a_small_one_at_once(monkeypatch):
    sizes = []

    async def parsing(size, function, *args, user):
        sizes.append(size)
        return function(*args)

    monkeypatch.setattr("duologue.gateway.scheduling.generate.parsing", parsing)
    pool = PlayedPool(PlayedLease())
    await everything(pool)
    large = ChatRequest((user("hello " * 10_000),), model="m")
    async with Generator(pool)(large) as batches:
        async for _ in batches:
            pass
    assert sizes[0] < LARGE < sizes[1]
    assert pool.asked["chain"] == chain(large)
    assert pool.asked["opening"] == opening(large)


async def test_a_request_that_no_thread_digests_is_told_so(monkeypatch):
    async def parsing(*_, user):
        raise Busy("No thread.", code="busy")

    monkeypatch.setattr("duologue.gateway.scheduling.generate.parsing", parsing)
    seen = []
    pool = PlayedPool(PlayedLease())
    pool.cards = lambda: [ModelCard("m", "scripted", 100, verbs=("prefill",))]
    generate = Generator(pool, observe=lambda model, kind, event: seen.append(event.code))
    async with generate(REQUEST) as batches:
        events = [event async for batch in batches for _, event in batch]
    assert [(event.code, event.message) for event in events] == [("busy", "No thread.")]
    assert seen == ["busy"]
    await generate.ahead(REQUEST, "ada")
    assert pool.asked == {}
