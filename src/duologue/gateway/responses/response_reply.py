"""A response while it is written: the reply's events as those of the API, stored before the last one is sent.

`ResponseWriter` does that for the foreground and the background; what follows are the foreground's answers: a stream, and the whole
response at its end. Used by `service`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

import msgspec

from duologue.errors import Problem
from duologue.gateway.dialects.reply import ReplyPipeline
from duologue.gateway.dialects.whole_replies import written
from duologue.gateway.responses.preparation import PreparedResponse
from duologue.http.whole_answer import WholeAnswer
from duologue.values.events import Failed
from duologue.wire.collected_reply import broken_off, problem
from duologue.wire.responses.response_body import SEALED_THOUGHTS
from duologue.wire.responses.response_stream import ResponseEncoder, ResponseEvent

Events = list[ResponseEvent]
Keep = Callable[[PreparedResponse, ResponseEncoder], Awaitable[None]]


class ResponseWriter:
    """`keep` stores a response that has ended; `clock` gives seconds since 1970."""

    def __init__(self, pipeline: ReplyPipeline, keep: Keep, clock: Callable[[], float]) -> None:
        self._pipeline, self._keep, self._clock = pipeline, keep, clock

    def encoder(self, prepared: PreparedResponse, *, streams: bool) -> ResponseEncoder:
        body = prepared.asked.body
        return ResponseEncoder(
            prepared.fixed,
            streams=streams,
            summary=body.wants_summary,
            sealed=SEALED_THOUGHTS in body.include,
            logprobs=body.logprobs is not None,
            called_tools=body.called_tools,
        )

    async def write(self, prepared: PreparedResponse, encoder: ResponseEncoder) -> AsyncGenerator[Events]:
        """The events, until the response has ended. Raises Problem for a failure before the first one."""
        try:
            async with aclosing(self._written(prepared, encoder)) as batches:
                async for events in batches:
                    yield events
        except Problem as error:
            failed = Failed(error.code, error.message, error.status, error.param, error.retry_after)
            events = [] if encoder.ended else encoder.feed(failed, int(self._clock()))
            if not events:
                raise
            if encoder.streams:
                await self._keep(prepared, encoder)
            yield events

    async def _written(self, prepared: PreparedResponse, encoder: ResponseEncoder) -> AsyncGenerator[Events]:
        async with self._pipeline.run(prepared.plan) as batches:
            async for batch in batches:
                events: Events = []
                for _, event in batch:
                    if not encoder.ended:
                        events += encoder.feed(event, int(self._clock()))
                if encoder.failed is not None and not encoder.created:
                    raise problem(encoder.failed)
                # Nobody learns the id of a response that failed before anything of it was sent.
                if encoder.ended and (encoder.streams or encoder.failed is None):
                    await self._keep(prepared, encoder)
                if events:
                    yield events
                if encoder.ended:
                    return
        raise broken_off()


class StreamedResponse:
    """A response as server-sent events: the source of an `EventStream`, and its encoder. `prepare` runs within the stream, because
    fetching what a request names takes a while."""

    def __init__(self, writer: ResponseWriter, prepare: Callable[[], Awaitable[PreparedResponse]]) -> None:
        self._writer, self._prepare = writer, prepare
        self._encoder: ResponseEncoder | None = None
        self._next = 0
        self.ended = False

    @asynccontextmanager
    async def source(self) -> AsyncIterator[AsyncIterator[Events]]:
        prepared = await self._prepare()
        self._encoder = self._writer.encoder(prepared, streams=True)
        async with aclosing(self._writer.write(prepared, self._encoder)) as events:
            yield events

    @property
    def note(self) -> bytes:
        return b": waiting\n\n" if self._encoder is None else self._encoder.note

    def encode(self, item: Events) -> bytes:
        self._next = item[-1].number + 1
        self.ended = item[-1].final
        return b"".join(event.frame for event in item)

    def close(self) -> None:
        if not self.ended:
            raise broken_off()

    def failure(self, body: Mapping[str, Any]) -> bytes:
        """How the stream ends after an error that the response itself does not tell."""
        error = {name: body["error"].get(name) for name in ("code", "message", "param")}
        data = {"type": "error", "sequence_number": self._next, **error}
        return b"event: error\ndata: %b\n\n" % json.dumps(data).encode()


def whole_response(writer: ResponseWriter, prepare: Callable[[], Awaitable[PreparedResponse]]) -> WholeAnswer:
    """Answers when the response has ended; a client that leaves earlier cancels it."""

    async def work() -> bytes:
        prepared = await prepare()
        encoder = writer.encoder(prepared, streams=False)
        count = 0
        async with aclosing(writer.write(prepared, encoder)) as batches:
            async for _ in batches:
                count += 1  # one for each event that came
        if encoder.failed is not None:
            raise problem(encoder.failed)
        return await written(count, lambda: msgspec.json.encode(encoder.response))

    return WholeAnswer(work)
