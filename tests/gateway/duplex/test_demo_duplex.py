"""The duplex pages of the MiniCPM-o demo, as their client speaks: what it sends, what it reads, and when its turns begin and end."""

from functools import partial
from typing import Any

import pytest
from tests.gateway.duplex_server import JPEG, SECOND, SEEING, SPOKEN, Caller, Open, Seat, serve_duplex

from duologue.gateway.scheduling.scheduler import Moved
from duologue.values import call_events

pytestmark = pytest.mark.anyio

OMNI = {
    "system_prompt": "Streaming.",
    "config": {"length_penalty": 1.05},
    "max_slice_nums": 1,
    "ref_audio_base64": SECOND,
    "tts_ref_audio_base64": SECOND,
}


@pytest.fixture
def open_server(serve: Any) -> Open:
    return partial(serve_duplex, serve)


class Player:
    """The turns that the demo's player shows: one begins with a result that does not listen, and ends with one that does or with
    the turn's end."""

    def __init__(self) -> None:
        self.turns: list[str] = []
        self.speaking = False

    def plays(self, result: dict[str, Any]) -> None:
        if result["is_listen"]:
            self.speaking = False
            return
        if not self.speaking:
            self.turns.append("")
        self.turns[-1] += result["text"]
        self.speaking = not result["end_of_turn"]


async def sends(caller: Caller, player: Player, **fields: Any) -> dict[str, Any]:
    result: dict[str, Any] = await caller.speaks(**fields)
    player.plays(result)
    return result


async def test_the_page_with_the_camera_from_start_to_stop(open_server: Open):
    seat, player = Seat(), Player()
    async with open_server(seat, cards=(SEEING,)) as server, server.connect("omni_mfx3k2a1") as caller:
        prepared = await caller.prepares(**OMNI)
        assert (prepared["type"], prepared["prompt_length"]) == ("prepared", len("Streaming."))
        result = await sends(caller, player, frame_base64_list=[JPEG], max_slice_nums=2)
        # What its panel of figures reads.
        read = {
            "cost_all_ms",
            "kv_cache_length",
            "server_send_ts",
            "current_time",
            "vision_slices",
            "vision_tokens",
        }
        assert read <= result.keys()
        assert result["is_listen"]
        await caller.says("client_diagnostic", event="gap", gap_ms=12.5)
        seat.say(
            call_events.ReplyRequested(0, 1, 1, 1, "Hi"),
            call_events.TurnConfirmed(0, 1),
            call_events.ReplyAudioStarted(0, 1),
            call_events.ReplyText(0, 1, "Hello."),
            call_events.ReplyAudio(0, 1, SPOKEN),
            call_events.ReplyAudioEnded(0, 1, 24000),
        )
        await seat.until(2)
        while not player.turns or player.speaking:
            result = await sends(caller, player, frame_base64_list=[JPEG])
        assert player.turns == ["Hello."]
        await caller.says("stop")
        assert (await caller.hears())["type"] == "stopped"
        assert (await caller.is_closed())[0] == 1000
    assert seat.gone


async def test_a_short_sound_over_a_reply_does_not_split_its_bubble(open_server: Open):
    seat, player = Seat(), Player()
    async with open_server(seat) as server, server.connect("adx_mfx3k2a1") as caller:
        await caller.prepares(system_prompt="Hi", config={"length_penalty": 1.1})
        seat.say(
            call_events.ReplyAudioStarted(0, 1),
            call_events.ReplyText(0, 1, "One two three."),
            call_events.ReplyAudio(0, 1, SPOKEN * 2),
        )
        await seat.until(1)
        await sends(caller, player)
        seat.say(call_events.Hold(0, 1))
        while call_events.Played(1, 24000) not in seat.controls:
            await seat.until(len(seat.controls) + 1)
        held = await sends(caller, player)
        assert (held["is_listen"], held["held"], held["audio_data"]) == (False, True, None)
        seat.say(call_events.Resume(0, 1), call_events.ReplyAudioEnded(0, 1, 48000))
        while player.speaking:
            await sends(caller, player)
    assert len(player.turns) == 1


async def test_a_pause_without_a_length_and_forced_listening(open_server: Open):
    seat, player = Seat(), Player()
    async with open_server(seat) as server, server.connect("adx_mfx3k2a1") as caller:
        await caller.prepares(system_prompt="Hi")
        await caller.says("pause")
        assert await caller.hears() == {"type": "paused", "timeout": 60.0}
        await caller.says("resume")
        assert await caller.hears() == {"type": "resumed"}
        result = await sends(caller, player, force_listen=True)
        assert (result["is_listen"], result["audio_data"]) == (True, None)


async def test_a_page_that_waits_shows_its_place_and_leaves_by_closing(open_server: Open):
    seat = Seat([Moved("q_1", 2, 8.0, 2)])
    async with open_server(seat) as server:
        async with server.connect("omni_mfx3k2a1") as caller:
            # It does not wait for queue_done longer than a tenth of a second.
            await caller.says("prepare", **OMNI)
            queued = await caller.hears()
            assert {"position", "estimated_wait_s", "ticket_id", "queue_length"} <= queued.keys()
            assert [(await caller.hears())["type"] for _ in range(2)] == ["queue_done", "prepared"]
            await caller.closes(1005)
        await seat.is_left()
