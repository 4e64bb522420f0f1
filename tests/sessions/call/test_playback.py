"""Replies on their way to the client: when they are made, how far ahead they are sent, in which order."""

import anyio
import pytest
from tests.support.playback_parts import playing

from duologue.sessions.call.outbox import SOUNDS
from duologue.turns.facts import PlaybackProgress
from duologue.values.call_events import ReplyAudio, ReplyAudioStarted

pytestmark = pytest.mark.anyio

WORD = 7200
LONG = "One two three four five six seven eight. " * 3


async def test_a_client_that_marks_is_sent_a_second_ahead():
    async with playing() as (playback, client):
        playback.begin(1)
        playback.write(1, LONG, last=True)
        playback.release(1)
        await client.wait(0.5)
        assert 21_600 <= client.sent() <= 24_000
        playback.set_played(1, 12_000)
        await client.wait()
        assert 33_600 <= client.sent() <= 36_000
    assert PlaybackProgress(1, 12_000) in client.facts


async def test_a_client_that_does_not_is_sent_a_fifth_of_one_ahead_of_time():
    async with playing(marks=False) as (playback, client):
        playback.begin(1)
        playback.write(1, LONG, last=True)
        playback.release(1)
        await client.wait()
        assert client.sent() == 4_800
        await client.wait(1)
        assert 27_000 <= client.sent() <= 28_800


async def test_a_held_reply_goes_on_from_the_next_sample():
    async with playing(marks=False) as (playback, client):
        playback.begin(1)
        playback.write(1, LONG, last=True)
        playback.release(1)
        await client.wait(0.5)
        assert playback.hold(1)
        held = client.sent()
        await client.wait(2)
        assert client.sent() == held
        assert playback.resume(1)
        playback.send_due()
        await client.wait(0.1)
        assert held < client.sent() <= held + 4_800 + 2_400


async def test_a_reply_that_was_never_heard_has_nobody_to_hold():
    async with playing() as (playback, client):
        playback.begin(1)
        playback.write(1, LONG)
        await client.wait()
        assert not playback.hold(1)
        playback.release(1)
        await client.wait(0.5)
        assert client.sent() == 0
        assert not playback.resume(1)
        playback.send_due()
        await client.wait()
        assert client.sent() > 0


async def test_after_a_cut_nothing_comes_and_what_was_heard_is_known():
    async with playing() as (playback, client):
        playback.begin(1)
        playback.write(1, LONG, last=True)
        playback.release(1)
        await client.wait()
        client.takes = anyio.Event()
        playback.set_played(1, 3 * WORD)
        cut = playback.cut(1)
        before = len(client.events)
        client.takes.set()
        await client.wait(1)
        assert all(not isinstance(event, ReplyAudio) for event in client.events[before + 1 :])
        assert cut.playout.heard(3 * WORD)[0] == "One two three"
        assert playback.cut(1) is None
        assert playback.end(1) is cut
        assert playback.replies == {}


async def test_a_reader_who_is_slow_slows_its_own_sound():
    async with playing(marks=False) as (playback, client):
        client.takes = anyio.Event()
        playback.begin(1)
        playback.write(1, LONG * 5, last=True)
        playback.release(1)
        await client.wait(20)
        client.takes.set()
        await client.wait()
        assert client.sent() <= (SOUNDS + 1) * 2 * 960 + 960


async def test_an_own_sentence_needs_no_release_and_what_follows_waits_until_it_was_heard():
    async with playing(marks=False) as (playback, client):
        playback.begin(1, own=True, kind="announcement")
        playback.write(1, "Hello there.", last=True)
        playback.begin(2)
        playback.write(2, "Bye now.", last=True)
        playback.release(2)
        await client.wait(0.5)
        assert client.sent(2) == 0
        await client.wait(1)
    started = [event.reply for event in client.events if isinstance(event, ReplyAudioStarted)]
    assert started == [1, 2]


async def test_how_loud_the_loudspeaker_may_be_is_known_while_it_plays_and_not_while_it_is_held():
    async with playing() as (playback, client):
        playback.begin(1)
        playback.write(1, LONG, last=True)
        assert playback.loudness() == -100.0
        playback.release(1)
        await client.wait(0.2)
        assert playback.loudness() > -40.0
        playback.hold(1)
        assert playback.loudness() == -100.0
        playback.resume(1)
        await client.wait(0.1)
        assert playback.loudness() > -40.0
        playback.cut(1)
        assert playback.loudness() == -100.0
