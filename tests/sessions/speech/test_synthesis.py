"""A reply's text on its way to sound."""

from contextlib import asynccontextmanager
from itertools import pairwise

import anyio
import pytest
from anyio.lowlevel import checkpoint
from tests.support.recorded_spans import recording

from duologue.engines.contracts import SpeechChunk
from duologue.engines.scripted.speaker import ScriptedSpeaker
from duologue.errors import EngineFailed
from duologue.sessions.speech.clip_cache import VoiceStyle
from duologue.sessions.speech.synthesis import AHEAD, GIVES_UP, LONGEST, SpokenReply, voice_style
from duologue.tracing import spans
from duologue.values.mouth import Phone, mouth_at
from duologue.values.speech import Voice

pytestmark = pytest.mark.anyio

WORD = 24_000 * 3 // 10
"""Samples of a word of the scripted voice."""


class SynthesisTask:
    def __init__(self, reply):
        self.reply = reply
        self.problems = []
        self.words = []

    async def settle(self):
        for _ in range(60):
            await checkpoint()

    async def write(self, text, last=False):
        self.reply.write(text, last=last)
        await self.settle()


@asynccontextmanager
async def synthesising(speaker=None, mouth=False):
    task = SynthesisTask(None)
    task.reply = SpokenReply(
        1,
        speaker or ScriptedSpeaker(),
        VoiceStyle(),
        mouth=mouth,
        on_change=lambda reply, words: task.words.extend(words),
        on_failure=lambda reply, problem: task.problems.append(problem),
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(task.reply.synthesise)
        yield task
        tasks.cancel_scope.cancel()


async def test_the_mouth_follows_the_phones_of_the_voice_or_else_the_letters_of_its_words():
    keys = []
    for timed in (True, False):
        async with synthesising(ScriptedSpeaker(timed=timed), mouth=True) as task:
            await task.write("Bob, my papa. ", last=True)
            piece = task.reply.take(10**9)
        keys.append((*piece.mouth, *task.reply.keys()))
    told, guessed = keys
    assert sum(key.press == 100 for key in told) >= 5
    assert sum(key.press == 100 for key in guessed) >= 5
    assert all(one.at < other.at for one, other in pairwise(told))
    assert all(one.at < other.at for one, other in pairwise(guessed))


async def test_the_phones_of_the_voice_count_where_it_reports_them():
    class Hums(ScriptedSpeaker):
        @asynccontextmanager
        async def speak(self, clause, **how):
            async def hum():
                async with ScriptedSpeaker.speak(self, clause) as chunks:
                    async for chunk in chunks:
                        word = chunk.words[0]
                        yield SpeechChunk(chunk.pcm, chunk.words, (Phone("m", word.start, word.end),))

            yield hum()

    async with synthesising(Hums(), mouth=True) as task:
        await task.write("Sing a song. Do. ", last=True)
        piece = task.reply.take(10**9)
    keys = (*piece.mouth, *task.reply.keys())
    assert all(mouth_at(keys, word.start + WORD * 2 // 5).press == 1.0 for word in piece.words)


async def test_a_sentence_becomes_sound_with_its_words_where_they_are_written():
    async with synthesising() as task:
        await task.write("Hello there. ", last=True)
        piece = task.reply.take(10**9)
    assert task.reply.complete
    assert task.reply.length == 2 * WORD == len(piece.pcm) // 2
    assert [(word.text.strip("."), word.start) for word in piece.words] == [("Hello", 0), ("there", WORD)]
    assert [task.reply.written[word.at : word.to].strip(".") for word in piece.words] == ["Hello", "there"]


async def test_the_first_sentence_sounds_while_the_second_is_written():
    async with synthesising() as task:
        await task.write("Hello there. How are")
        assert task.reply.length == 2 * WORD
        assert not task.reply.complete
        await task.write(" you?", last=True)
        assert task.reply.length == 5 * WORD
        assert task.reply.complete


async def test_text_goes_with_the_sound_that_says_it():
    async with synthesising() as task:
        await task.write("Hello there. Bye now.", last=True)
        texts = []
        while task.reply.waiting:
            texts.append(task.reply.take(WORD).text)
        texts.append(task.reply.rest())
    assert "".join(texts) == "Hello there. Bye now."
    assert texts[0] == "Hello"


async def test_a_little_ahead_is_made_and_no_more_until_it_is_taken():
    async with synthesising() as task:
        await task.write("One two three four five six. " * 10, last=True)
        sentence = 6 * WORD
        assert AHEAD <= task.reply.length < AHEAD + sentence
        before = task.reply.length
        task.reply.take(2 * sentence)
        await task.settle()
        assert task.reply.length > before


async def test_a_number_is_heard_with_the_last_of_its_words():
    async with synthesising() as task:
        await task.write("It is 23 now.", last=True)
    ends = [word.to for word in task.words]
    said = [task.reply.written[:end] for end in ends]
    assert "It is 23" in said
    assert not any(text.endswith("2") for text in said)


async def test_a_voice_that_does_not_tell_its_words_has_them_spread():
    async with synthesising(ScriptedSpeaker(timed=False)) as task:
        await task.write("Hello there you.", last=True)
    assert task.words[0].start == 0
    assert task.words[-1].end == task.reply.length
    assert all(a.end == b.start for a, b in zip(task.words, task.words[1:], strict=False))


async def test_a_clause_that_cannot_be_spoken_is_left_out_and_said():
    async with synthesising() as task:
        await task.write("Hello there. This is xfail yes. Bye now.", last=True)
        piece = task.reply.take(10**9)
    assert [problem.code for problem in task.problems] == ["scripted_failure"]
    assert task.reply.complete
    assert "Bye" in [word.text for word in piece.words]


async def test_a_voice_that_is_down_is_told_once_and_the_rest_is_only_written():
    asked = []

    class Down(ScriptedSpeaker):
        @asynccontextmanager
        async def speak(self, clause, **how):
            asked.append(clause)
            raise EngineFailed("No voice answers.")
            yield

    async with synthesising(Down()) as task:
        await task.write("One is here. Two is here. Three is here. Four is here. Five is here.", last=True)
        piece = task.reply.take(10**9)
    assert [problem.message for problem in task.problems] == ["No voice answers."]
    assert len(asked) == GIVES_UP
    assert task.reply.complete
    assert piece.text + task.reply.rest() == task.reply.written


async def test_a_library_that_breaks_is_a_sentence():
    class Broken(ScriptedSpeaker):
        @asynccontextmanager
        async def speak(self, clause, **how):
            raise RuntimeError("secret detail")
            yield

    async with synthesising(Broken()) as task:
        await task.write("Hello there.", last=True)
    assert task.reply.complete
    assert task.reply.length == 0
    assert "secret" not in task.problems[0].message


async def test_a_writer_who_pauses_has_the_half_sentence_said():
    async with synthesising() as task:
        await task.write("Let me look")
        assert task.reply.length == 0
        task.reply.pause()
        await task.settle()
        assert task.reply.length == 3 * WORD


async def test_text_without_anything_to_say_makes_no_sound_and_is_told_all_the_same():
    async with synthesising() as task:
        await task.write("***", last=True)
    assert (task.reply.length, task.reply.complete) == (0, True)
    assert task.reply.take(100).text + task.reply.rest() == "***"


async def test_nothing_follows_the_last_piece_and_nobody_listens_for_ever():
    async with synthesising() as task:
        await task.write("Hi.", last=True)
        await task.write(" And more.")
        assert task.reply.written == "Hi."
    long = SpokenReply(1, ScriptedSpeaker(), VoiceStyle())
    long.write("a" * (LONGEST + 10))
    assert len(long.written) == LONGEST


def test_where_no_language_is_named_it_is_the_voices():
    class German(ScriptedSpeaker):
        voices = (Voice("anna", "de"), Voice("joe", "en"))

    assert voice_style(German(), "", 1.0, "").language == "de"
    assert voice_style(German(), "joe", 1.0, "").language == "en"
    assert voice_style(German(), "joe", 1.0, "fr").language == "fr"


async def test_each_clause_that_is_spoken_is_a_span_without_its_words():
    with recording() as seen, spans.span("call"):
        async with synthesising() as task:
            await task.write("One secret. Two secrets. ", last=True)
    assert seen.names == ["synthesis", "synthesis", "call"]
    assert seen.parent("synthesis") == "call"
    assert not any("secret" in span.to_json() for span in seen.all)
