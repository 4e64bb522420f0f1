"""The chat socket, `/ws/chat`.

Owns one socket's life: requests that follow each other, one at a time; the cancel in between; the time it may be
silent; its close. Two kinds of clients come to this address: by its first message a socket turns out to be a call, and is
handed over to `voice`. What the messages look like is in `wire.chat` and `wire.chat_reply`.

One task reads for as long as the socket lives, so that a disconnect and a cancel are noticed while a request waits or
runs; the running request is its child. The generation is awaited only as fast as its client takes the messages.
"""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskGroup
from fastapi import APIRouter, WebSocket
from msgspec import Struct
from starlette.websockets import WebSocketDisconnect

from duologue.config.settings import Chat, LimitSettings
from duologue.errors import Busy, Problem, Unsupported
from duologue.gateway.calls.voice_socket import CallServices, VoiceSocket
from duologue.gateway.models.registry import ModelRegistry, admit
from duologue.gateway.scheduling.generate import Batch, Generate
from duologue.gateway.scheduling.voice_seats import NO_VOICE
from duologue.gateway.speech.audio_input import AudioTranscriber, without_sound
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.speech.spoken_stream import SpokenStream, with_speech
from duologue.http.error_responses import problem_body, request_id_of
from duologue.values.requests import ChatRequest
from duologue.values.speech import SpeechRequest
from duologue.wire import chat, chat_reply
from duologue.wire.validation import MEGABYTE
from duologue.wire.voice import state_message, video_mode_message

log = logging.getLogger(__name__)

NORMAL, SILENT, TOO_LARGE = 1000, 1008, 1009
UNDECIDED = 0.25
"""Seconds a socket may say nothing before it is greeted as a call: clients of calls wait for that, others ignore it."""
NO_CALL = (
    "This socket answers messages and hears nothing. A call has a socket of its own, /ws/voice; the setting chat.socket says "
    "what this one is for."
)


def router(
    generate: Generate,
    models: ModelRegistry,
    *,
    limits: LimitSettings | None = None,
    timeouts: Chat | None = None,
    speech: SpeechService | None = None,
    board: CallServices | None = None,
    ears: AudioTranscriber | None = None,
) -> APIRouter:
    """The endpoint, over whatever generates. `board`: whoever takes calls; None: nobody does."""
    routes = APIRouter()
    voice = speech or SpeechService(None)
    desk = _Desk(
        generate,
        models,
        limits or LimitSettings(),
        timeouts or Chat(),
        voice,
        ears or AudioTranscriber(voice),
        board,
    )

    @routes.websocket("/ws/chat")
    async def chat_socket(socket: WebSocket) -> None:
        await ChatSocket(socket, desk).serve()

    return routes


class _Desk(Struct, frozen=True):
    """What every socket needs."""

    generate: Generate
    models: ModelRegistry
    limits: LimitSettings
    timeouts: Chat
    speech: SpeechService
    ears: AudioTranscriber
    board: CallServices | None

    @property
    def has_voice(self) -> bool:
        return self.board is not None and self.board.seats is not None

    @property
    def takes_calls(self) -> bool:
        return self.has_voice and self.timeouts.socket != "chat"


class _Running(Struct):
    id: chat.Id
    scope: anyio.CancelScope


class _Asked(Struct, frozen=True):
    """A request as it is to be answered. `hears`: its sound is to be written down first; `speech`: how its reply is to be
    spoken."""

    request: ChatRequest
    hears: bool
    speech: SpeechRequest | None


class _Left(Exception):
    """The socket is to be left; `code` is None when the client has left it already."""

    def __init__(self, code: int | None = None, reason: str = "") -> None:
        self.code, self.reason = code, reason


class ChatSocket:
    """One client's socket, from accept to close, or to the call it turns out to be."""

    def __init__(self, socket: WebSocket, desk: _Desk) -> None:
        self._socket, self._desk = socket, desk
        self._limits, self._timeouts = desk.limits, desk.timeouts
        self._request_id = request_id_of(socket.scope)
        self._first: Any = None
        self._running: _Running | None = None
        self._listening = anyio.CancelScope()
        self._deadline = math.inf
        self._silence = _Left(SILENT, "nothing was sent")
        self._deaf = False

    async def serve(self) -> None:
        await self._socket.accept()
        if self._timeouts.socket == "voice" and self._desk.board is not None:
            await VoiceSocket(self._socket, self._desk.board).serve(greet=True)
            return
        self._deadline = anyio.current_time() + self._timeouts.first_frame_s
        greeted, first = False, None
        left = _Left()
        try:
            if self._desk.takes_calls:
                greeted = await self._greet()
                first = await self._receive()
        except _Left as reason:
            left = reason
        except WebSocketDisconnect:
            return
        else:
            if first is not None and self._desk.board is not None and chat.begins_call(first):
                await VoiceSocket(self._socket, self._desk.board).serve([first], greet=not greeted)
                return
            left = await self._serve(first)
        if left.code is not None:
            await self._socket.close(left.code, left.reason)

    async def _serve(self, first: str | bytes | None) -> _Left:
        """Answer requests until the socket is to be left: how."""
        left = _Left()
        async with anyio.create_task_group() as group:
            try:
                if first is not None:
                    await self._take(first, group)
                while True:
                    await self._take(await self._receive(), group)
            except _Left as reason:
                left = reason
            except WebSocketDisconnect:
                pass
            group.cancel_scope.cancel()
        return left

    async def _greet(self) -> bool:
        """Greet a socket that says nothing at first, as clients of calls expect; whether it came to that. What was said
        is kept for `_receive`."""
        with anyio.move_on_after(UNDECIDED):
            self._first = await self._socket.receive()
            return False
        await self._say(state_message("listening"))
        await self._say(video_mode_message())
        return True

    async def _receive(self) -> str | bytes:
        """The next frame, text or binary. Raises _Left when the client left or was silent for too long."""
        message, self._first = self._first, None
        with anyio.CancelScope(deadline=self._deadline) as self._listening:
            if message is None:
                message = await self._socket.receive()
        if self._listening.cancelled_caught:
            raise self._silence
        if message is None or message["type"] == "websocket.disconnect":
            raise _Left
        frame: str | bytes | None = message.get("text")
        return frame if frame is not None else bytes(message["bytes"])

    async def _take(self, frame: str | bytes, group: TaskGroup) -> None:
        if len(frame) > self._limits.body_mb * MEGABYTE:
            sentence = f"A message may have {self._limits.body_mb} MB (setting limits.body_mb)."
            await self._say(chat_reply.error_message(Problem(sentence, code="too_large")))
            raise _Left(TOO_LARGE, "message too large")
        if isinstance(frame, bytes):
            # Sound comes 50 frames a second: it is told once that nobody listens.
            if not self._deaf:
                self._deaf = True
                await self._say(chat_reply.error_message(self._no_call()))
            return
        envelope = None
        try:
            envelope = chat.open_frame(frame)
            if envelope.kind == "voice":
                raise self._no_call()
            if envelope.kind == "cancel":
                self._cancel(envelope.id)
            else:
                self._begin(envelope, group)
        except Problem as problem:
            await self._say(chat_reply.error_message(problem, envelope.id if envelope else None))
        if self._running is None:
            self._wait_for_the_next()

    def _no_call(self) -> Problem:
        """The answer to sound, and to the messages of a call."""
        return Unsupported(NO_CALL if self._desk.has_voice else NO_VOICE, code="voice_unavailable")

    def _begin(self, envelope: chat.FrameHeader, group: TaskGroup) -> None:
        """Start the request. Raises Problem when it is not right, or while another one runs."""
        if self._running is not None:
            raise Busy("A request is running on this socket already; wait for its end, or cancel it.")
        frame = chat.decode(envelope.body, self._limits)
        card = self._desk.models.resolve(frame.request.model)
        asked = frame.speech
        if asked is not None:
            self._desk.speech.check_speaks()
            asked = msgspec.structs.replace(asked, voice=self._desk.speech.voice(asked.voice))
        hears = self._desk.ears.needed(card, frame.request)
        admit(card, without_sound(frame.request) if hears else frame.request)
        request = msgspec.structs.replace(frame.request, model=card.name)
        encoder = chat_reply.ChatEncoder(frame, card.name, envelope.id)
        if asked is not None:
            encoder.speaks(self._desk.speech.speaks_with(asked))
        self._running = _Running(envelope.id, anyio.CancelScope())
        self._deadline = math.inf
        group.start_soon(
            self._answer, _Asked(request, hears, asked), encoder, self._running.scope, group.cancel_scope
        )

    async def _answer(
        self,
        asked: _Asked,
        encoder: chat_reply.ChatEncoder,
        scope: anyio.CancelScope,
        socket_scope: anyio.CancelScope,
    ) -> None:
        """Run one request to its end, its cancel or the client's leaving.

        The last message is held back until the slot was given back: a client that asks again at once finds it free.
        """
        unsent: list[str] = []
        try:
            with scope:
                async with self._batches(asked, encoder) as batches:
                    async for batch in batches:
                        if isinstance(batches, SpokenStream) and batches.trouble is not None:
                            encoder.silenced(batches.trouble)
                        unsent += encoder.encode(event for _, event in batch)
                        while len(unsent) > encoder.ended:
                            await self._say(unsent[0])
                            del unsent[0]
                        if encoder.ended:
                            break
            if scope.cancelled_caught and not encoder.ended:
                unsent.append(encoder.cancelled())
            unsent += encoder.close()
        except WebSocketDisconnect:
            socket_scope.cancel()
            return
        except Exception as error:
            if not isinstance(error, Problem):
                log.exception("request %s failed", self._request_id)
            if not encoder.ended:
                said = problem_body(error, self._socket.scope["path"], self._request_id)["error"]
                unsent.append(encoder.error(Problem(said["message"], code=said["code"])))
        self._running = None
        self._wait_for_the_next()
        for message in unsent:
            await self._say(message)

    @asynccontextmanager
    async def _batches(
        self, asked: _Asked, encoder: chat_reply.ChatEncoder
    ) -> AsyncIterator[AsyncIterator[Batch] | SpokenStream]:
        """What the model says to the request, and the voice with it where that was asked for."""
        request = asked.request
        if asked.hears:
            request, heard = await self._desk.ears.hear(request, self._request_id)
            encoder.heard(heard)
        user = self._socket.scope.get("state", {}).get("user", "local")
        source = self._desk.generate(request, request_id=self._request_id, user=user)
        if asked.speech is None:
            async with source as batches:
                yield batches
        else:
            async with with_speech(source, self._desk.speech, asked.speech, self._request_id) as reply:
                yield reply

    def _cancel(self, id: chat.Id) -> None:
        """End the running request. A cancel that names another one, or crosses the end, is none."""
        if self._running is not None and id in (None, self._running.id):
            self._running.scope.cancel()

    def _wait_for_the_next(self) -> None:
        self._deadline = self._listening.deadline = anyio.current_time() + self._timeouts.idle_s
        self._silence = _Left(NORMAL, "idle")

    async def _say(self, message: str) -> None:
        await self._socket.send_text(message)
