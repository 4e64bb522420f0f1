"""The short form of `make attack`: hostile files, requests, frames and connections against a real server, which stands."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("av", reason="the attackers make sound with PyAV: pip install 'duologue[voice]'")
pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are watched in /proc"),
]

ROOT = Path(__file__).resolve().parents[2]


def attack(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "attack.runner", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=500,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "bench")},
    )


@pytest.mark.long
def test_nothing_hostile_stops_the_server_or_leaves_anything_behind():
    done = attack(
        "--files", "25", "--bombs", "4", "--requests", "70", "--frames", "120", "--connections", "15", "--guesses", "20",
        "--seconds", "120", "--brief",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-8000:]
    assert "the server stood" in done.stdout
