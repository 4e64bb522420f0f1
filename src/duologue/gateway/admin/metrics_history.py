"""The metrics of the last hour, in samples of a few seconds, for the admin page.

Pure: the gateway records what happens and closes each sample with the time as an argument. Times are Unix seconds, durations
milliseconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from msgspec import Struct

STEP = 5.0
"""Seconds in a sample."""
SAMPLES = 720
"""One hour."""
MEASURED = 1000
"""Durations of a sample that its percentiles are computed from, at most; the latest count."""
SHORTEST_MS = 20.0
"""A reply written in less has no speed: it was not measured exactly enough."""


class Spread(Struct, frozen=True):
    """The median and the 95th percentile, in milliseconds."""

    p50: float
    p95: float


class Sample(Struct, frozen=True):
    """What happened up to `at`. `requests`: replies that ended, each choice counted; `failed`: those that ended in error.
    `tokens_per_second` is that of all replies over the whole sample, idle time too; `reply_tokens_per_second` the median of the
    replies that ended, each while it was written, or None. `running` and `waiting`: at the end of the sample. A spread is None if nothing was measured."""

    at: float
    requests: int
    failed: int
    tokens: int
    tokens_per_second: float
    reply_tokens_per_second: float | None
    first_token: Spread | None
    queue_wait: Spread | None
    running: int
    waiting: int


class MetricsHistory:
    """The current sample, which begins at `at`, and the earlier ones."""

    def __init__(self, at: float) -> None:
        self._samples: deque[Sample] = deque(maxlen=SAMPLES)
        self._begin(at)

    def _begin(self, at: float) -> None:
        self._began = at
        self._requests = self._failed = self._tokens = 0
        self._first: deque[float] = deque(maxlen=MEASURED)
        self._waited: deque[float] = deque(maxlen=MEASURED)
        self._speeds: deque[float] = deque(maxlen=MEASURED)

    def ended(
        self,
        *,
        first: float | None = None,
        waited: float | None = None,
        tokens: int = 0,
        generate: float = 0.0,
        failed: bool = False,
    ) -> None:
        """A reply ended. Its first token, if any, came after `first` ms, `waited` of them in the queue; `tokens` were written in
        `generate` ms."""
        self._requests += 1
        self._failed += failed
        if first is not None:
            self._first.append(first)
        if waited is not None:
            self._waited.append(waited)
        if tokens > 1 and generate >= SHORTEST_MS:
            self._speeds.append(tokens / generate * 1000)

    def wrote(self, tokens: int) -> None:
        """Count tokens; a negative number corrects an earlier estimate."""
        self._tokens += tokens

    def close(self, at: float, running: int, waiting: int) -> Sample:
        """End the current sample and begin the next."""
        seconds = at - self._began
        tokens = max(0, self._tokens)
        # The wall clock may be set meanwhile, even backwards.
        rate = tokens / (seconds if 0 < seconds < 10 * STEP else STEP)
        sample = Sample(
            at=at,
            requests=self._requests,
            failed=self._failed,
            tokens=tokens,
            tokens_per_second=round(rate, 1),
            reply_tokens_per_second=round(_quantile(sorted(self._speeds), 0.5), 1) if self._speeds else None,
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
    """The smallest measured value that `share` of the values do not exceed."""
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]
