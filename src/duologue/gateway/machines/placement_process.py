"""Runs the placement process beside the gateway: starts it, starts it again when it ends, sends it orders and passes its news on.

Ray's threads and faults are in that process and not here. `RayPlaces` decides what to order.
"""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable, Sequence

import anyio
import anyio.abc
import msgspec
from anyio.streams.buffered import BufferedByteReceiveStream

from duologue import process_limits
from duologue.gateway.workers.interpreter import environment
from duologue.notifier import Notifier
from duologue.supervisor.restart_policy import backoff
from duologue.wire.machines.placement_protocol import (
    LINE_LIMIT,
    PLACEMENT_OPTIONS,
    ClusterOptions,
    Connected,
    News,
    Order,
    Trouble,
    decode_news,
    encode_line,
)

log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-P", "-m", "duologue.placement")
LEAVE_SECONDS = 20.0
"""Seconds in which the process must have ended its places, and a cluster that it started."""
LONGEST = 30.0
"""The longest pause between two starts, in seconds."""
MOST_ORDERS = 20_000
"""Orders that may wait for the process; it reads them at once unless it hangs."""


class PlacementProcess:
    """`on_news` is called with its news; `on_lost` with the reason when it has ended, and with it all its places. `command`: for tests."""

    def __init__(
        self,
        options: ClusterOptions,
        on_news: Callable[[News], None],
        on_lost: Callable[[str], None],
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._options = options
        self._on_news = on_news
        self._on_lost = on_lost
        self._command = command
        self._orders: list[Order] = []
        self._ordered = Notifier()
        self._trouble = ""
        self._quick_ends = 0
        self.connected: Connected | None = None

    def order(self, order: Order) -> None:
        """Send an order. It is lost if the process ends, which `on_lost` says."""
        if self.connected is not None:
            if len(self._orders) >= MOST_ORDERS:
                raise RuntimeError("the placement process reads no orders")
            self._orders.append(order)
            self._ordered.notify()

    async def run(self) -> None:
        """Keep it running until cancelled; it has ended when this returns."""
        while True:
            self._trouble = ""
            try:
                await self._run_once()
            except OSError as error:
                self._lose(
                    f"The process that places workers could not be started: {error.strerror or error}."
                )
            self._quick_ends += 1
            pause = min(LONGEST, backoff(self._quick_ends))
            log.error("%s Workers are placed again in %.1f s.", self._trouble, pause)
            await anyio.sleep(pause)

    async def _run_once(self) -> None:
        options = {PLACEMENT_OPTIONS: msgspec.json.encode(self._options).decode()}
        process = await anyio.open_process(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            # Ctrl-C is for the gateway, which ends this process itself.
            start_new_session=True,
            env=environment("") | options,
        )
        process_limits.set_oom_score(process.pid, process_limits.WORKER)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._write, process)
                await self._read(process)
                tasks.cancel_scope.cancel()
        finally:
            self._lose("The process that places workers ended.")
            with anyio.CancelScope(shield=True):
                await _leave(process)

    def _lose(self, reason: str) -> None:
        """Whatever it placed is gone, or will be once it has left."""
        self.connected = None
        self._orders.clear()
        self._trouble = self._trouble or reason
        self._on_lost(self._trouble)

    async def _write(self, process: anyio.abc.Process) -> None:
        assert process.stdin is not None
        while True:
            while self._orders:
                try:
                    await process.stdin.send(encode_line(self._orders.pop(0)))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return  # it has ended, as its output says too
            await self._ordered.wait()

    async def _read(self, process: anyio.abc.Process) -> None:
        assert process.stdout is not None
        lines = BufferedByteReceiveStream(process.stdout)
        while True:
            try:
                line = await lines.receive_until(b"\n", LINE_LIMIT)
            except (
                anyio.EndOfStream,
                anyio.IncompleteRead,
                anyio.DelimiterNotFound,
                anyio.BrokenResourceError,
            ):
                return
            try:
                news = decode_news(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                log.error("news of the placement process cannot be read: %s", error)
                continue
            self._note(news)
            self._on_news(news)

    def _note(self, news: News) -> None:
        match news:
            case Connected():
                self.connected, self._quick_ends = news, 0
                where = "a local Ray cluster" if news.local else f"the Ray cluster at {news.address}"
                log.info("workers are placed on %s, Ray %s", where, news.version)
            case Trouble(name=""):
                self._trouble = news.message


async def _leave(process: anyio.abc.Process) -> None:
    """Close its standard input, by which it ends, and wait for its end."""
    if process.stdin is not None:
        await process.stdin.aclose()
    with anyio.move_on_after(LEAVE_SECONDS):
        await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
    await process.aclose()
