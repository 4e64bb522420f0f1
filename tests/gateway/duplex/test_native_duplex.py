"""A duplex session that its model holds by itself, over real sockets, as the front end of the MiniCPM-o demo speaks it."""

from typing import Any

import anyio
import pytest
from tests.gateway.duplex_server import JPEG, MINI, SECOND, SPOKEN, Caller, Seat, serve_duplex
from tests.gateway.fake_seats import FakeSeats
from tests.gateway.recording_stand_in import Lookers

from duologue.gateway.scheduling.scheduler import EVERY_SLOT, Moved
from duologue.values import call_events
from duologue.values.call_events import OmniSetup, UnitAnswered
from duologue.values.messages import ImagePart, system
from duologue.values.requests import ModelCard, Sampling

pytestmark = pytest.mark.anyio

OMNI = ModelCard(
    "omni", "scripted", 8192, modalities=("text", "image", "audio"), outputs=("text", "audio"),
    voices=("clear", "deep"), verbs=("duplex",),
)  # fmt: skip


def native(serve: Any, *seats: Seat, cards: tuple[ModelCard, ...] = (MINI, OMNI), **options: Any) -> Any:
    return serve_duplex(serve, Seat(), cards=cards, slots=FakeSeats(*seats), **options)


async def answered(seat: Seat, caller: Caller, number: int, **fields: Any) -> Any:
    """A second of sound, which the model answers; its result."""
    await caller.says("audio_chunk", audio_base64=SECOND, **fields)
    await seat.until(number)
    seat.say(UnitAnswered(0, number, 16000, cached=10 * number, language_ms=12.5, written=3, codes=25))
    return await caller.hears()


async def test_its_front_end_prepares_speaks_pauses_and_stops(serve: Any):
    seat = Seat(places=[Moved("q_1", 1, 90.0, 1)])
    async with native(serve, seat) as server, server.connect("omni_1") as caller:
        queued = await caller.hears()
        assert (queued["type"], queued["position"], queued["estimated_wait_s"]) == ("queued", 1, 90.0)
        prepared = await caller.prepares(
            system_prompt="Be brief.",
            voice="deep",
            config={
                "temperature": 0.5,
                "listen_prob_scale": 1.2,
                "sliding_window": 4000,
                "ls_mode": "explicit",
            },
        )
        assert (prepared["type"], prepared["model"], prepared["prompt_length"]) == ("prepared", "omni", 9)
        assert (prepared["ignored"], prepared["native"]) == (["config.ls_mode"], True)
        [setup] = await seat.began(1)
        assert setup.omni == OmniSetup(
            messages=(system("Be brief."),), sampling=Sampling(temperature=0.5), listen_scale=1.2, window=4000
        )
        assert (setup.voice, setup.fills, setup.marks) == ("deep", False, True)
        result = await answered(seat, caller, 1)
        assert (result["type"], result["is_listen"], result["current_time"]) == ("result", True, 1)
        assert (result["cost_llm_ms"], result["cost_all_ms"], result["kv_cache_length"]) == (12.5, 12.5, 10)
        assert (result["n_tokens"], result["n_tts_tokens"]) == (3, 25)
        await caller.says("pause", timeout=60)
        assert await caller.hears() == {"type": "paused", "timeout": 60.0}
        assert seat.paused
        await caller.says("audio_chunk", audio_base64=SECOND)
        assert (await caller.hears())["code"] == "session_paused"
        assert len(seat.controls) == 1, "nothing is sent to the model"
        await caller.says("resume")
        assert await caller.hears() == {"type": "resumed"}
        await caller.says("stop")
        assert (await caller.hears())["type"] == "stopped"
    await seat.is_left()


async def test_a_chunk_goes_to_the_model_with_its_frames_and_wishes(serve: Any):
    seat = Seat()
    async with native(serve, seat) as server, server.connect("omni_1") as caller:
        await caller.prepares(max_slice_nums=2)
        await caller.says(
            "audio_chunk",
            audio_base64=SECOND,
            frame_base64_list=[JPEG, JPEG],
            force_listen=True,
            max_slice_nums=3,
        )
        [chunk] = await seat.until(1)
        await caller.says("video_frame", frame=JPEG)
        assert isinstance((await seat.until(2))[1], call_events.CallFrame)
    assert isinstance(chunk, call_events.CallChunk)
    assert [type(frame) for frame in chunk.frames] == [ImagePart, ImagePart]
    assert (len(chunk.pcm), chunk.force_listen, chunk.max_slices) == (32000, True, 3)
    assert seat.setups[0].omni is not None
    assert seat.setups[0].omni.max_slices == 2


async def test_what_the_model_says_is_in_the_result_of_its_chunk(serve: Any):
    seat = Seat()
    async with native(serve, seat) as server, server.connect("adx_1") as caller:
        await caller.prepares()
        await caller.says("audio_chunk", audio_base64=SECOND)
        await seat.until(1)
        seat.say(
            call_events.ReplyBegun(0, 1, 1),
            call_events.ReplyAudioStarted(0, 1),
            call_events.ReplyText(0, 1, "Hello.", final=True),
            call_events.ReplyAudio(0, 1, SPOKEN),
            call_events.ReplyAudioEnded(0, 1, 24000),
            UnitAnswered(0, 1, 16000, listens=False, reply=1, end_of_turn=True),
        )
        result = await caller.hears()
    assert (result["text"], result["samples"], result["is_listen"]) == ("Hello.", 24000, False)
    assert (result["end_of_turn"], result["reply_id"], result["turn_id"]) == (True, 1, 1)


async def test_it_takes_the_first_model_that_can_or_the_one_in_the_address(serve: Any):
    other = ModelCard("other", "scripted", 8192, modalities=("text", "audio"), verbs=("duplex",))
    for path, name in (("omni_1", "omni"), ("adx_1", "other"), ("x?model=omni", "omni")):
        seats = FakeSeats(seat := Seat())
        async with (
            serve_duplex(serve, cards=(MINI, other, OMNI), slots=seats) as server,
            server.connect(path) as caller,
        ):
            assert (await caller.prepares())["model"] == name
            await seat.began(1)
        assert seats.asked == [(name, EVERY_SLOT)]
        assert seats.kinds == ["audio_duplex" if path.startswith("adx") else "omni_duplex"]


async def test_a_named_model_of_the_cascade_gets_a_seat_of_the_voice(serve: Any):
    seat = Seat()
    async with (
        serve_duplex(serve, seat, cards=(MINI, OMNI), slots=FakeSeats()) as server,
        server.connect("omni_1?model=mini") as caller,
    ):
        assert (await caller.prepares())["model"] == "mini"
        [setup] = await seat.began(1)
        assert setup.omni is None


@pytest.mark.parametrize(("path", "asked"), [("omni_1", "mini"), ("omni_1?model=mini", "omni")])
async def test_a_prepare_for_the_other_kind_of_seat_is_refused_with_the_way(
    serve: Any, path: str, asked: str
):
    async with (
        serve_duplex(serve, Seat(), cards=(MINI, OMNI), slots=FakeSeats(Seat())) as server,
        server.connect(path) as caller,
    ):
        error = await caller.prepares(model=asked)
        assert (error["type"], error["code"]) == ("error", "session_model_fixed")
        assert f"/ws/duplex/omni_1?model={asked}" in error["message"]
        await caller.says("prepare")
        assert (await caller.hears())["type"] == "prepared"


async def test_a_model_that_is_not_here_is_said_before_anybody_waits(serve: Any):
    async with native(serve) as server, server.connect("omni_1?model=nobody") as caller:
        assert (await caller.hears())["code"] == "model_not_found"


async def test_where_the_model_fails_a_cascade_answers_and_says_so(serve: Any):
    slots = FakeSeats()
    slots.failures["omni"] = "The card was lost."
    async with (
        serve_duplex(serve, Seat(), cards=(MINI, OMNI), slots=slots) as server,
        server.connect("omni_1") as caller,
    ):
        prepared = await caller.prepares()
    assert prepared["model"] == "mini"
    assert prepared["native"] is False
    assert "The card was lost." in prepared["model_note"]


async def test_a_second_prepare_begins_a_new_conversation_in_the_same_seat(serve: Any):
    seat = Seat()
    async with native(serve, seat) as server, server.connect("omni_1") as caller:
        await caller.prepares(system_prompt="One.")
        await answered(seat, caller, 1)
        await caller.says("prepare", system_prompt="Two.", voice="clear")
        assert (await caller.hears())["type"] == "prepared"
        [_, setup] = await seat.began(2)
    assert setup.omni is not None
    assert (setup.omni.messages, setup.voice, setup.epoch) == ((system("Two."),), "clear", 1)


async def test_a_voice_that_the_model_has_not_is_told(serve: Any):
    async with native(serve, Seat()) as server, server.connect("omni_1") as caller:
        prepared = await caller.prepares(voice="nobody", ref_audio_base64="")
    assert "no voice 'nobody'" in prepared["voice_note"]
    assert "clear speaks instead" in prepared["voice_note"]


async def test_it_is_recorded_with_both_sides_and_the_frames(serve: Any):
    seat, lookers = Seat(), Lookers()
    async with native(serve, seat, recordings=lookers) as server, server.connect("omni_1") as caller:
        assert (await caller.prepares(record=True))["recording_session_id"] == "r1"
        await answered(seat, caller, 1, frame_base64_list=[JPEG])
    [looker] = lookers.lookers
    kinds = [type(entry) for entry in looker.seen]
    assert {ImagePart, call_events.CallChunk, UnitAnswered} <= set(kinds)


async def test_a_lost_model_is_said_and_the_session_goes_on_in_another_seat(serve: Any):
    from duologue.values.events import WORKER_LOST

    first, second = Seat(), Seat()
    async with native(serve, first, second) as server, server.connect("omni_1") as caller:
        await caller.prepares(system_prompt="One.")
        await first.began(1)
        first.say(WORKER_LOST)
        assert (await caller.hears())["code"] == "worker_lost"
        [setup] = await second.began(1)
        await caller.says("audio_chunk", audio_base64=SECOND)
        await second.until(1)
        second.say(UnitAnswered(1, 1, 16000))
        assert (await caller.hears())["type"] == "result"
    assert setup.omni is not None
    assert setup.omni.messages == (system("One."),)
    assert first.gone


async def test_without_a_voice_worker_such_a_model_still_holds_calls(serve: Any):
    seat = Seat()
    async with native(serve, seat, voice=False) as server, server.connect("adx_1") as caller:
        await caller.prepares()
        with anyio.fail_after(30):
            await seat.began(1)
