import pytest

from duologue.engines.contracts import SpeechChunk
from duologue.engines.scripted.speaker import ScriptedSpeaker
from duologue.sessions.speech.clip_cache import ClipCache, VoiceStyle

pytestmark = pytest.mark.anyio


class Counting(ScriptedSpeaker):
    def __init__(self):
        super().__init__()
        self.spoken = []

    def speak(self, clause, **how):
        self.spoken.append(clause)
        return super().speak(clause, **how)


async def sound(clips, speaker, clause, style=None, most=99) -> list[SpeechChunk]:
    chunks = []
    async with clips.speak(speaker, clause, style or VoiceStyle()) as sounds:
        async for spoken in sounds:
            chunks.append(spoken)
            if len(chunks) == most:
                break
    return chunks


async def test_a_sentence_is_spoken_once_and_sounds_the_same_ever_after():
    clips, speaker = ClipCache(), Counting()
    first = await sound(clips, speaker, "One moment.")
    assert await sound(clips, speaker, "One moment.") == first
    assert speaker.spoken == ["One moment."]


async def test_another_voice_is_another_sound():
    clips, speaker = ClipCache(), Counting()
    low = await sound(clips, speaker, "One moment.", VoiceStyle("low"))
    assert await sound(clips, speaker, "One moment.", VoiceStyle("high")) != low
    assert len(speaker.spoken) == 2


async def test_what_was_left_in_the_middle_is_not_kept():
    clips, speaker = ClipCache(), Counting()
    await sound(clips, speaker, "One moment.", most=1)
    assert len(await sound(clips, speaker, "One moment.")) == 2
    assert len(speaker.spoken) == 2


async def test_only_so_many_are_kept():
    clips, speaker = ClipCache(size=2), Counting()
    for clause in ("a", "b", "c", "a"):
        await sound(clips, speaker, clause)
    assert speaker.spoken == ["a", "b", "c", "a"]


async def test_what_is_long_is_not_kept():
    clips, speaker = ClipCache(), Counting()
    for _ in range(2):
        await sound(clips, speaker, "word " * 60)
    assert len(speaker.spoken) == 2
