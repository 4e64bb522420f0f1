"""What is measured of replies and of the turns of calls, and how it leaves: as Prometheus' text, and as a line of the log.

Owns which stage of a reply is called what. The last hour, as the page draws it, is in `figures.py`.
"""

from __future__ import annotations

import logging

from duologue import telemetry
from duologue.gateway.scheduling.pool import Pool
from duologue.values.call_events import TurnFigures
from duologue.values.events import Done

log = logging.getLogger(__name__)


def measure_reply(event: Done) -> None:
    """A sample of each stage of a reply that was completed."""
    figures = telemetry.metrics()
    figures.first_token(event.timings.first / 1000)
    figures.queue_waited(event.timings.queue / 1000)
    figures.stage_took("prefill", event.timings.prefill / 1000)
    figures.stage_took("generate", event.timings.generate / 1000)
    figures.tokens_counted(input=event.usage.input, cached=event.usage.cached, output=event.usage.output)


def measure_turn(turn: TurnFigures) -> None:
    """One line and one sample for each turn of a call. Milliseconds from the end of the caller's speech."""
    stages = {
        name: getattr(turn, name)
        for name in TurnFigures.__struct_fields__
        if name not in ("epoch", "turn", "reply") and getattr(turn, name) is not None
    }
    said = ", ".join(f"{name} {value:.0f} ms" for name, value in stages.items())
    log.info("turn %d, reply %d: %s", turn.turn, turn.reply, said or "nothing came of it")
    for name, value in stages.items():
        telemetry.metrics().stage_took(f"voice_{name}", value / 1000)


def rendered(pool: Pool) -> str:
    """Everything measured so far, and what runs and waits now, in Prometheus' text format."""
    figures = telemetry.metrics()
    figures.leases_active(sum(pool.scheduler.busy(worker) for worker in pool.workers))
    figures.queue_length(len(pool.scheduler.entries()))
    return figures.render()[0].decode()
