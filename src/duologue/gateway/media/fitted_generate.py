"""`Generate`, with the media of each request fitted to its model: what every dialect, call and conversation generates through.

Wraps `scheduling.generate.Generator`. Owns when fitting happens (before a slot is asked for, so that none waits for it), and the event
`Fitted`, before all others.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import TypeVar

from duologue.errors import Problem
from duologue.gateway.media.fitter import FittedRequest, MediaFitter
from duologue.values.events import Failed, Fitted
from duologue.values.fitting import has_media
from duologue.values.generate import Batch, Generate
from duologue.values.requests import ChatRequest, ModelCard

T = TypeVar("T")
ReadAhead = Callable[[ChatRequest, str], Awaitable[None]]


class FittedGenerate:
    """Implements `values.generate.Generate`. `resolve`: the card of a model by name; it raises Problem for one that is not loaded, whose
    requests go on as they are: the wrapped `generate` knows what to say."""

    def __init__(self, generate: Generate, resolve: Callable[[str], ModelCard], fitter: MediaFitter) -> None:
        self._generate, self._resolve, self._fitter = generate, resolve, fitter

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
        if not has_media(request):
            source = self._generate(request, kind=kind, count=count, request_id=request_id, user=user)
            async with source as passed:
                yield passed
            return
        # On entering: whoever waits for a next event counts the model's silence, and reading a long video takes a while.
        try:
            fitted = await self.fitted(request, request_id, user)
        except Problem as problem:
            refused = problem
        else:
            source = self._generate(fitted.request, kind=kind, count=count, request_id=request_id, user=user)
            async with source as batches, aclosing(_preceded(fitted.fitted, batches)) as all_batches:
                yield all_batches
            return
        failed = Failed(refused.code, refused.message, refused.status, refused.param, refused.retry_after)
        async with aclosing(_only(failed)) as batches:
            yield batches

    async def fitted(self, request: ChatRequest, request_id: str = "", user: str = "") -> FittedRequest:
        """The request as its model takes it. Raises Problem."""
        card = self._card(request)
        if card is None or not has_media(request):
            return FittedRequest(request, Fitted())
        return await self._fitter.fit(card, request, request_id, user=user)

    def _card(self, request: ChatRequest) -> ModelCard | None:
        try:
            card = self._resolve(request.model)
        except Problem:
            return None
        # What a model takes is known once it is loaded.
        return card if card.context or card.verbs else None

    def counting(
        self, count: Callable[[ChatRequest, str], Awaitable[T]]
    ) -> Callable[[ChatRequest, str], Awaitable[T]]:
        """`count` of the fitted request: the tokens of a video are those of its frames."""

        async def fitted_count(request: ChatRequest, user: str) -> T:
            return await count((await self.fitted(request, user=user)).request, user)

        return fitted_count

    def reading_ahead(self, read: ReadAhead) -> ReadAhead:
        """`read` of the fitted request. One that cannot be fitted is left to its reply, which says why."""

        async def fitted_read(request: ChatRequest, user: str) -> None:
            try:
                fitted = await self.fitted(request, user=user)
            except Problem:
                return
            await read(fitted.request, user)

        return fitted_read


async def _preceded(fitted: Fitted, batches: AsyncIterator[Batch]) -> AsyncGenerator[Batch]:
    """The batches, after what was made of the media, if anything was."""
    if fitted != Fitted():
        yield [(0, fitted)]
    async for batch in batches:
        yield batch


async def _only(failed: Failed) -> AsyncGenerator[Batch]:
    yield [(0, failed)]
