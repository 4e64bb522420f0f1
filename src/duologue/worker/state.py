"""What a worker is doing, which state may follow which, and the report that tells the gateway.

    loading ──> ready ──> stopping
       └──────> failed ─────┘

A pure record; the worker's service changes it while loading, its connection sends the report.
"""

from __future__ import annotations

from duologue.values.requests import ModelCard
from duologue.values.speech import SpeechCard
from duologue.wire.worker_protocol import Report, WorkerState

FOLLOWS: dict[WorkerState, frozenset[WorkerState]] = {
    "loading": frozenset({"ready", "failed", "stopping"}),
    "ready": frozenset({"stopping"}),
    "failed": frozenset({"stopping"}),
    "stopping": frozenset(),
}


class WorkerLifecycle:
    """The worker's state, the card of its model once it is loaded, and why loading failed if it did."""

    def __init__(self, worker: str) -> None:
        self.worker = worker
        self.state: WorkerState = "loading"
        self.card: ModelCard | None = None
        self.speech: SpeechCard | None = None
        """Of a voice worker: which of its engines are loaded."""
        self.detail = "The model is loading."
        self.code = ""
        self.progress: float | None = None
        """Share of the loading that is done, 0 to 1; None if unknown."""

    def set_progress(self, progress: float | None) -> bool:
        """Record how much is loaded. True if that changed by a hundredth or more and is worth a report."""
        rounded = None if progress is None else round(progress, 2)
        if self.state != "loading" or rounded == self.progress:
            return False
        self.progress = rounded
        return True

    def ready(self, card: ModelCard) -> None:
        """Loading is complete. Of no use to a worker that is shutting down."""
        if self.state == "stopping":
            return
        self._enter("ready")
        self.card, self.detail, self.progress = card, "", None

    def changed(self, card: ModelCard) -> None:
        """What the loaded model can do has changed, as far as is known."""
        if self.state == "ready":
            self.card = card

    def failed(self, code: str, detail: str) -> None:
        """Loading failed; `detail` is a sentence for the user. No news of a worker that is shutting down."""
        if self.state == "stopping":
            return
        self._enter("failed")
        self.code, self.detail, self.progress = code, detail, None

    def stopping(self) -> None:
        """The worker is shutting down."""
        self._enter("stopping")

    def report(self) -> Report:
        """The message that tells the gateway all of this."""
        return Report(
            self.worker,
            self.state,
            card=self.card,
            detail=self.detail,
            code=self.code,
            progress=self.progress,
            speech=self.speech,
        )

    def _enter(self, state: WorkerState) -> None:
        assert state in FOLLOWS[self.state], f"{self.state} cannot become {state}"
        self.state = state
