"""The line of downloads: one at a time, stopped, gone on with, told at a bounded pace; against a hub on loopback."""

import threading
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from tests.support.hub_stand_in import Hub, serving
from tests.support.tiny_model import TinyModel, write_tiny_model

from duologue.errors import BadRequest, Busy, EngineFailed, ModelNotFound, NotFound, Unavailable
from duologue.gateway.models import downloads as module
from duologue.gateway.models.downloads import WAITING, Download, Downloads, Work, fetcher
from duologue.models.fit import Hardware
from duologue.models.hub.resume import Stopped

pytestmark = pytest.mark.anyio
ROOMY = Hardware(cores=4, memory=16 * 10**9, disk=100 * 10**9)
WHAT = "someone/Tiny-GGUF"


class Hand:
    """Does the work of downloads as the test says: each ends when it is told how."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ends: dict[str, Exception | None] = {}

    def __call__(self, work: Work) -> None:
        self.begun.append(work.what)
        work.ordered(work.name, 100, 0)
        work.begin("file", 100, 0)
        while work.what not in self.ends:
            work.pause(0.01)
        if (error := self.ends[work.what]) is not None:
            raise error
        work.advance(100)
        work.end()


@asynccontextmanager
async def line(bring, **options):
    told: list[Download] = []
    downloads = Downloads(bring, tell=told.append, wall=lambda: 1_700_000_000.0, **options)
    async with anyio.create_task_group() as tasks:
        await tasks.start(downloads.run)
        yield downloads, told
        tasks.cancel_scope.cancel()


async def until(true) -> None:
    with anyio.fail_after(20):
        while not true():
            await anyio.wait_all_tasks_blocked()


def states(downloads: Downloads) -> list[str]:
    return [row.state for row in downloads.rows()]


async def test_one_is_brought_after_the_other():
    hand, arrived = Hand(), []
    async with line(hand, arrived=lambda: arrived.append(True)) as (downloads, told):
        first, second = downloads.ask("a/one"), downloads.ask("a/two")
        assert (first.id, second.id, second.name) == ("d_1", "d_2", "two")
        await until(lambda: states(downloads) == ["running", "waiting"])
        hand.ends["a/one"] = None
        await until(lambda: hand.begun == ["a/one", "a/two"])
        hand.ends["a/two"] = None
        await until(lambda: states(downloads) == ["done", "done"])
        assert arrived == [True, True]
        assert [row.state for row in told][:2] == ["waiting", "waiting"]
        assert (told[-1].done, told[-1].total, told[-1].started) == (100, 100, 1_700_000_000.0)


async def test_the_same_is_not_brought_twice_and_too_many_do_not_wait():
    async with line(Hand()) as (downloads, _):
        first = downloads.ask("a/one")
        assert downloads.ask(" a/one ").id == first.id
        await until(lambda: states(downloads) == ["running"])
        for number in range(WAITING):
            downloads.ask(f"a/waits{number}")
        with pytest.raises(Busy) as met:
            downloads.ask("a/more")
        assert met.value.code == "too_many_downloads"


async def test_what_cannot_be_meant_is_refused_at_once():
    async with line(Hand()) as (downloads, _):
        with pytest.raises(ModelNotFound):
            downloads.ask("no-such-model")
        with pytest.raises(BadRequest):
            downloads.ask("http://example.org/model.gguf")
        assert downloads.rows() == []


async def test_one_that_waits_is_stopped_without_having_begun():
    hand = Hand()
    async with line(hand) as (downloads, _):
        downloads.ask("a/one")
        await until(lambda: hand.begun == ["a/one"])
        waiting = downloads.ask("a/two")
        assert (await downloads.stop(waiting.id)).state == "stopped"
        hand.ends["a/one"] = None
        await until(lambda: states(downloads) == ["done", "stopped"])
        assert hand.begun == ["a/one"]


async def test_one_that_runs_is_stopped_and_asked_for_again_takes_its_place():
    hand = Hand()
    async with line(hand) as (downloads, _):
        running = downloads.ask("a/one")
        await until(lambda: hand.begun == ["a/one"])
        assert (await downloads.stop(running.id)).state == "stopped"
        again = downloads.ask("a/one")
        assert [row.id for row in downloads.rows()] == [again.id] != [running.id]
        await until(lambda: hand.begun == ["a/one"] * 2)


async def test_one_that_is_asked_for_again_while_it_is_being_stopped_is_brought_all_the_same():
    begun: list[str] = []
    let_go = threading.Event()

    def bring(work: Work) -> None:
        begun.append(work.what)
        if len(begun) == 1:
            assert let_go.wait(10)
            work.advance(1)

    async with line(bring) as (downloads, _):
        running = downloads.ask("a/one")
        await until(lambda: begun == ["a/one"])
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(downloads.stop, running.id)
            await anyio.wait_all_tasks_blocked()
            again = downloads.ask("a/one")
            assert (again.id != running.id, again.state) == (True, "waiting")
            assert downloads.ask("a/one").id == again.id
            let_go.set()
        await until(lambda: states(downloads) == ["stopped", "done"])


async def test_one_that_has_ended_is_put_out_of_sight():
    hand = Hand()
    hand.ends["a/one"] = None
    async with line(hand) as (downloads, _):
        row = downloads.ask("a/one")
        await until(lambda: states(downloads) == ["done"])
        assert (await downloads.stop(row.id)).state == "done"
        assert downloads.rows() == []
        with pytest.raises(NotFound):
            await downloads.stop(row.id)


async def test_a_failure_is_a_code_and_a_sentence_and_the_line_goes_on(caplog):
    hand = Hand()
    hand.ends |= {
        "a/one": EngineFailed("It broke.", code="hub_failed"),
        "a/two": RuntimeError("secret"),
        "a/x": None,
    }
    async with line(hand) as (downloads, _):
        for what in ("a/one", "a/two", "a/x"):
            downloads.ask(what)
        await until(lambda: states(downloads) == ["failed", "failed", "done"])
        first, second, _ = downloads.rows()
    assert (first.error.code, first.error.message) == ("hub_failed", "It broke.")
    assert second.error.code == "internal_error"
    assert "secret" not in second.error.message
    assert "secret" in caplog.text


async def test_closing_stops_what_runs_and_what_waits_and_takes_nothing_new():
    hand = Hand()
    async with line(hand) as (downloads, _):
        downloads.ask("a/one")
        downloads.ask("a/two")
        await until(lambda: hand.begun == ["a/one"])
        downloads.close()
        await until(lambda: states(downloads) == ["stopped", "stopped"])
        with pytest.raises(Unavailable):
            downloads.ask("a/three")


async def test_leaving_the_line_ends_the_thread_at_work():
    hand = Hand()
    with anyio.fail_after(20):
        async with line(hand) as (downloads, _):
            downloads.ask("a/one")
            await until(lambda: hand.begun == ["a/one"])


async def test_ended_ones_are_forgotten_in_the_end(monkeypatch):
    monkeypatch.setattr(module, "ENDED", 2)
    hand = Hand()
    hand.ends |= {f"a/{number}": None for number in range(5)}
    async with line(hand) as (downloads, _):
        for number in range(5):
            downloads.ask(f"a/{number}")
            await until(lambda: states(downloads)[-1] == "done")
        assert [row.what for row in downloads.rows()] == ["a/2", "a/3", "a/4"]


async def test_how_far_it_is_is_told_with_rate_and_time_left(monkeypatch):
    monkeypatch.setattr(module, "TOLD_EVERY", 0.001)
    time = [0.0]
    work: list[Work] = []

    def bring(given: Work) -> None:
        work.append(given)
        given.ordered("tiny", 10_000, 0)
        given.begin("file", 10_000, 0)
        given.kept(2000)
        while True:
            given.pause(0.001)

    async with line(bring, clock=lambda: time[0]) as (downloads, told):
        downloads.ask("a/one")
        await until(lambda: bool(told) and told[-1].state == "checking")
        assert (told[-1].name, told[-1].done, told[-1].rate, told[-1].left) == ("tiny", 2000, 0.0, None)
        work[0].advance(1000)
        await until(lambda: told[-1].done == 3000)
        time[0] = 2.0
        work[0].advance(1000)
        await until(lambda: told[-1].done == 4000)
        assert (told[-1].state, told[-1].rate, told[-1].left) == ("running", 500.0, 12.0)


def test_several_files_are_counted_together_and_what_lies_there_with_them():
    work = Work("a/b", "b")
    work.ordered("b", 300, 100)
    work.begin("part 2", 100, 0)
    work.advance(100)
    assert work.done == 200
    work.end()
    work.begin("part 1", 100, 0)
    work.advance(60)
    work.advance(-60)
    assert (work.done, work.total, work.checking) == (200, 300, False)
    work.advance(100)
    assert (work.done, work.checking) == (300, True)


def test_work_that_is_stopped_goes_no_further():
    work = Work("a/b", "b")
    work.stop()
    for step in (lambda: work.advance(1), lambda: work.kept(1), lambda: work.pause(60)):
        with pytest.raises(Stopped):
            step()


@pytest.fixture
def hub(tmp_path, monkeypatch):
    content = write_tiny_model(tmp_path / "tiny.gguf", TinyModel(blocks=6)).read_bytes()
    with serving(Hub({WHAT: {"Tiny-Q4_K_M.gguf": content}})) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


async def test_a_real_one_is_stopped_in_the_middle_of_a_silence_and_resumed(hub, tmp_path):
    folder = tmp_path / "models"
    hub.stalls = True
    async with line(fetcher(folder, lambda: ROOMY)) as (downloads, _):
        row = downloads.ask(WHAT)
        await until(lambda: downloads.rows()[0].done > 0)
        stopped = await downloads.stop(row.id)
        assert (stopped.state, stopped.name) == ("stopped", "Tiny-Q4_K_M")
        [part] = folder.glob("*.part")
        assert part.stat().st_size == stopped.done
        hub.stalls = False
        downloads.ask(WHAT)
        await until(lambda: states(downloads) == ["done"])
    assert hub.downloads()[-1].headers["range"] == f"bytes={stopped.done}-"
    assert names(folder) == ["Tiny-Q4_K_M.gguf"]


async def test_a_pause_between_two_tries_ends_when_it_is_stopped(hub, tmp_path):
    hub.statuses = [(429, {"retry-after": "50"})] * 10
    async with line(fetcher(tmp_path / "models", lambda: ROOMY)) as (downloads, _):
        row = downloads.ask(WHAT)
        await until(lambda: bool(hub.requests))
        assert (await downloads.stop(row.id)).state == "stopped"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
