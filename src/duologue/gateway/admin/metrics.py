"""Metrics of replies and of the turns of calls, for Prometheus and for the log.

Owns the names of the stages. The last hour, as the admin page draws it, is in `metrics_history.py`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import anyio

from duologue import telemetry
from duologue.gateway.admin.metrics_history import STEP, MetricsHistory
from duologue.gateway.scheduling.pool import Pool
from duologue.values.call_events import TurnFigures
from duologue.values.events import Done, Failed

log = logging.getLogger(__name__)


def measure_reply(event: Done) -> None:
    """Record the stages of a completed reply."""
    metrics = telemetry.metrics()
    metrics.first_token(event.timings.first / 1000)
    metrics.queue_waited(event.timings.queue / 1000)
    metrics.stage_took("prefill", event.timings.prefill / 1000)
    metrics.stage_took("generate", event.timings.generate / 1000)
    metrics.tokens_counted(input=event.usage.input, cached=event.usage.cached, output=event.usage.output)


def measure_end(history: MetricsHistory, kind: str, event: Done | Failed) -> None:
    """A choice of a reply ended, in whatever way; those of all kinds count alike."""
    if isinstance(event, Failed):
        history.ended(failed=True)
    elif event.finish == "cancelled":
        history.ended()
    else:
        history.ended(
            first=event.timings.first,
            waited=event.timings.queue,
            tokens=event.usage.output,
            generate=event.timings.generate,
        )
        measure_reply(event)


async def sample(history: MetricsHistory, pool: Pool) -> None:
    """End a sample of the history every few seconds, until cancelled."""
    due = anyio.current_time()
    while True:
        # After the machine was suspended there is one long sample instead of many empty ones.
        due = max(due + STEP, anyio.current_time())
        await anyio.sleep_until(due)
        running = sum(pool.scheduler.busy(worker) for worker in pool.workers)
        history.close(time.time(), running, len(pool.scheduler.entries()))


def vector_observer(history: MetricsHistory) -> Callable[[str, Done | Failed], None]:
    """Records the end of each embedding or rerank request, here and in `history`; its kind is its stage."""

    def observe(kind: str, event: Done | Failed) -> None:
        history.ended(failed=isinstance(event, Failed))
        if isinstance(event, Done) and event.finish != "cancelled":
            metrics = telemetry.metrics()
            metrics.queue_waited(event.timings.queue / 1000)
            metrics.stage_took(kind, event.timings.prefill / 1000)
            metrics.tokens_counted(input=event.usage.input)

    return observe


def measure_turn(turn: TurnFigures) -> None:
    """Log and record one turn of a call. Milliseconds from the end of the caller's speech."""
    stages = {
        name: getattr(turn, name)
        for name in TurnFigures.__struct_fields__
        if name not in ("epoch", "turn", "reply") and getattr(turn, name) is not None
    }
    line = ", ".join(f"{name} {value:.0f} ms" for name, value in stages.items())
    log.info("turn %d, reply %d: %s", turn.turn, turn.reply, line or "no reply")
    for name, value in stages.items():
        telemetry.metrics().stage_took(f"voice_{name}", value / 1000)


def rendered(pool: Pool, gateway_restarts: int = 0) -> str:
    """All metrics, and what runs and waits now, in the text format of Prometheus."""
    metrics = telemetry.metrics()
    metrics.leases_active(sum(pool.scheduler.busy(worker) for worker in pool.workers))
    metrics.gateway_restarted(gateway_restarts)
    metrics.queue_length(len(pool.scheduler.entries()))
    return metrics.render()[0].decode()
