"""`Generate`, counted and limited by key: what every dialect, call, batch and conversation generates through.

Wraps `media.FittedGenerate`: a request that its key's limits do not allow is refused before its media are read.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import ExitStack, aclosing, asynccontextmanager

import msgspec

from duologue.errors import Problem
from duologue.gateway.scheduling.expected_tokens import expected_tokens
from duologue.gateway.scheduling.generate import CALL
from duologue.gateway.scheduling.request_meter import MeteredRequest, RequestMeter
from duologue.values.events import (
    Done,
    Failed,
    Prefilled,
    Progress,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)
from duologue.values.generate import Batch, Generate
from duologue.values.requests import ChatRequest, ModelCard

DELTAS = (TextDelta, ReasoningDelta, ToolCallDelta)
"""About one token each."""
REPLY_OF_CALL = "call"
"""What usage calls the replies of calls, as it does the calls themselves."""


class MeteredGenerate:
    """Implements `values.generate.Generate`. `resolve`: the card of a model by name; it raises Problem for one that is not loaded, whose
    requests go on as they are: the wrapped `generate` knows what to say."""

    def __init__(self, generate: Generate, resolve: Callable[[str], ModelCard], meter: RequestMeter) -> None:
        self._generate, self._resolve, self._meter = generate, resolve, meter

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
        request = self._named(request)
        tokens = expected_tokens(request, count)
        await self._meter.ready(user, tokens)
        metered = self._meter.request(
            REPLY_OF_CALL if kind == CALL else kind, request.model, user=user, tokens=tokens
        )
        with ExitStack() as stack:
            try:
                counted = stack.enter_context(metered)
            except Problem as problem:
                async with aclosing(_refused(problem)) as batches:
                    yield batches
                return
            source = self._generate(request, kind=kind, count=count, request_id=request_id, user=user)
            async with source as passed, aclosing(_counting(passed, counted)) as batches:
                yield batches

    def _named(self, request: ChatRequest) -> ChatRequest:
        """The request with the name by which its model is counted; without one it has the default model of its key."""
        try:
            name = self._resolve(request.model).name
        except Problem:
            return request
        return request if request.model == name else msgspec.structs.replace(request, model=name)


async def _refused(problem: Problem) -> AsyncGenerator[Batch]:
    yield [(0, Failed(problem.code, problem.message, problem.status, problem.param, problem.retry_after))]


async def _counting(batches: AsyncIterator[Batch], request: MeteredRequest) -> AsyncGenerator[Batch]:
    """The batches, as they are counted. Several choices have one prompt. A reply that is cancelled has no `Done`: of it counts what was
    read and written until then."""
    written: dict[int, int] = {}
    read = (0, 0)
    is_read_counted = False
    try:
        async for batch in batches:
            # First, as the end of a choice may be in the same batch as its last pieces.
            pieces = [choice for choice, event in batch if isinstance(event, DELTAS)]
            for choice in pieces:
                written[choice] = written.get(choice, 0) + 1
            if pieces:
                request.wrote(len(pieces))
            for choice, event in batch:
                if isinstance(event, Progress):
                    read = max(read, (event.processed, event.cached))
                elif isinstance(event, Prefilled):
                    read = max(read, (event.input or 0, event.cached))
                elif isinstance(event, Done):
                    usage = event.usage
                    prompt, cached = (0, 0) if is_read_counted else (usage.input, usage.cached)
                    is_read_counted = True
                    request.counted(
                        prompt=prompt,
                        cached=cached,
                        completion=usage.output,
                        instead_of=written.pop(choice, 0),
                    )
                elif isinstance(event, Failed):
                    request.failed()
            yield batch
    finally:
        if not is_read_counted:
            request.counted(prompt=read[0], cached=min(read[0], read[1]))
