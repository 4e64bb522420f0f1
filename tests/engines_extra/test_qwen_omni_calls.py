"""Calls that Qwen omni models hold: the session of `sessions/omni` with the real engine on tiny random models of both families, on a
clock that is moved by hand. What they say is noise; that it is said, interrupted and kept as in any call is the test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

pytest.importorskip("torch", reason="these tests need the extra omni")
pytest.importorskip("transformers", reason="these tests need the extra omni")

from anyio.lowlevel import checkpoint
from tests.support.call_parts import Player
from tests.support.engine_device import DEVICE
from tests.support.native_calls import NativeTalk, native_talk
from tests.support.tiny_omni import FAMILIES, make_omni

from duologue.engines.qwen_omni.engine import QwenOmniEngine
from duologue.engines.registry import load_language_engine
from duologue.values.audio import samples
from duologue.values.call_events import (
    AssistantSaid,
    CallSetup,
    Cut,
    OmniSetup,
    ReplyAudioStarted,
    ReplyBegun,
    State,
    Typed,
    UserSaid,
    UserSound,
)
from duologue.values.messages import system
from duologue.values.requests import Sampling

pytestmark = pytest.mark.anyio
WORDS = dict.fromkeys(" ,.'abcd", 40.0)
"""A bias by which these models write words, of random letters."""
SAMPLING = Sampling(seed=5, max_tokens=60, ignore_eos=True, logit_bias=WORDS)
SETUP = CallSetup(
    pauses=True, marks=True, omni=OmniSetup((system("You are on the telephone."),), sampling=SAMPLING)
)
PATIENCE = 120


class InlineLane:
    """The model's thread, without the thread: the clock of a test waits for each step."""

    async def run(self, function: Any, *args: object) -> Any:
        return function(*args)


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module", params=FAMILIES)
async def engine(request, tmp_path_factory) -> AsyncIterator[QwenOmniEngine]:
    folder = make_omni(tmp_path_factory.mktemp(request.param) / "tiny", request.param)
    options = {"model": str(folder), "device": DEVICE, "slots": 1, "context": 2048, "name": "omni"}
    loaded = await load_language_engine("qwen_omni", options)
    lane, loaded._lane = loaded._lane, InlineLane()
    yield loaded
    loaded._lane = lane
    await loaded.close()


@asynccontextmanager
async def calling(engine: QwenOmniEngine) -> AsyncIterator[NativeTalk]:
    """A call that listens."""
    async with native_talk(setup=SETUP, engine=lambda sleep: engine) as talk:
        with anyio.fail_after(PATIENCE):
            while not talk.of(State):  # the template is rendered by a process
                await checkpoint()
        yield talk
        assert talk.problem is None


async def ask(talk: NativeTalk) -> int:
    """Say something, and wait for a reply to begin to sound."""
    before = len(talk.of(ReplyAudioStarted))
    await talk.speak(1.0)
    await talk.until(lambda: len(talk.of(ReplyAudioStarted)) > before)
    return talk.of(ReplyAudioStarted)[-1].reply


async def test_a_turn_is_heard_and_answered_and_kept(engine):
    async with calling(engine) as talk:
        reply = await ask(talk)
        player = Player(talk)
        while not talk.of(AssistantSaid):
            await player.play(1)
        [sound] = talk.of(UserSound)
    [said] = talk.of(AssistantSaid)
    assert said.ending == "spoken"
    assert said.heard == talk.text(reply).strip() != ""
    assert talk.of(ReplyBegun) == [ReplyBegun(0, reply, sound.turn)]
    assert 1.0 <= samples(sound.pcm) / 16_000 <= 2.0
    assert len(talk.pcm(reply)) > 24_000
    assert not talk.stale
    answers = talk.answers
    assert [answer.unit for answer in answers] == list(range(1, len(answers) + 1))
    assert {answer.listens for answer in answers} == {True, False}
    assert sum(answer.codes for answer in answers) > sum(answer.written for answer in answers) > 0
    assert answers[-1].cached > answers[0].cached > 0


async def test_a_caller_who_interrupts_is_answered_and_the_cache_holds_what_was_heard(engine):
    async with calling(engine) as talk:
        reply = await ask(talk)
        await Player(talk).play(0.6)
        before = talk.answers[-1].cached
        await talk.speak(1.5)
        assert talk.of(Cut) == [Cut(1, reply)]
        await talk.until(lambda: len(talk.of(ReplyAudioStarted)) > 1)
    [said] = [event for event in talk.of(AssistantSaid) if event.reply == reply]
    assert said.ending == "interrupted"
    assert talk.text(reply).strip().startswith(said.heard)
    assert len(said.heard) < len(talk.text(reply).strip()) or said.unheard == ""
    assert not talk.stale
    assert talk.answers[-1].cached != before
    assert len(talk.of(UserSound)) == 2


async def test_what_is_typed_is_answered_aloud(engine):
    async with calling(engine) as talk:
        await talk.say(Typed("Say something."))
        await talk.until(lambda: talk.of(ReplyAudioStarted))
    assert [event.text for event in talk.of(UserSaid)] == ["Say something."]


async def test_calls_and_their_engine_leave_nothing_behind(engine):
    async with calling(engine) as talk:
        await ask(talk)
    async with calling(engine) as talk:
        first = talk.answers
        await talk.be_quiet(1.0)
        assert not first or first[0].listens
        assert talk.answers[0].listens
        assert not talk.of(ReplyBegun)
