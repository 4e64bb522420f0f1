"""Measure the time from `make serve` to `/ready` in a checkout that is already built, as at every start after the first.

    python bench/bench_start.py [--rounds 5]

The floor in the same run: a Python process that imports FastAPI and serves `/ready` from uvicorn, started by make.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from load import free_port, root, wait_ready

FLOOR = """
serve:
\t@exec {python} -c "import uvicorn; from fastapi import FastAPI; app = FastAPI(); \\
app.get('/ready')(lambda: {{}}); uvicorn.run(app, port=$(PORT), log_level='error')"
"""


def start(folder: Path, data: str) -> float:
    """Seconds from the command to the first 200 of `/ready`."""
    port = free_port()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("DUOLOGUE_")}
    began = time.perf_counter()
    process = subprocess.Popen(
        ["make", "serve", f"PORT={port}"],
        cwd=folder,
        env=environment | {"DUOLOGUE_DATA": data},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_ready(f"http://127.0.0.1:{port}/ready", process)
        return time.perf_counter() - began
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    floors, figures = [], []
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch, "Makefile").write_text(FLOOR.format(python=root() / ".venv" / "bin" / "python"))
        for number in range(options.rounds + 1):
            floor = start(Path(scratch), scratch)
            figure = start(root(), str(Path(scratch, "data")))
            if number:
                floors.append(floor)
                figures.append(figure)
    ratio = statistics.median(figure / floor for figure, floor in zip(figures, floors, strict=True))
    print(
        f"make serve to /ready  {statistics.median(figures):.2f} s  {[round(figure, 2) for figure in figures]}"
    )
    print(f"bare FastAPI          {statistics.median(floors):.2f} s")
    print(f"ratio                 {ratio:.2f}   (budget: 2 s)")


if __name__ == "__main__":
    main()
