"""A joined worker's line to one gateway: dials, serves what comes, and dials again, as `DialRules` decide.

Owns the session: two linked sockets, the `GatewayConnection` around them, and their leases, which end with the session. `JoiningWorker` has one
line for each gateway.
"""

from __future__ import annotations

import logging
import math
import random
import secrets
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import anyio

from duologue.errors import Problem, StartFailed
from duologue.linked_socket import LinkedSocket
from duologue.wire.machines.join_protocol import OLDEST_PROTOCOL, Gateways, Join, JoinBulk, Refuse, Welcome
from duologue.wire.worker_protocol import PROTOCOL
from duologue.worker.connection import GatewayConnection
from duologue.worker.joined.certificate_pin import (
    EXPIRED,
    NOT_YET_VALID,
    OTHER_ADDRESS,
    OTHER_HOST,
    trust_for,
    unknown_authority,
)
from duologue.worker.joined.client_socket import ClientSocket, LineBroken, broken_by, dialled
from duologue.worker.joined.dial_rules import Again, Broken, Decision, DialRules, GiveUp, GrowingPause, Rest
from duologue.worker.joined.gateway_address import GatewayAddress

log = logging.getLogger(__name__)

HANGS_AFTER = 120.0
"""Seconds in which what ran in a session must have ended once that is over. One step of a slow engine takes a part of it."""
GOODBYE_SECONDS = 5.0
"""Seconds for the gateway to read what a stopping worker sends last."""


class LineOwner(Protocol):
    """What a line needs of its worker. No method may wait."""

    def introduction(self, line: int, session: str, received: int) -> Join:
        """The first message on the live socket."""
        ...

    def connect(self, line: int) -> GatewayConnection:
        """The connection of a new session on the line of this number."""
        ...

    def disconnect(self, line: int, connection: GatewayConnection) -> None:
        """Its session is over."""
        ...

    def joined_elsewhere(self, line: int) -> frozenset[str]:
        """The ids of the gateways that other lines have joined."""
        ...

    def gateways_named(self, line: int, addresses: tuple[str, ...]) -> None:
        """The gateway of this line names all gateways."""
        ...

    def line_lost(self, line: int) -> None:
        """Its connection broke."""
        ...

    def work_hangs(self) -> None:
        """What ran in a session does not end."""
        ...


class GatewayLine:
    """One gateway, from when the worker begins to dial it until it leaves."""

    def __init__(
        self,
        number: int,
        address: GatewayAddress,
        key: str,
        fingerprints: tuple[str, ...],
        owner: LineOwner,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.number, self.address = number, address
        self._key, self._fingerprints, self._owner = key, fingerprints, owner
        self._clock = clock
        self._rules = DialRules()
        self._trust: ssl.SSLContext | None = None
        self._connection: GatewayConnection | None = None
        self._live, self._bulk = LinkedSocket(), LinkedSocket()
        self._open: list[ClientSocket] = []
        """The connections of the session."""
        self._going = False

    @property
    def gateway(self) -> str:
        """The id of the gateway's process that this line has joined; "" while it has not."""
        return self._rules.gateway

    async def run(self) -> Problem:
        """Stay joined until cancelled, or until a person has to change something; returns the reason."""
        while True:
            match await self._session():
                case GiveUp(problem):
                    return problem
                case Again(pause) | Rest(pause):
                    await anyio.sleep(pause)

    async def say_goodbye(self, *, for_good: bool = False) -> None:
        """The worker stops: send the gateway what is still to be sent, and that this process does not come back, nor another one if it is
        `for_good`. Takes a bounded time."""
        if self._connection is None or not self.gateway:
            return
        with anyio.move_on_after(GOODBYE_SECONDS):
            await self._connection.wait_idle()
            await self._live.wait_written()
            self._going = True
            for socket in list(self._open):
                await socket.say_goodbye(for_good=for_good)

    async def _session(self) -> Decision:
        """One session, from its first attempt to its end."""
        self._rules.fresh()
        self._live, self._bulk = live, bulk = LinkedSocket(), LinkedSocket()
        session = secrets.token_hex(16)
        self._connection = connection = self._owner.connect(self.number)
        try:
            async with anyio.create_task_group() as watch:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._serve, connection, live, bulk)
                    tasks.start_soon(self._keep_bulk, session, live, bulk)
                    decision = await self._keep_live(session, live)
                    live.close()
                    bulk.close()
                    watch.start_soon(self._watch_end)
                    tasks.cancel_scope.cancel()
                watch.cancel_scope.cancel()
        finally:
            # This line has no gateway now. Without this, a worker that no gateway admits would not end, and no other line could join this gateway.
            self._rules.fresh()
            self._owner.line_lost(self.number)
            self._owner.disconnect(self.number, connection)
        return decision

    async def _watch_end(self) -> None:
        """A call of an engine that hangs would keep this line from dialling again, for ever."""
        await anyio.sleep(HANGS_AFTER)
        self._owner.work_hangs()

    async def _serve(self, connection: GatewayConnection, live: LinkedSocket, bulk: LinkedSocket) -> None:
        """Do the gateway's work. Ends both links when one breaks the protocol."""

        async def read_bulk() -> None:
            await connection.run_bulk(bulk)
            # Otherwise large requests would be lost without an error.
            live.close()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read_bulk)
            await connection.run_live(live)
            live.close()
            tasks.cancel_scope.cancel()

    async def _keep_live(self, session: str, live: LinkedSocket) -> Decision:
        """Keep the live socket connected as long as the session lives. Returns what to do next."""
        while True:
            with anyio.move_on_after(self._left()) as lease:
                end = await self._connect_live(session, live, lease)
                if isinstance(end, Again | GiveUp | Rest):
                    return end
                decision = self._rules.ended(end, self._clock(), random.random())
                if self._going:
                    return Again(GOODBYE_SECONDS)
                if isinstance(decision, Again):
                    log.warning(
                        "%s: %s; dialled again in %.1f s", self.address, decision.reason, decision.pause
                    )
                if not isinstance(decision, Again) or decision.fresh:
                    return decision
                lease.deadline = anyio.current_time() + self._left()
                await anyio.sleep(decision.pause)
            if lease.cancelled_caught:
                log.warning("%s was unreachable for %g s: its work ends", self.address, self._rules.lease_s)
                return Again(0.0, fresh=True)

    def _left(self) -> float:
        """Seconds until the session ends for want of a connection."""
        return math.inf if self._rules.ends_at is None else max(0.0, self._rules.ends_at - self._clock())

    async def _connect_live(
        self, session: str, live: LinkedSocket, lease: anyio.CancelScope
    ) -> Broken | Refuse | Decision:
        """Dial and use the live socket until it breaks."""
        joined = self._owner.joined_elsewhere(self.number)
        join = self._owner.introduction(self.number, session, live.link.received)
        try:
            trust = await self._trusted()
            async with dialled(self.address, "live", self._key, trust, join, self._gateways_changed) as (
                socket,
                answer,
            ):
                if isinstance(answer, Refuse):
                    return answer
                if (decision := self._unusable(answer, joined)) is not None:
                    # A second session beside the one that this gateway has is not to keep a name there.
                    await socket.say_goodbye(for_good=isinstance(decision, Rest))
                    return decision
                lease.deadline = math.inf
                log.info("joined %s", self.address)
                self._owner.gateways_named(self.number, answer.gateways)
                with self._opened(socket):
                    await live.serve(socket, answer.received)
                return Broken(live.broken or "the connection broke", over=live.closed)
        except LineBroken as error:
            if isinstance(error.__cause__, ssl.SSLCertVerificationError):
                return await self._explained(error.broken, error.__cause__.verify_code)
            return error.broken
        except StartFailed as problem:
            return Broken(problem.message, problem)
        except OSError as error:
            return broken_by(self.address, error)
        finally:
            self._owner.line_lost(self.number)

    def _unusable(self, welcome: Welcome, joined: frozenset[str]) -> Decision | None:
        """What to do instead of using an accepted connection; None: use it."""
        if not OLDEST_PROTOCOL <= welcome.protocol <= PROTOCOL:
            return GiveUp(
                StartFailed(
                    f"The gateway {self.address} speaks version {welcome.protocol} of the worker protocol, and this worker {PROTOCOL}. "
                    "Install the same version of Duologue on both."
                )
            )
        standing = self._rules.welcomed(welcome, joined)
        if standing == "twice":
            return Rest(self._rules.lease_s)
        if standing == "other":
            log.warning("%s was restarted: its work has ended", self.address)
            return Again(0.0, fresh=True)
        return None

    async def _keep_bulk(self, session: str, live: LinkedSocket, bulk: LinkedSocket) -> None:
        """Keep the bulk socket connected while the live one is."""
        pause = GrowingPause()
        with suppress(EOFError):
            while True:
                await live.wait_connected()
                try:
                    trust = await self._trusted()
                    opening = JoinBulk(session, bulk.link.received)
                    async with dialled(self.address, "bulk", self._key, trust, opening) as (socket, answer):
                        if isinstance(answer, Welcome):
                            pause.reset()
                            with self._opened(socket):
                                await self._serve_bulk(socket, answer, live, bulk)
                            if bulk.closed:
                                # The two sides cannot go on with this link, so not with the session either.
                                live.close()
                except (LineBroken, StartFailed, OSError) as error:
                    log.debug("%s, bulk: %s", self.address, error)
                await anyio.sleep(pause.next(random.random()))

    async def _serve_bulk(
        self, socket: ClientSocket, welcome: Welcome, live: LinkedSocket, bulk: LinkedSocket
    ) -> None:
        """Use a bulk socket until it breaks, or the live one does: both go the same way, and this one may take longer to notice."""

        async def end_with_live() -> None:
            await live.wait_disconnected()
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(end_with_live)
            await bulk.serve(socket, welcome.received)
            tasks.cancel_scope.cancel()

    async def _trusted(self) -> ssl.SSLContext | None:
        if self._trust is None:
            self._trust = await trust_for(self.address, self._fingerprints)
        return self._trust

    async def _explained(self, broken: Broken, verify_code: int) -> Broken:
        """The sentence about a certificate that is not accepted; if its signer is unknown, with its fingerprint."""
        # The pinned one may have been replaced: it is looked for again.
        self._trust = None
        if not self._fingerprints and verify_code not in (EXPIRED, NOT_YET_VALID, OTHER_HOST, OTHER_ADDRESS):
            with suppress(OSError, TimeoutError):
                return broken._replace(problem=await unknown_authority(self.address))
        return broken

    def _gateways_changed(self, changed: Gateways) -> None:
        self._owner.gateways_named(self.number, changed.addresses)

    def _opened(self, socket: ClientSocket) -> _Opened:
        return _Opened(self._open, socket)


class _Opened:
    """A connection that `say_goodbye` closes, for the time of a block."""

    def __init__(self, open_sockets: list[ClientSocket], socket: ClientSocket) -> None:
        self._open, self._socket = open_sockets, socket

    def __enter__(self) -> None:
        self._open.append(self._socket)

    def __exit__(self, *error: object) -> None:
        self._open.remove(self._socket)
