"""Stands in for recordings where calls, duplex sessions and chats are tested: keeps what it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio

from duologue.errors import Problem


class Looker:
    """A recording as the call sees it."""

    id = "r1"

    def __init__(self, on_end: Callable[[str], None]) -> None:
        self.on_end = on_end
        self.seen: list[Any] = []
        self.closed = anyio.Event()

    def client_sent(self, control: Any) -> None:
        self.seen.append(control)

    def server_sent(self, events: Any) -> None:
        self.seen.extend(events)

    def saw(self, image: Any) -> None:
        self.seen.append(image)

    def stop(self, reason: str) -> None:
        self.on_end(reason)

    def close(self) -> None:
        self.closed.set()


class Lookers:
    """Begins recordings, or does not."""

    def __init__(self, problem: Problem | None = None) -> None:
        self.problem = problem
        self.begun: list[dict[str, Any]] = []
        self.lookers: list[Looker] = []

    async def start(self, user: str, kind: str, *, on_end: Callable[[str], None], **how: Any) -> Looker:
        if self.problem is not None:
            raise self.problem
        self.begun.append({"user": user, "kind": kind, **how})
        self.lookers.append(Looker(on_end))
        return self.lookers[-1]
