"""A lease by itself: its place in the queue, what it runs, and that every slot is given back exactly once."""

from typing import Any

import anyio
import pytest
from tests.support.recorded_spans import recording
from tests.support.stand_in import StandIn

from duologue.errors import QueueFull, Unavailable
from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.scheduling.scheduler import Granted, Moved, Refused
from duologue.gateway.workers.connection import Stream
from duologue.queue_ticket import watched_queue
from duologue.values.events import STOPPING, Done, TextDelta
from duologue.values.messages import user
from duologue.values.requests import ChatRequest

pytestmark = pytest.mark.anyio

REQUEST = ChatRequest((user("hello"),))


class RecordedStream(Stream):
    """A stream that records what the lease asks of it."""

    def __init__(self, connection, slot, choice, inbox, on_closed):
        unused_outbox: Any = None
        super().__init__(len(connection.streams), slot, choice, inbox, unused_outbox, on_closed)
        self._connection = connection

    def cancel(self):
        self.ended = True
        self._connection.cancelled.append(self)

    def taken(self, count):
        self._connection.granted.append((self.choice, count))


class FakePool(StandIn):
    """The pool that the lease gives back to, and the connection to the worker whose slots it has."""

    def __init__(self, *, whole: bool = False, need: int = 1) -> None:
        self.reported: list[tuple[int, int]] = []
        self.withdrawn: list[str] = []
        self.released: list[int] = []
        self.cancelled: list[Stream] = []
        self.streams: list[Stream] = []
        self.granted: list[tuple[int, int]] = []
        self.lease = Lease(self, "q_1", need=need, whole=whole)

    def lend(self, *slots: int) -> Lease:
        self.lease.apply(Granted("q_1", "w", slots), self)
        return self.lease

    def withdraw(self, ticket):
        self.withdrawn.append(ticket)

    def release(self, ticket, worker, slot):
        assert (ticket, worker) == ("q_1", "w")
        self.released.append(slot)

    def progress(self, ticket, worker, slot, tokens):
        assert (ticket, worker) == ("q_1", "w")
        self.reported.append((slot, tokens))

    def begin(self, slot, choice, request, inbox, request_id, on_closed):
        stream = RecordedStream(self, slot, choice, inbox, on_closed)
        self.streams.append(stream)
        return stream


@pytest.fixture
def pool() -> FakePool:
    return FakePool()


async def test_places_are_told_one_by_one_until_the_slots_are_lent(pool):
    pool.lease.apply(Moved("q_1", 2, 4.0, 3), None)
    places = []
    async with anyio.create_task_group() as tasks:

        async def wait():
            places.extend([place.position async for place in pool.lease.places()])

        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        pool.lease.apply(Moved("q_1", 1, 2.0, 3), None)
        await anyio.wait_all_tasks_blocked()
        pool.lend(0)
    assert places == [2, 1]
    assert pool.lease.idle == 1


async def test_of_places_that_were_not_asked_for_the_last_alone_is_told(pool):
    for position in (3, 2):
        pool.lease.apply(Moved("q_1", position, 4.0, 3), None)
    places = pool.lease.places()
    assert (await anext(places)).position == 2
    await places.aclose()


@pytest.mark.parametrize(("code", "kind"), [("queue_full", QueueFull), (STOPPING.code, Unavailable)])
async def test_a_refusal_is_a_problem_with_its_code(pool, code, kind):
    pool.lease.apply(Refused("q_1", code, "Not now."), None)
    with pytest.raises(kind, match="Not now") as met:
        await anext(pool.lease.places())
    assert met.value.code == code


async def test_what_only_waited_is_withdrawn(pool):
    pool.lease.give_back()
    assert (pool.withdrawn, pool.released) == (["q_1"], [])


async def test_slots_that_run_nothing_go_back_at_once_and_the_others_when_they_are_free(pool):
    lease = pool.lend(0, 1, 2)
    lease.begin(0, REQUEST, "r")
    lease.release_idle()
    assert pool.released == [1, 2]
    lease.give_back()
    assert pool.cancelled == pool.streams
    assert pool.released == [1, 2]
    pool.streams[0].close()
    assert (pool.released, pool.withdrawn) == ([1, 2, 0], [])


async def test_a_slot_that_falls_idle_runs_the_next_choice_as_long_as_more_will_begin(pool):
    lease = pool.lend(0)
    lease.begin(0, REQUEST, "r")
    pool.streams[0].deliver((Done("stop"),))
    pool.streams[0].close()
    assert (lease.idle, pool.released) == (1, [])
    lease.begin(1, REQUEST, "r")
    lease.release_idle()
    pool.streams[1].close()
    lease.give_back()
    assert pool.released == [0]


async def test_events_of_all_choices_come_together_and_the_worker_is_told_what_was_taken(pool):
    lease = pool.lend(0, 1)
    for choice in range(2):
        lease.begin(choice, REQUEST, "r")
    pool.streams[0].deliver((TextDelta("a"), TextDelta("b")))
    pool.streams[1].deliver((TextDelta("c"),))
    assert await lease.take() == [(0, TextDelta("a")), (0, TextDelta("b")), (1, TextDelta("c"))]
    assert pool.granted == [(0, 1), (0, 1), (1, 1)]
    pool.streams[0].close()
    assert await lease.take() == [], "a slot fell idle"


async def test_what_one_choice_alone_sent_is_told_in_one_word(pool):
    lease = pool.lend(0)
    lease.begin(0, REQUEST, "r")
    pool.streams[0].deliver((TextDelta("a"), TextDelta("b")))
    await lease.take()
    assert pool.granted == [(0, 2)]


async def test_a_worker_taken_whole_comes_back_only_when_its_work_has_ended():
    pool = FakePool(whole=True)
    lease = pool.lend(0, 1, 2)
    lease.begin(0, REQUEST, "r")
    lease.give_back()
    assert (len(pool.cancelled), pool.released) == (1, [])
    pool.streams[0].close()
    assert sorted(pool.released) == [0, 1, 2]


async def test_a_worker_taken_whole_and_not_used_comes_back_at_once():
    pool = FakePool(whole=True)
    pool.lend(0, 1).give_back()
    assert pool.released == [0, 1]


async def test_work_that_is_cancelled_may_be_followed_by_other_work():
    pool = FakePool(whole=True)
    lease = pool.lend(0, 1)
    lease.begin(0, REQUEST, "r")
    lease.cancel()
    assert lease.idle == 1
    pool.streams[0].close()
    assert lease.idle == 2
    lease.begin(0, REQUEST, "r")
    assert pool.released == []


async def test_while_further_slots_are_missing_each_goes_back_when_its_work_has_ended():
    pool = FakePool(need=3)
    lease = pool.lend(0)
    assert (lease.idle, lease.missing) == (1, 2)
    lease.begin(0, REQUEST, "r")
    pool.streams[0].close()
    assert (pool.released, lease.idle) == ([0], 0), "the next choice waits for its turn like anybody's"
    assert await lease.take() == []
    pool.lend(5)
    assert await lease.take() == [], "woken by the slot"
    pool.lend(6)
    assert (lease.idle, lease.missing) == (2, 0)
    lease.begin(1, REQUEST, "r")
    pool.streams[1].close()
    assert pool.released == [0], "the last ones are its own until it is done"
    lease.release_idle()
    assert sorted(pool.released) == [0, 5, 6]
    assert pool.withdrawn == []


async def test_who_leaves_while_slots_are_missing_waits_for_them_no_more():
    pool = FakePool(need=2)
    lease = pool.lend(0)
    lease.begin(0, REQUEST, "r")
    lease.give_back()
    assert pool.withdrawn == ["q_1"]
    pool.streams[0].close()
    assert pool.released == [0]


async def test_when_no_further_slot_will_come_the_reason_is_there_and_what_runs_goes_on():
    pool = FakePool(need=2)
    lease = pool.lend(0)
    lease.begin(0, REQUEST, "r")
    lease.apply(Refused("q_1", "model_unloaded", "It goes."), None)
    assert await lease.take() == []
    assert lease.missing == 0
    assert isinstance(lease.refusal, Unavailable)
    assert lease.running


async def test_what_a_choice_has_written_is_reported_for_its_slot():
    pool = FakePool()
    lease = pool.lend(4)
    lease.begin(0, REQUEST, "r")
    lease.progress(0, 17)
    pool.streams[0].close()
    lease.progress(0, 18)
    assert pool.reported == [(4, 17)]


async def test_the_answer_of_the_running_task_learns_of_its_ticket_and_places():
    with watched_queue() as told:
        pool = FakePool()
        assert told.ticket == "q_1"
        pool.lease.apply(Moved("q_1", 2, 4.0, 3), None)
        assert told.place == (2, 4.0)
        pool.lend(0)
        assert told.place is None
        assert told.waited is not None


async def test_a_place_that_comes_after_the_slot_is_not_told():
    with watched_queue() as told:
        pool = FakePool()
        lease = pool.lend(0)
        lease.apply(Moved("q_1", 1, 4.0, 1), None)
    assert told.place is None
    assert [place async for place in lease.places()] == []


async def test_the_wait_is_a_span_whether_it_is_served_refused_or_given_up(pool):
    with recording() as seen:
        pool.lend(0)
        assert [place async for place in pool.lease.places()] == []
        refused = FakePool()
        refused.lease.apply(Refused("q_1", "queue_full", "A secret."), None)
        with pytest.raises(QueueFull):
            await anext(refused.lease.places())
        left = FakePool()
        left.lease.apply(Moved("q_1", 2, 4.0, 3), None)
        places = left.lease.places()
        await anext(places)
        await places.aclose()
    served, failed, cancelled = seen.all
    assert seen.names == ["queue wait"] * 3
    assert served.status.is_unset
    assert failed.attributes["error.type"] == "queue_full"
    assert cancelled.attributes == {"duologue.queue.position": 2, "duologue.outcome": "cancelled"}
    assert "secret" not in failed.to_json()
