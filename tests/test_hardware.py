"""What this machine has for a model."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from duologue import hardware
from duologue.engines.machine import Machine
from duologue.hardware import described, look
from duologue.models.fit import Hardware

GB = 10**9


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch):
    """An installed engine that sees these devices, on a machine of 4 cores with 16 GB free."""
    monkeypatch.setattr(hardware, "this_machine", lambda: Machine(4, 16 * GB))

    def see(*devices: tuple[str, int]) -> None:
        module = SimpleNamespace(
            ggml_backend_dev_type=SimpleNamespace(GGML_BACKEND_DEVICE_TYPE_GPU="GPU"),
            get_device_info=lambda: [{"type": kind, "memory_free": free} for kind, free in devices],
        )
        monkeypatch.setitem(sys.modules, "xllamacpp", module)

    return see


def test_it_really_looks_at_this_machine(tmp_path: Path) -> None:
    found = look(tmp_path / "not" / "there" / "yet")
    assert found.cores >= 1
    assert found.memory > 0
    assert found.disk > 0


def test_cards_are_counted_and_processors_are_not(engine, tmp_path: Path) -> None:
    engine(("CPU", 99), ("GPU", 8 * GB), ("GPU", 8 * GB), ("IGPU", 4 * GB))
    assert look(tmp_path).card_memory == 16 * GB


def test_an_engine_that_does_not_load_sees_no_card(engine, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert look(tmp_path).card_memory == 0


def test_on_a_mac_memory_is_not_counted_twice(engine, tmp_path: Path, monkeypatch) -> None:
    engine(("GPU", 12 * GB))
    monkeypatch.setattr(sys, "platform", "darwin")
    found = look(tmp_path)
    assert (found.memory, found.card_memory) == (4 * GB, 12 * GB)


def test_a_machine_is_told_in_a_line(tmp_path: Path) -> None:
    line = described(Hardware(1, 2 * GB, 3 * GB), tmp_path)
    assert line.startswith(
        "1 core, 2.0 GB of memory free, no graphics card the engine can use, 3.0 GB of disk"
    )
    assert "8.0 GB free on the graphics card" in described(Hardware(2, GB, GB, 8 * GB), tmp_path)
