import anyio
import pytest

from duologue.queue_ticket import QueueTicket, queue_ticket, watched_queue

pytestmark = pytest.mark.anyio


def test_it_knows_the_latest_ticket_and_the_first_wait():
    times = iter([10.0, 12.5, 20.0])
    ticket = QueueTicket(lambda: next(times))
    assert (ticket.headers, ticket.comment) == ({}, b"")
    ticket.waits("q_1")
    ticket.moved(3, 4.25)
    assert ticket.comment == b": queue position=3 wait=4.2 ticket=q_1\n\n"
    assert ticket.headers == {"X-Duologue-Ticket": "q_1"}
    ticket.granted()
    assert ticket.comment == b""
    ticket.waits("v_2")
    ticket.granted()
    assert ticket.headers == {"X-Duologue-Ticket": "v_2", "X-Duologue-Queue-Wait-Ms": "2500"}


def test_it_says_how_long_models_were_waited_for_where_they_were():
    ticket = QueueTicket()
    ticket.loaded(0.01)
    assert ticket.headers == {}
    ticket.loaded(1.49)
    assert ticket.headers == {"X-Duologue-Load-Wait-Ms": "1500"}


async def test_a_task_that_is_started_inside_reports_to_it():
    async def work() -> None:
        ticket = queue_ticket.get()
        assert ticket is not None
        ticket.moved(1, 1.0)

    with watched_queue() as ticket:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            with anyio.fail_after(60):
                await ticket.next_place(0)
    assert ticket.place == (1, 1.0)
    assert queue_ticket.get() is None
