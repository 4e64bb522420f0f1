"""Workers of model files that do not get past their start while a test holds them: for what happens during a load."""

from __future__ import annotations

from pathlib import Path

HOLD = """
import os, time
if '"engine":"llama"' in os.environ.get("DUOLOGUE_WORKER_LOAD_SPEC", ""):
    parent = os.getppid()
    while os.path.exists({file!r}):
        if os.getppid() != parent:
            os._exit(1)
        time.sleep(0.05)
"""


class HeldWorkers:
    """Start a server with `environment`. Workers with a GGUF model that begin between `hold` and `release` wait, unless their server is gone."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "hold"
        modules = folder / "held"
        modules.mkdir()
        # Python imports this module at every start.
        (modules / "sitecustomize.py").write_text(HOLD.format(file=str(self._file)))
        self.environment = {"PYTHONPATH": str(modules)}

    def hold(self) -> None:
        self._file.touch()

    def release(self) -> None:
        self._file.unlink(missing_ok=True)
