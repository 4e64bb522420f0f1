"""The placement process without Ray: orders in, news out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import pytest
from tests.support.cluster_stand_in import ClusterStandIn, WorkerStandIn

from duologue.placement import place_watch
from duologue.placement import service as placement_service
from duologue.placement.cluster import Arrival, ClusterProblem, OutOfReach, ProcessEnd
from duologue.placement.service import PlacementService
from duologue.wire.machines.placement_protocol import (
    ClusterNews,
    Connected,
    DrainNode,
    News,
    Node,
    Order,
    Place,
    PlaceNews,
    Remove,
    Resources,
    Trouble,
    Wanted,
    decode_news,
    encode_line,
)

pytestmark = pytest.mark.anyio

PLACE = Place("worker_0", Resources(1), {})
HERE, THERE = Arrival("node-a", 10), Arrival("node-b", 20)


class Gateway:
    """The other end of the lines."""

    def __init__(self, cluster: ClusterStandIn) -> None:
        self.cluster = cluster
        self.news: list[News] = []
        self._orders, self.orders = anyio.create_memory_object_stream[bytes](100)
        self._came = anyio.Event()

    async def write(self, line: bytes) -> None:
        self.news.append(decode_news(line))
        came, self._came = self._came, anyio.Event()
        came.set()

    def order(self, order: Order) -> None:
        self._orders.send_nowait(encode_line(order).rstrip())

    def say(self, line: bytes) -> None:
        self._orders.send_nowait(line)

    def leave(self) -> None:
        self._orders.close()

    async def hear(self, wanted: Callable[[News], bool]) -> News:
        """The first news that is wanted and was not heard yet; what came before it is passed over."""
        with anyio.fail_after(30):
            while True:
                while self.news:
                    if wanted(news := self.news.pop(0)):
                        return news
                await self._came.wait()

    async def hear_state(self, state: str) -> PlaceNews:
        news = await self.hear(lambda news: isinstance(news, PlaceNews) and news.state == state)
        assert isinstance(news, PlaceNews)
        return news

    async def worker(self, name: str = "worker_0") -> WorkerStandIn:
        await self.hear_state("waiting")
        return self.cluster.workers[name]


@asynccontextmanager
async def served(cluster: ClusterStandIn) -> AsyncIterator[Gateway]:
    """The service with a gateway; it has ended when the context is left."""
    gateway = Gateway(cluster)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(PlacementService(cluster, gateway.write).run, gateway.orders)
            yield gateway
            gateway.leave()


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> ClusterStandIn:
    monkeypatch.setattr(placement_service, "LOOK", 0.01)
    return ClusterStandIn()


async def test_a_place_waits_for_room_and_then_runs(cluster: ClusterStandIn) -> None:
    async with served(cluster) as gateway:
        assert await gateway.hear(lambda news: True) == Connected("127.0.0.1:6379", "0", local=True)
        gateway.order(PLACE)
        worker = await gateway.worker()
        assert worker.place == PLACE
        worker.arrive(HERE)
        assert await gateway.hear_state("running") == PlaceNews("worker_0", "running", "node-a", 10)


async def test_a_worker_that_ended_is_told_with_its_code_and_its_last_words(cluster: ClusterStandIn) -> None:
    async with served(cluster) as gateway:
        gateway.order(PLACE)
        worker = await gateway.worker()
        worker.arrive(HERE, THERE)
        await gateway.hear_state("running")
        worker.end(ProcessEnd(-9, "too large"))
        ended = await gateway.hear_state("ended")
        assert (ended.code, ended.last_line, ended.process) == (-9, "too large", 10)
        assert (await gateway.hear_state("running")).node == "node-b"


async def test_a_moment_without_an_answer_is_no_end(cluster: ClusterStandIn) -> None:
    async with served(cluster) as gateway:
        gateway.order(PLACE)
        worker = await gateway.worker()
        worker.arrive(HERE)
        await gateway.hear_state("running")
        worker.end(OutOfReach("its node was lost"))
        worker.end(ProcessEnd(0))
        ended = await gateway.hear_state("ended")
        assert (ended.code, ended.reason) == (0, "")


async def test_a_lost_node_is_an_end_with_a_reason(cluster: ClusterStandIn) -> None:
    async with served(cluster) as gateway:
        gateway.order(PLACE)
        worker = await gateway.worker()
        worker.arrive(HERE, THERE)
        await gateway.hear_state("running")
        worker.end(OutOfReach("its node was lost"))
        ended = await gateway.hear_state("ended")
        assert (ended.code, ended.reason, ended.node) == (None, "its node was lost", "node-a")
        assert (await gateway.hear_state("running")).process == 20


async def test_a_removed_place_is_gone_and_its_name_is_free(cluster: ClusterStandIn) -> None:
    async with served(cluster) as gateway:
        gateway.order(PLACE)
        first = await gateway.worker()
        gateway.order(Remove("worker_0"))
        await gateway.hear_state("gone")
        assert first.removed
        gateway.order(PLACE)
        second = await gateway.worker()
        assert second is not first
        assert not second.removed


async def test_a_place_that_nobody_knows_is_gone_too(cluster: ClusterStandIn) -> None:
    async with served(cluster) as gateway:
        gateway.order(Remove("worker_7"))
        assert (await gateway.hear_state("gone")).name == "worker_7"


async def test_nodes_are_drained_and_problems_are_told(cluster: ClusterStandIn) -> None:
    async with served(cluster) as gateway:
        gateway.order(DrainNode("unknown", 1))
        trouble = await gateway.hear(lambda news: isinstance(news, Trouble))
        assert trouble == Trouble("node_not_drained", "There is no such node.", "unknown")
        gateway.order(DrainNode("node-a", 25))
        gateway.order(Remove("worker_7"))
        await gateway.hear_state("gone")
        assert cluster.drained == [("node-a", 25.0)]


async def test_the_cluster_is_told_when_it_has_changed(cluster: ClusterStandIn) -> None:
    news = ClusterNews((Node("node-a", "10.0.0.1", Resources(4), Resources(1)),), (Wanted(Resources(1, 1)),))
    async with served(cluster) as gateway:
        await gateway.hear(lambda news: isinstance(news, Connected))
        cluster.news = news
        assert await gateway.hear(lambda news: isinstance(news, ClusterNews)) == news


async def test_what_is_no_order_is_passed_over(cluster: ClusterStandIn) -> None:
    async with served(cluster) as gateway:
        gateway.say(b"nonsense")
        gateway.say(b'{"type": "shout"}')
        gateway.order(PLACE)
        await gateway.worker()


async def test_a_worker_that_cannot_be_started_is_told_and_tried_again(
    cluster: ClusterStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place_watch, "AGAIN", 0.01)
    async with served(cluster) as gateway:
        gateway.order(PLACE)
        worker = await gateway.worker()
        worker.arrive(ClusterProblem("worker_not_placed", "No such interpreter."), HERE)
        trouble = await gateway.hear(lambda news: isinstance(news, Trouble))
        assert trouble == Trouble("worker_not_placed", "No such interpreter.", "worker_0")
        await gateway.hear_state("running")


async def test_the_cluster_is_left_when_the_gateway_is(cluster: ClusterStandIn) -> None:
    async with served(cluster) as gateway:
        gateway.order(PLACE)
        await gateway.worker()
    assert cluster.closed


async def test_a_lost_cluster_ends_the_service(cluster: ClusterStandIn) -> None:
    async def lose() -> None:
        async with served(cluster) as gateway:
            await gateway.hear(lambda news: isinstance(news, Connected))
            cluster.problem = ClusterProblem("ray_lost", "It does not answer.")
            await anyio.sleep_forever()

    with pytest.raises(ExceptionGroup) as caught:
        await lose()
    assert caught.group_contains(ClusterProblem, match="It does not answer")
    assert cluster.closed
