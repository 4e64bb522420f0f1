"""Prefills a call's prompt while the caller is still speaking, so that less of it is left when the turn ends.

Owns that a call prefills one prompt at a time, and that its reply waits for a prefill it can use. Used by `CallReplies`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import anyio.abc

from duologue.values.requests import ChatRequest

ReadAhead = Callable[[ChatRequest, str], Awaitable[None]]
"""Prefills the prompt of a request of this user where a slot is idle; returns when it is done, or not possible."""


class PrefillAhead:
    """The prefills of one call, of `user`."""

    def __init__(self, read: ReadAhead | None, user: str) -> None:
        self._read, self._user = read, user
        self._next: ChatRequest | None = None
        self._current: ChatRequest | None = None
        self._scope = anyio.CancelScope()
        self._finished = anyio.Event()

    def start(self, request: ChatRequest, tasks: anyio.abc.TaskGroup) -> None:
        """Prefill this request next: the best guess so far at what the caller will have said."""
        if self._read is None:
            return
        self._next = request
        if self._current is None:
            self._current, self._finished = request, anyio.Event()
            tasks.start_soon(self._run, self._read)

    async def finish(self, request: ChatRequest) -> None:
        """To be awaited before `request` runs: lets a prefill finish that shares its prompt, and cancels any other."""
        self._next = None
        if self._current is None:
            return
        # The last message is the caller's turn, which has grown since; all before it must be the same.
        if self._current.messages[:-1] != request.messages[: len(self._current.messages) - 1]:
            self._scope.cancel()
        await self._finished.wait()

    async def _run(self, read: ReadAhead) -> None:
        try:
            while self._next is not None:
                self._current, self._next = self._next, None
                with anyio.CancelScope() as self._scope:
                    await read(self._current, self._user)
        finally:
            self._current = self._next = None
            self._finished.set()
