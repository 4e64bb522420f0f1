"""The scripted omni engine: its chats speak, its calls take it whole, and nothing of one is in the other."""

import pytest
from tests.support.call_parts import silence

from duologue.engines.contracts import (
    Generation,
    GenerationEnded,
    MediaPromptEngine,
    ModelVoice,
    OmniEngine,
    Piece,
    PromptEngine,
    SpokenSound,
)
from duologue.engines.scripted.duplex_view import WORD
from duologue.engines.scripted.language import load
from duologue.engines.scripted.omni import ScriptedOmniEngine
from duologue.errors import Busy, EngineFailed, NotFound, StartFailed
from duologue.values.audio import samples
from duologue.values.messages import AudioPart, ImagePart
from duologue.values.speech import VoiceSample

pytestmark = pytest.mark.anyio

OWN_VOICE = ModelVoice()


def prompt(text: str) -> bytes:
    return f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n".encode()


async def spoken(text: str, voice: ModelVoice | None = OWN_VOICE) -> list:
    async with ScriptedOmniEngine().generate(0, tuple(prompt(text)), Generation(voice=voice)) as items:
        return [item async for item in items if isinstance(item, Piece | SpokenSound)]


async def test_the_option_duplex_makes_an_omni_engine():
    engine = await load({"name": "m", "duplex": True, "decides": False, "slots": 3})
    assert isinstance(engine, PromptEngine)
    assert isinstance(engine, MediaPromptEngine)
    assert isinstance(engine, OmniEngine)
    card = engine.card
    assert "duplex" in card.verbs
    assert (card.modalities, card.outputs) == (("text", "image", "audio"), ("text", "audio"))
    assert (card.voices, card.clones, card.slots) == (("low", "high"), True, 3)
    async with engine.duplex() as view:
        assert not view.decides
    with pytest.raises(StartFailed):
        await load({"name": "m", "duplex": True, "decide": False})
    assert not isinstance(await load({"name": "m"}), OmniEngine)


async def test_a_tone_follows_each_word_that_is_to_be_spoken():
    items = await spoken("/say one two")
    assert [type(item) for item in items] == [Piece, SpokenSound, Piece, SpokenSound]
    assert [samples(item.pcm) for item in items if isinstance(item, SpokenSound)] == [WORD, WORD]
    assert [type(item) for item in await spoken("/say one two", None)] == [Piece, Piece]


async def test_thoughts_and_tool_calls_are_not_spoken():
    items = await spoken('/say <think>well</think>yes <tool_call>{"name": "x"}</tool_call>')
    assert sum(isinstance(item, SpokenSound) for item in items) == 1


async def test_the_voice_is_the_one_asked_for():
    sounds = [
        await spoken("/say one", voice)
        for voice in (ModelVoice(), ModelVoice("high"), ModelVoice(sample=VoiceSample(silence(1))))
    ]
    assert len({item.pcm for items in sounds for item in items if isinstance(item, SpokenSound)}) == 3
    with pytest.raises(NotFound):
        await spoken("/say one", ModelVoice("nobody"))


async def test_pictures_and_sound_are_in_the_prompt_and_can_be_told():
    engine = ScriptedOmniEngine()
    pieces = (
        "<|im_start|>user\n/got",
        ImagePart(b"12345"),
        AudioPart(b"1234"),
        "<|im_end|>\n<|im_start|>assistant\n",
    )
    tokens = await engine.tokenize_media(pieces)
    async with engine.generate(0, tokens, Generation()) as items:
        text = "".join([item.text async for item in items if isinstance(item, Piece)])
    first, second = text.split()
    assert first.startswith("image:jpeg:5:")
    assert second.startswith("audio:16000:4:")


async def test_a_call_takes_the_engine_whole():
    engine = ScriptedOmniEngine()
    async with engine.duplex() as view:
        with pytest.raises(EngineFailed):
            async with engine.generate(0, tuple(prompt("/say one")), Generation()):
                pass
        with pytest.raises(Busy):
            async with engine.duplex():
                pass
    assert view.closed
    async with engine.generate(0, tuple(prompt("/say one")), Generation()) as items:
        ended = [item async for item in items][-1]
        with pytest.raises(Busy):
            async with engine.duplex():
                pass
    assert isinstance(ended, GenerationEnded)
