"""What this machine can lend."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duologue.engines.machine import this_machine


def test_this_machine_has_cores_and_memory() -> None:
    machine = this_machine(gpus=2)
    assert 1 <= machine.cores <= (os.cpu_count() or 1)
    assert machine.memory > 100_000_000
    assert machine.gpus == 2


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four processors that are two cores, 8 GB free."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)
    for cpu, siblings in enumerate(("0,2", "1,3", "0,2", "1,3")):
        topology = tmp_path / "cpus" / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(siblings + "\n")
    (tmp_path / "meminfo").write_text("MemTotal: 16000000 kB\nMemAvailable:    8000000 kB\n")
    (tmp_path / "cgroup").mkdir()
    return tmp_path


def look(system: Path) -> tuple[int, int]:
    machine = this_machine(cgroup=system / "cgroup", meminfo=system / "meminfo", cpus=system / "cpus")
    return machine.cores, machine.memory


def test_two_threads_of_a_core_are_one_core(system: Path) -> None:
    assert look(system) == (2, 8_192_000_000)


def test_a_containers_limits_count(system: Path) -> None:
    (system / "cgroup" / "cpu.max").write_text("100000 100000\n")
    (system / "cgroup" / "memory.max").write_text("2000000000\n")
    (system / "cgroup" / "memory.current").write_text("500000000\n")
    assert look(system) == (1, 1_500_000_000)


def test_a_container_without_limits_has_none(system: Path) -> None:
    (system / "cgroup" / "cpu.max").write_text("max 100000\n")
    (system / "cgroup" / "memory.max").write_text("max\n")
    assert look(system) == (2, 8_192_000_000)


def test_half_a_core_is_one(system: Path) -> None:
    (system / "cgroup" / "cpu.max").write_text("50000 100000\n")
    assert look(system)[0] == 1


def test_where_nothing_is_said_the_whole_machine_counts(tmp_path: Path) -> None:
    machine = this_machine(cgroup=tmp_path, meminfo=tmp_path / "no", cpus=tmp_path / "none")
    assert machine.cores >= 1
    assert machine.memory > 100_000_000
