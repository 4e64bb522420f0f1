"""The short form of `make chaos`: whatever clients and processes do wrong, nothing is left behind."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.system

CHAOS = Path(__file__).resolve().parents[2] / "bench" / "chaos.py"


def test_rude_clients_slow_readers_and_dying_workers_leave_nothing_behind():
    done = subprocess.run(
        [sys.executable, str(CHAOS), "--seconds", "0", "--brief"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert "no leaks found" in done.stdout
