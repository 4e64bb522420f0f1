"""Answers that begin before the model of their reply is known: it may have to be loaded first, which takes minutes.

A dialect passes `prepare`, which finds the model and plans the reply, and how to write the reply down once that is done. It runs within
the answer: a stream is kept alive meanwhile, a client that leaves ends it, and an early error keeps its HTTP status. Used by the dialects
that name the model, or what it can do, in all that they write.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from duologue.gateway.dialects.merged_replies import Source
from duologue.gateway.dialects.whole_replies import WholeBody, WholeReply
from duologue.http.sse import Encoder, EventStream, Placed, failure_frame
from duologue.values.generate import Batch

WAITING = b": waiting\n\n"

Found = TypeVar("Found")
Writer = TypeVar("Writer")

Prepare = Callable[[], Awaitable[tuple[Source, Found]]]
"""Makes the batches of a reply, and whatever its writer has to know of the model. Raises Problem."""


def awaited_stream(
    prepare: Prepare[Found],
    encoder: Callable[[Found], Encoder[Batch]],
    *,
    patience: float,
    keep_alive: float,
    note: bytes = WAITING,
    failure: Callable[[Mapping[str, Any]], bytes] = failure_frame,
    media_type: str | None = None,
    placed: Placed | None = None,
) -> EventStream[Batch]:
    """A stream of the reply. `note` breaks the silence until there is an encoder with a note of its own; the rest is for `EventStream`."""
    stream = _AwaitedStream(prepare, encoder, note)
    return EventStream(
        stream.source(),
        stream,
        patience=patience,
        keep_alive=keep_alive,
        failure=failure,
        media_type=media_type,
        placed=placed,
    )


def awaited_whole(prepare: Prepare[Found], body: Callable[[Found], WholeBody]) -> WholeReply:
    """The whole reply at its end."""
    whole = _AwaitedWhole(prepare, body)
    return WholeReply(whole.source(), whole)


class _AwaitedReply(Generic[Writer]):
    """The source of a reply, and from its beginning on the writer of it."""

    def __init__(self, prepare: Prepare[Found], writer: Callable[[Found], Writer]) -> None:
        async def prepared() -> tuple[Source, Writer]:
            source, found = await prepare()
            return source, writer(found)

        self._prepared = prepared
        self._made: Writer | None = None

    @asynccontextmanager
    async def source(self) -> AsyncIterator[AsyncIterator[Batch]]:
        source, self._made = await self._prepared()
        async with source as batches:
            yield batches

    @property
    def _writer(self) -> Writer:
        assert self._made is not None  # there are no batches before
        return self._made


class _AwaitedStream(_AwaitedReply[Encoder[Batch]]):
    def __init__(
        self, prepare: Prepare[Found], encoder: Callable[[Found], Encoder[Batch]], note: bytes
    ) -> None:
        super().__init__(prepare, encoder)
        self._note = note

    @property
    def note(self) -> bytes:
        return self._note if self._made is None else self._made.note

    @property
    def ended(self) -> bool:
        return self._writer.ended

    def encode(self, item: Batch) -> bytes:
        return self._writer.encode(item)

    def close(self) -> None:
        self._writer.close()


class _AwaitedWhole(_AwaitedReply[WholeBody]):
    def add(self, batch: Batch) -> None:
        self._writer.add(batch)

    def body(self) -> bytes:
        return self._writer.body()
