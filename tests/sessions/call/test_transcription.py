"""Turns written down while they are spoken, concluded, reopened, discarded."""

from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.lowlevel import checkpoint
from tests.support.call_parts import Saying, speech

from duologue.errors import EngineFailed
from duologue.sessions.call.transcription import BEGINNING, HEARD_AGAIN, TURNS, Transcription
from duologue.turns.facts import FinalTranscript, PartialTranscript
from duologue.values.audio import HEARD_RATE

pytestmark = pytest.mark.anyio


class Ear:
    def __init__(self, listening, recogniser, facts, problems):
        self.listening, self.recogniser = listening, recogniser
        self.facts, self.problems = facts, problems

    async def hear(self, seconds):
        pcm = speech(seconds)
        for at in range(0, len(pcm), 1024):
            self.listening.add(pcm[at : at + 1024])
            await self.settle()

    async def settle(self):
        for _ in range(10):
            await checkpoint()

    async def listen(self, turn, since=0):
        self.listening.listen(turn, since)
        await self.settle()

    async def conclude(self, turn, until=None):
        self.listening.conclude(turn, self.listening.heard if until is None else until)
        await self.settle()

    @property
    def finals(self):
        return [fact for fact in self.facts if isinstance(fact, FinalTranscript)]


@asynccontextmanager
async def listening(texts=(), recogniser=None):
    recogniser = recogniser or Saying(texts)
    facts, problems = [], []
    async with anyio.create_task_group() as tasks:
        one = Transcription(
            recogniser, tasks, language="en", hint="", said=facts.append, failed=problems.append
        )
        yield Ear(one, recogniser, facts, problems)
        tasks.cancel_scope.cancel()


async def test_words_come_while_they_are_spoken_and_stand_at_the_end():
    async with listening(["what time is it"]) as ear:
        await ear.listen(1)
        await ear.hear(1.2)
        await ear.conclude(1)
        partials = [fact.text for fact in ear.facts if isinstance(fact, PartialTranscript)]
    assert partials[0] == "what"
    assert partials[-1] == "what time is it"
    assert ear.facts[-1] == FinalTranscript(1, "what time is it", True, ear.listening.heard)
    assert ear.recogniser.listening == 0


async def test_the_first_words_are_told_again_as_long_as_they_stay_the_same():
    async with listening(["what"]) as ear:
        await ear.listen(1)
        await ear.hear(3.2)
        partials = [fact for fact in ear.facts if isinstance(fact, PartialTranscript)]
    assert {fact.text for fact in partials} == {"what"}
    heard = [fact.until for fact in partials]
    assert heard == sorted(set(heard))
    assert len(heard) > 10
    assert heard[-1] <= BEGINNING // 2 + 1024, "what comes later ends no reply"


async def test_a_turn_begins_with_the_sound_before_it_was_noticed():
    async with listening(["hello"]) as ear:
        await ear.hear(1.0)
        await ear.listen(1, since=ear.listening.heard - 8000)
        await ear.hear(0.512)
        await ear.conclude(1)
    assert ear.recogniser.finished == [8000 + 8192]


async def test_only_what_was_heard_before_the_end_is_written_down():
    async with listening(["hello"]) as ear:
        await ear.listen(1)
        await ear.hear(0.512)
        until = ear.listening.heard
        ear.listening.add(speech(0.05))
        await ear.conclude(1, until)
    assert ear.recogniser.finished == [until]
    assert ear.finals == [FinalTranscript(1, "hello", True, until)]


async def test_a_reopened_turn_is_written_down_from_its_beginning():
    async with listening(["what is", "what is the capital of france"]) as ear:
        await ear.listen(1)
        await ear.hear(0.512)
        await ear.conclude(1)
        await ear.hear(0.512)
        await ear.listen(1, since=ear.listening.heard - 4096)
        await ear.hear(0.512)
        await ear.conclude(1)
    assert [final.text for final in ear.finals] == ["what is", "what is the capital of france"]
    assert ear.recogniser.finished == [8192, 8192 + 4096 + 8192]


async def test_a_long_turn_that_is_reopened_is_only_added_to():
    seconds = HEARD_AGAIN / 2 / HEARD_RATE + 1
    async with listening(["so much for that", "and then"]) as ear:
        await ear.listen(1)
        await ear.hear(seconds)
        await ear.conclude(1)
        await ear.listen(1, since=ear.listening.heard)
        await ear.hear(1.024)
        await ear.conclude(1)
    assert ear.finals[-1].text == "so much for that and then"
    assert ear.recogniser.finished[-1] == 16384


async def test_a_turn_that_is_reopened_before_its_words_stand_goes_on():
    gate = anyio.Event()

    class Slow(Saying):
        @asynccontextmanager
        async def stream(self, **how):
            async with super().stream(**how) as listener:
                finish = listener.finish

                async def slowly():
                    await gate.wait()
                    return await finish()

                listener.finish = slowly
                yield listener

    async with listening(recogniser=Slow(["one", "one two"])) as ear:
        await ear.listen(1)
        await ear.hear(0.512)
        await ear.conclude(1)
        await ear.listen(1, since=ear.listening.heard)
        gate.set()
        await ear.hear(0.512)
        await ear.conclude(1)
    assert [final.text for final in ear.finals] == ["one two"]


async def test_a_discarded_turn_says_nothing_and_frees_its_recogniser():
    async with listening(["hello"]) as ear:
        await ear.listen(1)
        await ear.hear(0.1)
        ear.listening.discard(1)
        await ear.settle()
        assert ear.recogniser.listening == 0
        await ear.hear(0.5)
    assert ear.facts == []


async def test_only_so_many_turns_are_kept():
    async with listening([""] * 9) as ear:
        for turn in range(1, 9):
            await ear.listen(turn, since=ear.listening.heard)
            await ear.hear(0.1)
        assert ear.recogniser.listening == TURNS
        ear.listening.conclude(1, 5)


class Failing(Saying):
    """Understands words, and cannot end; so many times."""

    def __init__(self, texts, times):
        super().__init__(texts)
        self.times = times

    @asynccontextmanager
    async def stream(self, **how):
        async with super().stream(**how) as listener:

            async def fail():
                raise EngineFailed("The decoder broke.")

            if self.times:
                self.times -= 1
                listener.finish = fail
            yield listener


async def test_a_recogniser_that_fails_listens_once_more_from_the_beginning():
    async with listening(recogniser=Failing(["hello", "hello there"], times=1)) as ear:
        await ear.listen(1)
        await ear.hear(0.512)
        await ear.conclude(1)
        assert ear.recogniser.listening == 0
    assert ear.problems == []
    assert ear.recogniser.finished == [ear.listening.heard]
    assert [(final.text, final.understood) for final in ear.finals] == [("hello there", True)]


async def test_a_recogniser_that_fails_twice_leaves_what_it_had_understood():
    async with listening(recogniser=Failing(["hello there"] * 2, times=2)) as ear:
        await ear.listen(1)
        await ear.hear(0.512)
        await ear.conclude(1)
    assert [problem.message for problem in ear.problems] == ["The decoder broke."]
    assert [(final.text, final.understood) for final in ear.finals] == [("hello there", True)]


async def test_a_call_that_is_over_holds_no_sound():
    async with listening() as ear:
        await ear.listen(1)
        await ear.hear(0.512)
        ear.listening.close()
        for turn in (1, 2):
            await ear.listen(turn)
            await ear.conclude(turn)
        assert ear.recogniser.finished == [0, 0]
