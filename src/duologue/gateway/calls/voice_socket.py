"""The voice socket, `/ws/voice`: a call over one WebSocket.

Owns the socket's life: greeting, reading, the time limits of a call, the close. Messages are in `wire.calls.voice`, the call itself
is in `call`. `/ws/chat` hands over to it when a socket turns out to be a call.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from functools import partial

import anyio
import anyio.abc
import msgspec
from fastapi import APIRouter, WebSocket
from starlette.datastructures import QueryParams
from starlette.websockets import WebSocketDisconnect, WebSocketState

from duologue.errors import BadRequest, Problem, Unsupported
from duologue.gateway.apps.app_notice import app_disabled_message
from duologue.gateway.apps.modes import SWITCHED_OFF
from duologue.gateway.calls.call import Call, CallEnded
from duologue.gateway.calls.call_camera import CallCamera
from duologue.gateway.calls.call_model import unused_tools
from duologue.gateway.calls.call_seat import CallSeat
from duologue.gateway.calls.call_services import CallServices
from duologue.gateway.calls.history import CallHistory
from duologue.gateway.calls.observer import CallObserver
from duologue.gateway.middleware.socket_answers import answering
from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.scheduling.voice_seats import NO_VOICE
from duologue.gateway.speech.voice_choice import VoiceChoice
from duologue.http.error_responses import problem_body, request_id_of
from duologue.request_parsing import parsing
from duologue.values import call_events
from duologue.wire.calls import caller_messages, voice
from duologue.wire.calls.video_messages import video_mode_message
from duologue.wire.sound import RecordCall, recording_message
from duologue.wire.validation import MEGABYTE

log = logging.getLogger(__name__)

NORMAL, INVALID, SILENT, TOO_LARGE, REFUSED = 1000, 1007, 1008, 1009, 1013
SWITCHED = 1008
MAX_AUDIO_FRAME = 64 * 1024
"""Bytes of a binary frame: two seconds. A longer one is a recording, and not a microphone."""
CHECK_INTERVAL = 5.0
"""Seconds between two checks of a call's time limits."""
LAST_MESSAGE_TIMEOUT = 2.0
"""Seconds the last message of a call may take to be sent: a client that does not read must not keep its seat."""
LAST_REPLY_TIMEOUT = 60.0
"""Seconds the current reply may take once calls are switched off."""
START_TIMEOUT = 120.0
"""Seconds a client may be silent before its call begins."""


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
        self._camera: CallCamera | None = None
        self._scope: anyio.CancelScope | None = None
        self._ending: tuple[int, str] = (NORMAL, "")
        self._half_sample = b""
        self._marks = False
        self._conversation = ""
        self._told_voice: str | None = None
        self._recorder: CallObserver | None = None
        self._tasks: anyio.abc.TaskGroup | None = None

    async def serve(self, first: Sequence[str | bytes] = (), *, greet: bool) -> None:
        """From the greeting to the close; `first` are frames that were read already. A server that stops lets the call say why it ends."""
        with answering(self._socket.scope):
            await self._serve_call(first, greet=greet)

    async def _serve_call(self, first: Sequence[str | bytes], *, greet: bool) -> None:
        code, reason = NORMAL, ""
        # Who is not greeted here was told the same elsewhere.
        self._encoder.video = self._services.video.offer()
        if greet:
            await self._write([voice.state_message("listening"), video_mode_message(self._encoder.video)])
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
        if not self._services.has_calls:
            await self._write_last(Unsupported(NO_VOICE, code="voice_unavailable"))
            return REFUSED, "no voice"
        try:
            self._services.apps.require("audio_duplex")
        except Problem as problem:
            await self._write_last(problem)
            return SWITCHED, problem.code
        async with anyio.create_task_group() as tasks:
            self._scope, self._tasks = tasks.cancel_scope, tasks
            try:
                if await self._begin(first, tasks):
                    await self._read(first)
            except Problem as problem:
                await self._write_last(problem)
                # 1013 asks the client to try again later, which would help nothing if its message is wrong.
                code = INVALID if isinstance(problem, BadRequest) else REFUSED
                self._ending = (code, problem.code)
            finally:
                self._tasks = None
                if self._recorder is not None:
                    self._recorder.close()
            tasks.cancel_scope.cancel()
        return self._ending

    async def _begin(self, first: list[str | bytes], tasks: anyio.abc.TaskGroup) -> bool:
        """Begin the call with the first frame: `start`, or anything else for a call with the defaults. False: the client
        left, or another gateway has held the call."""
        frame = first.pop(0) if first else await self._receive()
        if frame is None:
            return False
        start = caller_messages.StartCall(call_events.CallSetup())
        message = await self._decode(frame) if isinstance(frame, str) else None
        if isinstance(message, caller_messages.StartCall):
            start = message
            if await self._held_elsewhere(start, [frame, *first]):
                return False
        else:
            first.insert(0, frame)

        def on_problem(problem: Problem) -> None:
            tasks.start_soon(self._write_last, problem)

        services = self._services
        query = QueryParams(self._socket.scope.get("query_string", b""))
        start = msgspec.structs.replace(start, model=start.model or query.get("model", ""))
        history = await services.history(self._user, start, on_problem)
        model = services.call_model(history.model)
        if model.note:
            start = msgspec.structs.replace(start, model=model.card.name)
            history = await services.history(self._user, start, on_problem)
        self._encoder.units = start.units
        self._call = Call(
            services.seat(model, "call", native_kind="audio_duplex"),
            services.generate,
            history,
            self._encoder,
            self._write,
            user=self._user,
            request_id=self._request_id,
            revoice=partial(self._revoiced, start.setup),
            observe=services.observe,
            read_ahead=services.read_ahead,
            context_of=services.context_of,
            transcribe=services.transcriber(self._user, self._request_id),
        )
        self._camera = CallCamera(self._call, history, services)
        self._marks, self._conversation = start.setup.marks, start.conversation_id
        if start.record:
            await self._record(on=True)
        if self._call.seat.native or model.note:
            await self._write(
                [
                    voice.model_message(
                        self._encoder.epoch,
                        model.card.name,
                        self._call.seat.native,
                        unused_tools(model, start.tools) or model.note,
                    )
                ]
            )
        setup = await self._completed(start.setup, history, self._call.seat)
        setup = await self._with_video(setup, start, native=self._call.seat.native)
        tasks.start_soon(self._run, self._call, setup, tasks.cancel_scope)
        tasks.start_soon(self._enforce_limits, self._call, tasks.cancel_scope)
        tasks.start_soon(self._end_when_disabled, self._call, tasks.cancel_scope)
        return True

    async def _held_elsewhere(self, start: caller_messages.StartCall, said: Sequence[str | bytes]) -> bool:
        """Whether another gateway has held the call, which has ended then. Raises Problem."""
        if not start.conversation_id:
            return False
        ending = await self._services.elsewhere(self._socket, start.conversation_id, said)
        if ending is not None:
            self._ending = ending
        return ending is not None

    async def _completed(
        self, setup: call_events.CallSetup, history: CallHistory, seat: CallSeat
    ) -> call_events.CallSetup:
        """With its voice, the server's defaults, and what was said last in the conversation. The client is told where another
        voice speaks than it asked for."""
        language = setup.language or self._services.settings.language
        services = self._services
        if seat.model is not None:
            choice = await services.choose_model_voice(seat.model, setup.voice, setup.language, self._user)
            setup = msgspec.structs.replace(setup, omni=call_events.OmniSetup(sampling=history.sampling))
        else:
            choice = await services.choose_voice(setup.voice, setup.language, self._user)
            choice = await services.with_text(choice, setup.language, self._request_id)
        await self._say_voice(choice)
        return msgspec.structs.replace(
            setup,
            voice=choice.voice,
            sample=choice.sample,
            language=language,
            mentioned=history.recent_text(),
        )

    async def _with_video(
        self, setup: call_events.CallSetup, start: caller_messages.StartCall, *, native: bool
    ) -> call_events.CallSetup:
        """With the video that its replies get. The client is told if that is not what it was told before."""
        chosen = await self._services.video.choose(start.video, start.avatar, self._user, native=native)
        if chosen.state is not None:
            await self._write(self._encoder.video_mode(chosen.state))
        return msgspec.structs.replace(setup, video=chosen.mode, avatar=chosen.avatar)

    async def _revoiced(
        self, asked: call_events.CallSetup, setup: call_events.CallSetup, lease: Lease
    ) -> call_events.CallSetup:
        """After the call has moved to another worker: with the voice that a new call would get there."""
        if self._call is None or self._call.seat.native:
            return setup
        services = self._services
        try:
            choice = await services.choose_voice(asked.voice, asked.language, self._user)
            choice = await services.with_text(choice, asked.language, self._request_id, lease)
        except Problem as problem:
            log.info("call %s keeps its voice: %s", self._request_id, problem.message)
            return setup
        await self._say_voice(choice)
        return msgspec.structs.replace(setup, voice=choice.voice, sample=choice.sample)

    async def _say_voice(self, choice: VoiceChoice) -> None:
        """Tell the client that another voice speaks than it asked for, once for each."""
        if choice.note and choice.name != self._told_voice:
            self._told_voice = choice.name
            await self._write([voice.voice_message(self._encoder.epoch, choice.name, choice.note)])

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

    async def _decode(self, frame: str) -> caller_messages.VoiceMessage:
        return await parsing(
            len(frame), caller_messages.decode, frame, self._services.limits, user=self._user
        )

    async def _take(self, frame: str | bytes) -> bool:
        """One frame of the client. False: it was the last. Raises Problem."""
        assert self._call is not None
        if isinstance(frame, bytes):
            self._take_audio(self._call, frame)
            if self._camera is not None:
                self._camera.flush()
            return True
        replies = self._call.replies
        message = await self._decode(frame)
        match message:
            case caller_messages.StopCall():
                return False
            case caller_messages.StartCall():
                raise Problem(
                    "The call has already begun; start is only valid as its first message.",
                    code="call_running",
                    status=409,
                )
            case caller_messages.CallImage():
                if self._camera is not None:
                    self._camera.take(message.image)
            case caller_messages.ClientToolResult():
                if not replies.client_tools.accept(message):
                    raise Problem(
                        f"No tool call {message.call_id[:64]!r} is waiting for a result.",
                        code="call_unknown",
                        status=409,
                    )
            case RecordCall(on):
                await self._record(on=on)
            case caller_messages.AnswerApproval():
                if not await replies.answer_approval(message.id, message.answer, message.values):
                    raise Problem(
                        "This question is no longer open.", code="approval_closed", status=409, param="id"
                    )
            case _:
                if (control := caller_messages.control(message, self._encoder)) is not None:
                    self._call.send(control)
        return True

    # ---- its recording

    async def _record(self, *, on: bool) -> None:
        """Record from now on, or no longer. What keeps it from being recorded is told, and the call goes on."""
        assert self._call is not None
        if not on or self._recorder is not None:
            if self._recorder is not None and not on:
                self._recorder.stop("stopped")
            return
        try:
            self._recorder = await self._services.recordings.start(
                self._user,
                "call",
                conversation=self._conversation,
                marks=self._marks,
                at_once=self._call.seated_at < math.inf,
                on_end=self._recording_ended,
            )
        except Problem as problem:
            await self._write([voice.error_message(problem, self._encoder.epoch)])
            await self._write([recording_message(self._encoder.epoch, "", on=False, reason=problem.code)])
            return
        self._call.observer = self._recorder
        await self._write([recording_message(self._encoder.epoch, self._recorder.id, on=True)])

    def _recording_ended(self, reason: str) -> None:
        assert self._call is not None
        recorder, self._recorder, self._call.observer = self._recorder, None, None
        if recorder is not None and self._tasks is not None:
            message = recording_message(self._encoder.epoch, recorder.id, on=False, reason=reason)
            self._tasks.start_soon(self._write, [message])

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

    async def _end_when_disabled(self, call: Call, scope: anyio.CancelScope) -> None:
        """Tell the client when calls are switched off, and end the call once nothing more is said."""
        await self._services.apps.until_disabled("audio_duplex")
        await self._write([app_disabled_message("audio_duplex")])
        with anyio.move_on_after(LAST_REPLY_TIMEOUT):
            await call.until_quiet()
        self._ending = (NORMAL, SWITCHED_OFF)
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
