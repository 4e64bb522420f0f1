"""What of a stream its engine is judged by."""

from duologue.gateway.workers.stream import LeaseInbox, Outbox, Stream
from duologue.values.events import Done, TextDelta
from duologue.wire import worker_protocol


def stream(began: float | None = 5.0) -> Stream:
    return Stream(1, 0, 0, LeaseInbox(), Outbox(), lambda stream: None, began=began, clock=lambda: 42.0)


def test_a_reply_says_when_it_began_and_when_it_was_cancelled():
    one = stream()
    work = one.work()
    assert work is not None
    assert (work.began, work.cancelled, work.blocked) == (5.0, None, False)
    one.cancel()
    work = one.work()
    assert work is not None
    assert work.cancelled == 42.0
    assert stream(None).work() is None, "a call may be silent"


def test_an_engine_waits_for_a_reader_that_takes_nothing():
    one = stream()
    one.deliver((TextDelta("a"),) * worker_protocol.WINDOW)
    work = one.work()
    assert work is not None
    assert work.blocked
    one.taken(worker_protocol.WINDOW)
    work = one.work()
    assert work is not None
    assert not work.blocked


def test_after_its_end_nothing_is_delivered():
    inbox = LeaseInbox()
    one = Stream(1, 0, 3, inbox, Outbox(), lambda stream: None)
    one.deliver((TextDelta("a"), Done("stop")))
    one.deliver((TextDelta("late"),))
    assert one.ended
    assert inbox._items == [(3, TextDelta("a")), (3, Done("stop"))]
