"""Workers of one engine that do not get past their start while a test holds them: for what happens during a load."""

from __future__ import annotations

from pathlib import Path

HOLD = """
import os, time
if {engine!r} in os.environ.get("DUOLOGUE_WORKER_LOAD_SPEC", ""):
    parent = os.getppid()
    while os.path.exists({file!r}):
        # 1: the server was killed before this worker came here.
        if os.getppid() != parent or parent == 1:
            os._exit(1)
        time.sleep(0.05)
"""


class HeldWorkers:
    """Start a server with `environment`. Workers with this engine (`llama`: with a GGUF model; `voice`) that begin between `hold` and
    `release` wait, unless their server is gone."""

    def __init__(self, folder: Path, engine: str = "llama") -> None:
        self._file = folder / "hold"
        modules = folder / "held"
        modules.mkdir()
        # Python imports this module at every start.
        (modules / "sitecustomize.py").write_text(
            HOLD.format(file=str(self._file), engine=f'"engine":"{engine}"')
        )
        self.environment = {"PYTHONPATH": str(modules)}

    def hold(self) -> None:
        self._file.touch()

    def release(self) -> None:
        self._file.unlink(missing_ok=True)
