"""What a worker is doing, as a table: which state may follow which, and the report that tells the gateway.

    loading ──> ready ──> stopping
       └──────> failed ─────┘

Pure. Knows no engine.
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


class Standing:
    """The worker's state, its model's card once there is one, and why it failed if it did."""

    def __init__(self, worker: str) -> None:
        self.worker = worker
        self.state: WorkerState = "loading"
        self.card: ModelCard | None = None
        self.speech: SpeechCard | None = None
        """Of a voice worker: what of it is there."""
        self.detail = "The model is loading."
        self.code = ""
        self.progress: float | None = None
        """How much of loading is done, 0 to 1; None where nobody can say."""

    def loaded(self, progress: float | None) -> bool:
        """Note how much is loaded; whether that is news to anybody: a hundredth or more."""
        known = None if progress is None else round(progress, 2)
        if self.state != "loading" or known == self.progress:
            return False
        self.progress = known
        return True

    def ready(self, card: ModelCard) -> None:
        self._become("ready")
        self.card, self.detail, self.progress = card, "", None

    def failed(self, code: str, detail: str) -> None:
        self._become("failed")
        self.code, self.detail, self.progress = code, detail, None

    def stopping(self) -> None:
        self._become("stopping")

    def report(self) -> Report:
        return Report(
            self.worker,
            self.state,
            card=self.card,
            detail=self.detail,
            code=self.code,
            progress=self.progress,
            speech=self.speech,
        )

    def _become(self, state: WorkerState) -> None:
        assert state in FOLLOWS[self.state], f"{self.state} cannot become {state}"
        self.state = state
