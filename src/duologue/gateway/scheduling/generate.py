"""Runs a chat request on slots of the pool and gives its events: the implementation of `values.generate.Generate`.

Every dialect, call and conversation generates through this.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import cast

import anyio
import msgspec

from duologue.errors import Busy, Problem
from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.scheduling.lowest_place import in_lowest_place
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.prefix_digest import digests, size
from duologue.gateway.scheduling.running_replies import RunningReplies
from duologue.request_parsing import parsing
from duologue.values.events import Done, Failed, Queued, ReasoningDelta, TextDelta, ToolCallDelta
from duologue.values.generate import Batch
from duologue.values.requests import ChatRequest

log = logging.getLogger(__name__)

CALL = "voice"
"""The kind of a call's replies: they go to the front of the queue."""
AHEAD = "ahead"
"""The kind of a prompt that is read before its reply is requested."""


class Generator:
    """`generate` over a pool. `observe` is called with the model and the kind for every choice that ends, cancelled ones too. `wrote` counts tokens of
    replies: one for each piece as it comes, and at the end the difference to the real number."""

    def __init__(
        self,
        pool: Pool,
        *,
        clock: Callable[[], float] = time.monotonic,
        observe: Callable[[str, str, Done | Failed], None] = lambda model, kind, event: None,
        wrote: Callable[[int], None] = lambda tokens: None,
    ) -> None:
        self._pool = pool
        self._clock = clock
        self._observe = observe
        self._wrote = wrote
        self._prefills: set[anyio.CancelScope] = set()
        self.running = RunningReplies()

    @asynccontextmanager
    async def __call__(
        self,
        request: ChatRequest,
        *,
        kind: str = "chat",
        count: int = 1,
        request_id: str = "",
        user: str = "local",
    ) -> AsyncIterator[AsyncIterator[Batch]]:
        request = self._pool.addressed(request)
        try:
            opening, chain = await parsing(size(request), digests, request, user=user)
        except Busy as busy:
            yield self._refused(request.model, kind, busy)
            return
        with (
            self._pool.lease(
                request.model,
                kind=kind,
                chain=chain,
                opening=opening,
                need=count,
                ahead=kind == CALL,
                user=user,
            ) as lease,
            self.running.entered(user, request, lease),
        ):
            async with aclosing(self._batches(lease, request, kind, count, request_id)) as batches:
                yield batches

    async def _batches(
        self, lease: Lease, request: ChatRequest, kind: str, count: int, request_id: str
    ) -> AsyncGenerator[Batch]:
        start = self._clock()
        try:
            async with aclosing(lease.places()) as places:
                async for place in places:
                    if not in_lowest_place():
                        self._cancel_prefills()
                    yield [(0, Queued(lease.ticket, place.position, place.wait, place.length))]
        except Problem as problem:
            async for batch in self._refused(request.model, kind, problem):
                yield batch
            return
        waited = (self._clock() - start) * 1000
        log.debug("request %s has its slot after %.1f ms", request_id, waited)
        running: dict[int, int] = {}
        choices = deque(range(count))
        try:
            while True:
                running |= dict.fromkeys(_begin(lease, choices, request, request_id), 0)
                if not running:
                    return
                # A slot that runs a chat request gives only the events of one.
                batch = cast(Batch, await lease.take())
                pieces = 0
                for index, (choice, event) in enumerate(batch):
                    if isinstance(event, Done | Failed):
                        event = _with_wait(event, waited)
                        batch[index] = (choice, event)
                        self._ended(request.model, kind, event, running.pop(choice, 0))
                    elif isinstance(event, TextDelta | ReasoningDelta | ToolCallDelta):
                        running[choice] += 1
                        pieces += 1
                if pieces:
                    self._wrote(pieces)
                if batch:
                    yield batch
        finally:
            for _ in running:
                self._observe(request.model, kind, Done("cancelled"))

    async def _refused(self, model: str, kind: str, problem: Problem) -> AsyncGenerator[Batch]:
        failed = Failed(problem.code, problem.message, problem.status, problem.param, problem.retry_after)
        self._observe(model, kind, failed)
        yield [(0, failed)]

    async def ahead(self, request: ChatRequest, user: str) -> None:
        """Prefill the prompt of `request`, whose last message may still change, in the slot that its reply will prefer. Only if
        the engine supports it, a slot is idle and no request waits; a request that has to wait meanwhile cancels it."""
        request = self._pool.addressed(request)
        cards = self._pool.cards()
        card = next((card for card in cards if not request.model or card.name == request.model), None)
        # Without the last message: it will be different in the real request, and the slot is chosen by the common prefix.
        try:
            opening, chain = await parsing(size(request), digests, request, user=user)
        except Busy:
            return
        if card is None or "prefill" not in card.verbs or self._pool.scheduler.someone_waits:
            return
        with self._pool.lease(request.model, kind=AHEAD, chain=chain[:-1], opening=opening) as lease:
            if not lease.idle:
                return
            with anyio.CancelScope() as scope:
                self._prefills.add(scope)
                try:
                    lease.begin(0, msgspec.structs.replace(request, ahead=True), "")
                    while not any(isinstance(event, Done | Failed) for _, event in await lease.take()):
                        pass
                finally:
                    self._prefills.discard(scope)

    def _cancel_prefills(self) -> None:
        """A request waits for a slot, and prefills ahead of time occupy some."""
        for scope in self._prefills:
            scope.cancel()

    def _ended(self, model: str, kind: str, event: Done | Failed, counted: int) -> None:
        """A choice ended, of which `counted` tokens were counted as they came."""
        if isinstance(event, Done):
            self._wrote(event.usage.output - counted)
        self._observe(model, kind, event)


def _begin(lease: Lease, choices: deque[int], request: ChatRequest, request_id: str) -> list[int]:
    """Start the next choices in idle slots, each with its own seed; gives those that were started. Once all have been started,
    idle slots are released."""
    started = []
    while lease.idle and choices:
        choice = choices.popleft()
        lease.begin(choice, _for_choice(request, choice), request_id)
        started.append(choice)
    if not choices:
        lease.release_idle()
    return started


def _for_choice(request: ChatRequest, choice: int) -> ChatRequest:
    seed = request.sampling.seed
    if choice == 0 or seed is None:
        return request
    sampling = msgspec.structs.replace(request.sampling, seed=seed + choice)
    return msgspec.structs.replace(request, sampling=sampling)


def _with_wait(event: Done | Failed, waited: float) -> Done | Failed:
    """Add the time in the queue (ms), which the worker cannot know."""
    if isinstance(event, Failed):
        return event
    timings = msgspec.structs.replace(event.timings, queue=waited, first=event.timings.first + waited)
    return msgspec.structs.replace(event, timings=timings)
