"""The workers of other machines: lets them in, keeps their sessions, and takes them into the pools. `app` makes one.

`join_socket` brings their connections, `JoinTable` (pure) knows who they are, a `JoinedKeeper` stands for each in its pool.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from typing import Any, NamedTuple, Protocol

import anyio
import anyio.abc

from duologue.config import Settings
from duologue.errors import NotFound, Problem, Unavailable
from duologue.gateway.auth.keys import PLACE, User
from duologue.gateway.machines import join_rules
from duologue.gateway.machines.join_table import JoinRow, JoinTable
from duologue.gateway.machines.joined_keeper import JoinedKeeper
from duologue.gateway.machines.joined_transport import JoinedTransport
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.notifier import Notifier
from duologue.values.events import Failed
from duologue.wire.machines.join_protocol import (
    ALREADY_JOINED,
    SESSION_UNKNOWN,
    Join,
    JoinBulk,
    Refuse,
    Welcome,
)
from duologue.wire.worker_protocol import LoadSpec

log = logging.getLogger(__name__)

JOIN_OFF = "Workers on other machines may not join this server. Set machines.join to true (DUOLOGUE_MACHINES__JOIN=true) and restart it."
NO_VOICE = "A voice worker cannot join, because this server has no voice. Set voice.enabled to true, or install the extra voice."
BUSY = Refuse("busy", "The server cannot let another worker join right now. It may try again.", 5.0)
UNKNOWN = Refuse(
    SESSION_UNKNOWN, "The server does not know this session, or has ended it: begin a new one.", 0.0
)
TWICE = "The worker has joined this server by another address."
VOICE = "voice"
MOST_ACTS = 1000
"""Entries for the audit log that may wait for it."""
JOINS_AT_ONCE, JOINS_A_SECOND = 200.0, 2.0
"""New sessions of one key."""
MOST_KEYS = 1000
"""Keys whose joins are counted."""


def _no_places(place: str) -> None:
    return None


class WatchKey(Protocol):
    """`auth.background_work`: calls `end` once the key may not be used any more."""

    def __call__(self, user: str, key: str, end: Callable[[], None]) -> AbstractContextManager[None]: ...


class RecordJoin(Protocol):
    """Writes to the audit log what happened to a worker: an act, its name, whose key it is."""

    async def __call__(self, act: str, target: str, user: User, details: Mapping[str, Any]) -> None: ...


class _Act(NamedTuple):
    act: str
    target: str
    user: User
    details: Mapping[str, Any]


class PlacedWorker(Protocol):
    """The keeper of a worker that was placed on a cluster; it is in its pool already."""

    status: WorkerStatus

    def offer(self, transport: JoinedTransport) -> None:
        """A process has joined for its place."""

    def reached(self, transport: JoinedTransport, reachable: bool) -> None:
        """The connection of a session is there again, or broke."""

    def served_as(self, over: Callable[[str], None]) -> None:
        """`over` is called with the reason when the session that has begun is over."""


class JoinSession:
    """A session that was let in. `keeper`: of its name, or of its place on a cluster."""

    def __init__(
        self, worker: JoinRow, transport: JoinedTransport, keeper: JoinedKeeper | PlacedWorker
    ) -> None:
        self.worker, self.transport, self.keeper = worker, transport, keeper
        self.stack = ExitStack()


class JoinService:
    """`gateway`: the id of this process; `addresses`: those of all gateways of its database, this one included."""

    def __init__(
        self,
        settings: Settings,
        models: Pool,
        voice: Pool | None,
        watched: WatchKey,
        record: RecordJoin,
        *,
        gateway: str = "",
        addresses: Callable[[], tuple[str, ...]] = tuple,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings.machines
        self._stall_limit = settings.lifecycle.engine_stall_s
        self._models, self._voice = models, voice
        self._watched = watched
        self._write_record = record
        self._acts: deque[_Act] = deque(maxlen=MOST_ACTS)
        self._act_came = Notifier()
        self.gateway = gateway or secrets.token_hex(8)
        self._addresses = addresses
        self._clock, self._now = clock, now
        self.table = JoinTable(self._settings.workers)
        self.placed: Callable[[str], PlacedWorker | None] = _no_places
        """The keeper of the worker of a place on a cluster."""
        self._sessions: dict[str, JoinSession] = {}
        """By the name of the worker."""
        self._joins: OrderedDict[str, join_rules.Allowance] = OrderedDict()
        """By key, so that a key that joins endlessly does not keep other keys out."""
        self.admitted: Callable[[str], None] = lambda name: None
        """Called with the name of a worker that was taken into its pool."""
        self.addresses_changed = Notifier()
        """The addresses of the gateways have changed: every worker is told."""

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Write to the audit log until cancelled."""
        task_status.started()
        while True:
            while not self._acts:
                await self._act_came.wait()
            await self._write_record(*self._acts.popleft())

    def _record(self, act: str, target: str, user: User, details: Mapping[str, Any]) -> None:
        self._acts.append(_Act(act, target, user, details))
        self._act_came.notify()

    # ---- letting in

    def refusal(self) -> Problem | None:
        """Why no worker may join at all."""
        return (
            None
            if self._settings.join or self.placed is not _no_places
            else NotFound(JOIN_OFF, code="join_off")
        )

    def enter(self, join: Join, user: User) -> JoinSession | Refuse:
        """Let a worker in, or let it go on."""
        if (refuse := join_rules.refused(join)) is not None:
            return refuse
        placed = self.placed(user.name) if user.id.startswith(PLACE) else None
        if placed is None and (user.id.startswith(PLACE) or not self._settings.join):
            return Refuse("join_off", JOIN_OFF)
        pool = self._voice if join.engine == VOICE else self._models
        if placed is None and pool is None:
            return Refuse("no_voice", NO_VOICE)
        if self.table.find(join.session, user.id, user.key) is None:
            if join.received:
                # Before it is counted: after a start of this server every worker asks so first.
                return UNKNOWN
            if self.gateway in join.joined:
                # It came through a load balancer or by a second name. Another session would replace the one that it has.
                return Refuse(ALREADY_JOINED, TWICE, self._settings.lease_s)
            if not self._may_join(user):
                return BUSY
        name = "" if placed is None else placed.status.worker
        admitted = self.table.admit(join, user.id, user.key, self._now(), name)
        if isinstance(admitted, Refuse):
            return admitted
        worker = admitted.worker
        if admitted.comes == "resumed":
            return self._resumed(worker)
        if placed is not None:
            return self._begin_placed(worker, placed, user)
        assert pool is not None
        try:
            return self._begin(worker, join, user, pool)
        except Unavailable:
            self.table.left(worker, "the server stops", self._now())
            return BUSY

    def _may_join(self, user: User) -> bool:
        """Whether this key may begin another session now."""
        key = f"{user.id} {user.key}"
        allowance = self._joins.setdefault(key, join_rules.Allowance(JOINS_AT_ONCE, JOINS_A_SECOND))
        self._joins.move_to_end(key)
        if len(self._joins) > MOST_KEYS:
            self._joins.popitem(last=False)
        return allowance.may(self._clock())

    def resume_bulk(self, opening: JoinBulk, user: User) -> JoinSession | Refuse:
        """The session of a second socket."""
        worker = self.table.find(opening.session, user.id, user.key)
        return UNKNOWN if worker is None else self._resumed(worker)

    def _resumed(self, worker: JoinRow) -> JoinSession | Refuse:
        """A session that goes on. One that has ended is still known by its name until that is given up."""
        session = self._sessions.get(worker.name)
        return UNKNOWN if session is None or session.transport.ended else session

    def welcome(self, session: JoinSession, received: int) -> Welcome:
        """The answer to a worker that is let in; `received`: the last frame of this line."""
        return Welcome(
            protocol=session.worker.protocol,
            gateway=self.gateway,
            lease_s=self._settings.lease_s,
            received=received,
            # A placed worker belongs to the gateway that placed it.
            gateways=() if session.worker.placed else self.addresses(),
        )

    def addresses(self) -> tuple[str, ...]:
        """Where workers reach the gateways of this database."""
        return self._addresses()

    def _begin(self, worker: JoinRow, join: Join, user: User, pool: Pool) -> JoinSession:
        """A new session of a name, with the keeper of that name if there is one. Raises Unavailable while the pool does not run."""
        before = self._sessions.get(worker.name)
        spec = LoadSpec(worker.name, join.engine, join.model, device=worker.device, task=join.task)
        keeper = None if before is None else before.keeper
        if not isinstance(keeper, JoinedKeeper) or not _is_same(keeper.load_spec, spec):
            if before is not None:
                self._drop(before, "another process of it has joined, with another model")
            keeper = JoinedKeeper(
                spec,
                worker.machine,
                pool,
                lease_s=self._settings.lease_s,
                clock=self._clock,
                stall_limit=self._stall_limit,
                over=lambda why: self._over(worker.name, joined, why),
            )
            joined = keeper
            pool.admit(keeper)
            self.admitted(worker.name)
        keeper.status.offered = join.serves
        return self._started(worker, keeper, user)

    def _begin_placed(self, worker: JoinRow, keeper: PlacedWorker, user: User) -> JoinSession:
        """A new session of a place: its process was started again."""
        keeper.status.machine = worker.machine
        session = self._started(worker, keeper, user)
        keeper.served_as(partial(self._gone_from_place, session))
        return session

    def _started(self, worker: JoinRow, keeper: JoinedKeeper | PlacedWorker, user: User) -> JoinSession:
        transport = JoinedTransport(worker.name, self._settings.lease_s, self._clock)
        session = JoinSession(worker, transport, keeper)
        transport.on_reach = lambda reachable: self._reached(session, reachable)
        if (before := self._sessions.get(worker.name)) is not None:
            before.stack.close()
        session.stack.enter_context(self._watched(user.id, user.key, lambda: self._revoked(session)))
        self._sessions[worker.name] = session
        keeper.offer(transport)
        details = {
            "machine": worker.machine,
            "engine": worker.engine,
            "model": worker.model,
            "version": worker.version,
        }
        self._record("worker.join", worker.name, user, details)
        log.info("worker %s has joined, of version %s", worker.name, worker.version or "unknown")
        return session

    # ---- coming and going

    def _reached(self, session: JoinSession, reachable: bool) -> None:
        """The connection of a session is there, or broke."""
        if reachable:
            self.table.reached(session.worker, self._now())
        else:
            self.table.lost_sight(session.worker, self._now())
        session.keeper.reached(session.transport, reachable)

    def _revoked(self, session: JoinSession) -> None:
        """The key of this session may not be used any more."""
        session.transport.end("its key was revoked")
        self._drop(session, "its key was revoked")

    def _over(self, name: str, keeper: JoinedKeeper, why: str) -> None:
        """A keeper has ended: the worker is gone."""
        session = self._sessions.get(name)
        if session is not None and session.keeper is keeper:
            self._drop(session, why)

    def _drop(self, session: JoinSession, why: str) -> None:
        """Forget a worker, and take it out of its pool."""
        if not self._forget(session, why):
            return
        name = session.worker.name
        for pool in self._pools():
            if pool.workers.get(name) is session.keeper.status:
                pool.drop(
                    name,
                    Failed(
                        "worker_lost",
                        f"The worker {name} on another machine has gone ({why}). Try again.",
                        503,
                    ),
                )

    def _gone_from_place(self, session: JoinSession, why: str) -> None:
        self._forget(session, why)

    def _forget(self, session: JoinSession, why: str) -> bool:
        """Forget a session that is over. False: it was, or another one has taken its place."""
        worker, name = session.worker, session.worker.name
        if self._sessions.get(name) is not session:
            return False
        del self._sessions[name]
        session.stack.close()
        self.table.left(worker, why, self._now())
        self._record("worker.lost", name, User(worker.user, "worker", "", worker.key), {"reason": why})
        log.info("worker %s has gone: %s", name, why)
        return True

    def _pools(self) -> list[Pool]:
        return [self._models, *([] if self._voice is None else [self._voice])]

    # ---- views

    def workers(self) -> Iterator[JoinRow]:
        """Joined workers, then those that have left recently."""
        return self.table.shown(self._now())

    def lease_left(self, name: str) -> float | None:
        """Seconds that an unreachable worker has left; None for one that is connected, restarting or gone."""
        session = self._sessions.get(name)
        if session is None or session.transport.reachable or session.transport.ended:
            return None
        return session.transport.lease_left


def _is_same(old: LoadSpec, new: LoadSpec) -> bool:
    """Whether both are one worker in a pool: of the same model, in the same queue."""
    return (old.engine, old.model, old.task) == (new.engine, new.model, new.task)
