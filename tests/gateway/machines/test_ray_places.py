"""The gateway's side of `pool: ray`, with a stand-in for the placement process: places, the workers that join for them, and how they end."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
import pytest

from duologue.config import Settings
from duologue.errors import Busy, NotFound
from duologue.gateway.machines.joined_transport import JoinedTransport
from duologue.gateway.machines.placed_keeper import PlacedKeeper
from duologue.gateway.machines.ray_places import RayPlaces
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.values.events import STOPPING
from duologue.values.requests import ModelCard
from duologue.wire import worker_protocol
from duologue.wire.machines.placement_protocol import (
    ClusterNews,
    Node,
    PlaceNews,
    Resources,
    Trouble,
    decode_order,
    encode_line,
)
from duologue.wire.worker_protocol import LoadSpec

pytestmark = pytest.mark.anyio


class Pool:
    """The listener of the keepers."""

    def __init__(self) -> None:
        self._changed = anyio.Event()

    def worker_ready(self, status: WorkerStatus, slots: int) -> None:
        self.worker_changed()

    def worker_down(self, status: WorkerStatus) -> None:
        self.worker_changed()

    def worker_unreachable(self, status: WorkerStatus) -> None:
        self.worker_changed()

    def worker_reachable(self, status: WorkerStatus) -> None:
        self.worker_changed()

    def slots_elsewhere(self, status: WorkerStatus, slots: tuple[int, ...]) -> None:
        self.worker_changed()

    def worker_changed(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


class Placed:
    """One worker that is kept, the process that places it, and the test's hands on both."""

    def __init__(self, folder: Path, spec: LoadSpec, nodes: str) -> None:
        self.orders = folder / "orders"
        command = (sys.executable, "-m", "tests.support.placement_stand_in", str(self.orders), nodes)
        settings = Settings(pool="ray", data=folder)
        self.places = RayPlaces(settings, clock=anyio.current_time, command=command)
        keeper = self.places.keeper(spec, Pool(), None)
        assert keeper is not None
        self.keeper: PlacedKeeper = keeper

    async def until(self, true: object) -> None:
        assert callable(true)
        with anyio.fail_after(60):
            while not true():  # noqa: ASYNC110 (the other process tells nobody)
                await anyio.sleep(0.01)

    def say(self, *news: PlaceNews | ClusterNews | Trouble) -> None:
        with self.orders.with_suffix(".say").open("ab") as said:
            said.writelines(encode_line(one) for one in news)

    def ordered(self) -> list[str]:
        """The orders so far, by their kind."""
        if not self.orders.exists():
            return []
        return [type(decode_order(line)).__name__ for line in self.orders.read_bytes().splitlines()]

    async def join(self) -> JoinedTransport:
        """A process of the worker joins."""
        await self.until(lambda: self.places.kept("worker_0") is self.keeper)
        transport = JoinedTransport("host/worker_0", 20.0, anyio.current_time)
        self.keeper.offer(transport)
        await self.until(lambda: self.keeper.connection is not None)
        return transport


@asynccontextmanager
async def placed(folder: Path, nodes: str = "at once", **fields: object) -> AsyncIterator[Placed]:
    spec = msgspec.structs.replace(LoadSpec("worker_0", "scripted", "scripted"), **fields)
    one = Placed(folder, spec, nodes)
    async with anyio.create_task_group() as tasks:
        await tasks.start(one.places.run)
        tasks.start_soon(one.keeper.run)
        yield one
        tasks.cancel_scope.cancel()


async def test_a_place_is_ordered_with_a_key_that_opens_it(tmp_path: Path) -> None:
    async with placed(tmp_path) as one:
        await one.until(lambda: one.keeper.status.detail == "its process starts")
        (line,) = one.orders.read_bytes().splitlines()
        told = msgspec.json.decode(line)["environment"]
        assert one.places.place_of(told["DUOLOGUE_JOIN_KEY"]) == "worker_0"
        assert told["DUOLOGUE_JOIN_PLACED"] == "worker_0"
        assert msgspec.json.decode(told["DUOLOGUE_WORKER_LOAD_SPEC"])["engine"] == "scripted"
        one.keeper.remove(STOPPING)
        await one.until(lambda: one.ordered() == ["Place", "Remove"])
        await one.keeper.wait_ended()
        assert one.places.place_of(told["DUOLOGUE_JOIN_KEY"]) is None


async def test_a_place_is_ordered_once_it_is_known_whether_there_are_cards(tmp_path: Path) -> None:
    loads = {"engine": "llama", "device": "auto", "options": {"model": "/nowhere.gguf"}}
    async with placed(tmp_path, "later", **loads) as one:
        await one.until(lambda: one.places.connected is not None)
        one.say(ClusterNews((Node("node-a", "127.0.0.2", Resources(10, 2), Resources(10, 2)),)))
        await one.until(one.ordered)
        assert msgspec.json.decode(one.orders.read_bytes())["resources"]["gpus"] == 1


async def test_a_place_is_ordered_although_the_cluster_was_lost_while_its_model_was_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at = threading.Event()

    def model_bytes(spec: LoadSpec) -> int:
        looked_at.wait(60)
        return 0

    monkeypatch.setattr("duologue.gateway.machines.ray_places.model_bytes", model_bytes)
    async with placed(tmp_path) as one:
        try:
            await one.until(lambda: one.places.connected is not None)
            with one.orders.with_suffix(".say").open("ab") as said:
                said.write(b"end\n")
            await one.until(lambda: one.places.connected is None)
        finally:
            looked_at.set()
        await one.until(lambda: "waiting for Ray" in one.keeper.status.detail)
        one.orders.with_suffix(".say").unlink()
        await one.until(lambda: one.ordered() == ["Place"])


async def test_what_has_no_room_says_what_it_waits_for(tmp_path: Path) -> None:
    async with placed(tmp_path, options={"threads": 12}) as one:
        await one.until(lambda: one.keeper.status.detail == "waiting for resources: 12 CPUs")
        assert one.keeper.status.state == "offline"
        assert one.places.has_room(one.keeper.status) is False


async def test_a_process_that_ends_is_served_again_in_the_same_place(tmp_path: Path) -> None:
    async with placed(tmp_path) as one:
        first = await one.join()
        one.say(PlaceNews("worker_0", "ended", "node-a", 1001, reason="its node was lost"))
        await one.until(lambda: bool(first.ended) and one.keeper.status.restarts == 1)
        second = await one.join()
        assert not second.ended
        assert one.ordered() == ["Place"]


async def test_one_that_keeps_ending_gives_its_place_up_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.gateway.machines.placed_keeper.RAY_STARTS_IN", 0.6)
    async with placed(tmp_path) as one:
        for number in range(3):
            await one.until(
                lambda number=number: one.keeper.status.restarts == number and one.keeper._ordered is not None
            )
            one.say(PlaceNews("worker_0", "ended", "node-a", 1001, -9, "no memory"))
            await one.until(lambda number=number: one.keeper.status.restarts == number + 1)
        await one.until(lambda: one.keeper.status.state == "failed")
        assert "no memory" in one.keeper.status.detail
        await one.until(lambda: one.ordered().count("Place") >= 2)


async def test_one_that_ends_after_it_was_ready_is_not_given_up_so_soon(tmp_path: Path) -> None:
    async with placed(tmp_path) as one:
        for number in range(3):
            await one.join()
            one.keeper._report(
                worker_protocol.Report("worker_0", "ready", card=ModelCard("scripted", "scripted", 4096))
            )
            one.say(PlaceNews("worker_0", "ended", "node-a", 1001, -9))
            await one.until(
                lambda number=number: one.keeper.status.restarts == number + 1 and not one.keeper.connection
            )
        assert one.keeper.status.state == "offline"
        assert one.keeper.status.ended == "signal 9, Killed"


async def test_a_session_without_a_process_gets_another_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.gateway.machines.placed_keeper.END_SECONDS", 0.01)
    async with placed(tmp_path) as one:
        transport = await one.join()
        transport.end("it was out of reach for 20 s")
        await one.until(lambda: one.ordered() == ["Place", "Remove", "Place"])


async def test_a_lost_cluster_is_waited_for(tmp_path: Path) -> None:
    async with placed(tmp_path) as one:
        transport = await one.join()
        one.say(Trouble("ray_lost", "The Ray cluster does not answer."))
        with one.orders.with_suffix(".say").open("ab") as said:
            said.write(b"end\n")
        await one.until(lambda: bool(transport.ended))
        one.orders.with_suffix(".say").unlink()
        await one.until(lambda: one.ordered() == ["Place", "Place"])


async def test_a_restart_while_nothing_serves_orders_another_place(tmp_path: Path) -> None:
    async with placed(tmp_path) as one:
        await one.until(lambda: one.keeper.status.detail == "its process starts")
        one.keeper.restart()
        await one.until(lambda: one.ordered() == ["Place", "Remove", "Place"])


async def test_nodes_are_drained_by_name_and_their_workers_are_moved(tmp_path: Path) -> None:
    async with placed(tmp_path) as one:
        moved: list[str] = []

        def move(names: Sequence[str]) -> bool:
            moved.extend(names)
            return True

        one.places.move = move
        await one.until(lambda: one.places.workers_on("node-a") == ["worker_0"])
        with pytest.raises(NotFound, match="node-a"):
            one.places.drain_node("nowhere", 1)
        one.places.drain_node("node-a", 25)
        await one.until(lambda: one.ordered()[-1] == "DrainNode")
        one.say(ClusterNews((Node("node-a", "127.0.0.2", Resources(10), Resources(9), draining=True),)))
        await one.until(lambda: bool(moved))
        assert moved[0] == "worker_0"


async def test_workers_are_moved_from_a_drained_node_once_nothing_is_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.gateway.machines.ray_places.LOOK_AGAIN", 0.01)
    async with placed(tmp_path) as one:
        asked: list[Sequence[str]] = []

        def move(names: Sequence[str]) -> bool:
            asked.append(names)
            return len(asked) > 10

        one.places.move = move
        await one.until(lambda: one.places.workers_on("node-a") == ["worker_0"])
        one.say(ClusterNews((Node("node-a", "127.0.0.2", Resources(10), Resources(9), draining=True),)))
        # The cluster says nothing more.
        await one.until(lambda: len(asked) > 10)


async def test_a_worker_that_was_removed_is_forgotten_and_a_busy_disk_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.gateway.machines.ray_places.BUSY_SECONDS", 0.01)
    answers = [Busy("Other files kept the disk busy for too long.")] * 3

    def model_bytes(spec: LoadSpec) -> int:
        if answers:
            raise answers.pop()
        return 0

    monkeypatch.setattr("duologue.gateway.machines.ray_places.model_bytes", model_bytes)
    async with placed(tmp_path) as one:
        await one.until(lambda: one.ordered() == ["Place"])
        one.keeper.remove(STOPPING)
        await one.keeper.wait_ended()
        await one.until(lambda: not one.places._keepers)


async def test_connected_servers_stay_with_the_gateway(tmp_path: Path) -> None:
    places = RayPlaces(Settings(pool="ray", data=tmp_path), clock=anyio.current_time)
    assert places.keeper(LoadSpec("worker_0", "remote"), Pool(), None) is None
    local = RayPlaces(Settings(data=tmp_path), clock=anyio.current_time)
    assert local.keeper(LoadSpec("worker_0", "scripted"), Pool(), None) is None
