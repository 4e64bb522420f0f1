"""Estimates of how long work takes and how much of it is left, learned for each model and kind.

Pure: facts come in with durations in seconds, tokens and characters. The scheduler calls this. What runs is judged by its own tokens and speed
and by how long replies of its kind were, given that it already has so many; what writes no tokens by how long its kind takes, given
that it has already run so long; a worker that starts by how long its model takes to start. `queueing/wait_forecast.py` makes waits of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

import msgspec
from msgspec import Struct

from duologue.gateway.scheduling.queueing.recent_lengths import RecentLengths
from duologue.values.events import Done

FALLBACK = 30.0
"""The expected seconds of a kind of work that has no base."""
BASES: Mapping[str, float] = {
    "chat": 15.0,
    "embed": 2.0,
    "rerank": 2.0,
    "voice": 5.0,
    "call": 180.0,
    "audio_duplex": 120.0,
    "omni_duplex": 90.0,
    "speech": 3.0,
    "transcription": 5.0,
    "clip": 20.0,
    "batch": 15.0,
    "ahead": 1.0,
}
"""The expected seconds of each kind until some were measured. `chat`, `voice` (a reply in a call), `batch` (a line of one), `embed` and `rerank` take slots of a model, as does `ahead` (a prompt read ahead of its reply), the others
seats of the voice worker, or where a model holds its calls by itself a worker of it."""
START = 10.0
"""The expected seconds of a worker's start until one of its model was measured."""
OWN_SPEED = 1.0
"""Seconds of a reply's own writing that count as much as what was learned about the speed of its model."""
UNSEEN = 2.0
"""Seconds for which a reply is taken to go on writing since its last report; a worker that hangs reports nothing."""
OVERDUE_READING = 0.25
"""The part of the time that a prompt has been read for that is still expected, once it takes longer than it should."""
MOST_KINDS = 512
"""Pairs of model and kind that are remembered; the oldest are forgotten."""


class Job(Struct, frozen=True):
    """What is known of work before it begins. `prompt`: characters to read, those in the cache left out; `most`: the tokens at which it
    ends at the latest. `ticket`: whose it is; no estimate depends on it."""

    model: str = ""
    kind: str = "chat"
    prompt: float = 0.0
    most: int | None = None
    ticket: str = ""

    def without(self, known: float) -> Job:
        """The same work, where this part of its prompt (0 to 1) is in the cache."""
        return msgspec.structs.replace(self, prompt=self.prompt * (1 - known)) if known else self


class SlotProgress(Struct, frozen=True):
    """How far work is, by the reports so far. `since`: when it began; `first`: when it had written its first token, None before; `told`:
    when it had written `tokens`. Seconds on the scheduler's clock."""

    since: float = 0.0
    first: float | None = None
    tokens: int = 0
    told: float = 0.0

    def reported(self, tokens: int, at: float) -> SlotProgress:
        """With one more report."""
        return SlotProgress(self.since, at if self.first is None and tokens else self.first, tokens, at)


class Estimates(Protocol):
    """What a forecast of waits is made of: the `Estimator`, and in the benchmark what it is compared with. Seconds."""

    def expected(self, job: Job) -> float: ...

    def remaining(self, job: Job, progress: SlotProgress, at: float) -> float: ...

    def start_remaining(self, model: str, elapsed: float) -> float: ...


class _Ratio:
    """A quotient of two sums in which older measurements fade."""

    def __init__(self, alpha: float) -> None:
        self._keep = 1 - alpha
        self._over = self._under = 0.0

    def add(self, over: float, under: float) -> None:
        self._over = self._over * self._keep + over
        self._under = self._under * self._keep + under

    @property
    def value(self) -> float | None:
        return self._over / self._under if self._under > 0 and self._over > 0 else None


class Estimator:
    """Learns from what has ended. `alpha`: how much the newest speed counts (0 to 1); lengths are forgotten ten times slower."""

    def __init__(self, bases: Mapping[str, float] = BASES, *, alpha: float = 0.3) -> None:
        self._bases = dict(bases)
        self._alpha = alpha
        self._seconds: dict[tuple[str, str], RecentLengths] = {}
        self._tokens: dict[tuple[str, str], RecentLengths] = {}
        self._starts: dict[tuple[str, str], RecentLengths] = {}
        self._speed: dict[str, _Ratio] = {}
        self._reading: dict[str, _Ratio] = {}

    # ---- facts

    def observe(self, job: Job, seconds: float) -> None:
        """A slot was in use for so long."""
        self._lengths(self._seconds, job.model, job.kind).add(seconds)

    def replied(self, job: Job, tokens: int, reading: float, writing: float) -> None:
        """A reply has ended by itself: it read its prompt and wrote its tokens for so many seconds."""
        if tokens <= 0 or writing <= 0:
            return
        self._lengths(self._tokens, job.model, job.kind).add(tokens)
        self._ratio(self._speed, job.model).add(tokens, writing)
        if job.prompt > 0 and reading > 0:
            self._ratio(self._reading, job.model).add(reading, job.prompt)

    def ended(self, job: Job, done: Done) -> None:
        """As `replied`, by the end of a reply; the part of the prompt that was in the cache was not read."""
        usage, times = done.usage, done.timings
        job = job.without(usage.cached / usage.input if usage.input else 0.0)
        self.replied(job, usage.output, times.prefill / 1000, times.generate / 1000)

    def started(self, model: str, seconds: float) -> None:
        """A worker of this model was ready so long after it had begun to start."""
        self._lengths(self._starts, model, "").add(seconds)

    # ---- estimates

    def expected(self, job: Job) -> float:
        """Seconds that this work is expected to take."""
        return self.remaining(job, SlotProgress(), 0.0)

    def remaining(self, job: Job, progress: SlotProgress, at: float) -> float:
        """Seconds still expected of this work, which has come so far."""
        base = self._bases.get(job.kind, FALLBACK)
        elapsed = max(0.0, at - progress.since)
        speed = self._own_speed(job.model, progress)
        lengths = self._tokens.get((job.model, job.kind))
        if speed is None or (lengths is None and not progress.tokens):
            seconds = self._seconds.get((job.model, job.kind)) or RecentLengths()
            return seconds.rest(elapsed, base)
        lengths = lengths or RecentLengths()
        most = math.inf if job.most is None else max(1, job.most)
        if progress.first is None:
            reading = self._reading_seconds(job)
            left = max(reading - elapsed, OVERDUE_READING * elapsed)
            return left + lengths.rest(0.0, base * speed, most) / speed
        written = progress.tokens + speed * min(UNSEEN, max(0.0, at - progress.told))
        # A reply that has come to its bound is about to end.
        return max(lengths.rest(min(written, most), base * speed, most), 1.0) / speed

    def start_remaining(self, model: str, elapsed: float) -> float:
        """Seconds until a worker of this model is ready, which has been starting for so long."""
        return self._lengths(self._starts, model, "").rest(elapsed, START)

    def _own_speed(self, model: str, progress: SlotProgress) -> float | None:
        """Tokens a second: those of this reply so far, and those of its model's other replies."""
        ratio = self._speed.get(model)
        known = None if ratio is None else ratio.value
        if progress.first is None or progress.tokens < 2 or progress.told <= progress.first:
            return known
        tokens, seconds = progress.tokens - 1.0, progress.told - progress.first
        if known is not None:
            tokens, seconds = tokens + known * OWN_SPEED, seconds + OWN_SPEED
        return tokens / seconds

    def _reading_seconds(self, job: Job) -> float:
        ratio = self._reading.get(job.model)
        return job.prompt * ratio.value if ratio is not None and ratio.value is not None else 0.0

    def _lengths(self, table: dict[tuple[str, str], RecentLengths], model: str, kind: str) -> RecentLengths:
        if (lengths := table.get((model, kind))) is None:
            if len(table) >= MOST_KINDS:
                del table[next(iter(table))]
            lengths = table[model, kind] = RecentLengths(1 - self._alpha / 10)
        return lengths

    def _ratio(self, table: dict[str, _Ratio], model: str) -> _Ratio:
        if (ratio := table.get(model)) is None:
            if len(table) >= MOST_KINDS:
                del table[next(iter(table))]
            ratio = table[model] = _Ratio(self._alpha)
        return ratio
