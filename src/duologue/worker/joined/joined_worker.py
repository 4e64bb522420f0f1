"""A worker that joins gateways from another machine: one service, its slots, and a line to each gateway.

The composition root of the joined worker's process. It listens nowhere. `join_spec.py` says how it is started.
"""

from __future__ import annotations

import itertools
import logging
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import anyio
import anyio.abc

import duologue
from duologue import telemetry
from duologue.errors import DeviceLost, Problem
from duologue.notifier import Notifier
from duologue.sessions.chat.reply_controls import ReplyControls
from duologue.sessions.speech.speech_task import SendEvent
from duologue.tracing import spans
from duologue.values.call_events import CallSetup
from duologue.wire.machines.join_protocol import OLDEST_PROTOCOL, Join
from duologue.wire.worker_protocol import PROTOCOL, Begin, Dismiss, Open
from duologue.worker import traced_work
from duologue.worker.app import DEVICE_LOST, SPANS_SECONDS, Worker, die_with_parent, end_with_parent
from duologue.worker.connection import Emit, GatewayConnection
from duologue.worker.inbox import ControlInbox
from duologue.worker.joined.exit_codes import DISMISSED, HANGS, LOAD_FAILED, NOT_LET_IN, RESTART
from duologue.worker.joined.gateway_address import parse_gateway
from duologue.worker.joined.gateway_line import GatewayLine
from duologue.worker.joined.gateway_list import GatewayList
from duologue.worker.joined.join_spec import JoinSpec, take_join_spec
from duologue.worker.joined.slot_table import EVERY
from duologue.worker.joined.slot_turns import SlotTurns
from duologue.worker.voice import VOICE

log = logging.getLogger(__name__)

REFUSED_SECONDS = 60.0
"""Seconds until a gateway that refused this worker is dialled again, while others have let it in."""
ENDS_WITHIN = 15.0
"""Seconds in which the process ends after its goodbye: a call of an engine that hangs cannot be stopped."""
LAST_WORDS = 2.0
"""Seconds in which the end of work that lost its device must have been written."""


class JoiningWorker:
    """The worker and its lines. `run` returns the exit code of its process."""

    def __init__(self, spec: JoinSpec, traceparent: str = "") -> None:
        self._spec = spec
        self.worker = Worker(spec.load_spec, traceparent)
        self._turns = SlotTurns(self._slots)
        self._first = parse_gateway(spec.url, insecure_http=spec.insecure_http)
        self._list = GatewayList(str(self._first))
        self._lines: dict[str, GatewayLine] = {}
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._numbers = itertools.count()
        self._listed = Notifier()
        self._tasks: anyio.abc.TaskGroup | None = None
        self._stopping, self._said_goodbye = anyio.Event(), anyio.Event()
        self._exit_code = 0

    @property
    def addresses(self) -> frozenset[str]:
        """The gateways that it dials or has joined."""
        return frozenset(self._lines)

    async def run(self) -> int:
        """Serve until stopped, or until the worker cannot continue. Returns the exit code."""
        async with anyio.create_task_group() as watch:
            watch.start_soon(self._end_for_certain)
            async with anyio.create_task_group() as tasks, anyio.create_task_group() as self._tasks:
                tasks.start_soon(self._work)
                tasks.start_soon(self._keep_lines)
                await self._stopping.wait()
                await self._finish()
                self._said_goodbye.set()
                tasks.cancel_scope.cancel()
                self._tasks.cancel_scope.cancel()
            await self.worker.service.close()
            watch.cancel_scope.cancel()
        await spans.sent(SPANS_SECONDS)
        return self._exit_code

    async def _end_for_certain(self) -> None:
        """End the process soon after its goodbye, whatever hangs."""
        await self._said_goodbye.wait()
        await anyio.sleep(ENDS_WITHIN)
        log.error("what ran here did not end; the process is ended")
        logging.shutdown()
        os._exit(self._exit_code)

    def stop(self, code: int = 0) -> None:
        """Take no new work, finish what runs, and end with this exit code."""
        if not self._stopping.is_set():
            self._exit_code = code
            self._stopping.set()

    async def _work(self) -> None:
        """Load the model and watch it."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._tell_state)
            await self.worker.run()

    async def _tell_state(self) -> None:
        """Tell the parent process how loading ended. If it failed, end after a while in which the gateway can report it."""
        status = self.worker.status
        while status.state == "loading":
            await self.worker.reported.wait()
        if self._spec.state_fd >= 0:
            os.write(self._spec.state_fd, f"{status.state}\n".encode())
        if status.state == "failed":
            log.error("%s", status.detail)
            await anyio.sleep(self._spec.retry_s)
            self.stop(LOAD_FAILED)

    async def _finish(self) -> None:
        """What runs may end; then the gateways learn that this process does not come back, and whether another one will."""
        self.worker.status.stopping()
        self.worker.report()
        with anyio.move_on_after(self._spec.drain_s):
            await self.worker.wait_idle()
        goodbye = partial(GatewayLine.say_goodbye, for_good=self._exit_code in (0, DISMISSED))
        async with anyio.create_task_group() as tasks:
            for line in self._lines.values():
                tasks.start_soon(goodbye, line)

    # ---- the gateways

    async def _keep_lines(self) -> None:
        """Dial the gateways that are wanted, and leave the others."""
        assert self._tasks is not None
        while True:
            changed = self._listed.pending()
            wanted = self._list.wanted()
            for address in wanted - self._lines.keys():
                self._tasks.start_soon(self._run_line, address)
            for address in self._scopes.keys() - wanted:
                log.info("%s is no longer a gateway", address)
                self._scopes[address].cancel()
            await changed.wait()

    async def _run_line(self, address: str) -> None:
        if address in self._lines:
            return
        try:
            parsed = parse_gateway(address, insecure_http=self._spec.insecure_http)
        except Problem as problem:
            log.error(
                "a gateway names the address %s, which may not be dialled: %s", address, problem.message
            )
            self._list.never(address)
            return
        line = GatewayLine(next(self._numbers), parsed, self._spec.key, self._spec.fingerprints, self)
        self._lines[address] = line
        with anyio.CancelScope() as self._scopes[address]:
            try:
                while True:
                    self._refused(address, await line.run())
                    await anyio.sleep(REFUSED_SECONDS)
            finally:
                del self._lines[address], self._scopes[address]
                self._list.left(address)

    def _refused(self, address: str, problem: Problem) -> None:
        """A gateway refuses this worker. If that is the first one and no other is joined, the worker ends."""
        log.error("%s", problem.message)
        if address == self._list.first and not any(line.gateway for line in self._lines.values()):
            self.stop(NOT_LET_IN)

    # ---- what a line asks

    def introduction(self, line: int, session: str, received: int) -> Join:
        """As `LineOwner`."""
        load_spec = self._spec.load_spec
        return Join(
            self._spec.machine,
            load_spec.worker,
            session,
            OLDEST_PROTOCOL,
            PROTOCOL,
            received,
            version=duologue.__version__,
            engine=load_spec.engine,
            model=load_spec.model,
            task=load_spec.task,
            device=load_spec.device,
            devices=self._spec.devices,
            joined=tuple(sorted(self.joined_elsewhere(line))),
            placed=self._spec.placed,
            # Its files are those of the gateway that it was started with.
            serves=bool(self._spec.serve) and self._address_of(line) == str(self._first),
        )

    def connect(self, line: int) -> GatewayConnection:
        """As `LineOwner`."""

        async def generate(begin: Begin, emit: Emit, controls: ReplyControls) -> None:
            async with self._turns.turn(line, begin.lease, begin.slot):
                await self.worker.generate(begin, emit, controls)

        async def run_session(opening: Open, inbox: ControlInbox, send: SendEvent) -> None:
            native = isinstance(opening.request, CallSetup) and self._spec.load_spec.engine != VOICE
            async with self._turns.turn(line, opening.lease, EVERY if native else opening.slot):
                await self.worker.run_session(opening, inbox, send)

        connection = self.worker.connect(self._end_without_device, generate, run_session, self._be_dismissed)
        self._turns.joined(line, connection.tell_elsewhere)
        return connection

    def disconnect(self, line: int, connection: GatewayConnection) -> None:
        """As `LineOwner`."""
        self._turns.left(line)
        self.worker.disconnect(connection)

    def joined_elsewhere(self, line: int) -> frozenset[str]:
        """As `LineOwner`."""
        others = (other.gateway for other in self._lines.values() if other.number != line)
        return frozenset(filter(None, others))

    def gateways_named(self, line: int, addresses: tuple[str, ...]) -> None:
        """As `LineOwner`."""
        self._list.connected(self._address_of(line), addresses)
        self._listed.notify()

    def line_lost(self, line: int) -> None:
        """As `LineOwner`."""
        self._list.lost(self._address_of(line))
        self._listed.notify()

    def work_hangs(self) -> None:
        """As `LineOwner`. The supervisor of this process starts it again."""
        log.error(
            "the engine hangs: what ran for a gateway did not end with its session; the process is ended"
        )
        logging.shutdown()
        os._exit(HANGS)

    def _address_of(self, number: int) -> str:
        return next(address for address, line in self._lines.items() if line.number == number)

    def _slots(self) -> int:
        card = self.worker.status.card
        return card.slots if card is not None else 0

    def _be_dismissed(self, dismiss: Dismiss) -> None:
        """End the process: for an admin's restart, or for good. What runs for that gateway is over; what runs for others may end."""
        log.info("an admin %s this worker", "restarts" if dismiss.restart else "removed")
        self.stop(RESTART if dismiss.restart else DISMISSED)

    def _end_without_device(self, lost: DeviceLost) -> None:
        """End the process soon, as `Worker` does at once: the end of its work must be written first."""
        assert self._tasks is not None
        self._tasks.start_soon(self._last_words, lost)

    async def _last_words(self, lost: DeviceLost) -> None:
        log.error("%s", lost.message)
        with anyio.move_on_after(LAST_WORDS), anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                for line in self._lines.values():
                    tasks.start_soon(line.say_goodbye)
        logging.shutdown()
        os._exit(DEVICE_LOST)


@asynccontextmanager
async def _ended_by_signals(stop: Callable[[], None]) -> AsyncIterator[None]:
    """SIGTERM and SIGINT stop the worker; a second one ends it at once."""

    async def listen() -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            asked = False
            async for _ in signals:
                if asked:
                    os._exit(1)
                asked = True
                stop()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        yield
        tasks.cancel_scope.cancel()


async def _run(spec: JoinSpec, traceparent: str) -> int:
    joined = JoiningWorker(spec, traceparent)
    async with _ended_by_signals(joined.stop), anyio.create_task_group() as tasks:
        tasks.start_soon(end_with_parent)
        code = await joined.run()
        tasks.cancel_scope.cancel()
    return code


def main() -> None:
    """Run the worker that this process's environment describes."""
    die_with_parent()
    level, _, form = os.environ.pop("DUOLOGUE_WORKER_LOG", "info:text").partition(":")
    telemetry.set_up_logging(level, "json" if form == "json" else "text")
    traced_work.set_up(os.environ.pop("DUOLOGUE_WORKER_TRACING", ""))
    try:
        spec = take_join_spec(os.environ)
        if spec.placed:
            from duologue.worker.joined.placed_model import with_own_files

            spec = with_own_files(spec)
        if spec.serve:
            from duologue.worker.joined.offered_adapters import with_offered_adapters

            spec = with_offered_adapters(spec)
        code = anyio.run(partial(_run, spec, os.environ.pop("DUOLOGUE_WORKER_TRACEPARENT", "")))
    except Problem as problem:
        log.error("%s", problem.message)
        code = NOT_LET_IN
    raise SystemExit(code)
