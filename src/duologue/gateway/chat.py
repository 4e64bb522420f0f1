"""The chat socket, `/ws/chat`.

Owns one socket's life: requests that follow each other, one at a time; the cancel in between; the time it may be
silent; its close. What the messages look like is in `wire.chat`.

One task reads for as long as the socket lives, so that a disconnect and a cancel are noticed while a request waits or
runs; the running request is its child. The generation is awaited only as fast as its client takes the messages.
"""

from __future__ import annotations

import logging
import math

import anyio
from anyio.abc import TaskGroup
from fastapi import APIRouter, WebSocket
from msgspec import Struct
from starlette.websockets import WebSocketDisconnect

from duologue.config.settings import Chat, Limits
from duologue.errors import Busy, Problem
from duologue.gateway.models import Models, admit
from duologue.gateway.problems import problem_body, request_id_of
from duologue.gateway.relay import Generate
from duologue.values.requests import ChatRequest
from duologue.wire import chat
from duologue.wire.body import MEGABYTE

log = logging.getLogger(__name__)

NORMAL, SILENT, TOO_LARGE = 1000, 1008, 1009


def router(
    generate: Generate,
    models: Models,
    *,
    limits: Limits | None = None,
    timeouts: Chat | None = None,
) -> APIRouter:
    """The endpoint, over whatever generates."""
    routes = APIRouter()

    @routes.websocket("/ws/chat")
    async def chat_socket(socket: WebSocket) -> None:
        await ChatSocket(socket, generate, models, limits or Limits(), timeouts or Chat()).serve()

    return routes


class _Running(Struct):
    id: chat.Id
    scope: anyio.CancelScope


class _Left(Exception):
    """The socket is to be left; `code` is None when the client has left it already."""

    def __init__(self, code: int | None = None, reason: str = "") -> None:
        self.code, self.reason = code, reason


class ChatSocket:
    """One client's socket, from accept to close."""

    def __init__(
        self, socket: WebSocket, generate: Generate, models: Models, limits: Limits, timeouts: Chat
    ) -> None:
        self._socket, self._generate, self._models = socket, generate, models
        self._limits, self._timeouts = limits, timeouts
        self._request_id = request_id_of(socket.scope)
        self._running: _Running | None = None
        self._listening = anyio.CancelScope()
        self._deadline = math.inf
        self._silence = _Left(SILENT, "nothing was sent")
        self._deaf = False

    async def serve(self) -> None:
        await self._socket.accept()
        self._deadline = anyio.current_time() + self._timeouts.first_frame_s
        left = _Left()
        async with anyio.create_task_group() as group:
            try:
                while True:
                    await self._take(await self._receive(), group)
            except _Left as reason:
                left = reason
            except WebSocketDisconnect:
                pass
            group.cancel_scope.cancel()
        if left.code is not None:
            await self._socket.close(left.code, left.reason)

    async def _receive(self) -> str | bytes:
        """The next frame, text or binary. Raises _Left when the client left or was silent for too long."""
        with anyio.CancelScope(deadline=self._deadline) as self._listening:
            message = await self._socket.receive()
        if self._listening.cancelled_caught:
            raise self._silence
        if message["type"] == "websocket.disconnect":
            raise _Left
        frame: str | bytes | None = message.get("text")
        return frame if frame is not None else bytes(message["bytes"])

    async def _take(self, frame: str | bytes, group: TaskGroup) -> None:
        if len(frame) > self._limits.body_mb * MEGABYTE:
            sentence = f"A message may have {self._limits.body_mb} MB (setting limits.body_mb)."
            await self._say(chat.error_message(Problem(sentence, code="too_large")))
            raise _Left(TOO_LARGE, "message too large")
        if isinstance(frame, bytes):
            # Sound comes 50 frames a second: it is told once that nobody listens.
            if not self._deaf:
                self._deaf = True
                await self._say(chat.error_message(chat.voice_unavailable()))
            return
        envelope = None
        try:
            envelope = chat.open_frame(frame)
            if envelope.kind == "voice":
                raise chat.voice_unavailable()
            if envelope.kind == "cancel":
                self._cancel(envelope.id)
            else:
                self._begin(envelope, group)
        except Problem as problem:
            await self._say(chat.error_message(problem, envelope.id if envelope else None))
        if self._running is None:
            self._wait_for_the_next()

    def _begin(self, envelope: chat.Envelope, group: TaskGroup) -> None:
        """Start the request. Raises Problem when it is not right, or while another one runs."""
        if self._running is not None:
            raise Busy("A request is running on this socket already; wait for its end, or cancel it.")
        frame = chat.decode(envelope.body, self._limits)
        card = self._models.resolve(frame.request.model)
        request = admit(card, frame.request)
        encoder = chat.ChatEncoder(frame, card.name, envelope.id)
        self._running = _Running(envelope.id, anyio.CancelScope())
        self._deadline = math.inf
        group.start_soon(self._answer, request, encoder, self._running.scope, group.cancel_scope)

    async def _answer(
        self,
        request: ChatRequest,
        encoder: chat.ChatEncoder,
        scope: anyio.CancelScope,
        socket_scope: anyio.CancelScope,
    ) -> None:
        """Run one request to its end, its cancel or the client's leaving.

        The last message is held back until the slot was given back: a client that asks again at once finds it free.
        """
        unsent: list[str] = []
        state = self._socket.scope.get("state", {})
        try:
            with scope:
                async with self._generate(
                    request, request_id=self._request_id, user=state.get("user", "local")
                ) as batches:
                    async for batch in batches:
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
            log.exception("request %s failed", self._request_id)
            if not encoder.ended:
                said = problem_body(error, self._socket.scope["path"], self._request_id)["error"]
                unsent.append(encoder.error(Problem(said["message"], code=said["code"])))
        self._running = None
        self._wait_for_the_next()
        for message in unsent:
            await self._say(message)

    def _cancel(self, id: chat.Id) -> None:
        """End the running request. A cancel that names another one, or crosses the end, is none."""
        if self._running is not None and id in (None, self._running.id):
            self._running.scope.cancel()

    def _wait_for_the_next(self) -> None:
        self._deadline = self._listening.deadline = anyio.current_time() + self._timeouts.idle_s
        self._silence = _Left(NORMAL, "idle")

    async def _say(self, message: str) -> None:
        await self._socket.send_text(message)
