"""The last hour in figures: what was answered, how fast, and who waited, in samples of a few seconds.

Decides without acting: whoever feeds it says what happened, and ends each sample with the time as an argument. Knows no
pool and no clock. Times are Unix seconds, spreads milliseconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from msgspec import Struct

STEP = 5.0
"""Seconds of a sample."""
SAMPLES = 720
"""An hour of them."""
MEASURED = 1000
"""Durations of a sample that are kept for its spreads; of more, the last ones."""


class Spread(Struct, frozen=True):
    """Milliseconds that half, and that nineteen of twenty, did not exceed."""

    p50: float
    p95: float


class Sample(Struct, frozen=True):
    """What happened up to `at`. `requests` are replies that ended, however they did, each choice for itself; `failed`
    of them in error. `tokens` were written, `running` and `waiting` are of its end. A spread is None where nothing was
    measured."""

    at: float
    requests: int
    failed: int
    tokens: int
    tokens_per_second: float
    first_token: Spread | None
    queue_wait: Spread | None
    running: int
    waiting: int


class MetricsHistory:
    """The sample in hand and those before it. `at` is when it begins."""

    def __init__(self, at: float) -> None:
        self._samples: deque[Sample] = deque(maxlen=SAMPLES)
        self._begin(at)

    def _begin(self, at: float) -> None:
        self._began = at
        self._requests = self._failed = self._tokens = 0
        self._first: deque[float] = deque(maxlen=MEASURED)
        self._waited: deque[float] = deque(maxlen=MEASURED)

    def ended(self, *, first: float | None = None, waited: float | None = None, failed: bool = False) -> None:
        """A reply ended; its first token came after `first` ms, `waited` of them in the queue, where it had any."""
        self._requests += 1
        self._failed += failed
        if first is not None:
            self._first.append(first)
        if waited is not None:
            self._waited.append(waited)

    def wrote(self, tokens: int) -> None:
        """So many tokens were written; fewer than none take back what was counted too much."""
        self._tokens += tokens

    def close(self, at: float, running: int, waiting: int) -> Sample:
        """End the sample in hand and begin the next."""
        seconds = at - self._began
        tokens = max(0, self._tokens)
        # The clock of the wall may be set, backwards too.
        rate = tokens / (seconds if 0 < seconds < 10 * STEP else STEP)
        sample = Sample(
            at=at,
            requests=self._requests,
            failed=self._failed,
            tokens=tokens,
            tokens_per_second=round(rate, 1),
            first_token=_spread(self._first),
            queue_wait=_spread(self._waited),
            running=running,
            waiting=waiting,
        )
        self._samples.append(sample)
        self._begin(at)
        return sample

    def since(self, at: float) -> list[Sample]:
        """The samples that ended after `at`, the oldest first."""
        return [sample for sample in self._samples if sample.at > at]


def _spread(measured: Sequence[float]) -> Spread | None:
    if not measured:
        return None
    ordered = sorted(measured)
    return Spread(round(_quantile(ordered, 0.5), 1), round(_quantile(ordered, 0.95), 1))


def _quantile(ordered: Sequence[float], share: float) -> float:
    """The least of what was measured that `share` of it does not exceed."""
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]
