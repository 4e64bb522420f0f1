"""The status of a worker. Plain data: its `WorkerKeeper` writes it, the pool and the status pages read it."""

from __future__ import annotations

import re

from msgspec import Struct

from duologue.values.requests import ModelCard, Task, UpstreamModel
from duologue.values.speech import SpeechCard

VOICE = "voice"
"""The engine of the voice worker, and the label of its metrics: it has no model."""


class WorkerStatus(Struct):
    """The status of one worker. `state` is what the worker reports, "offline" while it has no process, or "unreachable" while the connection
    to another machine is broken and may come back. A worker that has failed stays "failed", with or without a process, until it is ready."""

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
    by_request: bool = False
    """Whether a request that named its model had it loaded; such a model may be unloaded to make room for another."""
    draining: bool = False
    """Whether nothing new begins on it, while what runs on it goes on."""
    retiring: bool = False
    """Whether it is going to be removed once what runs on it has ended."""
    ready_at: float = 0.0
    """When it was last loaded, on the pool's clock."""
    note: str = ""
    """Why it was started or is draining, for admins."""
    upstream: str = ""
    """The name of the connected server whose models it serves, all of them; empty for a worker with one model."""
    models: tuple[UpstreamModel, ...] = ()
    """The models of the connected server."""
    warning: str = ""
    """What is wrong with the connected server, as last seen."""
    task: Task = "chat"
    """What its model is for, as far as that was known before it was loaded."""
    machine: str = ""
    """The name of the machine it has joined from; empty for one of this machine."""
    joined: bool = False
    """Whether it was started by hand on its own machine: this server cannot start another one like it."""
    offered: bool = False
    """Whether its files are those that this server offers, adapters included: a joined worker that looks at them again whenever it starts."""
    unreachable_since: float | None = None
    """Since when its connection is broken, on the pool's clock; None while it is not."""

    @property
    def chats(self) -> bool:
        """Whether it has, or will have, a model that writes replies."""
        return self.purpose == "chat"

    @property
    def purpose(self) -> Task:
        """What its model is for, by the model itself once it is loaded."""
        return self.task if self.card is None else self.card.task

    @property
    def runs_on(self) -> str:
        """The device it runs on by its own word; until it is ready, or where its engine does not know, the one of the settings."""
        return (self.card.device if self.card is not None else "") or self.device

    @property
    def gpu(self) -> int | None:
        """The number of its graphics card, if it runs on exactly one."""
        card = re.fullmatch(r"cuda:(\d+)", self.card.device) if self.card is not None else None
        return int(card[1]) if card else None

    @property
    def label(self) -> str:
        """What its metrics are labelled with: its model, the connected server whose models it serves, or `voice`."""
        if self.engine == VOICE:
            return VOICE
        return self.upstream or (self.card.name if self.card else self.model)

    @property
    def queue(self) -> str:
        """The line in which requests wait for it: that of its model, or one for all models of its server, which share slots."""
        return f"server {self.upstream}" if self.upstream else self.model
