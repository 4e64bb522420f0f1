"""A duplex session: prepared, answered piece by piece, interrupted, paused, and ended by its limits."""

import base64
import json
from functools import partial
from typing import Any

import pytest
from tests.gateway.duplex_server import JPEG, MINI, SECOND, SEEING, SPOKEN, Open, Seat, serve_duplex
from tests.gateway.fake_seats import FakeGenerate, words

from duologue.config.voice import VoiceSettings
from duologue.gateway.calls import duplex_session
from duologue.gateway.scheduling.scheduler import Moved
from duologue.values import call_events
from duologue.values.messages import ImagePart

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
            "ignored": ["config.ls_mode"],
        }
        assert (await caller.speaks())["current_time"] == 1
    assert seat.request == call_events.CallSetup(
        language="de", pauses=True, marks=True, fills=False, ahead=3.0
    )


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


async def test_without_eyes_there_are_no_sessions_with_pictures(open_server: Open):
    async with open_server(Seat()) as server, server.connect("omni_1") as caller:
        error = await caller.hears()
        assert error["code"] == "modality_unsupported"
        assert "adx_" in error["error"]
        assert (await caller.is_closed())[0] == 1008


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


async def test_a_session_of_sound_alone_takes_no_pictures(open_server: Open):
    async with open_server(Seat(), cards=(SEEING,)) as server, server.connect() as caller:
        await caller.prepares()
        assert (await caller.speaks(frame_base64_list=[JPEG]))["vision_slices"] == 0
        await caller.says("video_frame", frame=JPEG)
        assert (await caller.hears())["code"] == "modality_unsupported"


async def test_a_model_without_eyes_is_refused_by_name(open_server: Open):
    async with open_server(Seat(), cards=(MINI, SEEING)) as server, server.connect("omni_1") as caller:
        error = await caller.prepares(model="mini")
        assert (error["code"], error["param"]) == ("modality_unsupported", "model")


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
