"""The short form of bench/kills.py, whose full form is in `make chaos`: what was said to be kept survives `kill -9`."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.system

KILLS = Path(__file__).resolve().parents[2] / "bench" / "kills.py"


def test_kills_while_writing_lose_no_answered_command_and_at_most_a_second_of_text():
    done = subprocess.run(
        [sys.executable, str(KILLS), "--times", "4"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert "every answered command was kept" in done.stdout
