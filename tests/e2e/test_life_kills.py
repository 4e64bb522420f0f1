"""The short form of `make bench-life`: workers are killed under streams, every client is answered, and nothing is left."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.system

LIFE = Path(__file__).resolve().parents[2] / "bench" / "bench_life.py"


def test_workers_killed_under_streams_leave_no_client_without_an_answer_and_nothing_behind():
    done = subprocess.run(
        [sys.executable, str(LIFE), "kills", "--kills", "10", "--streams", "8", "--every", "0.5"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert "nothing was cut, lost or left" in done.stdout
