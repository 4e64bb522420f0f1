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
MODELS = 12
"""Models that a sample tells apart; the replies of more count in the sums."""
SHORTEST_MS = 20.0
"""A reply written in less has no speed: it was not measured exactly enough."""


class Spread(Struct, frozen=True):
    """The median and the 95th percentile, in milliseconds."""

    p50: float
    p95: float


class ModelSample(Struct, frozen=True):
    """What replies of one model ended in a sample, as there: medians in milliseconds, and the median speed."""

    model: str
    requests: int
    first_token: float | None = None
    queue_wait: float | None = None
    reply_tokens_per_second: float | None = None


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
    models: tuple[ModelSample, ...] = ()
    """By model, in the order of the names: those of which replies ended."""


class _Measured:
    """What was measured of replies: `latest` values of each kind at most."""

    def __init__(self, latest: int = MEASURED) -> None:
        self.requests = 0
        self.first: deque[float] = deque(maxlen=latest)
        self.waited: deque[float] = deque(maxlen=latest)
        self.speeds: deque[float] = deque(maxlen=latest)

    def add(self, first: float | None, waited: float | None, speed: float | None) -> None:
        self.requests += 1
        for values, value in ((self.first, first), (self.waited, waited), (self.speeds, speed)):
            if value is not None:
                values.append(value)


class MetricsHistory:
    """The current sample, which begins at `at`, and the earlier ones."""

    def __init__(self, at: float) -> None:
        self._samples: deque[Sample] = deque(maxlen=SAMPLES)
        self._begin(at)

    def _begin(self, at: float) -> None:
        self._began = at
        self._failed = self._tokens = 0
        self._all = _Measured()
        self._models: dict[str, _Measured] = {}

    def ended(
        self,
        *,
        first: float | None = None,
        waited: float | None = None,
        tokens: int = 0,
        generate: float = 0.0,
        failed: bool = False,
        model: str = "",
    ) -> None:
        """A reply of `model` ended. Its first token, if any, came after `first` ms, `waited` of them in the queue; `tokens` were written in
        `generate` ms."""
        self._failed += failed
        speed = tokens / generate * 1000 if tokens > 1 and generate >= SHORTEST_MS else None
        self._all.add(first, waited, speed)
        if model and model not in self._models and len(self._models) < MODELS:
            self._models[model] = _Measured()
        if model in self._models:
            self._models[model].add(first, waited, speed)

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
            requests=self._all.requests,
            failed=self._failed,
            tokens=tokens,
            tokens_per_second=round(rate, 1),
            reply_tokens_per_second=_median(self._all.speeds),
            first_token=_spread(self._all.first),
            queue_wait=_spread(self._all.waited),
            running=running,
            waiting=waiting,
            models=tuple(_of_model(name, self._models[name]) for name in sorted(self._models)),
        )
        self._samples.append(sample)
        self._begin(at)
        return sample

    def since(self, at: float) -> list[Sample]:
        """The samples that ended after `at`, the oldest first."""
        return [sample for sample in self._samples if sample.at > at]


def _of_model(name: str, of_it: _Measured) -> ModelSample:
    return ModelSample(
        name, of_it.requests, _median(of_it.first), _median(of_it.waited), _median(of_it.speeds)
    )


def _median(measured: Sequence[float]) -> float | None:
    return round(_quantile(sorted(measured), 0.5), 1) if measured else None


def _spread(measured: Sequence[float]) -> Spread | None:
    if not measured:
        return None
    ordered = sorted(measured)
    return Spread(round(_quantile(ordered, 0.5), 1), round(_quantile(ordered, 0.95), 1))


def _quantile(ordered: Sequence[float], share: float) -> float:
    """The smallest measured value that `share` of the values do not exceed."""
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]
