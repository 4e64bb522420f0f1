"""The mouth of a call, through the turn machine and playback: its keys are cut, held and resumed with their sound, and nothing of them is
late, lost or sent twice."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import pytest
from tests.support.call_parts import STEP, Player, RunningCall, running_call

from duologue.values.call_events import (
    AssistantSaid,
    CallSetup,
    Hold,
    Interrupt,
    ReplyAudio,
    ReplyAudioEnded,
    ReplyRequested,
    Resume,
    Text,
    Typed,
)
from duologue.values.mouth import MouthKey
from duologue.wire.calls.voice import VoiceEncoder

pytestmark = pytest.mark.anyio

PAGE = CallSetup(pauses=True, marks=True, mouth=True)
LONG = "Maybe Bob put my map up. Both people move. Papa, mama, who knew? A few more words come now."
AHEAD = 24_000 * 12
"""Samples that keys may be ahead of their sound: what is synthesised ahead, and a clause."""


def keys_of(talk: RunningCall, reply: int) -> list[MouthKey]:
    return [key for sound in talk.of(ReplyAudio) if sound.reply == reply for key in sound.mouth]


async def begin(talk: RunningCall, text: str, *, last: bool = True) -> int:
    """Ask, and have the model write this. The number of the reply."""
    before = len(talk.of(ReplyRequested))
    await talk.say(Typed("and now?"))
    await talk.until(lambda: len(talk.of(ReplyRequested)) > before, 3)
    reply = talk.of(ReplyRequested)[-1].reply
    await talk.say(Text(reply, text, last=last))
    return reply


async def resumed(talk: RunningCall, times: int) -> None:
    await talk.until(lambda: len(talk.of(Resume)) == times, 3)


async def whole_keys() -> list[MouthKey]:
    """The keys of LONG where nobody interrupts."""
    async with running_call(setup=PAGE) as talk:
        reply = await begin(talk, LONG)
        await Player(talk).play(0.5)
        await talk.until(lambda: talk.of(ReplyAudioEnded))
        return keys_of(talk, reply)


async def test_keys_come_before_the_sound_that_they_belong_to_and_the_last_one_is_at_rest():
    async with running_call(setup=PAGE) as talk:
        reply = await begin(talk, LONG)
        player = Player(talk)
        while not talk.of(ReplyAudioEnded):
            await player.play(STEP)
    sent, last = 0, -1
    for sound in talk.of(ReplyAudio):
        sent += len(sound.pcm) // 2
        last = max([last, *(key.at for key in sound.mouth)])
        # All of a clause is known with its first sound; what may follow it is not.
        assert last >= sent - 24_000 // 5
        assert all(sent - AHEAD <= key.at <= sent + AHEAD for key in sound.mouth)
    keys = keys_of(talk, reply)
    assert all(one.at < other.at for one, other in pairwise(keys))
    assert sum(key.press == 100 for key in keys) >= 14
    assert keys[-1] == MouthKey(keys[-1].at)


async def test_a_call_that_does_not_ask_has_no_keys():
    async with running_call(setup=CallSetup(pauses=True, marks=True)) as talk:
        await begin(talk, LONG)
        await Player(talk).play(1)
    assert talk.of(ReplyAudio)
    assert not any(sound.mouth for sound in talk.of(ReplyAudio))


async def test_keys_of_a_reply_that_was_cut_are_stale():
    encoder = VoiceEncoder()
    async with running_call(setup=PAGE) as talk:
        await begin(talk, LONG)
        await Player(talk).play(0.5)
        assert any(sound.mouth for sound in talk.of(ReplyAudio))
        await talk.say(Interrupt())
    # All of it is encoded at once, after the cut.
    shown = [json.loads(text) for text in encoder.encode(talk.events) if isinstance(text, str)]
    assert "interrupt" in {message["type"] for message in shown}
    assert "mouth" not in {message["type"] for message in shown}


async def test_a_reply_that_is_held_and_resumed_at_random_has_the_keys_of_an_undisturbed_one():
    expected = await whole_keys()
    chance = random.Random(11)
    for _ in range(8):
        async with running_call(setup=PAGE, texts=[""] * 40) as talk:
            reply = await begin(talk, LONG)
            player = Player(talk)
            for _ in range(3):
                await player.play(0.3 + chance.random())
                held = len(talk.of(Hold))
                while len(talk.of(Hold)) == held:
                    await talk.speak(STEP)
                sounds = len(talk.of(ReplyAudio))
                await talk.be_quiet(STEP * chance.randrange(1, 3))
                assert len(talk.of(ReplyAudio)) == sounds
                await resumed(talk, held + 1)
            while not talk.of(AssistantSaid):
                await player.play(STEP)
        assert keys_of(talk, reply) == expected
        assert talk.stale == []
