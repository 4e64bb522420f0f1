"""The workers that have joined: their names, sessions and keys. Pure; `JoinService` keeps one and acts by it.

A name belongs to one worker: `machine/worker`. A known session continues. A new session with a name that is taken replaces an unreachable worker
that has the same key; otherwise it gets the name with a number.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Literal, NamedTuple

from msgspec import Struct

from duologue.gateway.machines.join_rules import printable, told_devices
from duologue.wire.machines.join_protocol import (
    OLDEST_PROTOCOL,
    SESSION_UNKNOWN,
    Join,
    MachineDevice,
    Refuse,
    agreed,
)
from duologue.wire.worker_protocol import PROTOCOL

GONE = 64
"""Workers that have gone and are still shown, at most."""
GONE_S = 3600.0
"""Seconds that each of them is shown."""
WorkerReach = Literal["joined", "unreachable", "gone"]


class JoinRow(Struct):
    """A worker of another machine. Times in seconds since 1970."""

    name: str
    machine: str
    worker: str
    session: str
    user: str
    key: str
    protocol: int
    version: str = ""
    engine: str = ""
    model: str = ""
    device: str = ""
    devices: tuple[MachineDevice, ...] = ()
    placed: str = ""
    joined: float = 0.0
    seen: float = 0.0
    reach: WorkerReach = "unreachable"
    ended: str = ""
    """Why it has gone."""
    left: float = 0.0


class Admitted(NamedTuple):
    """A worker is let in. `comes`: with a name of its own ("new"), in the place of a lost process ("again"), or with the session that it
    had ("resumed")."""

    worker: JoinRow
    comes: Literal["new", "again", "resumed"]


class JoinTable:
    """`most`: workers at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._workers: dict[str, JoinRow] = {}
        self._gone: OrderedDict[str, JoinRow] = OrderedDict()

    def shown(self, at: float) -> Iterator[JoinRow]:
        """Joined workers, then those that have left recently, the latest last."""
        yield from self._workers.values()
        yield from (worker for worker in self._gone.values() if at < worker.left + GONE_S)

    def __len__(self) -> int:
        return len(self._workers)

    def find(self, session: str, user: str, key: str) -> JoinRow | None:
        """The worker of a session, for the key that began it alone."""
        for worker in self._workers.values():
            if worker.session == session and (worker.user, worker.key) == (user, key):
                return worker
        return None

    def admit(self, join: Join, user: str, key: str, at: float, place: str = "") -> Admitted | Refuse:
        """Let in a worker that `join_rules.refused` does not refuse. `place`: its name, where it was placed on a cluster."""
        if (known := self.find(join.session, user, key)) is not None:
            return Admitted(known, "resumed")
        if join.received:
            return Refuse(
                SESSION_UNKNOWN, "The server does not know this session any more: begin a new one.", 0.0
            )
        name, number = place or f"{join.machine}/{join.worker}", 1
        while (other := self._workers.get(_numbered(name, number))) is not None:
            if place or _replaced(other, user, key):
                break
            number += 1
        if other is None and len(self._workers) >= self._most:
            return Refuse(
                "too_many_workers",
                f"{self._most} workers on other machines have joined, which is the limit. The setting machines.workers raises it.",
                30.0,
            )
        worker = _row(join, _numbered(name, number), user, key, at)
        self._workers[worker.name] = worker
        self._gone.pop(worker.name, None)
        return Admitted(worker, "new" if other is None else "again")

    def reached(self, worker: JoinRow, at: float) -> None:
        """Its connection is there."""
        worker.reach, worker.seen = "joined", at

    def lost_sight(self, worker: JoinRow, at: float) -> None:
        """Its connection is broken."""
        if worker.reach == "joined":
            worker.reach, worker.seen = "unreachable", at

    def left(self, worker: JoinRow, why: str, at: float) -> None:
        """A worker has gone; its name is free, unless another process of it has it already."""
        self.lost_sight(worker, at)
        worker.reach, worker.ended, worker.left = "gone", why, at
        if self._workers.get(worker.name) is not worker:
            return
        del self._workers[worker.name]
        self._gone[worker.name] = worker
        self._gone.move_to_end(worker.name)
        while len(self._gone) > GONE:
            self._gone.popitem(last=False)


def _replaced(worker: JoinRow, user: str, key: str) -> bool:
    """Whether a new process takes the place of this one."""
    return worker.reach != "joined" and (worker.user, worker.key) == (user, key)


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}.{number}"


def _row(join: Join, name: str, user: str, key: str, at: float) -> JoinRow:
    protocol = agreed(join.oldest, join.newest, OLDEST_PROTOCOL, PROTOCOL)
    return JoinRow(
        name=name,
        machine=join.machine,
        worker=join.worker,
        session=join.session,
        user=user,
        key=key,
        protocol=PROTOCOL if protocol is None else protocol,
        version=printable(join.version, 40),
        engine=join.engine,
        model=join.model,
        device=printable(join.device, 40),
        devices=told_devices(join),
        placed=printable(join.placed, 100),
        joined=at,
        seen=at,
    )
