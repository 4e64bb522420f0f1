"""The status of a worker. Plain data: its `WorkerKeeper` writes it, the pool and the status pages read it."""

from __future__ import annotations

from msgspec import Struct

from duologue.values.requests import ModelCard
from duologue.values.speech import SpeechCard


class WorkerStatus(Struct):
    """The status of one worker. `state` is what the worker reports, or "offline" while it has no process. A worker that
    has failed stays "failed", with or without a process, until it is ready."""

    worker: str
    model: str
    engine: str
    device: str
    state: str = "offline"
    port: int = 0
    process: int = 0
    restarts: int = 0
    attempts: int = 0
    """Starts since it was last ready."""
    detail: str = ""
    last_report: float = 0.0
    """Unix seconds of the worker's last report."""
    card: ModelCard | None = None
    speech: SpeechCard | None = None
    """Of a voice worker: which of its engines are usable."""
    progress: float | None = None
    """How much of the model is loaded, 0 to 1; None if unknown."""
    ended: str = ""
    """How its process last ended, for the log."""
    added: bool = False
    """Whether it was loaded at run time and is not in the settings."""
