"""What is drained at one gateway is drained at the others: two pools over one store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from duologue.errors import Unavailable
from duologue.gateway.life.shared_drains import MOST, SharedDrains
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.wire.worker_protocol import LoadSpec

pytestmark = pytest.mark.anyio

BOX = "box/gpu0"


class Rows:
    """The stored objects."""

    def __init__(self) -> None:
        self.values: dict[str, dict[str, Any]] = {}
        self.broken = False

    async def get(self, name: str) -> dict[str, Any]:
        return self.values.get(name, {})

    async def change(self, name: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
        if self.broken:
            raise Unavailable("The database cannot be written.")
        self.values[name] = change(self.values.get(name, {}))
        return self.values[name]


def pool() -> Pool:
    made = Pool([LoadSpec("w0", "scripted", "m"), LoadSpec(BOX, "scripted", "m")], Scheduler(5))
    made.workers[BOX].joined = True
    return made


class Two:
    """Two gateways of one database, where each hears of the other's changes when it is told to look."""

    def __init__(self) -> None:
        self.rows = Rows()
        self.pools = pool(), pool()
        self.drains = tuple(SharedDrains([each]) for each in self.pools)
        self.told = 0
        for drains in self.drains:
            drains.setting.use(self.rows)
            drains.setting.on_stored = self._count

    def _count(self) -> None:
        self.told += 1

    def draining(self, worker: str = BOX) -> tuple[bool, ...]:
        return tuple(each.workers[worker].draining for each in self.pools)


async def test_a_drain_of_a_joined_worker_holds_at_the_other_gateway_and_is_undone_at_either():
    two = Two()
    one, other = two.drains
    await one.drain(BOX)
    assert (two.draining(), two.told) == ((True, False), 1)
    await other.reload()
    assert two.draining() == (True, True)
    assert two.pools[1].workers[BOX].note == "by an admin"
    await other.resume(BOX)
    assert (two.draining(), two.told) == ((True, False), 2)
    await one.reload()
    assert two.draining() == (False, False)


async def test_a_worker_of_this_machine_is_drained_here_alone():
    two = Two()
    await two.drains[0].drain("w0")
    await two.drains[1].reload()
    assert (two.draining("w0"), two.told, two.rows.values) == ((True, False), 0, {})


async def test_a_worker_that_joins_later_or_again_is_drained_too():
    two = Two()
    await two.drains[0].drain(BOX)
    two.pools[0].resume(BOX)  # as a keeper that is new
    two.drains[0].joined(BOX)
    two.drains[0].joined("w0")
    assert (two.draining()[0], two.draining("w0")[0]) == (True, False)


async def test_what_is_drained_here_alone_is_not_undone_by_reading_what_others_drain():
    """As a worker that a rolling restart holds."""
    two = Two()
    two.pools[1].hold(BOX)
    await two.drains[1].reload()
    assert two.draining() == (False, True)


async def test_a_worker_that_is_restarted_works_again():
    two = Two()
    await two.drains[0].drain(BOX)
    await two.drains[1].reload()
    two.pools[0].hold(BOX)
    await two.drains[0].forget([BOX, "w0"])
    await two.drains[1].reload()
    # Here the restart still holds it.
    assert two.draining() == (True, False)
    two.pools[0].restart(BOX)
    await two.drains[0].reload()
    assert two.draining() == (False, False)
    await two.drains[0].forget([BOX])
    assert two.told == 2


async def test_a_drain_that_cannot_be_stored_is_none():
    two = Two()
    two.rows.broken = True
    with pytest.raises(Unavailable):
        await two.drains[0].drain(BOX)
    assert two.draining() == (False, False)


async def test_without_a_shared_database_a_drain_is_that_of_the_one_gateway():
    alone = pool()
    drains = SharedDrains([alone])
    await drains.drain(BOX)
    await drains.reload()
    assert alone.workers[BOX].draining
    await drains.resume(BOX)
    assert not alone.workers[BOX].draining


async def test_names_are_bounded_and_what_another_version_stored_is_read_as_nothing():
    two = Two()
    two.rows.values["drained_workers"] = {"names": [f"box/{number}" for number in range(MOST)]}
    await two.drains[0].drain(BOX)
    names = two.rows.values["drained_workers"]["names"]
    assert (len(names), names[-1]) == (MOST, BOX)
    two.rows.values["drained_workers"] = {"names": {"box": 1}}
    await two.drains[0].reload()
    assert two.draining() == (False, False)
