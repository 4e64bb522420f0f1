import math
import sys
from array import array
from itertools import pairwise

import anyio
import pytest

from duologue.engines.contracts import SpeakerEngine, SpeechChunk
from duologue.engines.registry import load_speaker
from duologue.engines.tts import espeak
from duologue.engines.tts.espeak import is_voice, pause_after, replace_soundless
from duologue.engines.tts.espeak_library import EspeakLibrary
from duologue.errors import NotFound, StartFailed, TooLarge
from duologue.values.audio import SPOKEN_RATE

pytestmark = pytest.mark.anyio

NEEDED = "these tests need espeak-ng and PyAV: pip install 'duologue[voice]'"


@pytest.fixture
async def engine():
    pytest.importorskip("espeakng_loader", reason=NEEDED)
    pytest.importorskip("av", reason=NEEDED)
    return await load_speaker("espeak", {})


async def said(engine: SpeakerEngine, text: str, **how) -> list[SpeechChunk]:
    async with engine.speak(text, **how) as pieces:
        return [piece async for piece in pieces]


def sound(pieces: list[SpeechChunk]) -> array:
    return array("h", b"".join(piece.pcm for piece in pieces))


def words(pieces: list[SpeechChunk]) -> list:
    return [word for piece in pieces for word in piece.words]


LOOSE = SPOKEN_RATE // 20
"""Samples by which the same words differ: the library makes each pause a few milliseconds longer or shorter from time to time. Over two
hundred times a sentence of two clauses was up to 23 ms off, whatever was said before."""


def alike(one: list[SpeechChunk], other: list[SpeechChunk]) -> bool:
    """Whether both say the same, at the same speed."""
    places = [[(word.at, word.to) for word in words(pieces)] for pieces in (one, other)]
    near = all(abs(a.start - b.start) < LOOSE for a, b in zip(words(one), words(other), strict=False))
    return places[0] == places[1] and near and abs(len(sound(one)) - len(sound(other))) < LOOSE


def loudness(samples: array) -> float:
    return math.sqrt(sum(value * value for value in samples) / max(1, len(samples)))


async def test_every_word_is_told_once_with_its_place_in_text_and_sound(engine):
    text = "Hello there, what can I do for you today?"
    pieces = await said(engine, text)
    told = words(pieces)
    assert [word.text for word in told] == text.split()
    assert [text[word.at : word.to] for word in told] == text.split()
    assert all(word.start < word.end for word in told)
    assert all(one.end <= other.start for one, other in pairwise(told))
    assert told[-1].end <= len(sound(pieces))


async def test_there_is_sound_in_every_word_and_none_in_the_pause_between_sentences(engine):
    pieces = await said(engine, "Hello there. Good morning.")
    samples, told = sound(pieces), words(pieces)
    assert all(loudness(samples[word.start : word.end]) > 300 for word in told)
    gap = samples[told[1].end + 480 : told[2].start]
    assert len(gap) > SPOKEN_RATE // 10
    assert loudness(gap) < 30


async def test_the_phones_of_each_word_are_told_in_letters_without_stress_and_lie_within_it(engine):
    pieces = await said(engine, "Stop, buy a map!", voice="en-us")
    phones = [phone for piece in pieces for phone in piece.phones]
    assert [phone.symbol for phone in phones] == ["s", "t", "ɑː", "p", "b", "aɪ", "ɐ", "m", "æ", "p"]
    assert all(phone.start < phone.end for phone in phones)
    assert all(one.end <= other.start for one, other in pairwise(phones))
    for word, letters in zip(words(pieces), ("stɑːp", "baɪ", "ɐ", "mæp"), strict=True):
        inside = [phone.symbol for phone in phones if word.start <= phone.start < word.end]
        assert "".join(inside) == letters
    # The pause after the first clause is none of its phones.
    assert phones[4].start - phones[3].end > SPOKEN_RATE // 20
    assert phones[-1].end <= len(sound(pieces))


async def test_a_phone_comes_with_the_sound_in_which_it_begins(engine):
    made = 0
    for piece in await said(engine, "Donaudampfschifffahrtsgesellschaftskapitän eins zwei", voice="de"):
        assert all(phone.start >= made for phone in piece.phones)
        made += len(piece.pcm) // 2


async def test_words_come_with_the_sound_in_which_they_begin(engine):
    made = 0
    for piece in await said(engine, "One two three four five six seven eight nine ten."):
        assert all(made <= word.start < made + len(piece.pcm) // 2 for word in piece.words)
        made += len(piece.pcm) // 2


async def test_letters_of_several_bytes_do_not_move_the_words(engine):
    text = "Größe und Übermaß, façade naïve: 你好 😀 fin."
    told = words(await said(engine, text, voice="de"))
    assert "".join(word.text for word in told) == "GrößeundÜbermaß,façadenaïve:你好fin."
    assert all(text[word.at : word.to] == word.text for word in told)


async def test_a_word_that_is_said_in_many_is_still_one(engine):
    told = words(await said(engine, "The code is 123456 and more."))
    assert [word.text for word in told] == ["The", "code", "is", "123456", "and", "more."]
    assert told[3].end - told[3].start > SPOKEN_RATE


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "...",
        "?!",
        "🙂🙂",
        "\0",
        "\x01\x1b[0m",
        "\ud800 half",
        "-",
        "[[h@'loU]]",
        "<speak>a</speak>",
        "{}\\",
        "&amp;",
        "%s%n",
    ],
)
async def test_odd_text_is_no_harm(engine, text):
    pieces = await said(engine, text)
    assert len(sound(pieces)) < 10 * SPOKEN_RATE
    assert words(await said(engine, "still here"))[-1].text == "here"


async def test_markup_is_read_and_not_obeyed(engine):
    plain = sound(await said(engine, "a break b"))
    marked = sound(await said(engine, 'a <break time="9s"/> b'))
    assert len(marked) < len(plain) + 4 * SPOKEN_RATE


async def test_ten_thousand_characters_are_spoken_to_the_end(engine):
    text = ("lorem ipsum dolor sit amet, " * 400)[:10_000].strip()
    pieces = await said(engine, text)
    assert [word.text for word in words(pieces)] == text.split()
    assert len(sound(pieces)) > 300 * SPOKEN_RATE


async def test_a_word_of_ten_thousand_letters_does_not_hold_the_sound_back(engine):
    pieces = await said(engine, "a" * 10_000)
    assert len(words(pieces)) == 1
    assert len(pieces[0].pcm) < 2 * 2 * SPOKEN_RATE


async def test_too_much_at_once_is_refused(engine):
    with pytest.raises(TooLarge):
        await said(engine, "a " * 7000)


async def test_the_same_text_sounds_the_same_after_anything_else(engine):
    first = await said(engine, "The same as before.")
    await said(engine, "Etwas anderes!", voice="de+f3", speed=1.4)
    assert alike(await said(engine, "The same as before."), first)


async def test_who_leaves_early_ends_the_work_and_harms_nobody(engine):
    whole = await said(engine, "All of this is said, from its first word to its last.")
    async with engine.speak("one two three " * 500) as pieces:
        async for _ in pieces:
            break
    assert alike(await said(engine, "All of this is said, from its first word to its last."), whole)


async def test_a_slow_listener_holds_nobody_up(engine):
    async with engine.speak("one two three four " * 200) as slow:
        await anext(slow)
        assert words(await said(engine, "meanwhile"))
        assert [piece async for piece in slow]


async def test_many_speak_at_once_and_each_hears_their_own(engine):
    texts = [f"caller {letter} speaks" for letter in "abcdefgh"]
    alone = [await said(engine, text) for text in texts]
    heard: dict[str, list[SpeechChunk]] = {}

    async def call(text: str) -> None:
        heard[text] = await said(engine, text)

    async with anyio.create_task_group() as group:
        for text in texts:
            group.start_soon(call, text)
    assert all(alike(heard[text], before) for text, before in zip(texts, alone, strict=True))


async def test_faster_is_shorter(engine):
    usual, fast = [len(sound(await said(engine, "How long does it take?", speed=speed))) for speed in (1, 2)]
    assert 0.4 < fast / usual < 0.65
    for odd in (0.0, -1.0, float("nan"), float("inf")):
        assert sound(await said(engine, "hi", speed=odd))


async def test_a_language_chooses_its_voice_and_a_voice_wins(engine):
    german, french = [await said(engine, "guten Tag allerseits", voice=voice) for voice in ("de", "fr")]
    assert not alike(german, french)
    assert alike(await said(engine, "guten Tag allerseits", language="de-AT"), german)
    assert alike(await said(engine, "guten Tag allerseits", voice="de", language="fr"), german)
    assert alike(
        await said(engine, "moi kaikki", language="fi"), await said(engine, "moi kaikki", voice="fi")
    )


async def test_a_language_nobody_speaks_is_spoken_by_the_default_voice(engine):
    assert alike(await said(engine, "guten Tag", language="x-unknown"), await said(engine, "guten Tag"))


@pytest.mark.parametrize("voice", ["nobody", "en-us+nobody", "../de", "de+", "en-us+f3+f2", "DE"])
async def test_an_unknown_voice_is_refused_with_the_names_of_those_there_are(engine, voice):
    with pytest.raises(NotFound, match="en-us") as caught:
        async with engine.speak("hi", voice=voice):
            pass
    assert caught.value.code == "voice_not_found"


async def test_every_voice_that_is_offered_speaks(engine):
    for voice in engine.voices:
        assert len(sound(await said(engine, "a e o", voice=voice.name))) > SPOKEN_RATE // 10, voice.name


async def test_the_default_voice_is_the_first_and_can_be_chosen():
    pytest.importorskip("espeakng_loader", reason=NEEDED)
    chosen = await load_speaker("espeak", {"voice": "de+f3"})
    assert isinstance(chosen, SpeakerEngine)
    assert chosen.voices[0].name == "de+f3"
    with pytest.raises(StartFailed, match="nobody"):
        await load_speaker("espeak", {"voice": "nobody"})


async def test_without_the_library_a_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "espeakng_loader", None)
    monkeypatch.setattr(espeak, "espeak_library", EspeakLibrary)
    with pytest.raises(StartFailed, match=r"duologue\[voice\]"):
        await load_speaker("espeak", {})


def test_a_sentence_is_followed_by_a_longer_pause_than_a_comma():
    assert pause_after("Yes.") == pause_after('He said "yes."') > pause_after("Yes,") > pause_after("Yes")


def test_what_has_no_sound_becomes_a_space():
    assert replace_soundless("a\0b\u200bc") == "a b c"


def test_a_voice_is_a_language_and_perhaps_a_variant():
    assert is_voice("fi+f1", {"fi"}, {"f1"})
    assert not is_voice("fi+f2", {"fi"}, {"f1"})
    assert not is_voice("sv2", {"fi"}, {"f1"})
