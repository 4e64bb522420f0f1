"""A worker as the gateway shows it. Plain data, kept up to date by the pool."""

from __future__ import annotations

from msgspec import Struct

from duologue.values.requests import ModelCard
from duologue.values.speech import SpeechCard


class WorkerStatus(Struct):
    """One worker for the status pages. `state` is the worker's own word, or "offline" while it has no process. A
    worker that has failed stays so, with or without a process, until it is ready."""

    worker: str
    model: str
    engine: str
    device: str
    state: str = "offline"
    port: int = 0
    process: int = 0
    restarts: int = 0
    attempts: int = 0
    """Starts since it was ready last."""
    detail: str = ""
    heard: float = 0.0
    """Unix seconds of the worker's last word."""
    card: ModelCard | None = None
    speech: SpeechCard | None = None
    """Of a voice worker: what of it is there."""
    progress: float | None = None
    """How much of loading is done, 0 to 1; None where nobody can say."""
    ended: str = ""
    """How its process ended last, in words for the log."""
    added: bool = False
    """Whether it was loaded at run time and is in no settings."""
