"""How the gateway reaches a worker: two sockets of frames, and whether the worker answers. Transports of workers on this machine and on
others implement it; `connection.py` uses it and knows neither."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol


class FrameChannel(Protocol):
    """One of the two sockets. Each frame is one of the worker protocol."""

    async def receive(self) -> bytes:
        """The next frame. Raises EOFError once the channel is closed for good."""

    async def send(self, frame: bytes) -> None:
        """Send a frame, and wait while too many are on their way. Raises EOFError once the channel is closed for good."""


class Channels(NamedTuple):
    """Both sockets of a worker: `live` for controls, small requests and all events, `bulk` for large messages."""

    live: FrameChannel
    bulk: FrameChannel


class WorkerTransport(Protocol):
    """The way to one worker, for the lifetime of one `WorkerConnection`."""

    @property
    def peer(self) -> str:
        """Where the worker is, for the log."""

    @property
    def reachable(self) -> bool:
        """Whether anything can arrive now. A connection to another machine may break and come back."""

    def opened(self) -> AbstractAsyncContextManager[Channels]:
        """Both channels, closed when the context is left. Raises OSError if the worker cannot be reached."""

    async def answer(self) -> None:
        """Ask whether the worker's event loop is alive, and return when it has answered. If a wait was cancelled, the next one
        continues it, without a second question. Raises EOFError once the channels are closed."""

    def beaten(self, number: int) -> None:
        """The worker has answered a `Beat`."""

    def hangs(self, *, loading: bool) -> bool:
        """Whether the worker has left so many questions unanswered that it must be given up. Called once in each `BEAT`."""

    def abort(self) -> None:
        """Close both channels at once: a close would wait for what does not answer."""
