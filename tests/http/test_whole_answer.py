"""An answer in one piece, and what its head says about the queue."""

from typing import Any

import httpx
import pytest

from duologue.errors import QueueFull
from duologue.http.whole_answer import WholeAnswer
from duologue.queue_ticket import queue_ticket

pytestmark = pytest.mark.anyio


async def answered(work: Any) -> httpx.Response:
    transport = httpx.ASGITransport(WholeAnswer(work))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        return await client.get("/v1/x")


async def test_the_head_says_which_ticket_it_had_and_how_long_it_waited():
    async def work() -> bytes:
        ticket = queue_ticket.get()
        assert ticket is not None
        ticket.waits("q_9")
        ticket.moved(1, 2.0)
        ticket.granted()
        return b"{}"

    answer = await answered(work)
    assert (answer.status_code, answer.json()) == (200, {})
    assert answer.headers["x-duologue-ticket"] == "q_9"
    assert int(answer.headers["x-duologue-queue-wait-ms"]) >= 0
    assert queue_ticket.get() is None, "nothing of it is left in the task"


async def test_a_refusal_has_its_ticket_and_when_to_try_again():
    async def work() -> bytes:
        ticket = queue_ticket.get()
        assert ticket is not None
        ticket.waits("q_9")
        raise QueueFull("The queue is full.", retry_after=7.2)

    answer = await answered(work)
    assert answer.status_code == 503
    assert answer.headers["x-duologue-ticket"] == "q_9"
    assert answer.headers["retry-after"] == "8"


async def test_work_that_needs_no_slot_says_nothing_of_the_queue():
    async def work() -> bytes:
        return b"{}"

    assert not [name for name in (await answered(work)).headers if name.startswith("x-duologue")]
