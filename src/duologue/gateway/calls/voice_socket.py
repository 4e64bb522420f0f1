"""The voice socket, `/ws/voice`: a call over one WebSocket.

Owns the socket's life: greeting, reading, the time limits of a call, the close. Messages are in `wire.voice`, the call itself
is in `call`. `/ws/chat` hands over to it when a socket turns out to be a call.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from typing import Protocol

import anyio
import anyio.abc
import msgspec
from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect, WebSocketState

from duologue.config.settings import LimitSettings
from duologue.config.voice import VoiceSettings
from duologue.errors import Problem, Unsupported
from duologue.gateway.calls.call import Call, CallEnded
from duologue.gateway.calls.history import CallHistory, EphemeralHistory, StoredHistory, TurnStore
from duologue.gateway.calls.prefill_ahead import ReadAhead
from duologue.gateway.models.registry import ModelRegistry, admit
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.voice_seats import NO_VOICE
from duologue.http.error_responses import problem_body, request_id_of
from duologue.values import call_events
from duologue.values.generate import Generate
from duologue.values.messages import Tool
from duologue.wire import voice
from duologue.wire.validation import MEGABYTE

log = logging.getLogger(__name__)

NORMAL, SILENT, TOO_LARGE, REFUSED = 1000, 1008, 1009, 1013
MAX_AUDIO_FRAME = 64 * 1024
"""Bytes of a binary frame: two seconds. A longer one is a recording, and not a microphone."""
CHECK_INTERVAL = 5.0
"""Seconds between two checks of a call's time limits."""
LAST_MESSAGE_TIMEOUT = 2.0
"""Seconds the last message of a call may take to be sent: a client that does not read must not keep its seat."""
START_TIMEOUT = 120.0
"""Seconds a client may be silent before its call begins."""


class CallConversations(Protocol):
    """Opens the conversation of a call; `tools` are the client's own. Raises Problem where there is none."""

    async def __call__(
        self, user: str, conversation: str, model: str, tools: Sequence[Tool]
    ) -> TurnStore: ...


class CallServices:
    """What every call needs: seats, generation, models, limits. `seats` None: the server has no voice."""

    def __init__(
        self,
        seats: Pool | None,
        generate: Generate,
        models: ModelRegistry,
        *,
        settings: VoiceSettings | None = None,
        limits: LimitSettings | None = None,
        conversations: CallConversations | None = None,
        observe: Callable[[call_events.TurnFigures], None] = lambda figures: None,
        read_ahead: ReadAhead | None = None,
    ) -> None:
        self.seats, self.generate, self.models = seats, generate, models
        self.read_ahead = read_ahead
        self.settings, self.limits = settings or VoiceSettings(), limits or LimitSettings()
        self.conversations, self.observe = conversations, observe

    def context_of(self, model: str) -> int:
        """The model's context in tokens; 0 where it is unknown."""
        try:
            return self.models.resolve(model).context
        except Problem:
            return 0

    async def history(
        self, user: str, start: voice.StartCall, on_problem: Callable[[Problem], None]
    ) -> CallHistory:
        """The history a call begins with; `on_problem` is called when turns cannot be saved. Raises Problem where the model or
        the conversation does not exist."""
        if start.conversation_id:
            if self.conversations is None:
                raise Unsupported(
                    "This server has no conversations that a call could belong to.", param="conversation_id"
                )
            turns = await self.conversations(user, start.conversation_id, start.model, start.tools)
            return StoredHistory(turns, on_problem)
        card = self.models.resolve(start.model)
        history = EphemeralHistory(start.instructions, card.name, start.tools)
        admit(card, history.request("?"))
        return history


def router(services: CallServices) -> APIRouter:
    """The endpoint."""
    routes = APIRouter()

    @routes.websocket("/ws/voice")
    async def voice_socket(socket: WebSocket) -> None:
        await socket.accept()
        await VoiceSocket(socket, services).serve(greet=True)

    return routes


class VoiceSocket:
    """One client's socket, accepted already."""

    def __init__(self, socket: WebSocket, services: CallServices) -> None:
        self._socket, self._services = socket, services
        self._request_id = request_id_of(socket.scope)
        self._user = str(socket.scope.get("state", {}).get("user", "local"))
        self._encoder = voice.VoiceEncoder()
        self._call: Call | None = None
        self._scope: anyio.CancelScope | None = None
        self._ending: tuple[int, str] = (NORMAL, "")
        self._half_sample = b""

    async def serve(self, first: Sequence[str | bytes] = (), *, greet: bool) -> None:
        """From the greeting to the close; `first` are frames that were read already."""
        code, reason = NORMAL, ""
        if greet:
            await self._write([voice.state_message("listening"), voice.video_mode_message()])
        try:
            code, reason = await self._serve(list(first))
        except Exception as error:
            log.exception("call %s failed", self._request_id)
            body = problem_body(error, self._socket.scope["path"], self._request_id)["error"]
            await self._write_last(Problem(body["message"], code=body["code"]))
        if self._socket.client_state is WebSocketState.CONNECTED:
            try:
                await self._socket.close(code, reason)
            except (RuntimeError, WebSocketDisconnect):
                log.debug("the socket of call %s was already gone", self._request_id)

    async def _serve(self, first: list[str | bytes]) -> tuple[int, str]:
        """Everything between greeting and close; gives the close code and reason."""
        if self._services.seats is None:
            await self._write_last(Unsupported(NO_VOICE, code="voice_unavailable"))
            return REFUSED, "no voice"
        async with anyio.create_task_group() as tasks:
            self._scope = tasks.cancel_scope
            try:
                if await self._begin(first, tasks):
                    await self._read(first)
            except Problem as problem:
                await self._write_last(problem)
                self._ending = (REFUSED, problem.code)
            tasks.cancel_scope.cancel()
        return self._ending

    async def _begin(self, first: list[str | bytes], tasks: anyio.abc.TaskGroup) -> bool:
        """Begin the call with the first frame: `start`, or anything else for a call with the defaults. False: the client
        left."""
        frame = first.pop(0) if first else await self._receive()
        if frame is None:
            return False
        start = voice.StartCall(call_events.CallSetup())
        message = voice.decode(frame, self._services.limits) if isinstance(frame, str) else None
        if isinstance(message, voice.StartCall):
            start = message
        else:
            first.insert(0, frame)

        def on_problem(problem: Problem) -> None:
            tasks.start_soon(self._write_last, problem)

        services = self._services
        history = await services.history(self._user, start, on_problem)
        assert services.seats is not None
        self._call = Call(
            services.seats,
            services.generate,
            history,
            self._encoder,
            self._write,
            user=self._user,
            request_id=self._request_id,
            observe=services.observe,
            read_ahead=services.read_ahead,
            context_of=services.context_of,
        )
        tasks.start_soon(self._run, self._call, self._with_defaults(start.setup), tasks.cancel_scope)
        tasks.start_soon(self._enforce_limits, self._call, tasks.cancel_scope)
        return True

    def _with_defaults(self, setup: call_events.CallSetup) -> call_events.CallSetup:
        settings = self._services.settings
        return msgspec.structs.replace(
            setup, voice=setup.voice or settings.voice, language=setup.language or settings.language
        )

    async def _read(self, first: list[str | bytes]) -> None:
        while True:
            frame = first.pop(0) if first else await self._receive()
            if frame is None:
                return
            try:
                if not await self._take(frame):
                    return
            except Problem as problem:
                await self._write([voice.error_message(problem, self._encoder.epoch)])

    async def _take(self, frame: str | bytes) -> bool:
        """One frame of the client. False: it was the last. Raises Problem."""
        assert self._call is not None
        if isinstance(frame, bytes):
            self._take_audio(self._call, frame)
            return True
        replies = self._call.replies
        message = voice.decode(frame, self._services.limits)
        match message:
            case voice.StopCall():
                return False
            case voice.StartCall():
                raise Problem(
                    "The call has already begun; start is only valid as its first message.",
                    code="call_running",
                    status=409,
                )
            case voice.CallImage():
                replies.add_image(message.image)
            case voice.ClientToolResult():
                if not replies.client_tools.accept(message):
                    raise Problem(
                        f"No tool call {message.call_id[:64]!r} is waiting for a result.",
                        code="call_unknown",
                        status=409,
                    )
            case voice.AnswerApproval():
                if not await replies.answer_approval(message.id, message.answer, message.values):
                    raise Problem(
                        "This question is no longer open.", code="approval_closed", status=409, param="id"
                    )
            case _:
                if (control := voice.control(message, self._encoder)) is not None:
                    self._call.send(control)
        return True

    def _take_audio(self, call: Call, frame: bytes) -> None:
        if len(frame) > MAX_AUDIO_FRAME:
            raise Problem(
                f"An audio frame may have at most {MAX_AUDIO_FRAME:,} bytes (two seconds at 16 kHz, 16 bit). Send audio as it "
                "is recorded.",
                code="too_large",
                status=413,
            )
        # A frame may end in the middle of a sample; its other half begins the next frame.
        pcm = self._half_sample + frame
        whole = len(pcm) // 2 * 2
        self._half_sample = pcm[whole:]
        if whole:
            call.send(call_events.MicrophoneAudio(pcm[:whole]))

    async def _run(self, call: Call, setup: call_events.CallSetup, scope: anyio.CancelScope) -> None:
        try:
            await call.run(setup)
        except CallEnded as ended:
            if ended.problem is not None:
                self._ending = (REFUSED, ended.problem.code)
                await self._write_last(ended.problem)
        scope.cancel()

    async def _enforce_limits(self, call: Call, scope: anyio.CancelScope) -> None:
        """End a call that is silent or lasts too long. Time in the queue does not count."""
        settings = self._services.settings
        while True:
            await anyio.sleep(CHECK_INTERVAL)
            now = anyio.current_time()
            if now - call.active_at > settings.idle_s:
                problem = Problem(
                    f"The call was silent for {settings.idle_s:.0f} seconds (setting voice.idle_s). Call again.",
                    code="call_idle",
                    status=408,
                )
            elif now - call.seated_at > settings.session_s:
                problem = Problem(
                    f"A call may last at most {settings.session_s:.0f} seconds (setting voice.session_s). Call again.",
                    code="call_too_long",
                    status=408,
                )
            else:
                continue
            self._ending = (NORMAL, problem.code)
            await self._write_last(problem)
            scope.cancel()
            return

    async def _receive(self) -> str | bytes | None:
        """The next frame; None when the client has left, or was silent for START_TIMEOUT before its call began."""
        deadline = math.inf if self._call is not None else anyio.current_time() + START_TIMEOUT
        with anyio.CancelScope(deadline=deadline) as scope:
            message = await self._socket.receive()
        if scope.cancelled_caught:
            self._ending = (SILENT, "nothing was sent")
            return None
        if message["type"] == "websocket.disconnect":
            return None
        text = message.get("text")
        if text is None:
            return bytes(message["bytes"])
        if len(text) > self._services.limits.body_mb * MEGABYTE:
            self._ending = (TOO_LARGE, "message too large")
            sentence = (
                f"A message may have at most {self._services.limits.body_mb} MB (setting limits.body_mb)."
            )
            await self._write_last(Problem(sentence, code="too_large"))
            return None
        return str(text)

    async def _write(self, messages: Sequence[str | bytes]) -> None:
        """Send messages. When the client is gone, the call is cancelled instead of raising: the tasks that write here, such as
        the replies, are not the ones to handle a disconnect."""
        try:
            for message in messages:
                if isinstance(message, bytes):
                    await self._socket.send_bytes(message)
                else:
                    await self._socket.send_text(message)
        except (WebSocketDisconnect, RuntimeError):
            log.debug("the client of call %s is gone", self._request_id)
            if self._scope is not None:
                self._scope.cancel()

    async def _write_last(self, problem: Problem) -> None:
        """Send an error if the client still reads."""
        with anyio.move_on_after(LAST_MESSAGE_TIMEOUT):
            await self._write([voice.error_message(problem, self._encoder.epoch)])
