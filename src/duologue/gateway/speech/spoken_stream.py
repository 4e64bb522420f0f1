"""A spoken reply: the model's text is synthesised while it is written, and both arrive as one stream of events.

Owns the two tasks side by side, and that the reply's `Done` comes after the end of its sound. The model's slot is free as
soon as the text is complete. Called by `gateway.dialects.reply`.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from duologue.errors import EngineFailed, Problem
from duologue.gateway.speech.service import OpenSpeech, SpeechService
from duologue.values.events import AudioDelta, Done, Failed, TextDelta
from duologue.values.generate import Batch
from duologue.values.speech import SpeechRequest

log = logging.getLogger(__name__)

BUFFERED = 16
"""Batches that may wait for the client. When the buffer is full, a slow client slows down the model and the voice."""


class SpokenStream(AsyncIterator[Batch]):
    """The batches of one reply, sound (`AudioDelta`) among them. `problem`: why there is no sound, or no more of it."""

    def __init__(self, batches: MemoryObjectReceiveStream[Batch]) -> None:
        self._batches = batches
        self.problem: Problem | None = None

    async def __anext__(self) -> Batch:
        return await self._batches.__anext__()

    async def aclose(self) -> None:
        await self._batches.aclose()


@asynccontextmanager
async def with_speech(
    source: AbstractAsyncContextManager[AsyncIterator[Batch]],
    speech: SpeechService,
    request: SpeechRequest,
    request_id: str = "",
    *,
    required: bool = False,
    user: str = "local",
) -> AsyncIterator[SpokenStream]:
    """The only choice of `source`, spoken as `request` says, for this user. If the synthesis fails, the text goes on without it; with
    `required` the whole reply fails. Leaving the context cancels both."""
    send, receive = anyio.create_memory_object_stream[Batch](BUFFERED)
    reply = SpokenStream(receive)
    spoken = _SpokenReply(source, speech, request, request_id, reply, send, required, user)
    try:
        async with send, receive, anyio.create_task_group() as tasks:
            tasks.start_soon(spoken.read)
            tasks.start_soon(spoken.speak)
            yield reply
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # The two tasks report their failures as events, so an exception here is the caller's own: raise it as it was.
        if len(group.exceptions) == 1:
            raise group.exceptions[0] from None
        raise


class _SpokenReply:
    """The two tasks of a spoken reply: one reads the model's events, one has the text spoken."""

    def __init__(
        self,
        source: AbstractAsyncContextManager[AsyncIterator[Batch]],
        speech: SpeechService,
        request: SpeechRequest,
        request_id: str,
        reply: SpokenStream,
        send: MemoryObjectSendStream[Batch],
        required: bool,
        user: str,
    ) -> None:
        self._source, self._speech, self._request, self._user = source, speech, request, user
        self._request_id, self._reply, self._send = request_id, reply, send
        self._required = required
        self._text = ""
        self._text_complete = False
        self._text_available = anyio.Event()
        self._speech_ended = anyio.Event()
        self._open_speech: OpenSpeech | None = None

    async def read(self) -> None:
        """Pass on the model's events; its `Done` is held back until the sound has ended."""
        end: Batch = []
        try:
            async with self._source as batches:
                async for batch in batches:
                    end = [entry for entry in batch if isinstance(entry[1], Done)]
                    self._write("".join(event.text for _, event in batch if isinstance(event, TextDelta)))
                    if others := [entry for entry in batch if not isinstance(entry[1], Done)]:
                        await self._send.send(others)
                    if end or any(isinstance(event, Failed) for _, event in batch):
                        break
        except Exception as error:
            if not isinstance(error, Problem):
                log.exception("the reply of request %s failed", self._request_id)
                error = EngineFailed("An internal error occurred.", code="internal_error", status=500)
            await self._fail(error)
            return
        if end:
            self._write("", last=True)
            await self._speech_ended.wait()
            await self._send.send(end)
        # Closing ends the reader's iteration; if the model failed, it also stops the other task, which is still speaking.
        await self._send.aclose()

    async def speak(self) -> None:
        """Synthesise the text from its first words on. A reply without text takes no seat."""
        await self._text_available.wait()
        try:
            if self._text:
                await self._synthesise()
        except anyio.ClosedResourceError:
            log.debug("request %s ended before its sound", self._request_id)
        except Exception as error:
            if not isinstance(error, Problem):
                log.exception("speech of request %s failed", self._request_id)
                error = EngineFailed("The voice failed. The server's log has the reason.")
            self._reply.problem = error
            if self._required:
                await self._fail(error)
        self._speech_ended.set()

    async def _synthesise(self) -> None:
        async with self._speech.speak(self._request, self._request_id, user=self._user) as open_speech:
            open_speech.write(self._text, last=self._text_complete)
            self._open_speech = open_speech
            try:
                async with aclosing(open_speech.sounds()) as sounds:
                    async for sound in sounds:
                        await self._send.send([(0, AudioDelta(sound.pcm, sound.words, sound.mouth))])
            finally:
                self._open_speech = None

    def _write(self, text: str, *, last: bool = False) -> None:
        self._text_complete = self._text_complete or last
        if self._open_speech is not None and (text or last):
            self._open_speech.write(text, last=last)
        elif self._reply.problem is None:
            self._text += text
        if self._text or last:
            self._text_available.set()

    async def _fail(self, problem: Problem) -> None:
        try:
            await self._send.send(
                [
                    (
                        0,
                        Failed(
                            problem.code, problem.message, problem.status, problem.param, problem.retry_after
                        ),
                    )
                ]
            )
        except anyio.ClosedResourceError:
            log.debug(
                "request %s ended before its failure could be sent: %s", self._request_id, problem.message
            )
