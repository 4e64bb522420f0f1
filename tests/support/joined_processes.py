"""`duologue worker --join`: the process of a worker on another machine, for tests with real servers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType


@contextmanager
def joining(
    address: str,
    key: str,
    folder: Path,
    *arguments: str,
    environment: Mapping[str, str] = MappingProxyType({}),
    stderr: int | None = None,
) -> Iterator[subprocess.Popen[str]]:
    """A process of the machine "attic" in this folder, which joins the server at `address`; stopped afterwards as an operator would."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("DUOLOGUE_")}
    command = ["worker", "--join", address, "--machine", "attic", "--data", str(folder / "data"), *arguments]
    process = subprocess.Popen(
        [sys.executable, "-m", "duologue", *command],
        cwd=folder,
        env={**clean, **environment, "DUOLOGUE_JOIN_KEY": key},
        stdin=subprocess.DEVNULL,
        stderr=stderr,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.communicate(timeout=90)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
