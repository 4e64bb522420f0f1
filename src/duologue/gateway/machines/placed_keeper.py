"""Keeps a worker that Ray places: a `JoinedKeeper` whose worker has a place on the cluster for as long as it is kept.

Ray starts the worker again when it ends, wherever there is room. This keeper serves each process that joins, and judges how they end, as for
workers on this machine: one that keeps ending gives its place up for a while, so that it takes no room from others. What Ray says about the
place is in the status while no process serves.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

import anyio

from duologue.gateway.machines.joined_keeper import JoinedKeeper
from duologue.gateway.workers.keeper_contracts import Listener, RestartCause
from duologue.supervisor.crash_loop import Cause, CrashLoop, Verdict
from duologue.values.events import Failed
from duologue.wire.machines.placement_protocol import PlaceNews, Trouble
from duologue.wire.worker_protocol import LoadSpec

log = logging.getLogger(__name__)

LOAD_FAILED = 3
"""The exit code of a joined worker that could not load its model, and has said why."""
END_SECONDS = 10.0
"""Seconds in which Ray says that a process has ended whose connections are closed."""
RAY_STARTS_IN = 2.0
"""Seconds that Ray takes to start a worker again. A longer pause is one without a place."""


class PlaceOrders(Protocol):
    """What a keeper orders."""

    async def make(self, spec: LoadSpec) -> str:
        """Order a place, once there is a cluster to order from. Gives what it takes of a node, in words."""

    async def give_up(self, name: str) -> None:
        """Give a place up. Returns when its worker has ended, or there is no cluster."""


class PlacedKeeper(JoinedKeeper):
    """One worker. `places` orders its place; the place's name is that of the worker. `over` hears that it was removed."""

    def __init__(
        self,
        load_spec: LoadSpec,
        listener: Listener,
        places: PlaceOrders,
        *,
        lease_s: float,
        clock: Callable[[], float],
        stall_limit: float | None,
        over: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(
            load_spec,
            "",
            listener,
            lease_s=lease_s,
            clock=clock,
            stall_limit=stall_limit,
            over=lambda why: over(),
        )
        self.status.added = False
        self.node = ""
        """The id of the node that its place is on."""
        self._session_over: Callable[[str], None] = lambda why: None
        self._places = places
        self._crashes = CrashLoop(load_spec.model or load_spec.worker)
        self._ordered: LoadSpec | None = None
        """What the place loads that was ordered; None without a place."""
        self._words = ""
        self._end: PlaceNews | None = None
        """How the process that served last ended."""
        self._idle: anyio.CancelScope | None = None
        """Around every wait in which nothing is served."""

    def served_as(self, over: Callable[[str], None]) -> None:
        """`over` is called with the reason when the session that has begun is over."""
        self._session_over = over

    # ---- what Ray says

    def told(self, news: PlaceNews | Trouble) -> None:
        """News of the place."""
        match news:
            case Trouble():
                self._say(news.message)
            case PlaceNews(state="waiting"):
                self.node = ""
                self._say(f"waiting for resources: {self._words}")
            case PlaceNews(state="running"):
                self.node = news.node
                self._say("its process starts")
            case PlaceNews(state="ended"):
                self._ended_there(news)

    def lost(self, reason: str) -> None:
        """The cluster is lost, or this gateway's way to it, and with it the place."""
        if self._ordered is not None:
            self._ordered = None
            self._ended_there(PlaceNews(self.status.worker, "ended", reason=reason))
        self._say(f"waiting for Ray: {reason}")

    def _ended_there(self, news: PlaceNews) -> None:
        self._end = news
        for transport in (self._current, self._next):
            if transport is not None:
                # What runs on it ends now, not after a lease without a connection.
                transport.end(_in_words(news))
        self._arrived.notify()

    def _say(self, detail: str) -> None:
        if self.connection is None and self.status.state == "offline" and not self._removed:
            self.status.detail = detail
            self._listener.worker_changed()

    # ---- as a keeper

    def restart(self, cause: RestartCause = "admin") -> None:
        self._crashes.reset()
        self.status.attempts = 0
        if self.status.state == "failed":
            self.status.state, self.status.detail = "offline", ""
            self._listener.worker_down(self.status)
        if self.connection is not None:
            super().restart(cause)
        elif self._idle is not None:
            self._idle.cancel()

    def remove(self, failure: Failed) -> None:
        super().remove(failure)
        self._arrived.notify()

    async def _keep(self) -> str:
        try:
            while True:
                pause = await self._once()
                if pause > RAY_STARTS_IN or self._ordered != self.load_spec:
                    await self._give_up_place()
                with anyio.CancelScope() as self._idle:
                    await anyio.sleep(pause)
                self._idle = None
        finally:
            self._end_sessions("it was removed")
            with anyio.CancelScope(shield=True):
                await self._give_up_place()

    async def _once(self) -> float:
        """Serve one process from its start to its end. Gives the seconds until the next one should start."""
        self._crashes.started()
        with anyio.CancelScope() as self._idle:
            await self._arrival()
        waited, self._idle = self._idle, None
        if waited.cancelled_caught:  # an admin did not want to wait
            await self._give_up_place()
            return 0.0
        transport, self._next = self._next, None
        if transport is None:
            end = self._take_end()
            assert end is not None
            self._count_end(_in_words(end), "crash")
            return self._judge(end)
        self._current = transport
        await self._serve(transport)
        self._current = None
        if self._next is None:  # otherwise it has been replaced already
            self._session_over(transport.ended)
        await self._told_end()
        end = self._take_end()
        if self._restarts:
            self._crashes.reset()
        if end is not None:
            return 0.0 if self._restarts else self._judge(end)
        log.warning("worker %s keeps failing where it is, and gets another place", self.status.worker)
        await self._give_up_place()
        return 0.0

    async def _arrival(self) -> None:
        """Order a place, unless there is one, and wait until a process has joined or ended."""
        if self._ordered is None:
            self._end = None
            spec = self.load_spec
            self._words = await self._places.make(spec)
            self._ordered = spec
        while self._next is None and self._end is None:
            await self._arrived.wait()

    def _take_end(self) -> PlaceNews | None:
        end, self._end = self._end, None
        return end

    async def _told_end(self) -> None:
        with anyio.move_on_after(END_SECONDS):
            while self._end is None:
                await self._arrived.wait()

    def _judge(self, end: PlaceNews) -> float:
        """After an unexpected end: the seconds to wait without a process."""
        if end.code is None:
            return 0.0  # its node or Ray was lost, which says nothing about the worker
        verdict = self._verdict(end)
        if verdict.given_up:
            self.status.state, self.status.detail = "failed", verdict.sentence
            log.error("%s", verdict.sentence)
            self._listener.worker_down(self.status)
            self._listener.worker_changed()
        return verdict.pause

    def _verdict(self, end: PlaceNews) -> Verdict:
        if end.code == LOAD_FAILED:
            return self._crashes.load_failed()
        return self._crashes.ended(Cause(end.code, last_line=end.last_line), self._clock())

    async def _give_up_place(self) -> None:
        self._ordered, self.node = None, ""
        self._end_sessions("its place was given up")
        await self._places.give_up(self.status.worker)

    def _end_sessions(self, why: str) -> None:
        for transport in (self._current, self._next):
            if transport is not None:
                transport.end(why)
        self._next = None

    def _ready(self) -> None:
        super()._ready()
        self._crashes.ready(self.status.ready_at)

    def _lost(self) -> None:
        could_not_load, detail = self._told == "failed", self.status.detail
        super()._lost()
        if could_not_load and not self._removed:
            self.status.state, self.status.detail = "failed", detail
            self._listener.worker_down(self.status)
            self._listener.worker_changed()


def _in_words(end: PlaceNews) -> str:
    return end.reason or str(Cause(end.code))
