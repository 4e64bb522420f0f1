"""A reply's text on its way to sound."""

from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.lowlevel import checkpoint

from duologue.engines.scripted.speaker import ScriptedSpeaker
from duologue.errors import EngineFailed
from duologue.sessions.speech.synthesis import AHEAD, GIVES_UP, LONGEST, SpokenReply, VoiceStyle, voice_style
from duologue.values.speech import Voice

pytestmark = pytest.mark.anyio

WORD = 24_000 * 3 // 10
"""Samples of a word of the scripted voice."""


class Making:
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
async def making(speaker=None):
    made = Making(None)
    made.reply = SpokenReply(
        1,
        speaker or ScriptedSpeaker(),
        VoiceStyle(),
        changed=lambda reply, words: made.words.extend(words),
        failed=lambda reply, problem: made.problems.append(problem),
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(made.reply.make)
        yield made
        tasks.cancel_scope.cancel()


async def test_a_sentence_becomes_sound_with_its_words_where_they_are_written():
    async with making() as made:
        await made.write("Hello there. ", last=True)
        taken = made.reply.take(10**9)
    assert made.reply.complete
    assert made.reply.made == 2 * WORD == len(taken.pcm) // 2
    assert [(word.text.strip("."), word.start) for word in taken.words] == [("Hello", 0), ("there", WORD)]
    assert [made.reply.written[word.at : word.to].strip(".") for word in taken.words] == ["Hello", "there"]


async def test_the_first_sentence_sounds_while_the_second_is_written():
    async with making() as made:
        await made.write("Hello there. How are")
        assert made.reply.made == 2 * WORD
        assert not made.reply.complete
        await made.write(" you?", last=True)
        assert made.reply.made == 5 * WORD
        assert made.reply.complete


async def test_text_goes_with_the_sound_that_says_it():
    async with making() as made:
        await made.write("Hello there. Bye now.", last=True)
        told = []
        while made.reply.waiting:
            told.append(made.reply.take(WORD).text)
        told.append(made.reply.rest())
    assert "".join(told) == "Hello there. Bye now."
    assert told[0] == "Hello"


async def test_a_little_ahead_is_made_and_no_more_until_it_is_taken():
    async with making() as made:
        await made.write("One two three four five six. " * 10, last=True)
        sentence = 6 * WORD
        assert AHEAD <= made.reply.made < AHEAD + sentence
        before = made.reply.made
        made.reply.take(2 * sentence)
        await made.settle()
        assert made.reply.made > before


async def test_a_number_is_heard_with_the_last_of_its_words():
    async with making() as made:
        await made.write("It is 23 now.", last=True)
    ends = [word.to for word in made.words]
    said = [made.reply.written[:end] for end in ends]
    assert "It is 23" in said
    assert not any(text.endswith("2") for text in said)


async def test_a_voice_that_does_not_tell_its_words_has_them_spread():
    async with making(ScriptedSpeaker(timed=False)) as made:
        await made.write("Hello there you.", last=True)
    assert made.words[0].start == 0
    assert made.words[-1].end == made.reply.made
    assert all(a.end == b.start for a, b in zip(made.words, made.words[1:], strict=False))


async def test_a_clause_that_cannot_be_spoken_is_left_out_and_said():
    async with making() as made:
        await made.write("Hello there. This is xfail yes. Bye now.", last=True)
        taken = made.reply.take(10**9)
    assert [problem.code for problem in made.problems] == ["scripted_failure"]
    assert made.reply.complete
    assert "Bye" in [word.text for word in taken.words]


async def test_a_voice_that_is_down_is_told_once_and_the_rest_is_only_written():
    asked = []

    class Down(ScriptedSpeaker):
        @asynccontextmanager
        async def speak(self, clause, **how):
            asked.append(clause)
            raise EngineFailed("No voice answers.")
            yield

    async with making(Down()) as made:
        await made.write("One is here. Two is here. Three is here. Four is here. Five is here.", last=True)
        taken = made.reply.take(10**9)
    assert [problem.message for problem in made.problems] == ["No voice answers."]
    assert len(asked) == GIVES_UP
    assert made.reply.complete
    assert taken.text + made.reply.rest() == made.reply.written


async def test_a_library_that_breaks_is_a_sentence():
    class Broken(ScriptedSpeaker):
        @asynccontextmanager
        async def speak(self, clause, **how):
            raise RuntimeError("secret detail")
            yield

    async with making(Broken()) as made:
        await made.write("Hello there.", last=True)
    assert made.reply.complete
    assert made.reply.made == 0
    assert "secret" not in made.problems[0].message


async def test_a_writer_who_pauses_has_the_half_sentence_said():
    async with making() as made:
        await made.write("Let me look")
        assert made.reply.made == 0
        made.reply.pause()
        await made.settle()
        assert made.reply.made == 3 * WORD


async def test_text_without_anything_to_say_makes_no_sound_and_is_told_all_the_same():
    async with making() as made:
        await made.write("***", last=True)
    assert (made.reply.made, made.reply.complete) == (0, True)
    assert made.reply.take(100).text + made.reply.rest() == "***"


async def test_nothing_follows_the_last_piece_and_nobody_listens_for_ever():
    async with making() as made:
        await made.write("Hi.", last=True)
        await made.write(" And more.")
        assert made.reply.written == "Hi."
    long = SpokenReply(1, ScriptedSpeaker(), VoiceStyle())
    long.write("a" * (LONGEST + 10))
    assert len(long.written) == LONGEST


def test_where_no_language_is_named_it_is_the_voices():
    class German(ScriptedSpeaker):
        voices = (Voice("anna", "de"), Voice("joe", "en"))

    assert voice_style(German(), "", 1.0, "").language == "de"
    assert voice_style(German(), "joe", 1.0, "").language == "en"
    assert voice_style(German(), "joe", 1.0, "fr").language == "fr"
