"""What becomes of one place, told as it happens: it waits for room, runs, ends, waits again. `service` has one for each place."""

from __future__ import annotations

import logging
from collections.abc import Callable

import anyio

from duologue.placement.cluster import Arrival, ClusterProblem, ClusterWorker, OutOfReach
from duologue.wire.machines.placement_protocol import PlaceNews, Trouble

log = logging.getLogger(__name__)

REACHABLE_AGAIN = 1.0
"""Seconds that a worker which does not answer has to prove that it is the same one: the network was busy for a moment."""
AGAIN = 5.0
"""Seconds after which a cluster is asked again that could not start a worker."""


async def watch(name: str, worker: ClusterWorker, say: Callable[[PlaceNews | Trouble], None]) -> None:
    """Tell the news of a place until cancelled."""
    here: Arrival | None = None
    while True:
        say(PlaceNews(name, "waiting"))
        here = await _arrival(name, worker, say)
        say(PlaceNews(name, "running", here.node, here.process))
        say(await _end(name, worker, here))


async def _arrival(name: str, worker: ClusterWorker, say: Callable[[PlaceNews | Trouble], None]) -> Arrival:
    while True:
        try:
            return await worker.arrived()
        except ClusterProblem as problem:
            log.warning("the worker of place %s cannot be started: %s", name, problem.message)
            say(Trouble(problem.code, problem.message, name))
            await anyio.sleep(AGAIN)


async def _end(name: str, worker: ClusterWorker, here: Arrival) -> PlaceNews:
    """How this process ended, or why it is lost."""
    while True:
        try:
            end = await worker.ended()
            return PlaceNews(name, "ended", here.node, here.process, end.code, end.last_line)
        except OutOfReach as error:
            reason = str(error)
        again = None
        with anyio.move_on_after(REACHABLE_AGAIN):
            try:
                again = await worker.arrived()
            except ClusterProblem as problem:
                reason = problem.message
        if again != here:
            return PlaceNews(name, "ended", here.node, here.process, reason=reason)
