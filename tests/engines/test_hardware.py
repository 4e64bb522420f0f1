"""What this machine has for a model."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from duologue.engines import hardware
from duologue.engines.hardware import MachineLimits, describe, machine_limits, probe_hardware
from duologue.engines.llama.library import list_cards
from duologue.models.fit import Hardware
from duologue.models.placement import Card

GB = 10**9


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch):
    """An installed engine that sees these devices, on a machine of 4 cores with 16 GB free."""
    monkeypatch.setattr(hardware, "machine_limits", lambda: MachineLimits(4, 16 * GB))

    def see(*devices: tuple[str, int]) -> None:
        module = SimpleNamespace(
            ggml_backend_dev_type=SimpleNamespace(GGML_BACKEND_DEVICE_TYPE_GPU="GPU"),
            get_device_info=lambda: [{"type": kind, "memory_free": free} for kind, free in devices],
        )
        monkeypatch.setitem(sys.modules, "xllamacpp", module)

    return see


def test_this_machine_is_really_probed(tmp_path: Path) -> None:
    machine = probe_hardware(tmp_path / "not" / "there" / "yet")
    assert machine.cores >= 1
    assert machine.memory > 0
    assert machine.disk > 0


def test_cards_are_counted_and_processors_are_not(engine, tmp_path: Path) -> None:
    engine(("CPU", 99), ("GPU", 8 * GB), ("GPU", 8 * GB), ("IGPU", 4 * GB))
    assert probe_hardware(tmp_path).card_memory == 16 * GB


def test_an_engine_that_does_not_load_sees_no_card(engine, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert probe_hardware(tmp_path).card_memory == 0


def test_on_a_mac_memory_is_not_counted_twice(engine, tmp_path: Path, monkeypatch) -> None:
    engine(("GPU", 12 * GB))
    monkeypatch.setattr(sys, "platform", "darwin")
    machine = probe_hardware(tmp_path)
    assert (machine.memory, machine.card_memory) == (4 * GB, 12 * GB)


def test_a_machine_is_described_in_a_line(tmp_path: Path) -> None:
    line = describe(Hardware(1, 2 * GB, 3 * GB), tmp_path)
    assert line.startswith(
        "1 core, 2.0 GB of memory free, no graphics card the engine can use, 3.0 GB of disk"
    )
    assert "8.0 GB free on the graphics card" in describe(Hardware(2, GB, GB, 8 * GB), tmp_path)


def test_cards_are_listed_by_another_process_and_not_at_every_call(monkeypatch, tmp_path: Path) -> None:
    commands: list[list[str]] = []

    def run(command, **options):
        commands.append(command)
        return SimpleNamespace(stdout=b"a library says hello\n8000000000\n")

    time = [0.0]
    monkeypatch.setattr(hardware, "machine_limits", lambda: MachineLimits(4, 16 * GB))
    monkeypatch.setattr(subprocess, "run", run)
    probe = hardware.HardwareProbe(lambda: time[0])
    for _ in range(2):
        machine, line = probe(tmp_path)
        assert machine.card_memory == 8 * GB
        assert "8.0 GB free on the graphics card" in line
    assert len(commands) == 1
    time[0] = 60.0
    probe(tmp_path)
    assert len(commands) == 2


def test_an_engine_that_breaks_in_its_own_process_sees_no_card(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(hardware, "CARD_COMMAND", "import os; os.abort()")
    machine, _ = hardware.HardwareProbe()(tmp_path)
    assert machine.card_memory == 0


def test_the_cards_are_listed_by_a_process_of_their_own(monkeypatch) -> None:
    listed = b'[{"number":1,"name":"H100","free":8,"library_name":"CUDA1"}]'
    monkeypatch.setattr(
        subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=b"a driver says hello\n" + listed + b"\n")
    )
    assert hardware.list_cards() == (Card(1, "H100", 8, "CUDA1"),)


def test_the_real_engine_lists_its_cards_as_it_does_in_this_process() -> None:
    numbers = [card.number for card in hardware.list_cards()]
    assert numbers == [card.number for card in list_cards()]


@pytest.mark.parametrize("command", ["import os; os.abort()", "print('no list')", "pass"])
def test_an_engine_that_breaks_lists_no_cards(monkeypatch, command) -> None:
    monkeypatch.setattr(hardware, "CARDS_COMMAND", command)
    assert hardware.list_cards() == ()


def test_mapped_model_files_are_not_free(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(hardware, "machine_limits", lambda: MachineLimits(4, 16 * GB))
    monkeypatch.setattr(hardware, "mapped_bytes", lambda process: process * GB)
    monkeypatch.setattr(hardware, "_card_memory_in_subprocess", lambda: 0)
    assert hardware.HardwareProbe()(tmp_path, (3, 4))[0].memory == 9 * GB


def test_the_mapped_bytes_of_a_process_are_read_from_proc(tmp_path: Path) -> None:
    processes, cgroup = tmp_path / "proc", tmp_path / "cgroup"
    (processes / "7").mkdir(parents=True)
    cgroup.mkdir()
    (processes / "7" / "status").write_text("Name:\tworker\nRssAnon:\t 99 kB\nRssFile:\t 2048 kB\n")
    assert hardware.mapped_bytes(7, processes=processes, cgroup=cgroup) == 2048 * 1024
    assert hardware.mapped_bytes(8, processes=processes, cgroup=cgroup) == 0
    (cgroup / "memory.max").write_text("max\n")
    assert hardware.mapped_bytes(7, processes=processes, cgroup=cgroup) == 2048 * 1024
    (cgroup / "memory.max").write_text("4000000000\n")
    assert hardware.mapped_bytes(7, processes=processes, cgroup=cgroup) == 0


def test_the_probe_imports_nothing_from_the_working_directory(monkeypatch, tmp_path):
    (tmp_path / "duologue").mkdir()
    (tmp_path / "duologue" / "__init__.py").write_text("")
    (tmp_path / "duologue" / "hardware.py").write_text("def card_memory(): return 666")
    monkeypatch.chdir(tmp_path)
    assert hardware.HardwareProbe()(tmp_path)[0].card_memory != 666


def test_this_machine_has_cores_and_memory() -> None:
    machine = machine_limits(gpus=2)
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


def limits(system: Path) -> tuple[int, int]:
    machine = machine_limits(cgroup=system / "cgroup", meminfo=system / "meminfo", cpus=system / "cpus")
    return machine.cores, machine.memory


def test_two_threads_of_a_core_are_one_core(system: Path) -> None:
    assert limits(system) == (2, 8_192_000_000)


def test_a_containers_limits_count(system: Path) -> None:
    (system / "cgroup" / "cpu.max").write_text("100000 100000\n")
    (system / "cgroup" / "memory.max").write_text("2000000000\n")
    (system / "cgroup" / "memory.current").write_text("500000000\n")
    assert limits(system) == (1, 1_500_000_000)


def test_a_container_without_limits_has_none(system: Path) -> None:
    (system / "cgroup" / "cpu.max").write_text("max 100000\n")
    (system / "cgroup" / "memory.max").write_text("max\n")
    assert limits(system) == (2, 8_192_000_000)


def test_half_a_core_is_one(system: Path) -> None:
    (system / "cgroup" / "cpu.max").write_text("50000 100000\n")
    assert limits(system)[0] == 1


def test_without_limits_or_proc_the_whole_machine_counts(tmp_path: Path) -> None:
    machine = machine_limits(cgroup=tmp_path, meminfo=tmp_path / "no", cpus=tmp_path / "none")
    assert machine.cores >= 1
    assert machine.memory > 100_000_000
