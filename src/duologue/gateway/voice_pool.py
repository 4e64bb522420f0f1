"""The pool of the voice worker, whose slots are the seats for calls, speech and transcription. `app` makes it."""

from __future__ import annotations

from collections.abc import Callable

from duologue.config import Settings
from duologue.gateway.scheduling.eta import BASES, Estimator
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.gateway.workers.load_specs import voice_load_spec
from duologue.models.installed_packs import chosen_pack

PORT = 50
"""The voice worker searches its port from this far behind the first worker's port."""


def voice_pool(
    settings: Settings, on_change: Callable[[], None], weight_of: Callable[[str], float]
) -> Pool | None:
    """The pool; None where the voice is switched off or not installed. `weight_of`: the weight of a share of the queue."""
    load_spec = voice_load_spec(settings, chosen_pack(settings.data))
    if load_spec is None:
        return None
    return Pool(
        [load_spec],
        Scheduler(settings.queue.limit, Estimator(BASES, alpha=settings.eta.alpha)),
        port=settings.worker_port_base + PORT,
        log=(settings.log.level, settings.log.format),
        ticket_prefix="q_v",
        on_change=on_change,
        weight_of=weight_of,
    )
