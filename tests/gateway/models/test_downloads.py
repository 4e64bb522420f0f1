"""The queue of downloads: one at a time, stopped and resumed, updates at a bounded rate; against a hub on loopback."""

import threading
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from tests.support.hub_stand_in import Hub, serving
from tests.support.tiny_model import TinyModel, write_tiny_model

from duologue.errors import BadRequest, Busy, EngineFailed, ModelNotFound, NotFound, Unavailable
from duologue.gateway.models import downloads as module
from duologue.gateway.models.download_journal import DownloadJournal
from duologue.gateway.models.download_work import Work, hub_download
from duologue.gateway.models.downloads import WAITING, Download, Downloads
from duologue.models.fit import Hardware
from duologue.models.hub.resume import Stopped

pytestmark = pytest.mark.anyio
ROOMY = Hardware(cores=4, memory=16 * 10**9, disk=100 * 10**9)
WHAT = "someone/Tiny-GGUF"


class FakeFetch:
    """Does the work of downloads as the test says: each ends when it is updates how."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.ends: dict[str, Exception | None] = {}

    def __call__(self, work: Work) -> None:
        self.started.append(work.what)
        work.ordered(work.name, 100, 0)
        work.begin("file", 100, 0)
        while work.what not in self.ends:
            work.pause(0.01)
        if (error := self.ends[work.what]) is not None:
            raise error
        work.advance(100)
        work.end()


@asynccontextmanager
async def download_queue(fetch, **options):
    updates: list[Download] = []
    downloads = Downloads(fetch, on_change=updates.append, wall=lambda: 1_700_000_000.0, **options)
    async with anyio.create_task_group() as tasks:
        await tasks.start(downloads.run)
        yield downloads, updates
        tasks.cancel_scope.cancel()


async def until(true) -> None:
    with anyio.fail_after(60):
        while not true():
            await anyio.wait_all_tasks_blocked()


def states(downloads: Downloads) -> list[str]:
    return [row.state for row in downloads.rows()]


async def test_one_is_brought_after_the_other():
    fetch, arrived = FakeFetch(), []
    async with download_queue(fetch, on_complete=lambda: arrived.append(True)) as (downloads, updates):
        first, second = downloads.enqueue("a/one"), downloads.enqueue("a/two")
        assert (first.id, second.id, second.name) == ("d_1", "d_2", "two")
        await until(lambda: states(downloads) == ["running", "waiting"])
        fetch.ends["a/one"] = None
        await until(lambda: fetch.started == ["a/one", "a/two"])
        fetch.ends["a/two"] = None
        await until(lambda: states(downloads) == ["done", "done"])
        assert arrived == [True, True]
        assert [row.state for row in updates][:2] == ["waiting", "waiting"]
        assert (updates[-1].done, updates[-1].total, updates[-1].started) == (100, 100, 1_700_000_000.0)


async def test_the_same_is_not_brought_twice_and_too_many_do_not_wait():
    async with download_queue(FakeFetch()) as (downloads, _):
        first = downloads.enqueue("a/one")
        assert downloads.enqueue(" a/one ").id == first.id
        await until(lambda: states(downloads) == ["running"])
        for number in range(WAITING):
            downloads.enqueue(f"a/waits{number}")
        with pytest.raises(Busy) as met:
            downloads.enqueue("a/more")
        assert met.value.code == "too_many_downloads"


async def test_what_cannot_be_meant_is_refused_at_once():
    async with download_queue(FakeFetch()) as (downloads, _):
        with pytest.raises(ModelNotFound):
            downloads.enqueue("no-such-model")
        with pytest.raises(BadRequest):
            downloads.enqueue("http://example.org/model.gguf")
        assert downloads.rows() == []


async def test_one_that_waits_is_stopped_without_having_begun():
    fetch = FakeFetch()
    async with download_queue(fetch) as (downloads, _):
        downloads.enqueue("a/one")
        await until(lambda: fetch.started == ["a/one"])
        waiting = downloads.enqueue("a/two")
        assert (await downloads.stop(waiting.id)).state == "stopped"
        fetch.ends["a/one"] = None
        await until(lambda: states(downloads) == ["done", "stopped"])
        assert fetch.started == ["a/one"]


async def test_one_that_runs_is_stopped_and_asked_for_again_takes_its_place():
    fetch = FakeFetch()
    async with download_queue(fetch) as (downloads, _):
        running = downloads.enqueue("a/one")
        await until(lambda: fetch.started == ["a/one"])
        assert (await downloads.stop(running.id)).state == "stopped"
        again = downloads.enqueue("a/one")
        assert [row.id for row in downloads.rows()] == [again.id] != [running.id]
        await until(lambda: fetch.started == ["a/one"] * 2)


async def test_one_that_is_asked_for_again_while_it_is_being_stopped_is_brought_all_the_same():
    started: list[str] = []
    let_go = threading.Event()

    def fetch(work: Work) -> None:
        started.append(work.what)
        if len(started) == 1:
            assert let_go.wait(60)
            work.advance(1)

    async with download_queue(fetch) as (downloads, _):
        running = downloads.enqueue("a/one")
        await until(lambda: started == ["a/one"])
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(downloads.stop, running.id)
            await anyio.wait_all_tasks_blocked()
            again = downloads.enqueue("a/one")
            assert (again.id != running.id, again.state) == (True, "waiting")
            assert downloads.enqueue("a/one").id == again.id
            let_go.set()
        await until(lambda: states(downloads) == ["stopped", "done"])


async def test_one_that_has_ended_is_put_out_of_sight():
    fetch = FakeFetch()
    fetch.ends["a/one"] = None
    async with download_queue(fetch) as (downloads, _):
        row = downloads.enqueue("a/one")
        await until(lambda: states(downloads) == ["done"])
        assert (await downloads.stop(row.id)).state == "done"
        assert downloads.rows() == []
        with pytest.raises(NotFound):
            await downloads.stop(row.id)


async def test_a_failure_is_a_code_and_a_sentence_and_the_line_goes_on(caplog):
    fetch = FakeFetch()
    fetch.ends |= {
        "a/one": EngineFailed("It broke.", code="hub_failed"),
        "a/two": RuntimeError("secret"),
        "a/x": None,
    }
    async with download_queue(fetch) as (downloads, _):
        for what in ("a/one", "a/two", "a/x"):
            downloads.enqueue(what)
        await until(lambda: states(downloads) == ["failed", "failed", "done"])
        first, second, _ = downloads.rows()
    assert (first.error.code, first.error.message) == ("hub_failed", "It broke.")
    assert second.error.code == "internal_error"
    assert "secret" not in second.error.message
    assert "secret" in caplog.text


async def test_closing_stops_what_runs_and_what_waits_and_takes_nothing_new():
    fetch = FakeFetch()
    async with download_queue(fetch) as (downloads, _):
        downloads.enqueue("a/one")
        downloads.enqueue("a/two")
        await until(lambda: fetch.started == ["a/one"])
        downloads.close()
        await until(lambda: states(downloads) == ["stopped", "stopped"])
        with pytest.raises(Unavailable):
            downloads.enqueue("a/three")


async def test_leaving_the_line_ends_the_thread_at_work():
    fetch = FakeFetch()
    with anyio.fail_after(60):
        async with download_queue(fetch) as (downloads, _):
            downloads.enqueue("a/one")
            await until(lambda: fetch.started == ["a/one"])


async def test_ended_ones_are_forgotten_in_the_end(monkeypatch):
    monkeypatch.setattr(module, "ENDED", 2)
    fetch = FakeFetch()
    fetch.ends |= {f"a/{number}": None for number in range(5)}
    async with download_queue(fetch) as (downloads, _):
        for number in range(5):
            downloads.enqueue(f"a/{number}")
            await until(lambda: states(downloads)[-1] == "done")
        assert [row.what for row in downloads.rows()] == ["a/2", "a/3", "a/4"]


async def test_how_far_it_is_is_told_with_rate_and_time_left(monkeypatch):
    monkeypatch.setattr(module, "UPDATE_EVERY", 0.001)
    time = [0.0]
    work: list[Work] = []

    def fetch(given: Work) -> None:
        work.append(given)
        given.ordered("tiny", 10_000, 0)
        given.begin("file", 10_000, 0)
        given.kept(2000)
        while True:
            given.pause(0.001)

    async with download_queue(fetch, clock=lambda: time[0]) as (downloads, updates):
        downloads.enqueue("a/one")
        await until(lambda: bool(updates) and updates[-1].state == "checking")
        assert (updates[-1].name, updates[-1].done, updates[-1].rate, updates[-1].left) == (
            "tiny",
            2000,
            0.0,
            None,
        )
        work[0].advance(1000)
        await until(lambda: updates[-1].done == 3000)
        time[0] = 2.0
        work[0].advance(1000)
        await until(lambda: updates[-1].done == 4000)
        assert (updates[-1].state, updates[-1].rate, updates[-1].left) == ("running", 500.0, 12.0)


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
    async with download_queue(hub_download(folder, lambda: ROOMY)) as (downloads, _):
        row = downloads.enqueue(WHAT)
        await until(lambda: downloads.rows()[0].done > 0)
        stopped = await downloads.stop(row.id)
        assert (stopped.state, stopped.name) == ("stopped", "Tiny-Q4_K_M")
        [part] = folder.glob("*.part")
        assert part.stat().st_size == stopped.done
        hub.stalls = False
        downloads.enqueue(WHAT)
        await until(lambda: states(downloads) == ["done"])
    assert hub.downloads()[-1].headers["range"] == f"bytes={stopped.done}-"
    assert names(folder) == ["Tiny-Q4_K_M.gguf"]


async def test_a_pause_between_two_tries_ends_when_it_is_stopped(hub, tmp_path):
    hub.statuses = [(429, {"retry-after": "50"})] * 10
    async with download_queue(hub_download(tmp_path / "models", lambda: ROOMY)) as (downloads, _):
        row = downloads.enqueue(WHAT)
        await until(lambda: bool(hub.requests))
        assert (await downloads.stop(row.id)).state == "stopped"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class FakeUse:
    """Loads models as the test says."""

    def __init__(self) -> None:
        self.loaded: list[tuple[str, str]] = []
        self.problem: Exception | None = None
        self.end = anyio.Event()

    async def __call__(self, name, user, progress) -> None:
        self.loaded.append((name, user))
        progress(0.5)
        await self.end.wait()
        if self.problem is not None:
            raise self.problem


async def test_what_is_to_be_used_is_loaded_when_it_is_complete():
    fetch, use = FakeFetch(), FakeUse()
    fetch.ends["a/one"] = None
    async with download_queue(fetch, use=use) as (downloads, _):
        assert downloads.enqueue("a/one", use=True, user="ann").use
        await until(lambda: states(downloads) == ["loading"])
        assert (use.loaded, downloads.rows()[0].loading) == ([("one", "ann")], 0.5)
        use.end.set()
        await until(lambda: states(downloads) == ["done"])


async def test_a_load_that_fails_is_a_failed_download_with_its_reason():
    fetch, use = FakeFetch(), FakeUse()
    fetch.ends["a/one"] = None
    use.problem = EngineFailed("Too little memory.", code="load_failed")
    use.end.set()
    async with download_queue(fetch, use=use) as (downloads, _):
        downloads.enqueue("a/one", use=True)
        await until(lambda: states(downloads) == ["failed"])
        assert downloads.rows()[0].error.message == "Too little memory."


async def test_a_load_can_be_stopped():
    fetch, use = FakeFetch(), FakeUse()
    fetch.ends["a/one"] = None
    async with download_queue(fetch, use=use) as (downloads, _):
        row = downloads.enqueue("a/one", use=True)
        await until(lambda: states(downloads) == ["loading"])
        assert (await downloads.stop(row.id)).state == "stopped"


async def test_a_download_goes_on_after_a_restart(tmp_path):
    journal = tmp_path / "downloads.json"
    async with download_queue(FakeFetch(), journal=DownloadJournal(journal)) as (downloads, _):
        downloads.enqueue("a/one", use=True, user="ann")
        downloads.enqueue("a/two")
        await downloads.save()
    fetch, use = FakeFetch(), FakeUse()
    fetch.ends = {"a/one": None, "a/two": None}
    use.end.set()
    async with download_queue(fetch, use=use, journal=DownloadJournal(journal)) as (downloads, _):
        await until(lambda: states(downloads) == ["done", "done"])
        await until(lambda: not journal.exists())
    assert (fetch.started, use.loaded) == (["a/one", "a/two"], [("one", "ann")])


async def test_a_load_that_ended_the_server_is_tried_once_more_and_not_a_third_time(tmp_path):
    journal = tmp_path / "downloads.json"
    fetch, use = FakeFetch(), FakeUse()
    fetch.ends["a/one"] = None
    for loads in (1, 2):
        async with download_queue(fetch, use=use, journal=DownloadJournal(journal)) as (downloads, _):
            if loads == 1:
                downloads.enqueue("a/one", use=True)
            await until(lambda loads=loads: len(use.loaded) == loads)
    async with download_queue(fetch, use=use, journal=DownloadJournal(journal)) as (downloads, _):
        await until(lambda: states(downloads) == ["failed"])
        assert downloads.rows()[0].error.code == "load_failed"
    # The files were complete, so they are fetched once.
    assert (fetch.started, len(use.loaded)) == (["a/one"], 2)


async def test_what_was_stopped_is_not_resumed_and_closing_forgets_nothing(tmp_path):
    journal = tmp_path / "downloads.json"
    async with download_queue(FakeFetch(), journal=DownloadJournal(journal)) as (downloads, _):
        downloads.enqueue("a/one")
        two = downloads.enqueue("a/two")
        await until(lambda: states(downloads) == ["running", "waiting"])
        await downloads.stop(two.id)
        downloads.close()
        await until(lambda: states(downloads) == ["stopped", "stopped"])
    assert [entry.what for entry in await DownloadJournal(journal).read()] == ["a/one"]


async def test_a_download_is_followed_to_its_end():
    fetch = FakeFetch()
    async with download_queue(fetch) as (downloads, _):
        row = downloads.enqueue("a/one")
        seen = []
        async for step in downloads.follow(row.id):
            seen.append(step.state)
            fetch.ends["a/one"] = None
        assert (seen[0], seen[-1]) == ("waiting", "done")
        assert [step.state async for step in downloads.follow(row.id)] == ["done"]
        assert [step async for step in downloads.follow("d_none")] == []
