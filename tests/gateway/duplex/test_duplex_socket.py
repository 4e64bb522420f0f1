"""The duplex socket: one for each session, taken over when its client is lost, refused with sentences."""

from functools import partial
from typing import Any

import anyio
import pytest
from tests.gateway.duplex_server import SPOKEN, Open, Seat, serve_duplex

from duologue.gateway.duplex import duplex_session
from duologue.gateway.middleware.socket_answers import SocketAnswers
from duologue.values import call_events

pytestmark = pytest.mark.anyio


@pytest.fixture
def open_server(serve: Any) -> Open:
    return partial(serve_duplex, serve)


async def test_a_live_session_has_one_socket(open_server: Open):
    async with open_server(Seat()) as server, server.connect() as caller:
        await caller.prepares()
        async with server.connect() as second:
            assert (await second.hears())["code"] == "session_running"
            assert (await second.is_closed())[0] == 1008
        assert (await caller.speaks())["type"] == "result"


async def test_a_lost_client_takes_its_session_over(open_server: Open):
    seat = Seat()
    async with open_server(seat) as server:
        async with server.connect() as caller:
            await caller.prepares(system_prompt="Be kind.")
            await caller.speaks()
            caller.breaks_off()
        seat.say(call_events.ReplyAudioStarted(0, 1), call_events.ReplyAudio(0, 1, SPOKEN))
        await seat.until(2)
        async with server.connect() as again:
            prepared = await again.prepares(system_prompt="Be rude.")
            assert prepared["resumed"]
            assert prepared["prompt_length"] == len("Be kind.")
            result = await again.speaks()
            assert (result["current_time"], result["samples"]) == (2, 24000)
            assert not seat.gone


async def test_a_session_nobody_comes_back_to_ends(open_server: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(duplex_session, "CHECK_INTERVAL", 0.01)
    monkeypatch.setattr(duplex_session, "RECONNECT_TIMEOUT", 0.02)
    seat = Seat()
    async with open_server(seat) as server:
        async with server.connect() as caller:
            await caller.prepares()
            caller.breaks_off()
        await seat.is_left()


@pytest.mark.parametrize("code", [1000, 1001, 1005])
async def test_who_closes_has_left_and_the_next_one_gets_the_seat(open_server: Open, code: int):
    """Seats were kept for half a minute for clients that would not come back."""
    seat, another = Seat(), Seat()
    async with open_server(seat, another) as server:
        async with server.connect() as caller:
            await caller.prepares()
            await caller.closes(code)
        await seat.is_left()
        async with server.connect() as caller:
            assert "resumed" not in await caller.prepares()


async def test_a_server_that_stops_can_tell_when_a_session_has_said_why_it_ends(open_server: Open):
    answers, ended = SocketAnswers(), anyio.Event()
    answers.on_end = ended.set
    async with open_server(Seat(), answers=answers) as server, server.connect() as caller:
        await caller.prepares()
        assert answers.running == 1
        await caller.says("stop")
        with anyio.fail_after(60):
            await ended.wait()
        assert (await caller.hears())["type"] == "stopped"


async def test_a_silent_client_is_as_good_as_lost(open_server: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(duplex_session, "SILENT", 0.0)
    async with open_server(Seat()) as server, server.connect() as caller:
        await caller.prepares()
        async with server.connect() as second:
            assert await second.hears() == {"type": "queue_done"}
            assert (await caller.is_closed())[0] == 1008
            assert (await second.speaks())["type"] == "result"


async def test_who_leaves_before_it_began_leaves_nothing(open_server: Open):
    seat, another = Seat(), Seat()
    async with open_server(seat, another) as server:
        async with server.connect() as caller:
            assert await caller.hears() == {"type": "queue_done"}
        await seat.is_left()
        async with server.connect() as caller:
            assert "resumed" not in await caller.prepares()


async def test_sessions_are_counted(open_server: Open):
    async with open_server(Seat(), most=1) as server, server.connect() as caller:
        await caller.prepares()
        async with server.connect("adx_2") as second:
            assert (await second.hears())["code"] == "too_many_sockets"


async def test_without_a_voice_it_says_which_command_adds_one(open_server: Open):
    async with open_server(voice=False) as server, server.connect() as caller:
        error = await caller.hears()
        assert error["code"] == "voice_unavailable"
        assert (await caller.is_closed())[0] == 1013
