"""The memory of processes and cards, where the system tells."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from duologue import telemetry
from duologue.gateway.admin.memory_metrics import (
    CardMemory,
    card_memory,
    process_memory,
    set_process_memory,
    watch_cards,
)

GIBIBYTE = 1024**3


@pytest.fixture(autouse=True)
def own(monkeypatch):
    metrics = telemetry.Metrics()
    monkeypatch.setattr(telemetry, "metrics", lambda: metrics)
    return metrics


def text(metrics: telemetry.Metrics) -> str:
    return metrics.render()[0].decode()


def test_a_process_without_a_file_has_no_series(tmp_path: Path, own):
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "statm").write_text("900 25 3 1 0 9 0\n")
    assert process_memory(7, tmp_path) is not None
    assert process_memory(8, tmp_path) is None
    set_process_memory({"worker_0": 7, "worker_1": 8, "worker_2": 0}, tmp_path)
    assert 'process="worker_0"' in text(own)
    assert 'process="worker_1"' not in text(own)
    assert 'process="worker_2"' not in text(own)


def test_a_file_that_makes_no_sense_is_no_number(tmp_path: Path):
    (tmp_path / "7").mkdir()
    for content in ("", "900", "900 many"):
        (tmp_path / "7" / "statm").write_text(content)
        assert process_memory(7, tmp_path) is None


def test_the_cards_answer_is_read_line_by_line():
    answer = "0, 1024, 81920\n1, [N/A], [N/A]\n2, 0, 40960\nFailed to initialize\n"
    assert card_memory(answer) == [
        CardMemory("cuda:0", GIBIBYTE, 80 * GIBIBYTE),
        CardMemory("cuda:2", 0, 40 * GIBIBYTE),
    ]


def program(folder: Path, script: str) -> str:
    path = folder / "nvidia-smi"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


async def watched(devices: list[str], name: str) -> None:
    """Watch until the program's first answer is there."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch_cards, lambda: devices, name)
        with anyio.fail_after(60):
            while "gpu_memory_bytes{" not in text(telemetry.metrics()):  # noqa: ASYNC110 (another process answers)
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()


@pytest.mark.anyio
async def test_the_cards_are_asked_while_a_worker_runs_on_one(tmp_path: Path, own):
    asked = tmp_path / "asked"
    name = program(tmp_path, f'echo "$@" > "{asked}"; echo "0, 1024, 81920"')
    await watched(["cpu", "cuda:0"], name)
    [line] = [line for line in text(own).splitlines() if 'device="cuda:0",state="used"' in line]
    assert float(line.split()[-1]) == GIBIBYTE
    assert "memory.used" in asked.read_text()


@pytest.mark.anyio
async def test_without_the_program_nothing_is_watched():
    with anyio.fail_after(60):
        await watch_cards(lambda: ["cuda:0"], "no-such-program")
