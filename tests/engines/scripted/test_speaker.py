from array import array

import anyio
import pytest
from tests.support.sample_files import tone as sine

from duologue.engines.contracts import CloningSpeaker, SpeakerEngine, SpeechChunk
from duologue.engines.registry import load_speaker
from duologue.engines.scripted.speaker import ScriptedSpeaker, frequency_of, pitch_of
from duologue.errors import EngineFailed, NotFound
from duologue.values.speech import VoiceSample

pytestmark = pytest.mark.anyio


async def said(text: str, engine: ScriptedSpeaker | None = None, **how) -> list[SpeechChunk]:
    async with (engine or ScriptedSpeaker()).speak(text, **how) as pieces:
        return [piece async for piece in pieces]


async def test_each_word_is_a_tone_of_one_length_with_its_exact_time():
    pieces = await said("one, two - three")
    words = [word for piece in pieces for word in piece.words]
    assert [(word.text, word.start, word.end) for word in words] == [
        ("one,", 0, 5760),
        ("two", 7200, 12960),
        ("three", 14400, 20160),
    ]
    assert [(word.at, word.to) for word in words] == [(0, 4), (5, 8), (11, 16)]
    assert sum(len(piece.pcm) for piece in pieces) == 2 * 3 * 7200


async def test_between_the_words_is_silence():
    sound = array("h", (await said("one"))[0].pcm)
    assert max(sound[:5760]) > 7000
    assert set(sound[5760:]) == {0}


async def test_words_and_voices_are_told_apart_by_their_pitch():
    first, again, other = [piece.pcm for piece in await said("yes yes no")]
    assert first == again != other
    assert (await said("yes", voice="high"))[0].pcm != first


async def test_one_that_clones_takes_the_pitch_of_the_recording():
    engine = await load_speaker("scripted", {"clones": True})
    assert isinstance(engine, CloningSpeaker)
    assert not isinstance(await load_speaker("scripted", {}), CloningSpeaker)
    for hertz in (330.0, 500.0):
        async with engine.speak_like("one", sample=VoiceSample(sine(16_000, 1, hertz))) as pieces:
            sound = b"".join([piece.pcm async for piece in pieces])[: 2 * 5700]
        assert frequency_of(sound) * 1.5 == pytest.approx(pitch_of("one", hertz), rel=0.02)


async def test_twice_as_fast_is_half_as_long():
    assert len((await said("one", speed=2.0))[0].pcm) == 7200


async def test_nothing_to_say_has_no_sound():
    assert await said("") == []
    assert await said("... !") == []


async def test_it_can_be_told_to_give_no_times():
    pieces = await said("one two", ScriptedSpeaker(timed=False))
    assert [piece.words for piece in pieces] == [(), ()]


async def test_a_step_fails_after_what_was_said_before():
    async with ScriptedSpeaker().speak("one xfail two") as pieces:
        assert (await anext(pieces)).words[0].text == "one"
        with pytest.raises(EngineFailed):
            await anext(pieces)


async def test_a_step_hangs_until_it_is_cancelled():
    with anyio.move_on_after(0.01) as scope:
        await said("one Xhang. two")
    assert scope.cancelled_caught


async def test_a_slow_step_only_takes_its_time():
    assert len(await said("one xslow two", ScriptedSpeaker(slow_ms=1))) == 2


async def test_a_voice_it_does_not_have_is_refused():
    with pytest.raises(NotFound, match="low and high"):
        await said("one", voice="alto")


async def test_it_is_loaded_by_its_name_and_options():
    engine = await load_speaker("scripted", {"word_ms": 10, "gap_ms": 0})
    assert isinstance(engine, SpeakerEngine)
    async with engine.speak("one") as pieces:
        assert [len(piece.pcm) async for piece in pieces] == [480]
