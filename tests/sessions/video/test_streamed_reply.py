"""Replies of whole calls with pictures beside their sound, on a clock that is moved by hand."""

from itertools import pairwise

import pytest
from tests.support.call_parts import Player, engines, running_call
from tests.support.film_parts import (
    LONG,
    STREAM,
    WORD,
    Gate,
    NamedEncoders,
    segments,
    typed_reply,
    with_video,
)

from duologue.turns.video import stream_machine
from duologue.values.call_events import (
    AssistantSaid,
    CallProblem,
    Cut,
    Interrupt,
    ReplyAudio,
)

pytestmark = pytest.mark.anyio


async def test_pictures_go_beside_the_sound_which_is_as_ever():
    async with running_call(setup=STREAM, engines=with_video(engines()), encoders=NamedEncoders()) as talk:
        reply = await typed_reply(talk, LONG)
        await Player(talk).play(6)
    sent = segments(talk, reply)
    assert talk.sent(reply) == 16 * WORD
    assert sum(len(segment.sizes) for segment in sent) == 120, "every frame of 16 words once"
    assert sent[0].at == 0
    for one, other in pairwise(sent):
        assert other.at == one.at + len(one.sizes) * 960
        assert other.first == one.first + len(one.sizes)
    assert [segment.last for segment in sent] == [False] * (len(sent) - 1) + [True]
    assert talk.of(AssistantSaid) == [AssistantSaid(0, reply, LONG)]
    names = [type(event).__name__ for event in talk.events if getattr(event, "reply", None) == reply]
    assert names.index("VideoSegment") < names.index("ReplyAudioEnded")


async def test_the_first_picture_goes_out_before_the_sound(monkeypatch: pytest.MonkeyPatch):
    # The scripted voice speaks word by word, and the keys of the first one would be known with the second only.
    monkeypatch.setattr(stream_machine, "LOOK_AHEAD", 0)
    async with running_call(setup=STREAM, engines=with_video(engines()), encoders=NamedEncoders()) as talk:
        reply = await typed_reply(talk, LONG)
        await talk.until(lambda: talk.of(ReplyAudio))
    sent = [event for event in talk.events if getattr(event, "reply", None) == reply]
    names = [type(event).__name__ for event in sent]
    assert names.index("VideoSegment") < names.index("ReplyAudio")
    assert len(segments(talk, reply)[0].sizes) == 1


async def test_after_a_cut_no_more_pictures_of_the_reply_come():
    async with running_call(setup=STREAM, engines=with_video(engines()), encoders=NamedEncoders()) as talk:
        await typed_reply(talk, LONG)
        await talk.until(lambda: talk.of(ReplyAudio))
        await Player(talk).play(0.5)
        await talk.say(Interrupt())
        await talk.be_quiet(2)
    assert talk.of(Cut)
    assert talk.stale == []


async def test_a_failed_drawing_leaves_the_sound_alone():
    parts = with_video(engines(), fail="draw", fail_at=0)
    async with running_call(setup=STREAM, engines=parts, encoders=NamedEncoders()) as talk:
        reply = await typed_reply(talk, LONG)
        await Player(talk).play(6)
    assert talk.sent(reply) == 16 * WORD
    assert segments(talk, reply) == []
    assert [problem.code for problem in talk.of(CallProblem)] == ["scripted_failure"]
    assert talk.of(AssistantSaid) == [AssistantSaid(0, reply, LONG)]


async def test_an_engine_that_stands_still_does_not_delay_the_sound():
    parts = with_video(engines())
    parts.video = Gate(parts)
    async with running_call(setup=STREAM, engines=parts, encoders=NamedEncoders()) as talk:
        reply = await typed_reply(talk, LONG)
        await Player(talk).play(6)
    assert talk.sent(reply) == 16 * WORD
    assert talk.of(AssistantSaid) == [AssistantSaid(0, reply, LONG)]
    assert segments(talk, reply) == []
