"""Replies of whole calls as clips, on a clock that is moved by hand."""

import msgspec
import pytest
from tests.support.call_parts import Player, engines, running_call
from tests.support.film_parts import (
    CLIPS,
    LONG,
    SEED,
    WORD,
    Gate,
    NamedEncoders,
    sound_of,
    typed_reply,
    with_video,
)

from duologue.values.call_events import (
    AssistantSaid,
    CallProblem,
    Cut,
    Hold,
    Interrupt,
    ReplyAudio,
    ReplyAudioEnded,
    ReplyRequested,
    Resume,
    Speak,
    SpeakingClip,
    Text,
    Typed,
    VideoState,
)

pytestmark = pytest.mark.anyio


async def test_a_reply_is_one_clip_with_its_text_and_no_sound():
    async with running_call(setup=CLIPS, engines=with_video(engines()), encoders=NamedEncoders()) as talk:
        reply = await typed_reply(talk, "It is noon.")
        await talk.until(lambda: talk.of(SpeakingClip))
        await Player(talk).play(3)
    [clip] = talk.of(SpeakingClip)
    assert (clip.reply, clip.text, clip.samples) == (reply, "It is noon.", 3 * WORD)
    assert (clip.width, clip.height) == (64, 64)
    frames, _, length = clip.data.partition(b"|")
    assert len(frames) == 23, "21600 samples at 25 frames a second, the last one begun included"
    assert int(length) == 3 * WORD == len(clip.pcm) // 2
    assert [word.start for word in clip.words] == [0, WORD, 2 * WORD]
    assert sound_of(talk) == []
    assert not talk.of(ReplyAudioEnded)
    assert talk.of(AssistantSaid) == [AssistantSaid(0, reply, "It is noon.")]
    assert talk.of(VideoState) == [VideoState(0, "clip", 64, 64, 25)]


async def test_a_client_without_marks_has_heard_a_clip_once_it_has_played():
    async with running_call(setup=SEED, engines=with_video(engines()), encoders=NamedEncoders()) as talk:
        await typed_reply(talk, "It is noon.")
        await talk.until(lambda: talk.of(SpeakingClip))
        await talk.be_quiet(0.5)
        assert not talk.of(AssistantSaid)
        await talk.be_quiet(1)
        assert [said.heard for said in talk.of(AssistantSaid)] == ["It is noon."]


async def test_nothing_is_sent_before_the_reply_is_complete():
    async with running_call(setup=CLIPS, engines=with_video(engines()), encoders=NamedEncoders()) as talk:
        await talk.say(Typed("hello"))
        await talk.until(lambda: talk.of(ReplyRequested))
        [request] = talk.of(ReplyRequested)
        await talk.say(Text(request.reply, LONG))
        await talk.be_quiet(2)
        assert not talk.of(SpeakingClip)
        await talk.say(Text(request.reply, "", last=True))
        await talk.until(lambda: talk.of(SpeakingClip))
    assert sound_of(talk) == []
    assert talk.of(SpeakingClip)[0].samples == 16 * WORD


async def test_an_interruption_while_the_clip_is_drawn_discards_it_and_nothing_of_it_was_heard():
    parts, encoders = with_video(engines()), NamedEncoders()
    gate = parts.video = Gate(parts)
    async with running_call(setup=CLIPS, engines=parts, encoders=encoders) as talk:
        reply = await typed_reply(talk, "It is noon.")
        await talk.until(lambda: gate.drawing)
        await talk.say(Interrupt())
        await talk.until(lambda: talk.of(AssistantSaid))
        gate.open.set()
        await talk.be_quiet(2)
        assert gate.drawing == 0
        assert encoders.open == 0
    assert talk.of(SpeakingClip) == []
    assert talk.of(AssistantSaid) == [AssistantSaid(1, reply, "", "It is noon.", "interrupted")]
    assert [cut.reply for cut in talk.of(Cut)] == [reply]
    assert talk.stale == []


async def test_an_interruption_while_the_clip_plays_keeps_the_heard_words():
    async with running_call(setup=SEED, engines=with_video(engines()), encoders=NamedEncoders()) as talk:
        reply = await typed_reply(talk, LONG)
        await talk.until(lambda: talk.of(SpeakingClip))
        await talk.be_quiet(1.0)
        await talk.say(Interrupt())
        await talk.until(lambda: talk.of(AssistantSaid))
    [said] = talk.of(AssistantSaid)
    assert (said.reply, said.heard, said.ending) == (reply, "One two three", "interrupted")
    assert said.heard + said.unheard == LONG


async def test_the_position_that_the_client_reports_counts():
    async with running_call(setup=CLIPS, engines=with_video(engines()), encoders=NamedEncoders()) as talk:
        reply = await typed_reply(talk, LONG)
        await talk.until(lambda: talk.of(SpeakingClip))
        await talk.say(Interrupt(reply, 2 * WORD))
        await talk.until(lambda: talk.of(AssistantSaid))
    assert talk.of(AssistantSaid)[0].heard == "One two"


async def test_a_false_alarm_holds_the_clip_and_resumes_it():
    parts = with_video(engines(texts=["", ""]))
    async with running_call(setup=CLIPS, engines=parts, encoders=NamedEncoders()) as talk:
        reply = await typed_reply(talk, LONG)
        await talk.until(lambda: talk.of(SpeakingClip))
        await Player(talk).play(0.6)
        await talk.speak(0.25)
        await talk.until(lambda: talk.of(Resume))
    assert [hold.reply for hold in talk.of(Hold)] == [reply]
    assert [resume.reply for resume in talk.of(Resume)] == [reply]
    assert len(talk.of(SpeakingClip)) == 1


async def test_a_clip_that_cannot_be_drawn_is_sent_as_sound_from_its_beginning_with_one_problem():
    parts = with_video(engines(), fail="draw", fail_at=3)
    async with running_call(setup=CLIPS, engines=parts, encoders=NamedEncoders()) as talk:
        reply = await typed_reply(talk, LONG)
        await Player(talk).play(6)
    assert talk.of(SpeakingClip) == []
    assert talk.sent(reply) == 16 * WORD
    assert [problem.code for problem in talk.of(CallProblem)] == ["scripted_failure"]
    assert talk.of(AssistantSaid) == [AssistantSaid(0, reply, LONG)]
    words = [word for sound in talk.of(ReplyAudio) for word in sound.words]
    assert [word.start for word in words] == [at * WORD for at in range(16)]


async def test_a_clip_that_is_too_large_is_sent_as_sound():
    encoders = NamedEncoders(size=33 * 2**20)
    async with running_call(setup=CLIPS, engines=with_video(engines()), encoders=encoders) as talk:
        reply = await typed_reply(talk, "It is noon.")
        await Player(talk).play(3)
    assert talk.of(SpeakingClip) == []
    assert talk.sent(reply) == 3 * WORD
    assert [problem.code for problem in talk.of(CallProblem)] == ["clip_too_long"]


async def test_a_greeting_and_announcements_are_clips_too():
    setup = msgspec.structs.replace(CLIPS, greeting="Hello there.")
    async with running_call(setup=setup, engines=with_video(engines()), encoders=NamedEncoders()) as talk:
        await talk.until(lambda: talk.of(SpeakingClip))
        await Player(talk).play(1.5)
        await talk.say(Speak("Your tea is ready."))
        await talk.until(lambda: len(talk.of(SpeakingClip)) == 2)
        await Player(talk).play(2)
    assert [clip.text for clip in talk.of(SpeakingClip)] == ["Hello there.", "Your tea is ready."]
    assert sound_of(talk) == []


async def test_a_slow_clip_is_waited_for_and_the_reply_not_given_up():
    parts = with_video(engines())
    gate = parts.video = Gate(parts)
    async with running_call(setup=CLIPS, engines=parts, encoders=NamedEncoders()) as talk:
        reply = await typed_reply(talk, "It is noon.")
        await talk.be_quiet(30)
        assert not talk.of(AssistantSaid)
        gate.open.set()
        await talk.until(lambda: talk.of(SpeakingClip))
        await Player(talk).play(3)
    assert talk.of(AssistantSaid) == [AssistantSaid(0, reply, "It is noon.")]
