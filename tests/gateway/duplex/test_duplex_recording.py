"""The recording of a duplex session: asked for in `prepare`, told there, and ended with the session."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import pytest
from tests.gateway.duplex_server import SPOKEN, Open, Seat, serve_duplex
from tests.gateway.recording_stand_in import Lookers

from duologue.errors import Problem
from duologue.values import call_events

pytestmark = pytest.mark.anyio


@pytest.fixture
def open_server(serve: Any) -> Open:
    return partial(serve_duplex, serve)


async def test_a_session_is_recorded_if_its_client_asks_for_it(open_server: Open):
    seat, lookers = Seat(), Lookers()
    async with open_server(seat, recordings=lookers) as server, server.connect() as caller:
        assert (await caller.prepares(record=True))["recording_session_id"] == "r1"
        await caller.speaks()
        await caller.says("prepare")
        assert (await caller.hears())["recording_session_id"] == "r1"
        await caller.says("prepare", record=False)
        heard = [await caller.hears() for _ in range(2)]
        prepared = next(each for each in heard if each["type"] == "prepared")
        off = next(each for each in heard if each["type"] == "recording")
        assert "recording_session_id" not in prepared
        assert (off["on"], off["recording_id"], off["reason"]) == (False, "r1", "stopped")
        await caller.speaks()
    assert lookers.begun == [{"user": "ada", "kind": "duplex", "marks": True, "at_once": True}]
    assert [type(each) for each in lookers.lookers[0].seen] == [call_events.MicrophoneAudio]


async def test_a_session_is_not_recorded_unless_its_client_asks_for_it(open_server: Open):
    lookers = Lookers()
    async with open_server(Seat(), recordings=lookers) as server, server.connect() as caller:
        assert "recording_session_id" not in await caller.prepares()
    assert lookers.begun == []


async def test_a_session_that_cannot_be_recorded_says_why_and_goes_on(open_server: Open):
    refused = Lookers(Problem("Recording is switched off.", code="recording_forbidden", status=403))
    async with open_server(Seat(), recordings=refused) as server, server.connect() as caller:
        assert "recording_session_id" not in await caller.prepares(record=True)
        assert (await caller.hears())["code"] == "recording_forbidden"
        assert (await caller.speaks())["is_listen"]


async def test_the_recording_ends_with_its_session(open_server: Open):
    lookers = Lookers()
    async with open_server(Seat(), recordings=lookers) as server, server.connect() as caller:
        await caller.prepares(record=True)
        await caller.says("stop")
        with anyio.fail_after(60):
            await lookers.lookers[0].closed.wait()


async def test_the_recording_knows_that_what_was_sent_of_a_cut_reply_is_heard(open_server: Open):
    seat, lookers = Seat(), Lookers()
    async with open_server(seat, recordings=lookers) as server, server.connect() as caller:
        await caller.prepares(record=True)
        seat.say(call_events.ReplyAudioStarted(0, 1), call_events.ReplyAudio(0, 1, 2 * SPOKEN))
        sent = (await caller.speaks())["samples"]
        seat.say(call_events.Cut(1, 1))
        while not (await caller.speaks()).get("interrupted"):
            pass
    seen = lookers.lookers[0].seen
    assert sent > 0
    assert seen[seen.index(call_events.Cut(1, 1)) + 1] == call_events.Played(1, sent)


async def test_a_recording_that_ends_by_itself_is_told_and_the_session_goes_on(open_server: Open):
    lookers = Lookers()
    async with open_server(Seat(), recordings=lookers) as server, server.connect() as caller:
        await caller.prepares(record=True)
        lookers.lookers[0].on_end("disk_full")
        off = await caller.hears()
        assert (off["type"], off["recording_id"], off["reason"]) == ("recording", "r1", "disk_full")
        assert (await caller.speaks())["is_listen"]
