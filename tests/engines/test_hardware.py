"""What this machine has for a model."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from duologue.engines import hardware
from duologue.engines.hardware import described, probe_hardware
from duologue.engines.machine import MachineLimits
from duologue.models.fit import Hardware

GB = 10**9


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch):
    """An installed engine that sees these devices, on a machine of 4 cores with 16 GB free."""
    monkeypatch.setattr(hardware, "this_machine", lambda: MachineLimits(4, 16 * GB))

    def see(*devices: tuple[str, int]) -> None:
        module = SimpleNamespace(
            ggml_backend_dev_type=SimpleNamespace(GGML_BACKEND_DEVICE_TYPE_GPU="GPU"),
            get_device_info=lambda: [{"type": kind, "memory_free": free} for kind, free in devices],
        )
        monkeypatch.setitem(sys.modules, "xllamacpp", module)

    return see


def test_it_really_looks_at_this_machine(tmp_path: Path) -> None:
    found = probe_hardware(tmp_path / "not" / "there" / "yet")
    assert found.cores >= 1
    assert found.memory > 0
    assert found.disk > 0


def test_cards_are_counted_and_processors_are_not(engine, tmp_path: Path) -> None:
    engine(("CPU", 99), ("GPU", 8 * GB), ("GPU", 8 * GB), ("IGPU", 4 * GB))
    assert probe_hardware(tmp_path).card_memory == 16 * GB


def test_an_engine_that_does_not_load_sees_no_card(engine, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert probe_hardware(tmp_path).card_memory == 0


def test_on_a_mac_memory_is_not_counted_twice(engine, tmp_path: Path, monkeypatch) -> None:
    engine(("GPU", 12 * GB))
    monkeypatch.setattr(sys, "platform", "darwin")
    found = probe_hardware(tmp_path)
    assert (found.memory, found.card_memory) == (4 * GB, 12 * GB)


def test_a_machine_is_told_in_a_line(tmp_path: Path) -> None:
    line = described(Hardware(1, 2 * GB, 3 * GB), tmp_path)
    assert line.startswith(
        "1 core, 2.0 GB of memory free, no graphics card the engine can use, 3.0 GB of disk"
    )
    assert "8.0 GB free on the graphics card" in described(Hardware(2, GB, GB, 8 * GB), tmp_path)


def test_a_lookout_asks_about_cards_in_another_process_and_not_all_the_time(
    monkeypatch, tmp_path: Path
) -> None:
    asked: list[list[str]] = []

    def run(command, **options):
        asked.append(command)
        return SimpleNamespace(stdout=b"a library says hello\n8000000000\n")

    time = [0.0]
    monkeypatch.setattr(hardware, "this_machine", lambda: MachineLimits(4, 16 * GB))
    monkeypatch.setattr(hardware.subprocess, "run", run)
    lookout = hardware.HardwareProbe(lambda: time[0])
    for _ in range(2):
        found, words = lookout(tmp_path)
        assert found.card_memory == 8 * GB
        assert "8.0 GB free on the graphics card" in words
    assert len(asked) == 1
    time[0] = 60.0
    lookout(tmp_path)
    assert len(asked) == 2


def test_an_engine_that_breaks_in_its_own_process_sees_no_card(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(hardware, "ASK_CARDS", "import os; os.abort()")
    found, _ = hardware.HardwareProbe()(tmp_path)
    assert found.card_memory == 0


def test_what_models_map_of_their_files_is_not_free(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(hardware, "this_machine", lambda: MachineLimits(4, 16 * GB))
    monkeypatch.setattr(hardware, "mapped", lambda process: process * GB)
    monkeypatch.setattr(hardware, "_card_memory_apart", lambda: 0)
    assert hardware.HardwareProbe()(tmp_path, (3, 4))[0].memory == 9 * GB


def test_what_a_process_maps_is_read_where_the_system_tells_it(tmp_path: Path) -> None:
    processes, cgroup = tmp_path / "proc", tmp_path / "cgroup"
    (processes / "7").mkdir(parents=True)
    cgroup.mkdir()
    (processes / "7" / "status").write_text("Name:\tworker\nRssAnon:\t 99 kB\nRssFile:\t 2048 kB\n")
    assert hardware.mapped(7, processes=processes, cgroup=cgroup) == 2048 * 1024
    assert hardware.mapped(8, processes=processes, cgroup=cgroup) == 0
    (cgroup / "memory.max").write_text("max\n")
    assert hardware.mapped(7, processes=processes, cgroup=cgroup) == 2048 * 1024
    (cgroup / "memory.max").write_text("4000000000\n")
    assert hardware.mapped(7, processes=processes, cgroup=cgroup) == 0


def test_the_machine_is_not_asked_by_what_lies_in_the_folder_one_stands_in(monkeypatch, tmp_path):
    (tmp_path / "duologue").mkdir()
    (tmp_path / "duologue" / "__init__.py").write_text("")
    (tmp_path / "duologue" / "hardware.py").write_text("def card_memory(): return 666")
    monkeypatch.chdir(tmp_path)
    assert hardware.HardwareProbe()(tmp_path)[0].card_memory != 666
