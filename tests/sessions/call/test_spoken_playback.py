"""Replies that a voice speaks while they are written."""

import pytest
from tests.support.playback_parts import playing

from duologue.turns.facts import SynthesisComplete
from duologue.values.call_events import ReplyAudioEnded, ReplyAudioStarted, ReplyText

pytestmark = pytest.mark.anyio

WORD = 7200


async def test_nothing_sounds_before_it_is_released_and_then_at_once():
    async with playing() as (playback, client):
        playback.begin(1)
        playback.write(1, "Hello there.", last=True)
        await client.wait(1)
        assert client.events == []
        assert SynthesisComplete(1, 2 * WORD) in client.facts
        playback.release(1)
        await client.wait()
        assert client.events[0] == ReplyAudioStarted(4, 1)
        assert isinstance(client.events[-1], ReplyAudioEnded)
    assert (1, "first_text") in client.notes
    assert (1, "first_sound") in client.notes


async def test_text_without_sound_is_told_and_sound_neither_begins_nor_ends():
    async with playing() as (playback, client):
        playback.begin(1)
        playback.write(1, "***", last=True)
        playback.release(1)
        await client.wait()
    assert client.events == [ReplyText(4, 1, "***", final=True)]
    assert SynthesisComplete(1, 0) in client.facts


async def test_text_for_a_reply_that_is_gone_is_stale():
    async with playing() as (playback, client):
        playback.begin(1)
        playback.drop(1)
        assert playback.write(1, "Hello.") is None
        assert playback.write(7, "Hello.") is None
        await client.wait(0.5)
    assert client.events == []
