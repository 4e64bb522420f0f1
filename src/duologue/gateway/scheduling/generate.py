"""Runs a chat request on slots of the pool and gives its events: the implementation of `values.generate.Generate`.

Every dialect, call and conversation generates through this.
"""

from __future__ import annotations

import logging
import math
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import cast

import anyio
import msgspec
from msgspec import Struct

from duologue.errors import Busy, Problem
from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.scheduling.lowest_place import in_lowest_place
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.running_replies import RunningReplies
from duologue.request_parsing import parsing
from duologue.values.events import Done, Failed, Queued, ReasoningDelta, TextDelta, ToolCallDelta
from duologue.values.generate import Batch
from duologue.values.prefixes.prefix_digest import digests, reading_size, size
from duologue.values.requests import ChatRequest

log = logging.getLogger(__name__)

CALL = "voice"
"""The kind of a call's replies: they go to the front of the queue."""
REPORT = 0.5
"""Seconds between two reports to the scheduler of how much a reply has written."""
AHEAD = "ahead"
"""The kind of a prompt that is read before its reply is requested."""


class _Running(Struct):
    """A choice that is being written: the tokens that were counted, and when the next report of them is due."""

    tokens: int = 0
    report_at: float = -math.inf


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
                prompt=reading_size(request),
                most=request.sampling.max_tokens,
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
        running: dict[int, _Running] = {}
        choices = deque(range(count))
        try:
            while True:
                for choice in _begin(lease, choices, request, request_id):
                    running[choice] = _Running()
                if not running and (not choices or lease.refusal is not None):
                    break
                # A slot that runs a chat request gives only the events of one.
                batch = cast(Batch, await lease.take())
                pieces = 0
                for index, (choice, event) in enumerate(batch):
                    if isinstance(event, Done | Failed):
                        event = _with_wait(event, waited)
                        batch[index] = (choice, event)
                        self._ended(kind, event, running.pop(choice, _Running()), request)
                    elif isinstance(event, TextDelta | ReasoningDelta | ToolCallDelta):
                        running[choice].tokens += 1
                        pieces += 1
                if pieces:
                    self._wrote(pieces)
                    self._report(lease, running)
                if batch:
                    yield batch
            if choices and lease.refusal is not None:
                # Its model went while some of its choices still waited for a slot.
                async for batch in self._refused(request.model, kind, lease.refusal, choices):
                    yield batch
        finally:
            for _ in running:
                self._observe(request.model, kind, Done("cancelled"))

    def _report(self, lease: Lease, running: Mapping[int, _Running]) -> None:
        """Report how much the choices have written: their first token, and then twice a second."""
        now = self._clock()
        for choice, state in running.items():
            if state.tokens and now >= state.report_at:
                state.report_at = now + REPORT
                lease.progress(choice, state.tokens)

    async def _refused(
        self, model: str, kind: str, problem: Problem, choices: Iterable[int] = (0,)
    ) -> AsyncGenerator[Batch]:
        failed = Failed(problem.code, problem.message, problem.status, problem.param, problem.retry_after)
        for choice in choices:
            self._observe(model, kind, failed)
            yield [(choice, failed)]

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

    def _ended(self, kind: str, event: Done | Failed, state: _Running, request: ChatRequest) -> None:
        """A choice ended, of which some tokens were counted as they came."""
        if isinstance(event, Done):
            self._wrote(event.usage.output - state.tokens)
            if event.finish != "cancelled":
                self._pool.replied(request.model, kind, reading_size(request), event)
        self._observe(request.model, kind, event)


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
