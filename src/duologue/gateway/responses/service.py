"""The responses of OpenAI's API: made, stored, read, continued, cancelled and deleted.

Puts together what the routes need; created by `gateway/app.py`, which opens the storage once the database is there.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import anyio
import anyio.abc
from starlette.responses import Response

from duologue.config.sections.responses import ResponseSettings
from duologue.config.settings import LimitSettings
from duologue.errors import BadRequest, Unsupported
from duologue.gateway.dialects.reply import ReplyPipeline
from duologue.gateway.media.references import MediaReferences
from duologue.gateway.responses.background import (
    RESTARTED,
    RESTARTED_SENTENCE,
    Allowed,
    BackgroundResponses,
    FindLeft,
    anyone,
    stored_response,
)
from duologue.gateway.responses.item_storage import MEGABYTE, ItemStorage, output_items
from duologue.gateway.responses.preparation import (
    AskedResponse,
    CountTokens,
    PreparedResponse,
    ResponsePreparation,
)
from duologue.gateway.responses.response_reply import ResponseWriter, StreamedResponse, whole_response
from duologue.http.json_api import answer
from duologue.http.sse import EventStream, resumable_stream
from duologue.store.responses.response_record import StoredResponse
from duologue.wire.responses.response_body import ResponseBody
from duologue.wire.responses.response_object import RUNNING, failed_after
from duologue.wire.responses.response_stream import ResponseEncoder

if TYPE_CHECKING:
    from duologue.conversations.files.blobs import Blobs
    from duologue.store.stores import Store

FindAsked = Callable[[], Awaitable[AskedResponse]]
"""Finds the model of a request. Raises Problem."""


class ResponseService:
    """`count` counts the tokens of a prompt, `clock` gives seconds since 1970, `allowed` is that of `BackgroundResponses`. `run` serves until cancelled; before that nothing can be
    stored."""

    def __init__(
        self,
        pipeline: ReplyPipeline,
        references: MediaReferences,
        *,
        limits: LimitSettings,
        settings: ResponseSettings,
        count: CountTokens,
        clock: Callable[[], float],
        allowed: Allowed = anyone,
    ) -> None:
        self._settings = settings
        self.clock = clock
        self.storage = ItemStorage(limits.body_mb, limits.messages)
        self.preparation = ResponsePreparation(pipeline, self.storage, references, limits, settings, count)
        self._writer = ResponseWriter(pipeline, self._keep, clock)
        self._background = BackgroundResponses(
            self._writer, self.storage, self._keep, most=settings.background, clock=clock, allowed=allowed
        )

    def new_id(self, *, background: bool) -> str:
        """The id of a new response. Of one in the background it says which gateway writes it."""
        mark = self._background.mark if background else ""
        return f"resp_{mark}{uuid.uuid4().hex[len(mark) :]}"

    def share(self, mark: str, left: FindLeft) -> None:
        """Other gateways share the database: ids of responses in the background begin with `mark`, and only those that are stored as running and `left` are
        ended. Before `run`."""
        self._background.mark, self._background.left = mark, left

    @property
    def most_bytes(self) -> int:
        return self._settings.user_mb * MEGABYTE

    async def run(
        self,
        store: Store,
        blobs: Blobs,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        self.storage.use(store, blobs)
        await self._background.run(task_status=task_status)

    async def create(self, body: ResponseBody, find: FindAsked) -> Response:
        """The answer to a request: a stream, the whole response, or one that has only begun. Raises Problem."""
        if body.background:
            return await self._begin(await find())

        async def prepare() -> PreparedResponse:
            # Within the answer: a model that is loaded first takes a while, in which a stream is kept alive.
            return await self.preparation.prepare(await find())

        if not body.stream:
            return whole_response(self._writer, prepare)
        streamed = StreamedResponse(self._writer, prepare)
        return EventStream(streamed.source(), streamed, failure=streamed.failure)

    async def count(self, asked: AskedResponse) -> dict[str, Any]:
        """How many tokens the input has. Raises Problem."""
        if "count" not in asked.card.verbs:
            raise Unsupported(f"The tokens of the model {asked.card.name} cannot be counted.", param="model")
        counted = await self.preparation.count(asked)
        return {"object": "response.input_tokens", "input_tokens": counted.tokens}

    async def get(self, user: str, id: str) -> dict[str, Any]:
        """A stored response as it is now. Raises NotFound."""
        stored = await self.storage.responses.get(user, id)
        job = self._background.find(user, id) if stored.status in RUNNING else None
        if job is not None and not job.ended.is_set():
            return {**stored.response, "output": job.encoder.output}
        if stored.status in RUNNING:
            stored = await self.storage.responses.get(user, id)  # it may have ended meanwhile
        if stored.status in RUNNING and job is not None:
            return {**job.encoder.response, "output": job.encoder.output}  # its end is not stored yet
        response = stored.response
        if stored.status in RUNNING:
            response = failed_after(response, RESTARTED, RESTARTED_SENTENCE)
        items = await self.storage.responses.items(user, id)
        return {**response, "output": [stored.item for stored in items if stored.side == "output"]}

    async def watch(self, user: str, id: str, after: int) -> Response:
        """The events of a response in the background after number `after`. Raises NotFound, BadRequest."""
        stored = await self.storage.responses.get(user, id)
        job = self._background.find(user, id)
        if job is None:
            reason = "has no events any more" if stored.background else "did not run in the background"
            raise BadRequest(
                f"The response {id!r} {reason}; read it without stream.",
                code="response_not_streamable",
                param="stream",
            )
        return resumable_stream(job.frames(after))

    async def cancel(self, user: str, id: str) -> dict[str, Any]:
        """End a response that runs in the background; one that has ended stays as it is. Raises NotFound, BadRequest."""
        stored = await self._in_background(user, id)
        await self._background.cancel(user, stored.id)
        return await self.get(user, id)

    async def delete(self, user: str, id: str) -> None:
        """Raises NotFound."""
        await self.storage.responses.get(user, id)
        await self._background.cancel(user, id)
        await self.storage.responses.delete(user, id)
        self._background.forget(user, id)

    async def _in_background(self, user: str, id: str) -> StoredResponse:
        stored = await self.storage.responses.get(user, id)
        if not stored.background:
            raise BadRequest(
                f"The response {id!r} did not run in the background; only those can be cancelled.",
                code="response_not_cancellable",
            )
        return stored

    async def _begin(self, asked: AskedResponse) -> Response:
        self._background.check_room(asked.user)
        job = await self._background.begin(await self.preparation.prepare(asked))
        if asked.body.stream:
            return resumable_stream(job.frames())
        return answer(await self.get(asked.user, asked.id))

    async def _keep(self, prepared: PreparedResponse, encoder: ResponseEncoder) -> None:
        """Store a response that has ended."""
        asked = prepared.asked
        if not asked.body.store:
            return
        rows = self.storage.responses
        stored, output = stored_response(prepared, encoder.response), output_items(encoder.output)
        # A client that cancels a response meanwhile gets it as it was stored, with its last events.
        with anyio.CancelScope(shield=True):
            if asked.body.background:
                await rows.finish(stored, prepared.given, output)
            else:
                await rows.add(stored, [*prepared.given, *output])
            await rows.make_room(asked.user, self.most_bytes)
