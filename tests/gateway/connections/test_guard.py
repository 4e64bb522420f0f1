"""Room for new connections, and the regular look at all of them."""

import logging

import anyio
import pytest

from duologue import telemetry
from duologue.config.sections.connections import ConnectionSettings
from duologue.gateway.connections.admission import Admission, ConnectionTable
from duologue.gateway.connections.guard import ConnectionGuard


class Idle:
    def __init__(self, place: Admission) -> None:
        self.place = place
        self.closed = False

    def evict(self) -> None:
        self.closed = True
        self.place.release()


def guard(total: int = 2, per_address: int = 10) -> ConnectionGuard:
    table = ConnectionTable(per_address=per_address, total=total, is_shared=lambda peer: False)
    return ConnectionGuard(ConnectionSettings(first_byte_s=0.1), table, lambda: 0.0)


def place_of(made: ConnectionGuard, peer: str) -> Admission:
    place = made.admit(peer)
    assert isinstance(place, Admission)
    return place


def test_the_connection_that_waited_longest_makes_room():
    made = guard()
    first, second = (Idle(place_of(made, f"203.0.113.{n}")) for n in (1, 2))
    made.idle |= {first: None, second: None}
    place_of(made, "203.0.113.3")
    assert (first.closed, second.closed) == (True, False)


def test_an_address_with_too_many_takes_no_room_of_others(caplog):
    made = guard(total=5, per_address=1)
    other = Idle(place_of(made, "203.0.113.1"))
    made.idle[other] = None
    before = telemetry.metrics().render()[0]
    for _ in range(10):
        assert made.admit("203.0.113.1") == "per_address"
    assert not other.closed
    lines = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert len(lines) == 1
    assert "connections.per_address" in lines[0]
    assert before != telemetry.metrics().render()[0]


@pytest.mark.anyio
async def test_the_sweep_looks_at_every_connection():
    looked = anyio.Event()

    class Connection:
        def check(self, now: float) -> None:
            looked.set()

    made = guard()
    made.open.add(Connection())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(made.sweep)
        with anyio.fail_after(60):
            await looked.wait()
        tasks.cancel_scope.cancel()
