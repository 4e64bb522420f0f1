"""The voice socket, over real sockets: greeted at once, heard byte by byte, refused and ended with sentences."""

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, ClassVar

import anyio
import pytest
from fastapi import FastAPI
from starlette.websockets import WebSocketDisconnect, WebSocketState
from tests.gateway.fake_seats import FakeGenerate, FakeLease, FakeSeats, words
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from duologue.config.voice import VoiceSettings
from duologue.gateway.calls import voice_socket
from duologue.gateway.calls.voice_socket import MAX_AUDIO_FRAME, CallServices, VoiceSocket, router
from duologue.gateway.models.registry import ModelRegistry
from duologue.values import call_events
from duologue.values.requests import ModelCard

pytestmark = pytest.mark.anyio

MINI = ModelCard("mini", "scripted", 2048)


class Caller:
    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def says(self, kind: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def hears(self) -> Any:
        with anyio.fail_after(5):
            message = await self.socket.recv()
            return message if isinstance(message, bytes) else json.loads(message)

    async def hears_until(self, kind: str) -> list[Any]:
        heard = [await self.hears()]
        while isinstance(heard[-1], bytes) or heard[-1]["type"] != kind:
            heard.append(await self.hears())
        return heard

    async def is_closed(self) -> tuple[int | None, str | None]:
        with anyio.fail_after(5), suppress(ConnectionClosed):
            async for _ in self.socket:
                pass
        return self.socket.close_code, self.socket.close_reason


Ring = Callable[..., AbstractAsyncContextManager[Caller]]


@pytest.fixture
def ring(serve: Any) -> Ring:
    @asynccontextmanager
    async def ringing(
        *leases: FakeLease, generate: FakeGenerate | None = None, seats: bool = True, **options: Any
    ) -> AsyncIterator[Caller]:
        services = CallServices(
            FakeSeats(*leases) if seats else None,  # type: ignore[arg-type]
            generate or FakeGenerate(),
            ModelRegistry(lambda: [MINI], {}),
            **options,
        )
        app = FastAPI()
        app.include_router(router(services))

        async def with_state(scope: Any, receive: Any, send: Any) -> None:
            scope["state"] = {"request_id": "r-1", "user": "ada"}
            await app(scope, receive, send)

        async with serve(with_state) as address, connect(f"ws://{address}/ws/voice") as socket:
            yield Caller(socket)

    return ringing


async def test_a_caller_is_greeted_at_once(ring: Ring):
    async with ring(FakeLease()) as caller:
        assert await caller.hears() == {"type": "status", "epoch": 0, "state": "listening"}
        assert await caller.hears() == {"type": "video_mode", "epoch": 0, "enabled": False}


async def test_sound_alone_begins_a_call_of_few_words(ring: Ring):
    seat = FakeLease()
    async with ring(seat) as caller:
        await caller.socket.send(b"\1\0\2\0")
        assert await seat.until(1) == [call_events.MicrophoneAudio(b"\1\0\2\0")]
    assert seat.request == call_events.CallSetup()


async def test_a_frame_may_end_within_a_sample(ring: Ring):
    seat = FakeLease()
    async with ring(seat) as caller:
        await caller.socket.send(b"\1\0\2")
        await caller.socket.send(b"\0\3\0")
        assert await seat.until(2) == [
            call_events.MicrophoneAudio(b"\1\0"),
            call_events.MicrophoneAudio(b"\2\0\3\0"),
        ]


async def test_a_start_is_heeded_and_the_settings_fill_what_it_leaves_open(ring: Ring):
    seat = FakeLease()
    async with ring(seat, settings=VoiceSettings(voice="en-gb", language="en")) as caller:
        await caller.says("start", features=["pause", "played"], language="de")
        await caller.says("text", text="hi")
        await seat.until(1)
        await caller.says("played", reply_id=1, samples=480)
        assert (await seat.until(2))[1] == call_events.Played(1, 480)
    assert seat.request == call_events.CallSetup(voice="en-gb", language="de", pauses=True, marks=True)


async def test_a_call_is_spoken_from_the_callers_words_to_the_sound_of_the_reply(ring: Ring):
    seat = FakeLease()
    async with ring(seat, generate=FakeGenerate(words("Hello."))) as caller:
        await caller.says("start", features=["pause", "played"])
        await caller.says("text", text="hi")
        assert await seat.until(1) == [call_events.Typed("hi")]
        seat.say(call_events.ReplyRequested(0, 1, 1, 1, "hi"))
        assert (await seat.until(3))[1:] == [
            call_events.Text(1, "Hello."),
            call_events.Text(1, "", last=True),
        ]
        seat.say(
            call_events.UserSaid(0, 1, "hi", typed=True),
            call_events.ReplyAudioStarted(0, 1),
            call_events.ReplyText(0, 1, "Hello.", final=True),
            call_events.ReplyAudio(0, 1, b"\0\0" * 480),
            call_events.ReplyAudioEnded(0, 1, 480),
        )
        heard = await caller.hears_until("audio_end")
    assert [message if isinstance(message, bytes) else message["type"] for message in heard[2:]] == [
        "audio_start",
        "response_text",
        b"\0\0" * 480,
        "audio_end",
    ]


async def test_a_client_that_interrupts_by_chunk_is_understood_in_samples(ring: Ring):
    seat = FakeLease()
    async with ring(seat) as caller:
        await caller.says("start")
        await caller.says("text", text="x")
        await seat.until(1)
        seat.say(
            call_events.ReplyAudioStarted(0, 1),
            call_events.ReplyAudio(0, 1, b"\0\0" * 480),
            call_events.ReplyAudioEnded(0, 1, 480),
        )
        await caller.hears_until("audio_end")
        await caller.says("interrupt", last_chunk_id=0)
        assert (await seat.until(2))[1] == call_events.Interrupt(1, 480)


async def test_without_a_voice_it_says_which_command_adds_one(ring: Ring):
    async with ring(seats=False) as caller:
        error = (await caller.hears_until("error"))[-1]
        assert error["code"] == "voice_unavailable"
        assert "pip install 'duologue[voice]'" in error["message"]
        assert (await caller.is_closed())[0] == 1013


async def test_a_model_that_is_not_here_is_said_before_anybody_waits(ring: Ring):
    async with ring(FakeLease()) as caller:
        await caller.says("start", model="nobody")
        error = (await caller.hears_until("error"))[-1]
        assert error["code"] == "model_not_found"
        assert (await caller.is_closed())[0] == 1013


async def test_a_wrong_message_is_answered_and_the_call_goes_on(ring: Ring):
    seat = FakeLease()
    async with ring(seat) as caller:
        await caller.says("start")
        await caller.says("dance")
        assert (await caller.hears_until("error"))[-1]["code"] == "invalid_request"
        await caller.says("start")
        assert (await caller.hears_until("error"))[-1]["code"] == "call_running"
        await caller.says("tool_result", call_id="c9")
        assert (await caller.hears_until("error"))[-1]["code"] == "call_unknown"
        await caller.socket.send(b"\0" * (MAX_AUDIO_FRAME + 2))
        assert (await caller.hears_until("error"))[-1]["code"] == "too_large"
        await caller.says("text", text="still here")
        assert await seat.until(1) == [call_events.Typed("still here")]


async def test_stop_ends_the_call_and_gives_the_seat_back(ring: Ring):
    seat = FakeLease()
    async with ring(seat) as caller:
        await caller.says("start")
        await caller.says("stop")
        assert (await caller.is_closed())[0] == 1000
    assert seat.gone


async def test_a_client_that_leaves_gives_its_seat_back(ring: Ring):
    seat = FakeLease()
    async with ring(seat) as caller:
        await caller.says("text", text="hi")
        await seat.until(1)
        await caller.socket.close()
    assert seat.gone


@pytest.mark.parametrize(
    ("limits", "code"), [({"idle_s": 0.01}, "call_idle"), ({"session_s": 0.01}, "call_too_long")]
)
async def test_a_call_ends_by_its_limits_and_says_which(
    ring: Ring, monkeypatch: pytest.MonkeyPatch, limits: dict[str, Any], code: str
):
    monkeypatch.setattr(voice_socket, "CHECK_INTERVAL", 0.02)
    async with ring(FakeLease(), settings=VoiceSettings(**limits)) as caller:
        await caller.says("start")
        error = (await caller.hears_until("error"))[-1]
        assert error["code"] == code
        assert (await caller.is_closed())[0] == 1000


class StalledSocket:
    """A socket whose client says something and then takes nothing; what is sent ends in `send`."""

    scope: ClassVar[dict[str, Any]] = {"path": "/ws/voice", "state": {"request_id": "r-1", "user": "ada"}}
    client_state = WebSocketState.CONNECTED

    def __init__(self, *frames: str, send: Callable[[], Awaitable[None]]) -> None:
        self._frames = [{"type": "websocket.receive", "text": frame} for frame in frames]
        self._send = send
        self.closed: tuple[int, str] | None = None

    async def receive(self) -> dict[str, Any]:
        if not self._frames:
            await anyio.sleep_forever()
        return self._frames.pop(0)

    async def send_text(self, message: str) -> None:
        await self._send()

    async def close(self, code: int, reason: str) -> None:
        self.closed = code, reason


async def serve_stalled(
    socket: StalledSocket, seat: FakeLease, settings: VoiceSettings | None = None
) -> None:
    services = CallServices(
        FakeSeats(seat),  # type: ignore[arg-type]
        FakeGenerate(),
        ModelRegistry(lambda: [MINI], {}),
        settings=settings,
    )
    with anyio.fail_after(5):
        await VoiceSocket(socket, services).serve(greet=False)  # type: ignore[arg-type]


async def test_a_client_that_hangs_up_during_a_write_is_no_failure(caplog: pytest.LogCaptureFixture):
    async def gone() -> None:
        raise WebSocketDisconnect(1006)

    seat = FakeLease()
    seat.say(call_events.State(0, "listening"))
    with caplog.at_level(logging.DEBUG):
        await serve_stalled(StalledSocket('{"type": "start"}', send=gone), seat)
    assert seat.gone
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_client_that_reads_nothing_cannot_stay_by_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(voice_socket, "CHECK_INTERVAL", 0.01)
    monkeypatch.setattr(voice_socket, "LAST_MESSAGE_TIMEOUT", 0.01)
    seat = FakeLease()
    socket = StalledSocket('{"type": "start"}', send=anyio.sleep_forever)
    await serve_stalled(socket, seat, VoiceSettings(session_s=0.01))
    assert seat.gone
    assert socket.closed == (1000, "call_too_long")
