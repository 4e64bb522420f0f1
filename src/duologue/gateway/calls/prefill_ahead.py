"""Reading a call's prompt ahead, while the caller still speaks: so that less of it is left to read when they have ended.

Owns that a call reads one prompt at a time, and that its reply begins behind it. What is read changes nothing that is
written. Knows no slot.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import anyio.abc

from duologue.values.requests import ChatRequest

ReadAhead = Callable[[ChatRequest], Awaitable[None]]
"""Reads the prompt of a request, where a slot is idle; returns when it has, or cannot."""


class PrefillAhead:
    """What one call reads ahead."""

    def __init__(self, read: ReadAhead | None) -> None:
        self._read = read
        self._next: ChatRequest | None = None
        self._now: ChatRequest | None = None
        self._scope = anyio.CancelScope()
        self._over = anyio.Event()

    def foresee(self, request: ChatRequest, tasks: anyio.abc.TaskGroup) -> None:
        """This is what will be asked, as far as anybody knows: the newest is read next."""
        if self._read is None:
            return
        self._next = request
        if self._now is None:
            self._now, self._over = request, anyio.Event()
            tasks.start_soon(self._run, self._read)

    async def settled(self, request: ChatRequest) -> None:
        """Before this is asked: let what is read be read to its end where it is of use, and end it where it is not."""
        self._next = None
        if self._now is None:
            return
        if self._now.messages[:-1] != request.messages[: len(self._now.messages) - 1]:
            self._scope.cancel()
        await self._over.wait()

    async def _run(self, read: ReadAhead) -> None:
        try:
            while self._next is not None:
                self._now, self._next = self._next, None
                with anyio.CancelScope() as self._scope:
                    await read(self._now)
        finally:
            self._now = self._next = None
            self._over.set()
