"""The scripted recogniser: the texts in their order, word by word, and the steps."""

import anyio
import pytest

from duologue.engines.contracts import RecogniserEngine
from duologue.engines.registry import load_recogniser
from duologue.engines.scripted.recogniser import ScriptedRecogniser
from duologue.errors import EngineFailed, StartFailed
from duologue.values.audio import HEARD_RATE

pytestmark = pytest.mark.anyio

QUARTER = bytes(HEARD_RATE // 4 * 2)


async def test_words_come_one_by_one_while_sound_comes_in():
    async with ScriptedRecogniser(["what time is it"]).stream() as listener:
        assert [await listener.feed(QUARTER) for _ in range(5)] == [
            "what",
            "what time",
            "what time is",
            "what time is it",
            "what time is it",
        ]
        heard = await listener.finish()
    assert (heard.text, heard.understood, heard.confidence) == ("what time is it", True, 1.0)
    assert [(word.text, word.start, word.end) for word in heard.words][:2] == [
        ("what", 0.0, 0.25),
        ("time", 0.25, 0.5),
    ]


async def test_each_utterance_has_the_next_text_and_then_the_default():
    engine = await load_recogniser("scripted", {"texts": ["one", "two"], "default": "again"})
    assert isinstance(engine, RecogniserEngine)
    assert [(await engine.transcribe(QUARTER)).text for _ in range(4)] == ["one", "two", "again", "again"]


async def test_a_text_can_be_speech_that_was_not_understood():
    heard = await ScriptedRecogniser(["xnothing"]).transcribe(QUARTER)
    assert (heard.text, heard.understood) == ("", False)


async def test_a_text_can_be_a_failure():
    with pytest.raises(EngineFailed, match="asked for"):
        await ScriptedRecogniser(["xfail"]).transcribe(QUARTER)


async def test_a_text_can_take_for_ever():
    with anyio.move_on_after(0.01) as scope:
        await ScriptedRecogniser(["xhang"]).transcribe(QUARTER)
    assert scope.cancelled_caught


async def test_a_misspelt_option_is_named():
    with pytest.raises(StartFailed, match="texts"):
        await load_recogniser("scripted", {"text": ["one"]})
