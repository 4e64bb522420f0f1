"""Replies on their way to the ear: when they are made, how far ahead they are sent, in which order."""

from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.lowlevel import checkpoint

from duologue.engines.scripted.speaker import ScriptedSpeaker
from duologue.sessions.call.clock import StepClock
from duologue.sessions.call.outbox import SOUNDS, EventOutbox
from duologue.sessions.call.playback import Playback
from duologue.sessions.speech.clip_cache import ClipCache
from duologue.sessions.speech.synthesis import VoiceStyle
from duologue.turns.facts import PlaybackProgress, SynthesisComplete
from duologue.values.call_events import ReplyAudio, ReplyAudioEnded, ReplyAudioStarted, ReplyText

pytestmark = pytest.mark.anyio

WORD = 7200
LONG = "One two three four five six seven eight. " * 3


class Ear:
    def __init__(self, clock):
        self.clock = clock
        self.events = []
        self.facts = []
        self.notes = []
        self.takes = anyio.Event()
        self.takes.set()

    async def tell(self, event):
        await self.takes.wait()
        self.events.append(event)

    async def wait(self, seconds=0.0):
        for _ in range(max(1, round(seconds / 0.02))):
            self.clock.advance(0.02 if seconds else 0.0)
            for _ in range(40):
                await checkpoint()

    def sent(self, reply=1):
        return sum(
            len(event.pcm) // 2
            for event in self.events
            if isinstance(event, ReplyAudio) and event.reply == reply
        )


@asynccontextmanager
async def speaking(marks=True):
    clock = StepClock()
    ear, outbox = Ear(clock), EventOutbox()
    async with anyio.create_task_group() as tasks:
        mouth = Playback(
            ScriptedSpeaker(),
            VoiceStyle(),
            tasks,
            outbox,
            clock,
            marks=marks,
            clips=ClipCache(),
            epoch=lambda: 4,
            decide=ear.facts.append,
            note=lambda reply, moment: ear.notes.append((reply, moment)),
            failed=lambda problem: None,
        )
        tasks.start_soon(mouth.run)
        tasks.start_soon(outbox.run, ear.tell)
        yield mouth, ear
        tasks.cancel_scope.cancel()


async def test_nothing_sounds_before_it_is_released_and_then_at_once():
    async with speaking() as (mouth, ear):
        mouth.begin(1)
        mouth.write(1, "Hello there.", last=True)
        await ear.wait(1)
        assert ear.events == []
        assert SynthesisComplete(1, 2 * WORD) in ear.facts
        mouth.release(1)
        await ear.wait()
        assert ear.events[0] == ReplyAudioStarted(4, 1)
        assert isinstance(ear.events[-1], ReplyAudioEnded)
    assert (1, "first_text") in ear.notes
    assert (1, "first_sound") in ear.notes


async def test_a_client_that_marks_is_sent_a_second_ahead():
    async with speaking() as (mouth, ear):
        mouth.begin(1)
        mouth.write(1, LONG, last=True)
        mouth.release(1)
        await ear.wait(0.5)
        assert 21_600 <= ear.sent() <= 24_000
        mouth.played(1, 12_000)
        await ear.wait()
        assert 33_600 <= ear.sent() <= 36_000
    assert PlaybackProgress(1, 12_000) in ear.facts


async def test_a_client_that_does_not_is_sent_a_fifth_of_one_ahead_of_time():
    async with speaking(marks=False) as (mouth, ear):
        mouth.begin(1)
        mouth.write(1, LONG, last=True)
        mouth.release(1)
        await ear.wait()
        assert ear.sent() == 4_800
        await ear.wait(1)
        assert 27_000 <= ear.sent() <= 28_800


async def test_a_held_reply_goes_on_from_the_next_sample():
    async with speaking(marks=False) as (mouth, ear):
        mouth.begin(1)
        mouth.write(1, LONG, last=True)
        mouth.release(1)
        await ear.wait(0.5)
        assert mouth.hold(1)
        held = ear.sent()
        await ear.wait(2)
        assert ear.sent() == held
        assert mouth.resume(1)
        mouth.look()
        await ear.wait(0.1)
        assert held < ear.sent() <= held + 4_800 + 2_400


async def test_a_reply_that_was_never_heard_has_nobody_to_hold():
    async with speaking() as (mouth, ear):
        mouth.begin(1)
        mouth.write(1, LONG)
        await ear.wait()
        assert not mouth.hold(1)
        mouth.release(1)
        await ear.wait(0.5)
        assert ear.sent() == 0
        assert not mouth.resume(1)
        mouth.look()
        await ear.wait()
        assert ear.sent() > 0


async def test_after_a_cut_nothing_comes_and_what_was_heard_is_known():
    async with speaking() as (mouth, ear):
        mouth.begin(1)
        mouth.write(1, LONG, last=True)
        mouth.release(1)
        await ear.wait()
        ear.takes = anyio.Event()
        mouth.played(1, 3 * WORD)
        cut = mouth.cut(1)
        before = len(ear.events)
        ear.takes.set()
        await ear.wait(1)
        assert all(not isinstance(event, ReplyAudio) for event in ear.events[before + 1 :])
        assert cut.playout.heard(3 * WORD)[0] == "One two three"
        assert mouth.cut(1) is None
        assert mouth.end(1) is cut
        assert mouth.replies == {}


async def test_a_reader_who_is_slow_slows_its_own_sound():
    async with speaking(marks=False) as (mouth, ear):
        ear.takes = anyio.Event()
        mouth.begin(1)
        mouth.write(1, LONG * 5, last=True)
        mouth.release(1)
        await ear.wait(20)
        ear.takes.set()
        await ear.wait()
        assert ear.sent() <= (SOUNDS + 1) * 2 * 960 + 960


async def test_an_own_sentence_needs_no_release_and_what_follows_waits_until_it_was_heard():
    async with speaking(marks=False) as (mouth, ear):
        mouth.begin(1, own=True, kind="announcement")
        mouth.write(1, "Hello there.", last=True)
        mouth.begin(2)
        mouth.write(2, "Bye now.", last=True)
        mouth.release(2)
        await ear.wait(0.5)
        assert ear.sent(2) == 0
        await ear.wait(1)
    begun = [event.reply for event in ear.events if isinstance(event, ReplyAudioStarted)]
    assert begun == [1, 2]


async def test_text_without_sound_is_told_and_sound_neither_begins_nor_ends():
    async with speaking() as (mouth, ear):
        mouth.begin(1)
        mouth.write(1, "***", last=True)
        mouth.release(1)
        await ear.wait()
    assert ear.events == [ReplyText(4, 1, "***", final=True)]
    assert SynthesisComplete(1, 0) in ear.facts


async def test_text_for_a_reply_that_is_gone_is_stale():
    async with speaking() as (mouth, ear):
        mouth.begin(1)
        mouth.drop(1)
        assert mouth.write(1, "Hello.") is None
        assert mouth.write(7, "Hello.") is None
        await ear.wait(0.5)
    assert ear.events == []


async def test_how_loud_the_loudspeaker_may_be_is_known_while_it_plays_and_not_while_it_is_held():
    async with speaking() as (mouth, ear):
        mouth.begin(1)
        mouth.write(1, LONG, last=True)
        assert mouth.loudness() == -100.0
        mouth.release(1)
        await ear.wait(0.2)
        assert mouth.loudness() > -40.0
        mouth.hold(1)
        assert mouth.loudness() == -100.0
        mouth.resume(1)
        await ear.wait(0.1)
        assert mouth.loudness() > -40.0
        mouth.cut(1)
        assert mouth.loudness() == -100.0
