"""The scripted duplex view: what it answers, that its words tell what it was given, and that misuse is not overlooked."""

import pytest
from tests.support.call_parts import silence, speech

from duologue.engines.contracts import DuplexOptions, ModelVoice, UnitAnswer
from duologue.engines.scripted.duplex_view import WORD, DuplexScript, ScriptedDuplexView, digest_of
from duologue.errors import EngineFailed, NotFound
from duologue.values.audio import samples
from duologue.values.messages import ImagePart, system
from duologue.values.speech import VoiceSample

pytestmark = pytest.mark.anyio

DECIDES = DuplexScript()
OWN_VOICE = ModelVoice()


async def answers(view: ScriptedDuplexView, *units: bytes, **more) -> list[UnitAnswer]:
    given = []
    for pcm in units:
        given.append(await view.unit(pcm, **more))
        await view.finalize()
    return given


async def prepared(script: DuplexScript = DECIDES, voice: ModelVoice = OWN_VOICE) -> ScriptedDuplexView:
    view = ScriptedDuplexView(script)
    await view.prepare((system("be kind"),), DuplexOptions(voice=voice))
    return view


async def test_it_listens_until_the_caller_has_finished_and_then_says_what_it_heard():
    view = await prepared()
    first, second, last = speech(1), speech(1), speech(0.5) + silence(0.5)
    frame = ImagePart(b"a frame")
    given = await answers(view, first, second)
    assert [answer.listens for answer in given] == [True, True]
    answer = await view.unit(last, (frame,))
    assert not answer.listens
    rest = []
    while not answer.end_of_turn:
        await view.finalize()
        rest.append(answer := await view.unit(silence(1)))
    words = f"heard 3 units 1 frames 48000 samples {digest_of([first, second, last], [frame])}"
    whole = "heard 3 units 1 " + "".join(answer.text for answer in rest)
    assert whole == words
    assert sum(samples(answer.pcm) for answer in rest) + 4 * WORD == len(words.split()) * WORD


async def test_what_is_said_follows_from_sound_and_frames_and_from_nothing_else():
    said = set()
    for pcm, frame in [
        (speech(1), b"one"),
        (speech(1, loudness=9001), b"one"),
        (speech(1), b"two"),
        (speech(1), b"one"),
    ]:
        view = await prepared(DuplexScript(decides=False))
        texts = ""
        [answer] = await answers(view, pcm, frames=(ImagePart(frame),), decision="speak")
        while True:
            texts += answer.text
            if answer.end_of_turn:
                break
            [answer] = await answers(view, pcm, decision="speak")
        said.add(texts)
    assert len(said) == 3


async def test_silence_alone_is_listened_to_for_ever():
    given = await answers(await prepared(), *[silence(1)] * 20)
    assert all(answer.listens and not answer.text and not answer.pcm for answer in given)
    assert [answer.cached for answer in given[:2]] == [17, 27]


async def test_what_was_heard_of_a_reply_is_kept_and_the_rest_forgotten():
    view = await prepared()
    [first] = await answers(view, speech(0.5) + silence(0.5))
    assert first.text == "heard 1 units 0 "
    assert await view.cut(2 * WORD) == "heard 1"
    assert (await answers(view, silence(1)))[0].listens, "the reply is over"


async def test_typed_text_is_answered_with_the_next_unit():
    view = await prepared()
    await view.type("good day")
    assert (await view.unit(silence(1))).text == "typed good day"


async def test_the_words_that_the_system_asks_for_come_first():
    view = ScriptedDuplexView(DuplexScript())
    await view.prepare((system("/say now then"),), DuplexOptions())
    [answer] = await answers(view, speech(0.5) + silence(0.5))
    assert answer.text.startswith("now then heard 1 ")


async def test_a_window_bounds_the_cache():
    view = ScriptedDuplexView(DuplexScript())
    await view.prepare((), DuplexOptions(window=25))
    given = await answers(view, *[silence(1)] * 4)
    assert [answer.cached for answer in given] == [10, 20, 25, 25]


async def test_it_speaks_in_the_voice_it_was_given():
    sample = VoiceSample(speech(1))
    sounds = []
    for voice in (ModelVoice(), ModelVoice("high"), ModelVoice(sample=sample)):
        view = await prepared(voice=voice)
        [answer] = await answers(view, speech(0.5) + silence(0.5))
        sounds.append(answer.pcm[: WORD // 2])
    assert len(set(sounds)) == 3
    with pytest.raises(NotFound):
        await prepared(voice=ModelVoice("nobody"))


async def test_it_fails_where_the_script_says_so():
    view = await prepared(DuplexScript(fails_at=2))
    await answers(view, silence(1))
    with pytest.raises(EngineFailed):
        await view.unit(silence(1))


@pytest.mark.parametrize(
    ("script", "before", "seconds", "decision"),
    [
        (DECIDES, (), 0.1, "model"),
        (DECIDES, (), 1.5, "model"),
        (DuplexScript(decides=False), (), 1, "model"),
        (DuplexScript(decides=False), ("speak",), 1, "listen"),
    ],
)
async def test_a_misuse_of_the_contract_is_not_overlooked(script, before, seconds, decision):
    view = await prepared(script)
    for earlier in before:
        await answers(view, silence(1), decision=earlier)
    with pytest.raises(ValueError, match=r"samples|decide|cut"):
        await view.unit(silence(seconds), decision=decision)


async def test_a_unit_needs_the_one_before_to_be_finalized():
    view = await prepared()
    await view.unit(silence(1))
    with pytest.raises(ValueError, match="finalize"):
        await view.unit(silence(1))
