from duologue.gateway.scheduling.queueing.model_queue import ModelQueue
from duologue.gateway.scheduling.queueing.slots import EVERY_SLOT, QueueEntry


def entry(
    ticket: str, number: int, *, need: int = 1, ahead: bool = False, behind: bool = False
) -> QueueEntry:
    waiting = QueueEntry(ticket, "m", need, "chat", (), 0.0, ahead=ahead, behind=behind)
    waiting.number, waiting.cost = number, 10.0
    return waiting


def test_calls_come_first_then_everything_else_then_batches():
    queue = ModelQueue()
    entries = [entry("batch", 1, behind=True), entry("chat", 2), entry("call", 3, ahead=True)]
    assert not queue
    for waiting in entries:
        queue.line_of(waiting).add(waiting)
    assert [waiting.ticket for waiting in queue.in_order()] == ["call", "chat", "batch"]
    assert [waiting.ticket for waiting in queue.in_order(2)] == ["call", "chat"]
    assert queue.before(entries[0]) == (2, 20.0)
    assert queue.wanted


def test_who_has_a_worker_kept_comes_before_all_and_may_leave():
    queue = ModelQueue()
    whole, chat = entry("whole", 1, need=EVERY_SLOT), entry("chat", 2)
    queue.ordinary.add(whole)
    queue.ordinary.add(chat)
    queue.keep(whole)
    assert [waiting.ticket for waiting in queue.in_order()] == ["whole", "chat"]
    assert queue.before(chat) == (1, 10.0)
    queue.remove(whole)
    queue.remove(chat)
    assert not queue
