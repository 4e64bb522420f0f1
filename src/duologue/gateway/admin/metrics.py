"""Metrics of work that ends, and of the turns of calls, for Prometheus and for the log.

Owns the names of the stages. The last hour, as the admin page draws it, is in `metrics_history.py`; what `/metrics` shows besides is in
`server_metrics.py`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from duologue import telemetry
from duologue.errors import Problem
from duologue.gateway.admin.metrics_history import MetricsHistory
from duologue.gateway.help.error_codes import documented_codes
from duologue.gateway.scheduling.lowest_place import BATCH, in_lowest_place
from duologue.gateway.scheduling.work_observer import WorkObserver
from duologue.gateway.workers.worker_status import VOICE
from duologue.values.call_events import TurnFigures
from duologue.values.events import Done, Failed
from duologue.values.requests import ModelCard

log = logging.getLogger(__name__)

FIGURES = (
    "endpoint",
    "transcript",
    "first_text",
    "first_clause",
    "first_sound",
    "first_heard",
    "interrupted",
)
"""The stages of a call's turn, as `TurnFigures` names them."""


class WorkMetrics(WorkObserver):
    """Records each piece of work that ends, in the metrics and in `history`. `find`: the card of a model by any of its names."""

    def __init__(self, history: MetricsHistory, find: Callable[[str], ModelCard | None]) -> None:
        self._history, self._find = history, find
        telemetry.metrics().codes = telemetry.LabelSet(documented_codes())

    def _label(self, model: str) -> str:
        """The name of a model that is served, or was. Clients choose the names they ask for, so others are not taken."""
        if (card := self._find(model)) is not None:
            return card.name
        return model if model in telemetry.metrics().models else telemetry.OTHER

    def reply_ended(self, model: str, kind: str, event: Done | Failed) -> None:
        """A choice of a reply ended, in whatever way."""
        metrics, model = telemetry.metrics(), self._label(model)
        kind = BATCH if in_lowest_place() else kind
        if isinstance(event, Failed):
            self._history.ended(failed=True, model=model)
            metrics.task_ended(model, kind, "failed", event.code)
            return
        metrics.task_ended(model, kind, event.finish)
        if event.finish == "cancelled":
            self._history.ended(model=model)
            return
        timings, usage = event.timings, event.usage
        self._history.ended(
            first=timings.first,
            waited=timings.queue,
            tokens=usage.output,
            generate=timings.generate,
            model=model,
        )
        metrics.first_token(timings.first / 1000, model, kind)
        metrics.queue_waited(timings.queue / 1000, model, kind)
        metrics.stage_took("prefill", timings.prefill / 1000, model, kind)
        metrics.stage_took("generate", timings.generate / 1000, model, kind)
        if usage.output > 1 and timings.generate > 0:
            metrics.tokens_took(timings.generate / 1000 / (usage.output - 1), model, kind)
        metrics.tokens_counted(model, kind, input=usage.input, cached=usage.cached, output=usage.output)

    def vectors_ended(self, model: str, kind: str, event: Done | Failed) -> None:
        """A request for vectors or scores ended; its kind is its stage."""
        metrics, model, stage = telemetry.metrics(), self._label(model), kind
        kind = BATCH if in_lowest_place() else kind
        self._history.ended(failed=isinstance(event, Failed))
        if isinstance(event, Failed):
            metrics.task_ended(model, kind, "failed", event.code)
            return
        metrics.task_ended(model, kind, "cancelled" if event.finish == "cancelled" else "done")
        if event.finish != "cancelled":
            metrics.queue_waited(event.timings.queue / 1000, model, kind)
            metrics.stage_took(stage, event.timings.prefill / 1000, model, kind)
            metrics.tokens_counted(model, kind, input=event.usage.input)

    @contextmanager
    def seat_taken(self, kind: str, model: str = "") -> Iterator[Callable[[], None]]:
        metrics, model = telemetry.metrics(), self._label(model) if model else VOICE
        start = time.monotonic()

        def seated() -> None:
            metrics.queue_waited(time.monotonic() - start, model, kind)

        try:
            yield seated
        except Exception as error:
            problem = getattr(error, "problem", error)
            if problem is None:
                metrics.task_ended(model, kind, "done")
            else:
                code = problem.code if isinstance(problem, Problem) else Problem.code
                metrics.task_ended(model, kind, "failed", code)
            raise
        except BaseException:
            metrics.task_ended(model, kind, "cancelled")
            raise
        metrics.task_ended(model, kind, "done")

    def turn_ended(self, model: str, turn: TurnFigures) -> None:
        """Log and record one turn. Milliseconds from the end of the caller's speech."""
        metrics, model = telemetry.metrics(), self._label(model)
        stages = {name: value for name in FIGURES if (value := getattr(turn, name)) is not None}
        parts = [f"{name} {value:.0f} ms" for name, value in stages.items()]
        parts += [f"silent for {gap:.0f} ms" for gap in turn.gaps]
        log.info("turn %d, reply %d: %s", turn.turn, turn.reply, ", ".join(parts) or "no reply")
        for name, value in stages.items():
            metrics.stage_took(f"voice_{name}", value / 1000, model, "call")
        for gap in turn.gaps:
            metrics.sound_missing(gap / 1000, model)
