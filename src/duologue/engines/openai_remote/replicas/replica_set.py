"""The servers of a model, one or several: each with its health and load, the tries of a request, and who is asked for everything else.

Made by `engine`. With one server everything is as it is without this: nothing is polled and nothing is chosen. With several,
`replica_choice` decides who gets a request, and one that a server did not begin to answer goes to another. A stream that broke before its first
token is tried once more elsewhere, and not with every server: a request that kills a server must not kill all of them.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import anyio

from duologue.engines.openai_remote import upstream_connection
from duologue.engines.openai_remote.replicas.prefix_homes import PrefixHomes
from duologue.engines.openai_remote.replicas.queue_metrics import QueueLengths
from duologue.engines.openai_remote.replicas.replica_choice import ReplicaLoad, Standing, choose
from duologue.engines.openai_remote.replicas.replica_health import (
    Health,
    answered,
    asked,
    too_busy,
    unreachable,
)
from duologue.engines.openai_remote.replicas.replica_questions import how_busy_it_is, how_it_is
from duologue.engines.openai_remote.retry import pause
from duologue.engines.openai_remote.upstream_connection import UNREACHABLE, NotBegun, Patience, Upstream
from duologue.errors import EngineFailed, NotFound, Problem, StartFailed, Unavailable
from duologue.notifier import Notifier
from duologue.values.requests import Replica

log = logging.getLogger(__name__)

POLL_SECONDS = 5.0
"""Between two looks at each server."""
MOST = 64
"""Servers of one model."""
DRAINED = "All servers of this model are drained. Undo the drain of one of them, or choose another model."


class Server:
    """One of them. `running`: the requests that we have there."""

    def __init__(self, upstream: Upstream, slots: int) -> None:
        self.upstream = upstream
        self.slots = slots
        self.running = 0
        self.health = Health()
        self.drained = False
        self._others = 0
        self._waits = False
        self.tells_queue = True

    @property
    def name(self) -> str:
        return self.upstream.shown

    def told(self, queue: QueueLengths | None) -> None:
        """What it says of its load, which includes what others sent."""
        self.tells_queue = queue is not None
        lengths = queue or QueueLengths()
        self._others = max(0, lengths.running + lengths.waiting - self.running)
        self._waits = lengths.waiting > 0

    def candidate(self, now: float) -> ReplicaLoad:
        return ReplicaLoad(
            self.name, self.standing(now), self.running + self._others, self.slots, self._waits
        )

    def standing(self, now: float) -> Standing:
        if self.drained:
            return "draining"
        if self.health.down:
            return "down"
        return "resting" if self.health.rests_until > now else "ready"

    def view(self) -> Replica:
        reason = self.health.reason if self.health.down else ""
        return Replica(
            self.name, "draining" if self.drained else "down" if self.health.down else "ready", reason
        )

    @contextmanager
    def serving(self) -> Iterator[None]:
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1


class ReplicaSet:
    """The servers at these addresses, with one key. Raises StartFailed for an address that is none, and for one that is there twice."""

    def __init__(self, urls: Sequence[str], key: str, slots: int, patience: Patience) -> None:
        if len(urls) > MOST:
            raise StartFailed(f"A model may have at most {MOST} servers.", param="upstream.replicas")
        self.alone = len(urls) == 1
        # More than its slots go to a server while others are down.
        connections = slots if self.alone else slots * len(urls)
        upstreams = [Upstream(url, key, connections, patience, alone=self.alone) for url in urls]
        self.servers = {upstream.shown: Server(upstream, slots) for upstream in upstreams}
        if len(self.servers) < len(urls):
            raise StartFailed(
                "Two servers of a model have the same address. Give each once.", param="upstream.replicas"
            )
        self.slots = slots * len(urls)
        self.patience = patience
        self.homes = PrefixHomes()
        self.news = Notifier()

    # ---- who is asked

    @property
    def first(self) -> Upstream:
        """The server that is asked about the model: the first that is ready."""
        every = list(self.servers.values())
        return next((server for server in every if server.standing(0.0) != "down"), every[0]).upstream

    def choice(self, beginning: bytes, home: str, tried: set[str]) -> Server | None:
        now = time.monotonic()
        candidates = [server.candidate(now) for server in self.servers.values()]
        return self.servers.get(choose(candidates, beginning, home, tried))

    def views(self) -> tuple[Replica, ...]:
        """For the status; none where there is one server."""
        return () if self.alone else tuple(server.view() for server in self.servers.values())

    def warnings(self) -> tuple[str, ...]:
        count = len(self.servers)
        return tuple(
            f"{server.name} gets no requests: {server.health.reason.rstrip('.')}. It is one of {count} servers of this model, and is checked again regularly."
            for server in self.servers.values()
            if server.health.down and not self.alone
        )

    async def detail(self, path: str, body: object) -> bytes:
        return await self.first.detail(path, body)

    def failed(self, what: str) -> EngineFailed:
        return self.first.failed(what)

    async def answer(self, path: str, body: bytes, largest: int) -> bytes:
        """As `Upstream.answer`, of the server that has least to do. Raises Problem."""
        if self.alone:
            return await self.first.answer(path, body, largest)
        tries = Tries(self)
        while True:
            server = tries.next()
            try:
                with server.serving():
                    content = await server.upstream.answer(path, body, largest)
            except NotBegun as failure:
                await tries.not_begun(server, failure)
            else:
                tries.began(server)
                return content

    # ---- how they are

    async def poll(self, model: str) -> None:
        """Check every server once."""
        async with anyio.create_task_group() as tasks:
            for server in self.servers.values():
                tasks.start_soon(self._look, server, model)

    async def _look(self, server: Server, model: str) -> None:
        answer, reason = await how_it_is(server.upstream, model)
        before = server.health
        server.health = asked(before, answer, reason)
        if server.health.down != before.down:
            state = f"gets no requests: {reason}" if server.health.down else "is back"
            log.log(
                logging.WARNING if server.health.down else logging.INFO, "upstream %s %s", server.name, state
            )
            server.tells_queue = True
        if answer == "good" and server.tells_queue:
            server.told(await how_busy_it_is(server.upstream))

    async def watch(self, model: Callable[[], str]) -> AsyncGenerator[None]:
        """Poll for ever; an item after each look, and after each change that was made here."""
        while True:
            news = self.news.pending()
            with anyio.move_on_after(POLL_SECONDS) as waiting:
                await news.wait()
            if waiting.cancelled_caught:
                await self.poll(model())
            yield

    def drain(self, name: str, drained: bool) -> None:
        """Give a server no new requests, or give it some again; what runs there goes on. Raises NotFound."""
        if name not in self.servers or self.alone:
            known = ", ".join(self.servers) if not self.alone else "none"
            raise NotFound(
                f"This worker has no replica {name[:200]!r}. It has: {known}.",
                code="replica_not_found",
                param="url",
            )
        self.servers[name].drained = drained
        self.news.notify()

    async def close(self) -> None:
        for server in self.servers.values():
            await server.upstream.close()


class Tries:
    """The tries of one request. `chain`: digests of its prefixes, `beginning`: the one that names its conversation."""

    def __init__(self, replicas: ReplicaSet, chain: Sequence[bytes] = (), beginning: bytes = b"") -> None:
        self._replicas = replicas
        self._chain = chain
        self._beginning = beginning
        self._home = replicas.homes.find(chain)
        self._tried: set[str] = set()
        self._rounds = 0
        self._waited = 0.0
        self._told: float | None = None
        self._broke = False

    def next(self) -> Server:
        """The server to try. Raises Unavailable where all are drained."""
        server = self._replicas.choice(self._beginning, self._home, self._tried)
        if server is None:
            raise Unavailable(DRAINED, code="model_unavailable")
        return server

    def began(self, server: Server) -> None:
        """It began to answer."""
        server.health = answered(server.health)
        self._replicas.homes.remember(self._chain, server.name)

    async def not_begun(self, server: Server, failure: NotBegun) -> None:
        """Note why a server did not begin. Waits where all were tried; raises the problem once they were tried often enough."""
        problem = failure.problem
        self._note(server, problem)
        told = problem.retry_after
        self._told = told if self._told is None or told is None else min(self._told, told)
        if self._replicas.choice(self._beginning, self._home, self._tried) is not None:
            log.info(
                "upstream %s did not begin a reply; another one is tried: %s", server.name, problem.message
            )
            return
        seconds = pause(
            self._rounds, self._replicas.patience.retries, self._waited, self._told, random.random()
        )
        if seconds is None:
            raise problem from failure.__cause__
        await upstream_connection.sleep(seconds)
        self._rounds, self._waited, self._told = self._rounds + 1, self._waited + seconds, None
        self._tried.clear()

    def may_break(self, server: Server, problem: Problem) -> bool:
        """Whether another server may get the request, which this one lost before its first token; true once."""
        if self._broke or self._replicas.alone or problem.code != "upstream_failed":
            return False
        self._broke = True
        self._tried.add(server.name)
        return self._replicas.choice(self._beginning, self._home, self._tried) is not None

    def _note(self, server: Server, problem: Problem) -> None:
        self._tried.add(server.name)
        if problem.code == UNREACHABLE:
            if not server.health.down:
                server.health = unreachable(server.health, "it cannot be reached")
                self._replicas.news.notify()
        else:
            server.health = too_busy(server.health, problem.retry_after, time.monotonic())


def beginning_of(chain: Sequence[bytes], roles: Sequence[Any]) -> bytes:
    """The digest that names a conversation: that up to the first message of its user, which every later turn has in common. `roles`:
    of its messages; none for a raw prompt."""
    if not chain:
        return b""
    at = next((place for place, role in enumerate(roles) if role == "user"), min(3, len(chain) - 1))
    return chain[at] if at < len(chain) else chain[-1]
