"""The voice socket, over real sockets: greeted at once, heard byte by byte, refused and ended with sentences."""

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, ClassVar

import anyio
import msgspec
import pytest
from fastapi import FastAPI
from starlette.websockets import WebSocketDisconnect, WebSocketState
from tests.gateway.fake_seats import FakeGenerate, FakeLease, FakeSeats, words
from tests.gateway.fake_voice_worker import CARD, Seats
from tests.gateway.recording_stand_in import Lookers
from tests.support.sample_files import tone, wav_file
from tests.support.store_fixtures import clock, memory
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from duologue.config.sections.video import VideoConfig
from duologue.config.sections.voice import VoiceSettings
from duologue.errors import NotFound, Problem
from duologue.gateway.apps.app_registry import AppRegistry
from duologue.gateway.avatars.video_offers import VideoOffers
from duologue.gateway.calls import voice_socket
from duologue.gateway.calls.call_services import CallServices
from duologue.gateway.calls.voice_socket import MAX_AUDIO_FRAME, VoiceSocket, router
from duologue.gateway.middleware.socket_answers import SOCKET_ANSWERS, SocketAnswers
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.speech.voice_library import VoiceLibrary
from duologue.store.stores import Store
from duologue.values import call_events
from duologue.values.avatars import AvatarSource
from duologue.values.events import WORKER_LOST
from duologue.values.requests import ModelCard
from duologue.values.speech import SpeechCard, SpeechEngineStatus, VoiceSample

__all__ = ["clock", "memory"]

pytestmark = pytest.mark.anyio

MINI = ModelCard("mini", "scripted", 2048)


class Caller:
    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def says(self, kind: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def says_raw(self, frame: str) -> None:
        await self.socket.send(frame)

    async def hears(self) -> Any:
        with anyio.fail_after(60):
            message = await self.socket.recv()
            return message if isinstance(message, bytes) else json.loads(message)

    async def hears_until(self, kind: str) -> list[Any]:
        heard = [await self.hears()]
        while isinstance(heard[-1], bytes) or heard[-1]["type"] != kind:
            heard.append(await self.hears())
        return heard

    async def is_closed(self) -> tuple[int | None, str | None]:
        with anyio.fail_after(60), suppress(ConnectionClosed):
            async for _ in self.socket:
                pass
        return self.socket.close_code, self.socket.close_reason


Ring = Callable[..., AbstractAsyncContextManager[Caller]]


@pytest.fixture
def ring(serve: Any) -> Ring:
    @asynccontextmanager
    async def ringing(
        *leases: FakeLease,
        generate: FakeGenerate | None = None,
        seats: bool = True,
        answers: SocketAnswers | None = None,
        **options: Any,
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
            scope["state"] = {"request_id": "r-1", "user": "ada", SOCKET_ANSWERS: answers}
            await app(scope, receive, send)

        async with serve(with_state) as address, connect(f"ws://{address}/ws/voice") as socket:
            yield Caller(socket)

    return ringing


async def test_a_caller_is_greeted_at_once(ring: Ring):
    async with ring(FakeLease()) as caller:
        assert await caller.hears() == {"type": "status", "epoch": 0, "state": "listening"}
        assert await caller.hears() == {"type": "video_mode", "epoch": 0, "enabled": False}


class DrawnFaces:
    looks: ClassVar[dict[str, object]] = {"mira": None}

    async def source(self, id: str, user: str) -> AvatarSource:
        if id not in self.looks:
            raise NotFound(f"There is no face {id}.")
        return AvatarSource(id, "drawn", f"d-{id}", look=id)


def drawing(card: SpeechCard | None = None) -> VideoOffers:
    """The video of a server whose voice worker draws faces."""
    video = SpeechEngineStatus("ready", "scripted")
    card = card or msgspec.structs.replace(CARD, video=video, draws=("drawn",))
    speech = SpeechService(Seats(card=card))
    return VideoOffers(VideoConfig(enabled=True), speech, DrawnFaces())


CLIPS = {
    "type": "video_mode",
    "epoch": 0,
    "enabled": True,
    "mode": "clip",
    "width": 512,
    "height": 512,
    "rate": 25,
}


async def test_a_caller_that_says_nothing_of_video_gets_clips_where_there_are_some(ring: Ring):
    seat = FakeLease()
    async with ring(seat, video=drawing()) as caller:
        assert [await caller.hears(), await caller.hears()][1] == CLIPS
        await caller.socket.send(b"\1\0\2\0")
        await seat.until(1)
        assert seat.request is not None
        assert (seat.request.video, seat.request.avatar) == (
            "clip",
            AvatarSource("mira", "drawn", "d-mira", look="mira"),
        )
        seat.say(call_events.VideoState(0, "clip", 512, 512, 25))
        seat.say(call_events.VideoState(0, "off", note="The video engine was lost."))
        told = await caller.hears()
        assert told == {
            "type": "video_mode",
            "epoch": 0,
            "enabled": False,
            "note": "The video engine was lost.",
        }
        seat.say(call_events.SpeakingClip(0, 1, b"mp4", "It is noon.", 7200, 512, 512, (), b""))
        clip = await caller.hears()
        assert (clip["type"], clip["reply_id"], clip["text"]) == ("speaking_clip", 1, "It is noon.")


@pytest.mark.parametrize(
    ("start", "mode", "told"),
    [
        ({"video": "off"}, "off", {"enabled": False}),
        (
            {"video": "stream"},
            "stream",
            {"enabled": True, "mode": "stream", "width": 512, "height": 512, "rate": 25},
        ),
        ({"avatar": "nobody"}, "off", {"enabled": False, "note": "There is no face nobody."}),
    ],
    ids=["off", "stream", "unknown face"],
)
async def test_a_start_that_chooses_otherwise_is_answered_with_the_mode(ring: Ring, start, mode, told):
    seat = FakeLease()
    async with ring(seat, video=drawing()) as caller:
        await caller.hears_until("video_mode")
        await caller.says("start", **start)
        assert await caller.hears() == {"type": "video_mode", "epoch": 0, **told}
        await caller.says("text", text="hi")
        await seat.until(1)
        assert seat.request is not None
        assert seat.request.video == mode


async def test_a_face_that_the_engine_does_not_draw_leaves_a_call_with_sound(ring: Ring):
    seat = FakeLease()
    other = msgspec.structs.replace(CARD, video=SpeechEngineStatus("ready", "x"), draws=("picture",))
    async with ring(seat, video=drawing(other)) as caller:
        await caller.hears_until("video_mode")
        await caller.says("text", text="hi")
        assert (await caller.hears())["enabled"] is False
        await seat.until(1)
        assert seat.request is not None
        assert seat.request.video == "off"


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


@pytest.mark.parametrize(
    "frame", ["{", "[]", "null", '"start"', '{"type": 1}', '{"type": "start", "model": 1}', "\x00", "{}"]
)
async def test_a_first_message_that_is_wrong_closes_as_wrong_and_not_as_busy(ring: Ring, frame: str):
    async with ring(FakeLease()) as caller:
        await caller.says_raw(frame)
        await caller.hears_until("error")
        assert (await caller.is_closed())[0] == 1007


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


async def test_a_server_that_stops_can_tell_when_a_call_has_said_why_it_ends(ring: Ring):
    answers, ended = SocketAnswers(), anyio.Event()
    answers.on_end = ended.set
    async with ring(FakeLease(), answers=answers) as caller:
        await caller.says("start")
        await caller.hears()
        assert answers.running == 1
        await caller.says("stop")
        with anyio.fail_after(60):
            await ended.wait()
        assert (await caller.is_closed())[0] == 1000


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
    with anyio.fail_after(60):
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


async def test_calls_that_are_switched_off_are_refused(ring: Ring):
    apps = AppRegistry()
    await apps.switch("audio_duplex", False)
    async with ring(FakeLease(), apps=apps) as caller:
        error = (await caller.hears_until("error"))[-1]
        assert error["code"] == "app_disabled"
        assert await caller.is_closed() == (1008, "app_disabled")


async def test_a_call_is_told_that_calls_are_off_and_ends_after_its_reply(ring: Ring):
    seat, apps = FakeLease(), AppRegistry()
    async with ring(seat, apps=apps) as caller:
        await caller.says("start")
        seat.say(call_events.State(0, "speaking"))
        while (await caller.hears())["type"] != "status" or seat.request is None:
            pass
        await apps.switch("audio_duplex", False)
        told = (await caller.hears_until("app_disabled"))[-1]
        assert told["app_id"] == "audio_duplex"
        assert not seat.gone
        seat.say(call_events.State(0, "listening"))
        assert await caller.is_closed() == (1000, "app_disabled")
    assert seat.gone


async def test_without_omni_a_call_takes_no_pictures(ring: Ring):
    apps = AppRegistry()
    await apps.switch("omni", False)
    async with ring(FakeLease(), apps=apps) as caller:
        await caller.says("start")
        await caller.says("video_frame", frame="/9j/4AAQSkZJRg==")
        assert (await caller.hears_until("error"))[-1]["code"] == "app_disabled"


async def test_a_call_is_recorded_from_its_start_if_its_client_asks_for_it(ring: Ring):
    seat, lookers = FakeLease(), Lookers()
    async with ring(seat, recordings=lookers) as caller:
        await caller.says("start", features=["played"], record=True)
        assert (await caller.hears_until("recording"))[-1] == {
            "type": "recording",
            "epoch": 0,
            "on": True,
            "recording_id": "r1",
        }
        await caller.socket.send(b"\1\0")
        await seat.until(1)
        seat.say(call_events.State(0, "hearing"))
        await caller.hears_until("status")
    assert lookers.begun == [
        {"user": "ada", "kind": "call", "conversation": "", "marks": True, "at_once": False}
    ]
    [looker] = lookers.lookers
    with anyio.fail_after(60):
        await looker.closed.wait()
    assert looker.seen == [call_events.MicrophoneAudio(b"\1\0"), call_events.State(0, "hearing")]


async def test_a_call_is_not_recorded_unless_its_client_asks_for_it(ring: Ring):
    seat, lookers = FakeLease(), Lookers()
    async with ring(seat, recordings=lookers) as caller:
        await caller.says("start")
        await caller.says("text", text="hi")
        await seat.until(1)
    assert lookers.begun == []


async def test_recording_is_switched_on_and_off_while_the_call_goes_on(ring: Ring):
    seat, lookers = FakeLease(), Lookers()
    async with ring(seat, recordings=lookers) as caller:
        await caller.says("start")
        await caller.says("text", text="before")
        await seat.until(1)
        await caller.says("record", on=True)
        await caller.hears_until("recording")
        await caller.says("text", text="between")
        await caller.says("record", on=False)
        off = (await caller.hears_until("recording"))[-1]
        assert (off["on"], off["recording_id"], off["reason"]) == (False, "r1", "stopped")
        await caller.says("text", text="after")
        await seat.until(3)
    assert lookers.lookers[0].seen == [call_events.Typed("between")]
    assert lookers.begun[0]["at_once"] is True


async def test_a_recording_that_ends_by_itself_is_told_and_the_call_goes_on(ring: Ring):
    seat, lookers = FakeLease(), Lookers()
    async with ring(seat, recordings=lookers) as caller:
        await caller.says("start", record=True)
        await caller.hears_until("recording")
        lookers.lookers[0].on_end("disk_full")
        assert (await caller.hears_until("recording"))[-1]["reason"] == "disk_full"
        await caller.says("text", text="still here")
        assert await seat.until(1) == [call_events.Typed("still here")]


async def test_a_call_that_may_not_be_recorded_is_a_call_all_the_same(ring: Ring):
    seat = FakeLease()
    refused = Problem("Recording is switched off.", code="recording_forbidden", status=403)
    async with ring(seat, recordings=Lookers(refused)) as caller:
        await caller.says("start", record=True)
        messages = await caller.hears_until("recording")
        assert messages[-2]["code"] == messages[-1]["reason"] == "recording_forbidden"
        assert messages[-1]["on"] is False
        await caller.says("text", text="hi")
        assert await seat.until(1) == [call_events.Typed("hi")]


async def test_a_server_without_recordings_says_so(ring: Ring):
    async with ring(FakeLease()) as caller:
        await caller.says("start", record=True)
        assert (await caller.hears_until("recording"))[-1]["reason"] == "recording_unavailable"


SOUND = tone(16_000, 1.5)
BY_TEXT = msgspec.structs.replace(CARD, clones=True, clones_by_text=True)
"""A speaker that must know what is said in a recording."""
DEAF = msgspec.structs.replace(BY_TEXT, recogniser=SpeechEngineStatus())


@pytest.mark.parametrize(
    ("card", "known", "said", "kinds", "note"),
    [
        (BY_TEXT, "", VoiceSample(SOUND, "good morning"), ["transcription"], ""),
        (BY_TEXT, "hello", VoiceSample(SOUND, "hello"), [], ""),
        (msgspec.structs.replace(BY_TEXT, clones_by_text=False), "", VoiceSample(SOUND), [], ""),
        (DEAF, "", None, [], "could not be written down. The voice low speaks instead."),
    ],
)
async def test_what_is_said_in_a_recorded_voice_is_written_down_once_at_the_calls_start(
    ring: Ring,
    memory: Any,
    clock: Any,
    card: SpeechCard,
    known: str,
    said: VoiceSample | None,
    kinds: list[str],
    note: str,
):
    library = VoiceLibrary(most=1)
    library.use(Store(memory, clock).custom_voices)
    voice = await library.add("ada", wav_file(SOUND), name="Me", statement="Yes.", text=known)
    seats, seat = Seats("good morning", card=card), FakeLease()
    async with ring(seat, speech=SpeechService(seats, None, library)) as caller:
        await caller.says("start", voice=voice.id)
        await caller.says("text", text="hi")
        await seat.until(1)
        told = (await caller.hears_until("voice"))[-1]["voice_note"] if note else ""
    assert seat.request is not None
    assert (seat.request.sample, seats.kinds) == (said, kinds)
    assert told.endswith(note)


@pytest.mark.parametrize(("asked", "then"), [("high", "low"), ("low", ""), ("", "")])
async def test_a_call_that_moves_to_another_speaker_falls_back_as_a_new_call_does(
    ring: Ring, asked: str, then: str
):
    """The speaker has the voices low and high, and the next one only low."""
    first, second, seats = FakeLease(), FakeLease(), Seats()
    async with ring(first, second, speech=SpeechService(seats, VoiceSettings(), None)) as caller:
        await caller.says("start", voice=asked)
        await caller.says("text", text="hi")
        await first.until(1)
        assert first.request is not None
        assert first.request.voice == asked
        seats.workers["voice"].speech = msgspec.structs.replace(CARD, voices=CARD.voices[:1])
        first.say(WORKER_LOST)
        if then:
            told = (await caller.hears_until("voice"))[-1]
            assert told["voice"] == then
            assert "'high'" in told["voice_note"]
        await second.until(0)
    assert second.request is not None
    assert second.request.voice == ("" if then else asked)


@pytest.mark.parametrize(
    ("asked", "default"), [("", "voice_gone"), ("voice_too", "voice_gone"), ("", "of-another-pack")]
)
async def test_a_default_voice_that_is_gone_does_not_end_the_call(
    ring: Ring, memory: Any, clock: Any, asked: str, default: str
):
    library = VoiceLibrary(most=1)
    library.use(Store(memory, clock).custom_voices)
    settings, seat = VoiceSettings(voice=default), FakeLease()
    async with ring(seat, settings=settings, speech=SpeechService(Seats(), settings, library)) as caller:
        await caller.says("start", voice=asked)
        told = (await caller.hears_until("voice"))[-1]
        assert (told["voice"], told["voice_note"].endswith("The voice low speaks instead.")) == ("low", True)
        await caller.says("text", text="hi")
        await seat.until(1)
    assert seat.request is not None
    assert (seat.request.voice, seat.request.sample) == ("", None)


async def test_a_recogniser_that_fails_does_not_end_the_call(ring: Ring, memory: Any, clock: Any):
    library = VoiceLibrary(most=1)
    library.use(Store(memory, clock).custom_voices)
    voice = await library.add("ada", wav_file(SOUND), name="Me", statement="Yes.", text="")
    seats, seat = (
        Seats("", card=BY_TEXT, fails=Problem("It broke.", code="engine_failed", status=500)),
        FakeLease(),
    )
    async with ring(seat, speech=SpeechService(seats, None, library)) as caller:
        await caller.says("start", voice=voice.id)
        await caller.says("text", text="hi")
        await seat.until(1)
    assert seat.request is not None
    assert seat.request.sample is None
