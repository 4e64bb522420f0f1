"""The workers of other machines: lets them in, keeps their sessions, and takes them into the pools. `app` makes one.

`join_socket` brings their connections, `JoinTable` (pure) knows who they are, a `JoinedKeeper` stands for each in its pool.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import Any, NamedTuple, Protocol

import anyio
import anyio.abc

from duologue.config import Settings
from duologue.errors import NotFound, Problem, Unavailable
from duologue.gateway.auth.keys import PLACE, User
from duologue.gateway.machines import join_rules
from duologue.gateway.machines.join_table import JoinedWorker, JoinTable
from duologue.gateway.machines.joined_keeper import JoinedKeeper
from duologue.gateway.machines.joined_transport import JoinedTransport
from duologue.gateway.machines.placed_keeper import PlacedKeeper
from duologue.gateway.scheduling.pool import Pool
from duologue.notifier import Notifier
from duologue.values.events import Failed
from duologue.wire.machines.join_protocol import SESSION_UNKNOWN, Join, JoinBulk, Refuse, Welcome
from duologue.wire.worker_protocol import LoadSpec

log = logging.getLogger(__name__)

JOIN_OFF = "Workers on other machines may not join this server. Set machines.join to true (DUOLOGUE_MACHINES__JOIN=true) and restart it."
NO_VOICE = "This server has no voice: a voice worker cannot join. Set voice.enabled to true, or install the extra voice."
BUSY = Refuse("busy", "The server cannot let another worker join just now. It may try again.", 5.0)
NO_PLACE = Refuse(
    "no_place", "This server has no such place for a worker, or it is another worker's. It ends the worker."
)
VOICE = "voice"
MOST_ACTS = 1000
"""Entries for the audit log that may wait for it."""
JOINS_AT_ONCE, JOINS_A_SECOND = 200.0, 2.0


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


class JoinedSession:
    """A session that was let in."""

    def __init__(self, worker: JoinedWorker, transport: JoinedTransport, keeper: JoinedKeeper) -> None:
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
        self._sessions: dict[str, JoinedSession] = {}
        """By the name of the worker."""
        self.placed: Callable[[str], PlacedKeeper | None] = lambda place: None
        """The keeper of a place on a cluster."""
        self._joins = join_rules.Allowance(JOINS_AT_ONCE, JOINS_A_SECOND)
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

    def refusal(self, user: User) -> Problem | None:
        """Why this worker may not join at all."""
        return (
            None if self._settings.join or user.id.startswith(PLACE) else NotFound(JOIN_OFF, code="join_off")
        )

    def enter(self, join: Join, user: User) -> JoinedSession | Refuse:
        """Let a worker in, or let it go on."""
        if (refuse := join_rules.refused(join)) is not None:
            return refuse
        if user.id != f"{PLACE}{join.placed}" and (join.placed or user.id.startswith(PLACE)):
            return NO_PLACE
        pool = self._voice if join.engine == VOICE else self._models
        if pool is None:
            return Refuse("no_voice", NO_VOICE)
        if join.placed and self.placed(join.placed) is None:
            return NO_PLACE
        if self.table.find(join.session, user.id, user.key) is None and not self._joins.may(self._clock()):
            return BUSY
        admitted = self.table.admit(join, user.id, user.key, self._now())
        if isinstance(admitted, Refuse):
            return admitted
        worker = admitted.worker
        if admitted.comes == "resumed":
            return self._sessions[worker.name]
        try:
            return self._begin(worker, join, user, pool)
        except Unavailable:
            self.table.left(worker, "the server stops")
            return BUSY

    def resume_bulk(self, opening: JoinBulk, user: User) -> JoinedSession | Refuse:
        """The session of a second socket."""
        worker = self.table.find(opening.session, user.id, user.key)
        if worker is None or worker.name not in self._sessions:
            return Refuse(
                SESSION_UNKNOWN, "The server does not know this session: begin with the live socket.", 0.0
            )
        return self._sessions[worker.name]

    def welcome(self, session: JoinedSession, received: int) -> Welcome:
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

    def _begin(self, worker: JoinedWorker, join: Join, user: User, pool: Pool) -> JoinedSession:
        """A new session of a name, with the keeper of that name if there is one. Raises Unavailable while the pool does not run."""
        before = self._sessions.get(worker.name)
        placed = self.placed(join.placed) if join.placed else None
        spec = LoadSpec(worker.name, join.engine, join.model, device=join.device[:40], task=join.task)
        if placed is not None:
            keeper: JoinedKeeper = placed
            placed.served_as(lambda why: self._over(worker.name, keeper, why))
        elif before is not None and _is_same(before.keeper.load_spec, spec):
            keeper = before.keeper
        else:
            if before is not None:
                self._drop(before, "another process of it has joined, with another model")
            keeper = JoinedKeeper(
                spec,
                worker.machine,
                pool,
                lease_s=self._settings.lease_s,
                clock=self._clock,
                stall_limit=self._stall_limit,
                over=lambda why: self._over(worker.name, keeper, why),
            )
            pool.admit(keeper)
        transport = JoinedTransport(worker.name, self._settings.lease_s, self._clock)
        session = JoinedSession(worker, transport, keeper)
        transport.on_reach = lambda reachable: self._reached(session, reachable)
        if before is not None:
            before.stack.close()
        if placed is None:  # whose key is not stored, and ends with its place
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

    def _reached(self, session: JoinedSession, reachable: bool) -> None:
        """The connection of a session is there, or broke."""
        if reachable:
            self.table.reached(session.worker, self._now())
        else:
            self.table.lost_sight(session.worker, self._now())
        session.keeper.reached(session.transport, reachable)

    def _revoked(self, session: JoinedSession) -> None:
        """The key of this session may not be used any more."""
        session.transport.end("its key was revoked")
        if self._sessions.get(session.worker.name) is session:
            self._drop(session, "its key was revoked")

    def _over(self, name: str, keeper: JoinedKeeper, why: str) -> None:
        """A keeper has ended: the worker is gone."""
        session = self._sessions.get(name)
        if session is not None and session.keeper is keeper:
            self._drop(session, why)

    def _drop(self, session: JoinedSession, why: str) -> None:
        """Forget a worker, and take it out of its pool."""
        name = session.worker.name
        del self._sessions[name]
        session.stack.close()
        self.table.left(session.worker, why)
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
        worker = session.worker
        self._record("worker.lost", name, User(worker.user, "worker", "", worker.key), {"reason": why})
        log.info("worker %s has gone: %s", name, why)

    def _pools(self) -> list[Pool]:
        return [self._models, *([] if self._voice is None else [self._voice])]

    # ---- views

    def lease_left(self, name: str) -> float | None:
        """Seconds that a worker may still be out of reach; None for one that is there or has gone."""
        session = self._sessions.get(name)
        return None if session is None or session.transport.reachable else session.transport.lease_left


def _is_same(old: LoadSpec, new: LoadSpec) -> bool:
    """Whether both are one worker in a pool: of the same model, in the same queue."""
    return (old.engine, old.model, old.task) == (new.engine, new.model, new.task)
