"""The chat socket, `/ws/chat`.

Owns one socket's life: its requests, one at a time; cancelling; the idle timeouts; its close. Two kinds of clients connect to
this address: when the first message belongs to a call, the socket is handed over to `VoiceSocket`. Messages are in
`wire.chat` and `wire.chat_reply`, the pipeline in `reply`.

One task reads for as long as the socket lives, so that a disconnect and a cancel are noticed while a request waits or
runs; the running request is its child. A client that reads slowly slows its generation down.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskGroup
from fastapi import APIRouter, WebSocket
from msgspec import Struct
from starlette.websockets import WebSocketDisconnect

from duologue.config.settings import Chat, LimitSettings
from duologue.errors import Busy, Problem, Unsupported
from duologue.gateway.apps.app_notice import app_disabled_message
from duologue.gateway.apps.app_registry import AppRegistry
from duologue.gateway.apps.modes import SWITCHED_OFF
from duologue.gateway.calls.call_services import CallServices
from duologue.gateway.calls.voice_socket import VoiceSocket
from duologue.gateway.dialects.recorded_chat import RecordedChat
from duologue.gateway.dialects.reply import ReplyPipeline, ReplyPlan
from duologue.gateway.dialects.reply_times import ReplyTimes
from duologue.gateway.middleware.socket_answers import answering
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.scheduling.voice_seats import NO_VOICE
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.speech.spoken_stream import SpokenStream
from duologue.http.error_responses import problem_body, request_id_of
from duologue.request_parsing import parsing
from duologue.values.generate import Generate
from duologue.values.messages import Message
from duologue.values.requests import ModelCard
from duologue.wire import chat, chat_reply
from duologue.wire.calls.video_messages import video_mode_message
from duologue.wire.calls.voice import state_message
from duologue.wire.validation import MEGABYTE

log = logging.getLogger(__name__)

NORMAL, SILENT, TOO_LARGE = 1000, 1008, 1009
GREETING_DELAY = 0.25
"""Seconds of silence after which a socket is greeted as a call: call clients wait for the greeting, chat clients ignore it."""
CALLS_ELSEWHERE = (
    "This socket does not take audio or calls. Calls have their own socket, /ws/voice; the setting chat.socket says what this "
    "one accepts."
)


def router(
    generate: Generate,
    models: ModelRegistry,
    *,
    limits: LimitSettings | None = None,
    timeouts: Chat | None = None,
    speech: SpeechService | None = None,
    call_services: CallServices | None = None,
    apps: AppRegistry | None = None,
    requested: RequestedModels | None = None,
    accept: Callable[[], None] = lambda: None,
) -> APIRouter:
    """The endpoint. Without `call_services` it takes no calls, without `requested` a request loads no model. `accept` raises Problem while no
    new work is taken."""
    routes = APIRouter()
    services = _ChatServices(
        ReplyPipeline(generate, speech or SpeechService(None)),
        requested or RequestedModels(models),
        limits or LimitSettings(),
        timeouts or Chat(),
        call_services,
        apps or AppRegistry(),
        accept,
    )

    @routes.websocket("/ws/chat")
    async def chat_socket(socket: WebSocket) -> None:
        await ChatSocket(socket, services).serve()

    return routes


class _ChatServices(Struct, frozen=True):
    """What every socket needs."""

    pipeline: ReplyPipeline
    models: RequestedModels
    limits: LimitSettings
    timeouts: Chat
    calls: CallServices | None
    apps: AppRegistry
    accept: Callable[[], None]

    @property
    def has_voice(self) -> bool:
        return self.calls is not None and self.calls.has_calls

    @property
    def takes_calls(self) -> bool:
        return self.has_voice and self.timeouts.socket != "chat"


class _RunningRequest(Struct):
    id: chat.Id
    scope: anyio.CancelScope


class _Leave(Exception):
    """Leave the socket; `code` is None when the client has left already."""

    def __init__(self, code: int | None = None, reason: str = "") -> None:
        self.code, self.reason = code, reason


class ChatSocket:
    """One client's socket, from accept to close, or until it turns out to be a call."""

    def __init__(self, socket: WebSocket, services: _ChatServices) -> None:
        self._socket, self._services = socket, services
        self._limits, self._timeouts = services.limits, services.timeouts
        self._request_id = request_id_of(socket.scope)
        self._user = str(socket.scope.get("state", {}).get("user", "local"))
        self._first: Any = None
        self._running: _RunningRequest | None = None
        self._receiving = anyio.CancelScope()
        self._deadline = math.inf
        self._timeout = _Leave(SILENT, "nothing was sent")
        self._audio_refused = False
        self._disabled = False

    async def serve(self) -> None:
        """Serve the socket until it closes."""
        await self._socket.accept()
        calls = self._services.calls
        if self._timeouts.socket == "voice" and calls is not None:
            await VoiceSocket(self._socket, calls).serve(greet=True)
            return
        self._deadline = anyio.current_time() + self._timeouts.first_frame_s
        greeted, first = False, None
        leave = _Leave()
        try:
            if self._services.takes_calls:
                greeted = await self._greet()
                first = await self._receive()
        except _Leave as reason:
            leave = reason
        except WebSocketDisconnect:
            return
        else:
            if first is not None and calls is not None and chat.begins_call(first):
                await VoiceSocket(self._socket, calls).serve([first], greet=not greeted)
                return
            leave = await self._serve_requests(first)
        if leave.code is not None:
            with suppress(WebSocketDisconnect):
                await self._socket.close(leave.code, leave.reason)

    async def _serve_requests(self, first: str | bytes | None) -> _Leave:
        """Answer requests until the socket is to be left; returns how."""
        leave = _Leave()
        async with anyio.create_task_group() as group:
            group.start_soon(self._end_when_disabled, group.cancel_scope)
            try:
                if first is not None:
                    await self._take(first, group)
                while True:
                    await self._take(await self._receive(), group)
            except _Leave as reason:
                leave = reason
            except WebSocketDisconnect:
                pass
            group.cancel_scope.cancel()
        return leave

    async def _greet(self) -> bool:
        """Greet a socket that is silent at first, as call clients expect. True when it was greeted; otherwise its first message
        waits for `_receive`."""
        with anyio.move_on_after(GREETING_DELAY):
            self._first = await self._socket.receive()
            return False
        await self._send(state_message("listening"))
        calls = self._services.calls
        await self._send(video_mode_message(calls.video.offer()) if calls else video_mode_message())
        return True

    async def _receive(self) -> str | bytes:
        """The next frame, text or binary. Raises _Leave when the client left or was silent for too long."""
        message, self._first = self._first, None
        with anyio.CancelScope(deadline=self._deadline) as self._receiving:
            if message is None:
                message = await self._socket.receive()
        if self._receiving.cancelled_caught:
            raise self._timeout
        if message is None or message["type"] == "websocket.disconnect":
            raise _Leave
        frame: str | bytes | None = message.get("text")
        return frame if frame is not None else bytes(message["bytes"])

    async def _take(self, frame: str | bytes, group: TaskGroup) -> None:
        if len(frame) > self._limits.body_mb * MEGABYTE:
            sentence = f"A message may have at most {self._limits.body_mb} MB (setting limits.body_mb)."
            await self._send(chat_reply.error_message(Problem(sentence, code="too_large")))
            raise _Leave(TOO_LARGE, "message too large")
        if isinstance(frame, bytes):
            # Sound arrives at 50 frames a second: one error is enough.
            if not self._audio_refused:
                self._audio_refused = True
                await self._send(chat_reply.error_message(self._calls_refused()))
            return
        header = None
        try:
            header = await parsing(len(frame), chat.open_frame, frame, user=self._user)
            if header.kind == "voice":
                raise self._calls_refused()
            if header.kind == "cancel":
                self._cancel(header.id)
            else:
                await self._begin(header, len(frame), group)
        except Problem as problem:
            await self._send(chat_reply.error_message(problem, header.id if header else None))
            if problem.code == SWITCHED_OFF:
                raise _Leave(SILENT, problem.code) from None
        if self._running is None:
            self._start_idle_timer()

    def _calls_refused(self) -> Problem:
        """The error for sound and for the messages of a call."""
        sentence = CALLS_ELSEWHERE if self._services.has_voice else NO_VOICE
        return Unsupported(sentence, code="voice_unavailable")

    async def _begin(self, header: chat.FrameHeader, size: int, group: TaskGroup) -> None:
        """Start the request, whose frame had `size` characters. Raises Problem when it is invalid, or while another one runs."""
        if self._running is not None:
            raise Busy("A request is already running on this socket; wait for its end, or cancel it.")
        self._services.accept()
        self._services.apps.require("turnbased")
        frame = await parsing(size, chat.decode, header.body, self._limits, user=self._user)
        card = self._services.models.loaded(frame.request.model)
        prepared = None if card is None else await self._prepare(frame, card, header.id)
        self._running = _RunningRequest(header.id, anyio.CancelScope())
        self._deadline = math.inf
        scopes = (self._running.scope, group.cancel_scope)
        if prepared is not None:
            group.start_soon(self._until_answered, self._answer, *prepared, *scopes)
        else:
            group.start_soon(self._until_answered, self._load_and_answer, frame, header.id, *scopes)

    async def _until_answered(self, answer: Callable[..., Awaitable[None]], *about: Any) -> None:
        """Answer a request. A server that stops leaves the socket open until its last message was sent."""
        with answering(self._socket.scope):
            await answer(*about)

    async def _prepare(
        self, frame: chat.ChatFrame, card: ModelCard, id: chat.Id
    ) -> tuple[ReplyPlan, chat_reply.ChatEncoder, Message | None]:
        """The plan of a request, what encodes its reply, and what is to be recorded with it. Raises Problem."""
        pipeline = self._services.pipeline
        request = frame.request
        speech, choice = await pipeline.choose_voice(
            card, frame.speech, request.messages, self._user, frame.recording
        )
        if frame.recording is not None and choice is not None and choice.sample is None:
            request = msgspec.structs.replace(request, unapplied=(*request.unapplied, chat.RECORDING))
        plan = pipeline.plan(card, request, speech, request_id=self._request_id, user=self._user)
        encoder = chat_reply.ChatEncoder(frame, card.name, id)
        if choice is not None:
            encoder.set_voice(choice.name, choice.note)
        return plan, encoder, request.messages[-1] if frame.record else None

    async def _load_and_answer(
        self, frame: chat.ChatFrame, id: chat.Id, loading: anyio.CancelScope, socket_scope: anyio.CancelScope
    ) -> None:
        """Answer once the model is found, which may have to be loaded: not in the task that reads, so that it can be cancelled."""
        times = ReplyTimes(anyio.current_time())
        prepared, message = None, ""
        try:
            with loading:
                card = await self._services.models.card(frame.request.model, self._user)
                prepared = await self._prepare(frame, card, id)
            if prepared is None:
                encoder = chat_reply.ChatEncoder(frame, frame.request.model, id)
                message = encoder.cancelled(times.timings(anyio.current_time()))
        except Problem as problem:
            message = chat_reply.error_message(problem, id)
        if prepared is not None:
            self._running = _RunningRequest(id, anyio.CancelScope())
            await self._answer(*prepared, self._running.scope, socket_scope)
            return
        self._running = None
        self._start_idle_timer()
        try:
            await self._send(message)
        except WebSocketDisconnect:
            socket_scope.cancel()

    async def _record(self, encoder: chat_reply.ChatEncoder) -> RecordedChat | None:
        """Begin the recording of a spoken chat. What keeps it from being recorded is told in `done`, and the chat goes on."""
        try:
            if self._services.calls is None:
                raise Unsupported("This server cannot record chats.", code="recording_unavailable")
            recordings = self._services.calls.recordings
            observer = await recordings.start(
                self._user, "chat", marks=False, at_once=True, on_end=lambda reason: None
            )
        except Problem as problem:
            encoder.set_recording(problem)
            return None
        recording = RecordedChat(observer)
        encoder.set_recording(recording.id)
        return recording

    async def _answer(
        self,
        plan: ReplyPlan,
        encoder: chat_reply.ChatEncoder,
        said: Message | None,
        scope: anyio.CancelScope,
        socket_scope: anyio.CancelScope,
    ) -> None:
        """Run one request until it ends, is cancelled, or the client leaves. `said`: to be recorded with its reply."""
        recording = await self._record(encoder) if said is not None else None
        try:
            if recording is not None and said is not None:
                await recording.ask(said)
            for message in await self._run(plan, encoder, recording, scope):
                await self._send(message)
        except WebSocketDisconnect:
            socket_scope.cancel()
        finally:
            if recording is not None:
                recording.close()

    async def _run(
        self,
        plan: ReplyPlan,
        encoder: chat_reply.ChatEncoder,
        recording: RecordedChat | None,
        scope: anyio.CancelScope,
    ) -> list[str]:
        """Run one request; the last messages, which are held back until the slot was given back: a client that asks again at
        once finds it free. Raises WebSocketDisconnect."""
        unsent: list[str] = []
        times = ReplyTimes(anyio.current_time())
        try:
            with scope:
                await self._stream(plan, encoder, recording, unsent, times)
            if scope.cancelled_caught and not encoder.ended:
                unsent.append(encoder.cancelled(times.timings(anyio.current_time())))
            unsent += encoder.close()
        except WebSocketDisconnect:
            raise
        except Exception as error:
            if not isinstance(error, Problem):
                log.exception("request %s failed", self._request_id)
            if not encoder.ended:
                body = problem_body(error, self._socket.scope["path"], self._request_id)["error"]
                unsent.append(encoder.error(Problem(body["message"], code=body["code"])))
        self._running = None
        self._start_idle_timer()
        return unsent

    async def _stream(
        self,
        plan: ReplyPlan,
        encoder: chat_reply.ChatEncoder,
        recording: RecordedChat | None,
        unsent: list[str],
        times: ReplyTimes,
    ) -> None:
        """Send the messages of the reply, all but the last, which stays in `unsent`."""
        async with self._services.pipeline.run(plan) as batches:
            async for batch in batches:
                if isinstance(batches, SpokenStream) and batches.problem is not None:
                    encoder.set_audio_error(batches.problem)
                times.saw((event for _, event in batch), anyio.current_time())
                if recording is not None:
                    recording.take(event for _, event in batch)
                unsent += encoder.encode(event for _, event in batch)
                while len(unsent) > encoder.ended:
                    await self._send(unsent[0])
                    # Removed only now: a cancel in the middle of the send leaves it for `_answer` to send.
                    del unsent[0]
                if encoder.ended:
                    break

    def _cancel(self, id: chat.Id) -> None:
        """Cancel the running request. Ignored when it names another one, or crosses the end on the wire."""
        if self._running is not None and id in (None, self._running.id):
            self._running.scope.cancel()

    def _start_idle_timer(self) -> None:
        idle = 0.0 if self._disabled else self._timeouts.idle_s
        self._deadline = self._receiving.deadline = anyio.current_time() + idle
        self._timeout = _Leave(NORMAL, SWITCHED_OFF if self._disabled else "idle")

    async def _end_when_disabled(self, scope: anyio.CancelScope) -> None:
        """Tell the client when chats are switched off, and have the socket closed after the running reply."""
        if not self._services.apps.is_enabled("turnbased"):
            return  # What is sent first decides whether it is a chat at all; it is refused then.
        await self._services.apps.until_disabled("turnbased")
        self._disabled = True
        try:
            await self._send(app_disabled_message("turnbased"))
        except WebSocketDisconnect:
            scope.cancel()
        if self._running is None:
            self._start_idle_timer()

    async def _send(self, message: str) -> None:
        await self._socket.send_text(message)
