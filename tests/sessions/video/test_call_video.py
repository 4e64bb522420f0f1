"""The video of whole calls: what the client is told, calls that share an engine, interruptions at any moment."""

import random

import pytest
from tests.support.call_parts import Player, engines, running_call
from tests.support.film_parts import (
    CLIPS,
    LONG,
    SEED,
    STREAM,
    WORD,
    Gate,
    NamedEncoders,
    sound_of,
    typed_reply,
    with_video,
)

from duologue.engines.scripted.video import ScriptedVideoEngine, ScriptedVideoOptions
from duologue.errors import EngineFailed
from duologue.values.call_events import (
    AssistantSaid,
    CallProblem,
    Interrupt,
    ReplyAudio,
    SpeakingClip,
    VideoSegment,
    VideoState,
)

pytestmark = pytest.mark.anyio


async def test_after_three_failures_in_a_row_the_call_goes_on_without_video():
    parts = with_video(engines(), fail="draw")
    async with running_call(setup=CLIPS, engines=parts, encoders=NamedEncoders()) as talk:
        player = Player(talk)
        for _ in range(4):
            await typed_reply(talk, "It is noon.")
            await player.play(3)
    assert [state.mode for state in talk.of(VideoState)] == ["clip", "off"]
    assert len(talk.of(CallProblem)) == 3
    assert [said.heard for said in talk.of(AssistantSaid)] == ["It is noon."] * 4


@pytest.mark.parametrize("missing", ["engine", "avatar"])
async def test_a_call_without_an_engine_or_an_avatar_has_sound_and_is_told(missing):
    parts = engines() if missing == "engine" else with_video(engines(), fail="prepare")
    async with running_call(setup=CLIPS, engines=parts, encoders=NamedEncoders()) as talk:
        reply = await typed_reply(talk, "It is noon.")
        await Player(talk).play(3)
    [state] = talk.of(VideoState)
    assert state.mode == "off"
    assert state.note
    assert talk.sent(reply) == 3 * WORD
    assert talk.of(SpeakingClip) == []


async def test_an_engine_that_breaks_is_told_without_its_reasons():
    parts = with_video(engines())

    class Broken(ScriptedVideoEngine):
        async def prepare(self, avatar):
            raise RuntimeError("/secret/path")

    parts.video = Broken(ScriptedVideoOptions())
    async with running_call(setup=CLIPS, engines=parts, encoders=NamedEncoders()) as talk:
        await talk.until(lambda: talk.of(VideoState))
    assert talk.of(VideoState)[0].mode == "off"
    assert "secret" not in talk.of(VideoState)[0].note


async def test_two_calls_take_turns_at_the_engine():
    parts = with_video(engines())
    gate = parts.video = Gate(parts)
    async with (
        running_call(setup=CLIPS, engines=parts, encoders=NamedEncoders()) as one,
        running_call(setup=CLIPS, engines=parts, encoders=NamedEncoders()) as other,
    ):
        await typed_reply(one, LONG)
        await typed_reply(other, "It is noon.")
        await one.until(lambda: gate.drawing)
        await other.until(lambda: parts.drawing.waiting == 1)
        assert gate.drawing == 1, "one drawing at a time"
        gate.open.set()
        await other.until(lambda: other.of(SpeakingClip))
        await one.until(lambda: one.of(SpeakingClip))


async def test_a_stream_begins_with_the_avatar_at_rest():
    async with running_call(setup=STREAM, engines=with_video(engines()), encoders=NamedEncoders()) as talk:
        await talk.until(lambda: talk.of(VideoSegment))
    [rest] = talk.of(VideoSegment)
    assert rest.reply is None
    assert len(rest.sizes) == 50
    assert (rest.at, rest.first, rest.rate) == (0, 0, 25)
    assert set(rest.data) == {16}, "its mouth is closed"
    assert talk.of(VideoState) == [VideoState(0, "stream", 64, 64, 25)]


@pytest.mark.parametrize("setup", [CLIPS, SEED, STREAM], ids=["clips", "seed", "stream"])
@pytest.mark.parametrize("seed", range(4))
async def test_interruptions_at_any_moment_leave_nothing_stale(setup, seed):
    chance = random.Random(seed)
    parts = with_video(engines(texts=["", "wait", "no stop it"] * 20))
    async with running_call(setup=setup, engines=parts, encoders=NamedEncoders()) as talk:
        for _ in range(8):
            reply = await typed_reply(talk, LONG)
            await talk.be_quiet(chance.uniform(0, 2))
            if chance.random() < 0.5:
                await talk.speak(chance.uniform(0.1, 1.5))
            await talk.say(Interrupt())
            await talk.be_quiet(0.6)
            assert any(said.reply == reply for said in talk.of(AssistantSaid))
    assert talk.stale == []
    clips = [clip.reply for clip in talk.of(SpeakingClip)]
    assert len(clips) == len(set(clips))
    assert not set(clips) & {sound.reply for sound in talk.of(ReplyAudio)}, "never both"
    if setup.video == "clip":
        assert sound_of(talk) == []
    assert EngineFailed.code not in {problem.code for problem in talk.of(CallProblem)}
