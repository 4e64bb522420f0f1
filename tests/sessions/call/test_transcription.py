"""Turns written down while they are spoken, concluded, reopened, discarded."""

from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from msgspec import structs
from tests.support.call_parts import ScriptedTexts, speech
from tests.support.recorded_spans import recording

from duologue.errors import EngineFailed
from duologue.sessions.call.transcription import BEGINNING, REFED, TURNS, Transcription
from duologue.tracing import spans
from duologue.turns.facts import FinalTranscript, PartialTranscript
from duologue.values.audio import HEARD_RATE

pytestmark = pytest.mark.anyio


class Caller:
    def __init__(self, transcription, recogniser, facts, problems):
        self.transcription, self.recogniser = transcription, recogniser
        self.facts, self.problems = facts, problems

    async def speak(self, seconds):
        pcm = speech(seconds)
        for at in range(0, len(pcm), 1024):
            self.transcription.add(pcm[at : at + 1024])
            await self.settle()

    async def settle(self):
        for _ in range(10):
            await checkpoint()

    async def start(self, turn, since=0):
        self.transcription.start(turn, since)
        await self.settle()

    async def finish(self, turn, until=None):
        self.transcription.finish(turn, self.transcription.received if until is None else until)
        await self.settle()

    @property
    def finals(self):
        return [fact for fact in self.facts if isinstance(fact, FinalTranscript)]


@asynccontextmanager
async def transcribing(texts=(), recogniser=None):
    recogniser = recogniser or ScriptedTexts(texts)
    facts: list[Any] = []
    problems: list[Any] = []
    async with anyio.create_task_group() as tasks:
        one = Transcription(
            recogniser, tasks, language="en", hint="", on_transcript=facts.append, on_failure=problems.append
        )
        yield Caller(one, recogniser, facts, problems)
        tasks.cancel_scope.cancel()


async def test_words_come_while_they_are_spoken_and_stand_at_the_end():
    async with transcribing(["what time is it"]) as caller:
        await caller.start(1)
        await caller.speak(1.2)
        await caller.finish(1)
        partials = [fact.text for fact in caller.facts if isinstance(fact, PartialTranscript)]
    assert partials[0] == "what"
    assert partials[-1] == "what time is it"
    assert caller.facts[-1] == FinalTranscript(1, "what time is it", True, caller.transcription.received)
    assert caller.recogniser.listening == 0


class SpottingTexts(ScriptedTexts):
    """Its transcribers spot a "stop" where they were asked to listen for one."""

    @asynccontextmanager
    async def stream(self, *, language="", prompt=""):
        async with super().stream() as stream:
            yield SpottingStream(stream)


class SpottingStream:
    def __init__(self, inner):
        self.inner, self.stop_word, self.feed = inner, "", inner.feed

    def listen_for_stop(self):
        self.stop_word = "stop"

    async def finish(self):
        return structs.replace(await self.inner.finish(), stop_word=self.stop_word)


@pytest.mark.parametrize(("over_reply", "spotted"), [(True, "stop"), (False, "")])
async def test_a_stop_is_listened_for_over_a_reply_only(over_reply, spotted):
    async with transcribing(recogniser=SpottingTexts(["ah"])) as caller:
        caller.transcription.start(1, 0, over_reply=over_reply)
        await caller.speak(0.5)
        await caller.finish(1)
    assert [final.stop_word for final in caller.finals] == [spotted]


async def test_the_first_words_are_told_again_as_long_as_they_stay_the_same():
    async with transcribing(["what"]) as caller:
        await caller.start(1)
        await caller.speak(3.2)
        partials = [fact for fact in caller.facts if isinstance(fact, PartialTranscript)]
    assert {fact.text for fact in partials} == {"what"}
    transcript = [fact.until for fact in partials if fact.until is not None]
    assert len(transcript) == len(partials)
    assert transcript == sorted(set(transcript))
    assert len(transcript) > 10
    assert transcript[-1] <= BEGINNING // 2 + 1024, "what comes later ends no reply"


async def test_a_turn_begins_with_the_sound_before_it_was_noticed():
    async with transcribing(["hello"]) as caller:
        await caller.speak(1.0)
        await caller.start(1, since=caller.transcription.received - 8000)
        await caller.speak(0.512)
        await caller.finish(1)
    assert caller.recogniser.finished == [8000 + 8192]


async def test_only_what_was_heard_before_the_end_is_written_down():
    async with transcribing(["hello"]) as caller:
        await caller.start(1)
        await caller.speak(0.512)
        until = caller.transcription.received
        caller.transcription.add(speech(0.05))
        await caller.finish(1, until)
    assert caller.recogniser.finished == [until]
    assert caller.finals == [FinalTranscript(1, "hello", True, until)]


async def test_a_reopened_turn_is_written_down_from_its_beginning():
    async with transcribing(["what is", "what is the capital of france"]) as caller:
        await caller.start(1)
        await caller.speak(0.512)
        await caller.finish(1)
        await caller.speak(0.512)
        await caller.start(1, since=caller.transcription.received - 4096)
        await caller.speak(0.512)
        await caller.finish(1)
    assert [final.text for final in caller.finals] == ["what is", "what is the capital of france"]
    assert caller.recogniser.finished == [8192, 8192 + 4096 + 8192]


async def test_a_long_turn_that_is_reopened_is_only_added_to():
    seconds = REFED / 2 / HEARD_RATE + 1
    async with transcribing(["so much for that", "and then"]) as caller:
        await caller.start(1)
        await caller.speak(seconds)
        await caller.finish(1)
        await caller.start(1, since=caller.transcription.received)
        await caller.speak(1.024)
        await caller.finish(1)
    assert caller.finals[-1].text == "so much for that and then"
    assert caller.recogniser.finished[-1] == 16384


async def test_a_turn_that_is_reopened_before_its_words_stand_goes_on():
    gate = anyio.Event()

    class Slow(ScriptedTexts):
        @asynccontextmanager
        async def stream(self, **how):
            async with super().stream(**how) as listener:
                finish = listener.finish

                async def slowly():
                    await gate.wait()
                    return await finish()

                listener.finish = slowly  # type: ignore[method-assign]
                yield listener

    async with transcribing(recogniser=Slow(["one", "one two"])) as caller:
        await caller.start(1)
        await caller.speak(0.512)
        await caller.finish(1)
        await caller.start(1, since=caller.transcription.received)
        gate.set()
        await caller.speak(0.512)
        await caller.finish(1)
    assert [final.text for final in caller.finals] == ["one two"]


async def test_a_discarded_turn_says_nothing_and_frees_its_recogniser():
    async with transcribing(["hello"]) as caller:
        await caller.start(1)
        await caller.speak(0.1)
        caller.transcription.discard(1)
        await caller.settle()
        assert caller.recogniser.listening == 0
        await caller.speak(0.5)
    assert caller.facts == []


async def test_only_so_many_turns_are_kept():
    async with transcribing([""] * 9) as caller:
        for turn in range(1, 9):
            await caller.start(turn, since=caller.transcription.received)
            await caller.speak(0.1)
        assert caller.recogniser.listening == TURNS
        caller.transcription.finish(1, 5)


class Failing(ScriptedTexts):
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
                listener.finish = fail  # type: ignore[method-assign]
            yield listener


async def test_a_recogniser_that_fails_listens_once_more_from_the_beginning():
    async with transcribing(recogniser=Failing(["hello", "hello there"], times=1)) as caller:
        await caller.start(1)
        await caller.speak(0.512)
        await caller.finish(1)
        assert caller.recogniser.listening == 0
    assert caller.problems == []
    assert caller.recogniser.finished == [caller.transcription.received]
    assert [(final.text, final.understood) for final in caller.finals] == [("hello there", True)]


async def test_a_recogniser_that_fails_twice_leaves_what_it_had_understood():
    async with transcribing(recogniser=Failing(["hello there"] * 2, times=2)) as caller:
        await caller.start(1)
        await caller.speak(0.512)
        await caller.finish(1)
    assert [problem.message for problem in caller.problems] == ["The decoder broke."]
    assert [(final.text, final.understood) for final in caller.finals] == [("hello there", True)]


async def test_a_call_that_is_over_holds_no_sound():
    async with transcribing() as caller:
        await caller.start(1)
        await caller.speak(0.512)
        caller.transcription.close()
        for turn in (1, 2):
            await caller.start(turn)
            await caller.finish(turn)
        assert caller.recogniser.finished == [0, 0]


class ExpectingTexts(ScriptedTexts):
    """Its transcribers can be told which words are likely."""

    def __init__(self, texts):
        super().__init__(texts)
        self.expected = []

    @asynccontextmanager
    async def stream(self, **options):
        async with super().stream(**options) as listener:
            listener.expect = self.expected.append  # type: ignore[attr-defined]
            yield listener


async def test_a_recogniser_that_expects_words_is_given_what_was_said_lately():
    recogniser = ExpectingTexts(["what time is it", "and the date"])
    async with transcribing(recogniser=recogniser) as caller:
        for turn in (1, 2):
            await caller.start(turn)
            await caller.speak(1.2)
            await caller.finish(turn)
            caller.transcription.mention("It is noon.")
    assert recogniser.expected == [" what time is it It is noon."]


async def test_a_turn_that_is_written_down_is_a_span_without_its_words():
    with recording() as seen, spans.span("call"):
        async with transcribing(["a secret"]) as caller:
            await caller.start(1)
            await caller.speak(0.5)
            await caller.finish(1)
        assert len(caller.finals) == 1
    assert seen.names == ["transcription", "call"]
    assert seen.parent("transcription") == "call"
    assert not any("secret" in span.to_json() for span in seen.all)
