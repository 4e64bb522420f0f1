"""What counts as running, and what a worker's memory is measured as."""

import pytest
from tests.gateway.scheduling.test_pool import Workers, lent, running

from duologue.config import Settings
from duologue.gateway.life.measured_memory import measure
from duologue.gateway.life.replacement import WorkerMemory
from duologue.gateway.life.service import LifeService
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.models.fit import Hardware, memory_needed
from duologue.values.requests import ModelCard

GB = 10**9


@pytest.mark.anyio
async def test_what_holds_a_slot_or_waits_for_one_runs_but_not_the_lines_of_batches(monkeypatch, tmp_path):
    async with running(monkeypatch, Workers()) as (pool, until):
        life = LifeService(Settings(data=tmp_path), [pool])
        assert life.drain.running == 0
        with pool.lease("m") as lease, pool.lease("m"):
            await lent(lease)
            assert life.drain.running == 2
        await until(lambda: life.drain.running == 0)


def test_runs_of_the_page_count_too(tmp_path):
    class Runs:
        def working(self) -> int:
            return 3

    life = LifeService(Settings(data=tmp_path), [Pool([], Scheduler())])
    life.watch_runs(Runs())
    assert life.drain.running == 3


def status(device: str) -> WorkerStatus:
    card = ModelCard("m", "llama", 100, size=4 * GB, device=device)
    return WorkerStatus("w", "m", "llama", "auto", card=card)


def probe(folder, processes):
    return Hardware(cores=2, memory=8 * GB, disk=GB, card_memory=24 * GB), ""


def test_memory_is_that_of_where_the_worker_runs(tmp_path):
    needed = memory_needed(4 * GB)
    assert measure(status("cpu"), [], probe, tmp_path) == WorkerMemory(needed, 0, 8 * GB)
    assert measure(status("cuda:0"), [], probe, tmp_path) == WorkerMemory(needed, 0, 24 * GB)


def test_without_a_probe_nothing_is_refused(tmp_path):
    assert measure(status("cpu"), [], None, tmp_path).fits
