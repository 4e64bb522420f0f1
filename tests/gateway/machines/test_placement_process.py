"""The placement process beside the gateway, with a stand-in for it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from duologue.gateway.machines import placement_process
from duologue.gateway.machines.placement_process import PlacementProcess
from duologue.wire.machines.placement_protocol import (
    ClusterOptions,
    Connected,
    News,
    Place,
    PlaceNews,
    Remove,
    Resources,
    Trouble,
    encode_line,
)

pytestmark = pytest.mark.anyio


class Heard:
    """What the gateway hears."""

    def __init__(self, folder: Path) -> None:
        self.orders = folder / "orders"
        self.news: list[News | str] = []
        self._came = anyio.Event()

    def hear(self, news: News | str) -> None:
        self.news.append(news)
        came, self._came = self._came, anyio.Event()
        came.set()

    async def until(self, wanted: Callable[[News | str], bool]) -> News | str:
        with anyio.fail_after(60):
            while True:
                while self.news:
                    if wanted(news := self.news.pop(0)):
                        return news
                await self._came.wait()

    def tell(self, line: bytes) -> None:
        with self.orders.with_suffix(".say").open("ab") as said:
            said.write(line)


@asynccontextmanager
async def running(folder: Path, *command: str) -> AsyncIterator[tuple[PlacementProcess, Heard]]:
    heard = Heard(folder)
    command = command or (sys.executable, "-m", "tests.support.placement_stand_in", str(heard.orders))
    process = PlacementProcess(ClusterOptions(), heard.hear, heard.hear, command)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(process.run)
        yield process, heard
        tasks.cancel_scope.cancel()


async def test_orders_go_out_and_news_come_in(tmp_path: Path) -> None:
    async with running(tmp_path) as (process, heard):
        await heard.until(lambda news: isinstance(news, Connected))
        process.order(Place("worker_0", Resources(1), {"KEY": "secret"}))
        await heard.until(lambda news: isinstance(news, PlaceNews) and news.state == "running")
        process.order(Remove("worker_0"))
        await heard.until(lambda news: isinstance(news, PlaceNews) and news.state == "gone")
    assert process.connected is None
    assert heard.orders.read_bytes().count(b"\n") == 2


async def test_one_that_ends_is_started_again_and_its_places_are_lost(tmp_path: Path) -> None:
    async with running(tmp_path) as (process, heard):
        await heard.until(lambda news: isinstance(news, Connected))
        heard.tell(encode_line(Trouble("ray_lost", "The Ray cluster does not answer.")))
        heard.tell(b"nonsense\n")
        heard.tell(b"end\n")
        assert await heard.until(lambda news: isinstance(news, str)) == "The Ray cluster does not answer."
        heard.orders.with_suffix(".say").unlink()
        process.order(Remove("worker_0"))  # lost, as there is no process
        await heard.until(lambda news: isinstance(news, Connected))


async def test_one_that_cannot_be_started_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement_process, "LONGEST", 0.01)
    async with running(tmp_path, "/nowhere/python") as (_, heard):
        reason = await heard.until(lambda news: isinstance(news, str))
        assert "could not be started" in str(reason)
        await heard.until(lambda news: isinstance(news, str))
