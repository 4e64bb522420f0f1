"""The folder for the files that the model's code leaves behind.

That code writes each voice to a temporary file and never removes it. Owned by the engine: while a model is loaded, the temporary
files of its process are made in here, and are removed when the work they were for has ended.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

PREFIX = "duologue-minicpmo-"


class TemporaryFolder:
    """A folder of this process in that for temporary files. Those of processes that were killed are removed first."""

    def __init__(self) -> None:
        self._before = tempfile.tempdir
        base = Path(tempfile.gettempdir())
        _remove_abandoned(base)
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=base))
        tempfile.tempdir = str(self.path)

    def clean(self) -> None:
        """Remove every file in it. Nothing may still need one."""
        for path in self.path.glob("*"):
            with suppress(OSError):
                path.unlink()

    def close(self) -> None:
        """Remove it; temporary files are made where they were before."""
        if tempfile.tempdir == str(self.path):
            tempfile.tempdir = self._before
        shutil.rmtree(self.path, ignore_errors=True)


def _remove_abandoned(base: Path) -> None:
    for path in base.glob(f"{PREFIX}*-*"):
        process = path.name.removeprefix(PREFIX).partition("-")[0]
        if process.isdecimal() and int(process) != os.getpid() and not _runs(int(process)):
            shutil.rmtree(path, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
