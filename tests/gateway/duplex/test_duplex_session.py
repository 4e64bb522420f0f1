"""A duplex session: prepared, answered piece by piece, interrupted, paused, and ended by its limits."""

import base64
import json
from functools import partial
from typing import Any

import msgspec
import pytest
from tests.gateway.duplex_server import JPEG, MINI, SECOND, SEEING, SPOKEN, Open, Seat, serve_duplex
from tests.gateway.fake_seats import FakeGenerate, words
from tests.gateway.fake_voice_worker import CARD, Seats
from tests.support.sample_files import tone

from duologue.config.sections.voice import VoiceSettings
from duologue.gateway.apps.app_registry import AppRegistry
from duologue.gateway.calls import call_model
from duologue.gateway.duplex import duplex_session
from duologue.gateway.scheduling.scheduler import Moved
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.speech.voice_choice import CLONED
from duologue.values import call_events
from duologue.values.audio import to_float32
from duologue.values.messages import ImagePart
from duologue.values.speech import VoiceSample

pytestmark = pytest.mark.anyio


@pytest.fixture
def open_server(serve: Any) -> Open:
    return partial(serve_duplex, serve)


# The beginning


async def test_a_session_is_prepared_and_says_what_it_ignores(open_server: Open):
    seat = Seat()
    async with open_server(seat) as server, server.connect() as caller:
        prepared = await caller.prepares(
            prefix_system_prompt="Hi", config={"ls_mode": "explicit"}, language="de"
        )
        assert prepared == {
            "type": "prepared",
            "prompt_length": 2,
            "session_id": "adx_1",
            "model": "mini",
            "sample_rate": 24000,
            "native": False,
            "ignored": ["config.ls_mode"],
        }
        assert (await caller.speaks())["current_time"] == 1
    assert seat.request == call_events.CallSetup(
        language="de", pauses=True, marks=True, fills=False, ahead=3.0
    )


async def test_a_recording_is_what_the_session_speaks_like(open_server: Open):
    sound = tone(16_000, 1.5)
    recording = base64.b64encode(to_float32(sound)).decode()
    card = msgspec.structs.replace(CARD, clones=True)
    seat, speech = Seat(), SpeechService(Seats(card=card))
    async with open_server(seat, speech=speech) as server, server.connect() as caller:
        prepared = await caller.prepares(tts_ref_audio_base64=recording)
        assert (prepared["ignored"], prepared["voice_note"]) == ([], CLONED)
        await caller.says("prepare", system_prompt="Again.")
        assert (await caller.hears())["ignored"] == ["ref_audio_base64"]
    assert seat.request is not None
    assert seat.request.sample == VoiceSample(sound)


async def test_a_speaker_that_cannot_imitate_a_recording_says_who_speaks(open_server: Open):
    seat, speech = Seat(), SpeechService(Seats())
    async with open_server(seat, speech=speech) as server, server.connect() as caller:
        prepared = await caller.prepares(ref_audio_base64=SECOND)
        assert "the voice low speaks instead" in prepared["voice_note"]
    assert seat.request is not None
    assert seat.request.sample is None


BY_TEXT = msgspec.structs.replace(CARD, clones=True, clones_by_text=True)
"""A speaker that must know what is said in a recording."""


async def test_what_is_said_in_a_recording_is_written_down_in_the_sessions_own_seat(open_server: Open):
    """Sessions that held every seat and waited for another one to have it written down blocked each other for good."""
    sound = tone(16_000, 1.5)
    seat, others = Seat(writes_down="good morning"), Seats(card=BY_TEXT, full=True)
    async with open_server(seat, speech=SpeechService(others)) as server, server.connect() as caller:
        prepared = await caller.prepares(ref_audio_base64=base64.b64encode(to_float32(sound)).decode())
        assert prepared["voice_note"] == CLONED
        assert (await caller.speaks())["current_time"] == 1
    assert [(each.pcm, others.kinds) for each in seat.transcribed] == [(sound, [])]
    assert seat.request is not None
    assert seat.request.sample == VoiceSample(sound, "good morning")


async def test_a_recording_that_cannot_be_written_down_does_not_end_the_session(open_server: Open):
    recording = base64.b64encode(to_float32(tone(16_000, 1.5))).decode()
    seat, speech = Seat(), SpeechService(Seats(card=BY_TEXT))
    async with open_server(seat, speech=speech) as server, server.connect() as caller:
        note = (await caller.prepares(ref_audio_base64=recording))["voice_note"]
        assert note.endswith("could not be written down. The voice low speaks instead.")
        assert (await caller.speaks())["current_time"] == 1
    assert seat.request is not None
    assert seat.request.sample is None


async def test_who_waits_is_told_where_and_may_prepare_meanwhile(open_server: Open):
    seat = Seat([Moved("q_1", 2, 8.0, 2), Moved("q_1", 1, 4.0, 2)])
    async with open_server(seat) as server, server.connect() as caller:
        await caller.says("prepare")
        heard = [await caller.hears() for _ in range(4)]
    assert [message["type"] for message in heard] == ["queued", "queue_update", "queue_done", "prepared"]
    assert heard[0]["ticket_id"] == "q_1"


async def test_what_comes_before_its_time_is_said_to(open_server: Open):
    async with open_server(Seat()) as server, server.connect() as caller:
        assert await caller.hears() == {"type": "queue_done"}
        for kind in ({"type": "audio_chunk", "audio": SECOND}, {"type": "pause"}):
            await caller.socket.send(json.dumps(kind))
            assert (await caller.hears())["code"] == "session_unprepared"


async def test_a_second_prompt_begins_anew(open_server: Open):
    seat, generate = Seat(), FakeGenerate(words("One."), words("Two."))
    async with open_server(seat, generate=generate) as server, server.connect() as caller:
        await caller.prepares(system_prompt="First.")
        seat.say(call_events.ReplyRequested(0, 1, 1, 1, "hi"), call_events.UserSaid(0, 1, "hi"))
        await seat.until(2)
        await caller.says("prepare", system_prompt="Second.", voice="other")
        assert (await caller.hears())["ignored"] == ["voice"]
        seat.say(call_events.ReplyRequested(0, 2, 2, 1, "again"))
        await seat.until(4)
    assert [message.text for message in generate.requests[1].messages] == ["Second.", "again"]


# Talking


async def test_each_piece_is_heard_and_answered(open_server: Open):
    seat = Seat()
    async with open_server(seat) as server, server.connect() as caller:
        await caller.prepares()
        first, second = await caller.speaks(), await caller.speaks()
        assert [first["current_time"], second["current_time"]] == [1, 2]
        assert first["is_listen"]
        assert first["audio_data"] is None
        assert (await seat.until(2))[0] == call_events.MicrophoneAudio(bytes(32000))


async def test_a_reply_is_spoken_in_the_results(open_server: Open):
    seat = Seat()
    async with (
        open_server(seat, generate=FakeGenerate(words("Hello."))) as server,
        server.connect() as caller,
    ):
        await caller.prepares()
        await caller.speaks()
        seat.say(call_events.ReplyRequested(0, 1, 1, 1, "hi"))
        assert (await seat.until(3))[1:] == [
            call_events.Text(1, "Hello."),
            call_events.Text(1, "", last=True),
        ]
        seat.say(
            call_events.UserSaid(0, 1, "hi"),
            call_events.ReplyAudioStarted(0, 1),
            call_events.ReplyText(0, 1, "Hello."),
            call_events.ReplyAudio(0, 1, SPOKEN),
            call_events.ReplyAudioEnded(0, 1, 24000),
        )
        # The session is told that nothing of it was played yet.
        assert (await seat.until(4))[3] == call_events.Played(1, 0)
        result = await caller.speaks()
        assert not result["is_listen"]
        assert (result["text"], result["end_of_turn"], result["samples"]) == ("Hello.", True, 24000)
        assert len(base64.b64decode(result["audio_data"])) == 4 * 24000


async def test_forcing_it_to_listen_cuts_the_reply(open_server: Open):
    seat = Seat()
    async with open_server(seat) as server, server.connect() as caller:
        await caller.prepares()
        seat.say(call_events.ReplyAudioStarted(0, 1), call_events.ReplyAudio(0, 1, SPOKEN * 3))
        await seat.until(1)
        assert (await caller.speaks())["samples"] == 24000
        result = await caller.speaks(force_listen=True)
        assert result["is_listen"]
        assert result["end_of_turn"]
        assert result["audio_data"] is None
        interrupts = [told for told in seat.controls if isinstance(told, call_events.Interrupt)]
    assert [interrupt.reply for interrupt in interrupts] == [1]


async def test_an_interruption_interrupts(open_server: Open):
    seat = Seat()
    async with open_server(seat) as server, server.connect() as caller:
        await caller.prepares()
        seat.say(call_events.State(0, "thinking"))
        await caller.speaks()
        await caller.says("interrupt")
        assert await caller.hears() == {"type": "interrupted"}
        assert (await seat.until(2))[-1] == call_events.Interrupt()


async def test_a_hold_is_answered_with_what_the_client_will_have_played(open_server: Open):
    seat = Seat()
    async with open_server(seat) as server, server.connect() as caller:
        await caller.prepares()
        seat.say(call_events.ReplyAudioStarted(0, 1), call_events.ReplyAudio(0, 1, SPOKEN * 2))
        await seat.until(1)
        await caller.speaks()
        seat.say(call_events.Hold(0, 1))
        while call_events.Played(1, 24000) not in seat.controls:
            await seat.until(len(seat.controls) + 1)


async def test_trouble_is_said_and_the_session_goes_on(open_server: Open):
    seat = Seat()
    async with open_server(seat) as server, server.connect() as caller:
        await caller.prepares()
        seat.say(call_events.CallProblem(0, "engine_failed", "It broke."))
        assert (await caller.hears())["error"] == "It broke."
        await caller.says("dance")
        assert (await caller.hears())["message"].startswith("Unknown message type: dance")
        assert (await caller.speaks())["type"] == "result"
        await caller.says("client_diagnostic", gaps=1)
        await caller.says("stop")
        assert await caller.hears() == {"type": "stopped", "session_id": "adx_1"}
        assert (await caller.is_closed())[0] == 1000
    assert seat.gone


# Pictures


@pytest.mark.parametrize("id", ["omni_1", "adx_1", "kitchen"])
async def test_without_eyes_a_session_hears_all_the_same(open_server: Open, id: str):
    async with open_server(Seat()) as server, server.connect(id) as caller:
        assert (await caller.prepares())["model"] == "mini"
        await caller.says("audio_chunk", audio_base64=SECOND, frame_base64_list=[JPEG])
        told = [await caller.hears(), await caller.hears()]
        [error] = [message for message in told if message["type"] == "error"]
        [result] = [message for message in told if message["type"] == "result"]
        assert (error["code"], error["param"]) == ("modality_unsupported", "frame_base64_list")
        assert "goes on with sound" in error["error"]
        assert result["vision_slices"] == 0
        # Once is enough: a camera sends a picture a second.
        await caller.says("video_frame", frame=JPEG)
        assert (await caller.speaks(frame_base64_list=[JPEG]))["type"] == "result"


async def test_pictures_belong_to_the_turn_they_fall_in(open_server: Open):
    seat, generate = Seat(), FakeGenerate(words("A cat."))
    async with (
        open_server(seat, generate=generate, cards=(MINI, SEEING)) as server,
        server.connect("omni_1") as caller,
    ):
        assert (await caller.prepares())["model"] == "seeing"
        assert (await caller.speaks(frame_base64_list=[JPEG]))["vision_slices"] == 1
        seat.say(call_events.ReplyRequested(0, 1, 1, 1, "what is that"))
        await seat.until(3)
        await caller.says("video_frame", frame=JPEG)
        await caller.speaks()
    [request] = generate.requests
    assert next(type(part) for part in request.messages[-1].parts) is ImagePart


async def test_the_first_picture_brings_a_model_that_sees_it(open_server: Open):
    seat, generate = Seat(), FakeGenerate(words("A cat."))
    async with (
        open_server(seat, generate=generate, cards=(MINI, SEEING)) as server,
        server.connect("adx_1") as caller,
    ):
        assert (await caller.prepares())["model"] == "mini"
        assert (await caller.speaks(frame_base64_list=[JPEG]))["vision_slices"] == 1
        seat.say(call_events.ReplyRequested(0, 1, 1, 1, "what is that"))
        await seat.until(3)
    [request] = generate.requests
    assert request.model == "seeing"
    assert next(type(part) for part in request.messages[-1].parts) is ImagePart


async def test_a_model_that_was_named_keeps_the_session(open_server: Open):
    async with open_server(Seat(), cards=(MINI, SEEING)) as server, server.connect("omni_1") as caller:
        assert (await caller.prepares(model="mini"))["model"] == "mini"
        await caller.says("video_frame", frame=JPEG)
        assert "Name seeing in prepare" in (await caller.hears())["error"]


# Pauses


async def test_a_pause_holds_what_is_to_be_said(open_server: Open):
    seat = Seat()
    async with open_server(seat) as server, server.connect() as caller:
        await caller.prepares()
        await caller.says("pause", timeout=30)
        assert await caller.hears() == {"type": "paused", "timeout": 30.0}
        assert (await caller.speaks())["code"] == "session_paused"
        seat.say(call_events.ReplyAudioStarted(0, 1), call_events.ReplyAudio(0, 1, SPOKEN))
        await seat.until(1)
        await caller.says("resume")
        assert await caller.hears() == {"type": "resumed"}
        assert (await caller.speaks())["samples"] == 24000


async def test_a_pause_that_lasts_too_long_ends_the_session(
    open_server: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(duplex_session, "CHECK_INTERVAL", 0.01)
    seat = Seat()
    async with open_server(seat) as server, server.connect() as caller:
        await caller.prepares()
        await caller.says("pause", timeout=0.02)
        assert (await caller.hears())["type"] == "paused"
        assert await caller.hears() == {"type": "timeout", "reason": "Pause timeout (0.02s)"}
        assert (await caller.is_closed())[0] == 1000
    assert seat.gone


@pytest.mark.parametrize(
    ("limits", "code"), [({"idle_s": 0.01}, "call_idle"), ({"session_s": 0.01}, "call_too_long")]
)
async def test_a_session_ends_by_the_limits_of_a_call(
    open_server: Open, monkeypatch: pytest.MonkeyPatch, limits: dict[str, Any], code: str
):
    monkeypatch.setattr(duplex_session, "CHECK_INTERVAL", 0.02)
    async with open_server(Seat(), settings=VoiceSettings(**limits)) as server, server.connect() as caller:
        heard = await caller.hears()
        while heard["type"] != "error":
            heard = await caller.hears()
        assert heard["code"] == code
        assert (await caller.is_closed())[0] == 1000


async def test_nobody_keeps_a_seat_without_preparing(open_server: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(duplex_session, "CHECK_INTERVAL", 0.01)
    monkeypatch.setattr(duplex_session, "PREPARE_TIMEOUT", 0.02)
    seat = Seat()
    async with open_server(seat) as server, server.connect() as caller:
        assert await caller.hears() == {"type": "queue_done"}
        assert (await caller.hears())["code"] == "session_unprepared"
        assert (await caller.is_closed())[0] == 1000
    assert seat.gone


def test_a_cameras_pictures_go_to_a_connected_server_only_where_somebody_chose_it():
    far = msgspec.structs.replace(SEEING, name="far", upstream="hosted")
    assert call_model.seeing([MINI, SEEING, far]) is SEEING
    assert call_model.seeing([far, MINI]) is far
    assert call_model.seeing([MINI, far]) is None


# Switched off


async def off(*ids: str) -> AppRegistry:
    apps = AppRegistry()
    for id in ids:
        await apps.switch(id, False)
    return apps


@pytest.mark.parametrize(("switched", "id"), [("omni", "omni_1"), ("audio_duplex", "adx_1")])
async def test_a_mode_that_is_off_takes_no_new_sessions(open_server: Open, switched: str, id: str):
    async with open_server(Seat(), apps=await off(switched)) as server, server.connect(id) as caller:
        error = await caller.hears()
        assert error["code"] == "app_disabled"
        assert "An admin has switched off" in error["error"]
        assert await caller.is_closed() == (1008, "app_disabled")


async def test_an_id_that_says_nothing_may_use_what_is_on(open_server: Open):
    apps = await off("omni")
    async with open_server(Seat(), cards=(SEEING,), apps=apps) as server, server.connect("x") as caller:
        await caller.prepares()
        assert (await caller.speaks())["type"] == "result"
        await caller.says("video_frame", frame=JPEG)
        assert (await caller.hears())["code"] == "app_disabled"
        await caller.says("video_frame", frame=JPEG)
        await apps.switch("audio_duplex", False)
        assert (await caller.hears())["type"] == "app_disabled"
        assert (await caller.is_closed())[0] == 1000


async def test_a_running_session_is_told_and_ends_after_its_reply(
    open_server: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(duplex_session, "CHECK_INTERVAL", 0.01)
    seat, apps = Seat(), AppRegistry()
    async with open_server(seat, apps=apps) as server, server.connect() as caller:
        await caller.prepares()
        seat.say(
            call_events.State(0, "speaking"),
            call_events.ReplyAudioStarted(0, 1),
            call_events.ReplyText(0, 1, "One two."),
            call_events.ReplyAudio(0, 1, SPOKEN * 2),
            call_events.ReplyAudioEnded(0, 1, 48000),
        )
        await seat.until(1)
        assert (await caller.speaks())["samples"] == 24000
        await apps.switch("audio_duplex", False)
        told = await caller.hears()
        assert (told["type"], told["app_id"]) == ("app_disabled", "audio_duplex")
        # The rest of the reply still comes.
        seat.say(call_events.State(0, "listening"))
        rest = [await caller.speaks()]
        while not rest[-1]["end_of_turn"]:
            rest.append(await caller.speaks())
        assert sum(result["samples"] for result in rest) == 24000
        assert await caller.hears() == {"type": "stopped", "session_id": "adx_1", "reason": "app_disabled"}
        assert await caller.is_closed() == (1000, "app_disabled")
    assert seat.gone
