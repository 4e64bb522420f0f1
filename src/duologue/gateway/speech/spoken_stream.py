"""A reply with its sound: what the model writes is spoken while it is written, and both come as one stream of events.

Owns the two that run side by side, and that the end of the reply is told after the end of its sound. The model's slot is
free as soon as the text is there. Knows no dialect.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from duologue.errors import EngineFailed, Problem
from duologue.gateway.scheduling.generate import Batch
from duologue.gateway.speech.service import OpenSpeech, SpeechService
from duologue.values.events import AudioDelta, Done, Failed, TextDelta
from duologue.values.speech import SpeechRequest

log = logging.getLogger(__name__)

WAITING = 16
"""Batches that may wait to be taken; a slow client holds up the model and the voice."""


class SpokenStream:
    """The batches of one reply, sound (`AudioDelta`) among them. `trouble`: why there is no sound, or no more of it."""

    def __init__(self, batches: MemoryObjectReceiveStream[Batch]) -> None:
        self._batches = batches
        self.trouble: Problem | None = None

    def __aiter__(self) -> AsyncIterator[Batch]:
        return self._batches

    async def aclose(self) -> None:
        await self._batches.aclose()


@asynccontextmanager
async def with_speech(
    source: AbstractAsyncContextManager[AsyncIterator[Batch]],
    speech: SpeechService,
    asked: SpeechRequest,
    request_id: str = "",
    *,
    needed: bool = False,
) -> AsyncIterator[SpokenStream]:
    """The one choice of `source`, spoken as `asked` says. A voice that fails leaves the text alone, unless it is `needed`:
    then the reply fails with it. Leaving ends both."""
    send, receive = anyio.create_memory_object_stream[Batch](WAITING)
    reply = SpokenStream(receive)
    work = _Work(source, speech, asked, request_id, reply, send, needed)
    try:
        async with send, receive, anyio.create_task_group() as tasks:
            tasks.start_soon(work.read)
            tasks.start_soon(work.speak)
            yield reply
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # The tasks tell what goes wrong with them as events: what is here is the caller's own, and goes on as it came.
        if len(group.exceptions) == 1:
            raise group.exceptions[0] from None
        raise


class _Work:
    """Reading what the model says, and having it spoken."""

    def __init__(
        self,
        source: AbstractAsyncContextManager[AsyncIterator[Batch]],
        speech: SpeechService,
        asked: SpeechRequest,
        request_id: str,
        reply: SpokenStream,
        send: MemoryObjectSendStream[Batch],
        needed: bool,
    ) -> None:
        self._source, self._speech, self._asked = source, speech, asked
        self._request_id, self._reply, self._send = request_id, reply, send
        self._needed = needed
        self._text = ""
        self._over = False
        self._written = anyio.Event()
        self._spoken = anyio.Event()
        self._speaking: OpenSpeech | None = None

    async def read(self) -> None:
        """Pass on what the model says; its end comes after that of the sound."""
        end: Batch = []
        try:
            async with self._source as batches:
                async for batch in batches:
                    end = [entry for entry in batch if isinstance(entry[1], Done)]
                    self._say("".join(event.text for _, event in batch if isinstance(event, TextDelta)))
                    if told := [entry for entry in batch if not isinstance(entry[1], Done)]:
                        await self._send.send(told)
                    if end or any(isinstance(event, Failed) for _, event in batch):
                        break
        except Exception as error:
            if not isinstance(error, Problem):
                log.exception("the reply of request %s failed", self._request_id)
                error = EngineFailed("Something broke inside the server.", code="internal_error")
            await self._fail(error)
            return
        if end:
            self._say("", last=True)
            await self._spoken.wait()
            await self._send.send(end)
        # The end of the stream is what a reader waits for, and the other task holds it open no longer than this one.
        await self._send.aclose()

    async def speak(self) -> None:
        """Have the text spoken, from its first words on; without any there is no seat taken."""
        await self._written.wait()
        try:
            if self._text:
                await self._have_spoken()
        except anyio.ClosedResourceError:
            log.debug("request %s has ended before its sound", self._request_id)
        except Exception as error:
            if not isinstance(error, Problem):
                log.exception("the sound of request %s failed", self._request_id)
                error = EngineFailed("The voice failed. The server's log has the reason.")
            self._reply.trouble = error
            if self._needed:
                await self._fail(error)
        self._spoken.set()

    async def _have_spoken(self) -> None:
        async with self._speech.speak(self._asked, self._request_id) as speaking:
            speaking.write(self._text, last=self._over)
            self._speaking = speaking
            try:
                async with aclosing(speaking.sounds()) as sounds:
                    async for sound in sounds:
                        await self._send.send([(0, AudioDelta(sound.pcm, sound.words))])
            finally:
                self._speaking = None

    def _say(self, text: str, *, last: bool = False) -> None:
        self._over = self._over or last
        if self._speaking is not None and (text or last):
            self._speaking.write(text, last=last)
        elif self._reply.trouble is None:
            self._text += text
        if self._text or last:
            self._written.set()

    async def _fail(self, problem: Problem) -> None:
        try:
            await self._send.send([(0, Failed(problem.code, problem.message, problem.status, problem.param))])
        except anyio.ClosedResourceError:
            log.debug("request %s has ended before its failure: %s", self._request_id, problem.message)
