"""The voice socket, `/ws/voice`: a call over one WebSocket.

Owns the socket's life: its greeting, its reading, the limits of a call, its close. What the messages look like is in
`wire/voice.py`, what a call does in `calls.py`. `/ws/chat` hands over to it when a socket turns out to be a call.
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
MOST_SOUND = 64 * 1024
"""Bytes of one binary frame that are taken: two seconds. What is longer was recorded before, and is no microphone."""
LOOKED_AT = 5.0
"""Seconds between two looks at the limits of a call."""
LAST_WORDS = 2.0
"""Seconds the last sentence of a call may take to be sent: a client that reads nothing holds no seat."""


class CallConversations(Protocol):
    """Finds the conversation a call goes on with; `tools` are the client's own. Raises Problem where there is none."""

    async def __call__(
        self, user: str, conversation: str, model: str, tools: Sequence[Tool]
    ) -> TurnStore: ...


class CallServices:
    """What every call needs: seats, whoever makes replies, models, limits. `seats` None: there is no voice."""

    def __init__(
        self,
        seats: Pool | None,
        generate: Generate,
        models: ModelRegistry,
        *,
        settings: VoiceSettings | None = None,
        limits: LimitSettings | None = None,
        conversing: CallConversations | None = None,
        observe: Callable[[call_events.TurnFigures], None] = lambda figures: None,
        read_ahead: ReadAhead | None = None,
    ) -> None:
        self.seats, self.generate, self.models = seats, generate, models
        self.read_ahead = read_ahead
        self.settings, self.limits = settings or VoiceSettings(), limits or LimitSettings()
        self.conversing, self.observe = conversing, observe

    def context_of(self, model: str) -> int:
        """Tokens a chat with this model has; 0 where nobody knows."""
        try:
            return self.models.resolve(model).context
        except Problem:
            return 0

    async def history(self, user: str, start: voice.Start, broken: Callable[[Problem], None]) -> CallHistory:
        """What the call goes on with; `broken` is told why something of it cannot be kept. Raises Problem where its model
        or its conversation is not there."""
        if start.conversation_id:
            if self.conversing is None:
                raise Unsupported("Calls cannot belong to a conversation here.", param="conversation_id")
            turns = await self.conversing(user, start.conversation_id, start.model, start.tools)
            return StoredHistory(turns, broken)
        card = self.models.resolve(start.model)
        history = EphemeralHistory(start.instructions, card.name, start.tools)
        admit(card, history.request("?"))
        return history


def router(board: CallServices) -> APIRouter:
    """The endpoint."""
    routes = APIRouter()

    @routes.websocket("/ws/voice")
    async def voice_socket(socket: WebSocket) -> None:
        await socket.accept()
        await VoiceSocket(socket, board).serve(greet=True)

    return routes


class VoiceSocket:
    """One client's socket, accepted already."""

    def __init__(self, socket: WebSocket, board: CallServices) -> None:
        self._socket, self._board = socket, board
        self._request_id = request_id_of(socket.scope)
        self._user = str(socket.scope.get("state", {}).get("user", "local"))
        self._encoder = voice.VoiceEncoder()
        self._call: Call | None = None
        self._scope: anyio.CancelScope | None = None
        self._ending: tuple[int, str] = (NORMAL, "")
        self._odd = b""

    async def serve(self, first: Sequence[str | bytes] = (), *, greet: bool) -> None:
        """From the greeting to the close; `first` are frames that were read before it was known what this is."""
        code, reason = NORMAL, ""
        if greet:
            await self._write([voice.state_message("listening"), voice.video_mode_message()])
        try:
            code, reason = await self._serve(list(first))
        except Exception as error:
            log.exception("call %s failed", self._request_id)
            said = problem_body(error, self._socket.scope["path"], self._request_id)["error"]
            await self._say_last(Problem(said["message"], code=said["code"]))
        if self._socket.client_state is WebSocketState.CONNECTED:
            try:
                await self._socket.close(code, reason)
            except (RuntimeError, WebSocketDisconnect):
                log.debug("the socket of call %s had gone", self._request_id)

    async def _serve(self, first: list[str | bytes]) -> tuple[int, str]:
        """Everything between greeting and close: with which code it is closed, and why."""
        if self._board.seats is None:
            await self._say_last(Unsupported(NO_VOICE, code="voice_unavailable"))
            return REFUSED, "no voice"
        async with anyio.create_task_group() as tasks:
            self._scope = tasks.cancel_scope
            try:
                if await self._begin(first, tasks):
                    await self._read(first)
            except Problem as problem:
                await self._say_last(problem)
                self._ending = (REFUSED, problem.code)
            tasks.cancel_scope.cancel()
        return self._ending

    async def _begin(self, first: list[str | bytes], tasks: anyio.abc.TaskGroup) -> bool:
        """Wait for the first frame, which says how the call is to be, or is its sound already. False: the client left."""
        frame = first.pop(0) if first else await self._receive()
        if frame is None:
            return False
        start = voice.Start(call_events.CallSetup())
        if isinstance(frame, str):
            said = voice.decode(frame, self._board.limits)
            if isinstance(said, voice.Start):
                start = said
            else:
                first.insert(0, frame)
        else:
            first.insert(0, frame)

        def broken(problem: Problem) -> None:
            tasks.start_soon(self._say_last, problem)

        history = await self._board.history(self._user, start, broken)
        assert self._board.seats is not None
        self._call = Call(
            self._board.seats,
            self._board.generate,
            history,
            self._encoder,
            self._write,
            user=self._user,
            request_id=self._request_id,
            observe=self._board.observe,
            read_ahead=self._board.read_ahead,
            context_of=self._board.context_of,
        )
        tasks.start_soon(self._run, self._call, self._with_defaults(start.setup), tasks.cancel_scope)
        tasks.start_soon(self._watch, self._call, tasks.cancel_scope)
        return True

    def _with_defaults(self, setup: call_events.CallSetup) -> call_events.CallSetup:
        settings = self._board.settings
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
            self._hear(frame)
            return True
        said = voice.decode(frame, self._board.limits)
        match said:
            case voice.StopCall():
                return False
            case voice.Start():
                raise Problem(
                    "The call has begun; start comes once, as its first message.",
                    code="call_running",
                    status=409,
                )
            case voice.CallPicture():
                self._call.see(said.image)
            case voice.ClientToolResult():
                if not self._call.tool_result(said):
                    raise Problem(
                        f"No call {said.call_id[:64]!r} waits for a result.", code="call_unknown", status=409
                    )
            case voice.Approved():
                if not await self._call.approve(said.id, said.decided, said.values):
                    raise Problem(
                        "This question is not open any more.", code="approval_closed", status=409, param="id"
                    )
            case _:
                if (control := voice.control(said, self._encoder)) is not None:
                    self._call.tell(control)
        return True

    def _hear(self, frame: bytes) -> None:
        """Sound. A frame may end within a sample; the other half is the next one's first byte."""
        assert self._call is not None
        if len(frame) > MOST_SOUND:
            raise Problem(
                f"A frame of sound may have {MOST_SOUND:,} bytes (two seconds at 16 kHz, 16 bit). Send it as it is heard.",
                code="too_large",
                status=413,
            )
        pcm = self._odd + frame
        whole = len(pcm) // 2 * 2
        self._odd = pcm[whole:]
        if whole:
            self._call.tell(call_events.MicrophoneAudio(pcm[:whole]))

    async def _run(self, call: Call, setup: call_events.CallSetup, scope: anyio.CancelScope) -> None:
        try:
            await call.run(setup)
        except CallEnded as ended:
            if ended.problem is not None:
                self._ending = (REFUSED, ended.problem.code)
                await self._say_last(ended.problem)
        scope.cancel()

    async def _watch(self, call: Call, scope: anyio.CancelScope) -> None:
        """End a call in which nobody says anything, and one that has lasted too long. Both begin with its seat."""
        settings = self._board.settings
        while True:
            await anyio.sleep(LOOKED_AT)
            now = anyio.current_time()
            if now - call.active > settings.idle_s:
                problem = Problem(
                    f"Nobody has said anything for {settings.idle_s:.0f} seconds (setting voice.idle_s). Call again.",
                    code="call_idle",
                    status=408,
                )
            elif now - call.seated_at > settings.session_s:
                problem = Problem(
                    f"A call may last {settings.session_s:.0f} seconds (setting voice.session_s). Call again.",
                    code="call_too_long",
                    status=408,
                )
            else:
                continue
            self._ending = (NORMAL, problem.code)
            await self._say_last(problem)
            scope.cancel()
            return

    async def _receive(self) -> str | bytes | None:
        """The next frame; None when the client has left, or said nothing at all in two minutes."""
        deadline = math.inf if self._call is not None else anyio.current_time() + 120.0
        with anyio.CancelScope(deadline=deadline) as waiting:
            message = await self._socket.receive()
        if waiting.cancelled_caught:
            self._ending = (SILENT, "nothing was sent")
            return None
        if message["type"] == "websocket.disconnect":
            return None
        text = message.get("text")
        if text is None:
            return bytes(message["bytes"])
        if len(text) > self._board.limits.body_mb * MEGABYTE:
            self._ending = (TOO_LARGE, "message too large")
            sentence = f"A message may have {self._board.limits.body_mb} MB (setting limits.body_mb)."
            await self._say_last(Problem(sentence, code="too_large"))
            return None
        return str(text)

    async def _write(self, messages: Sequence[str | bytes]) -> None:
        """Send these. For a client that has gone they are lost, and its call ends: nobody is to be told by an exception."""
        try:
            for message in messages:
                if isinstance(message, bytes):
                    await self._socket.send_bytes(message)
                else:
                    await self._socket.send_text(message)
        except (WebSocketDisconnect, RuntimeError):
            log.debug("the client of call %s has gone", self._request_id)
            if self._scope is not None:
                self._scope.cancel()

    async def _say_last(self, problem: Problem) -> None:
        """A problem's sentence, if there is still somebody to hear it."""
        with anyio.move_on_after(LAST_WORDS):
            await self._write([voice.error_message(problem, self._encoder.epoch)])
