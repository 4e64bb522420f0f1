import anyio
import anyio.lowlevel
import pytest
from tests.support.call_parts import CallControls, engines

from duologue.errors import BadRequest, EngineFailed, NotFound, TooLarge
from duologue.sessions.speech.speech_task import speak
from duologue.sessions.speech.synthesis import LONGEST
from duologue.values.audio import samples
from duologue.values.call_events import ReplyAudio, ReplyAudioEnded, Text
from duologue.values.speech import SpeechRequest

pytestmark = pytest.mark.anyio

WORD = 7200


async def spoken(request, controls=None, parts=None):
    events = []

    async def tell(event):
        events.append(event)

    with anyio.fail_after(60):
        await speak(parts or engines(), request, controls or CallControls(), tell)
    return events


async def test_a_text_is_sound_with_its_words_and_its_length():
    events = await spoken(SpeechRequest("Hello there. How are you?"))
    *sounds, end = events
    assert all(isinstance(sound, ReplyAudio) for sound in sounds)
    assert (
        end
        == ReplyAudioEnded(0, 0, sum(samples(sound.pcm) for sound in sounds))
        == ReplyAudioEnded(0, 0, 5 * WORD)
    )
    assert [word.text.strip(".?") for sound in sounds for word in sound.words] == [
        "Hello",
        "there",
        "How",
        "are",
        "you",
    ]


async def test_the_keys_of_a_mouth_come_where_they_are_asked_for():
    *sounds, _ = await spoken(SpeechRequest("Maybe people. Up.", mouth=True))
    keys = [key for sound in sounds for key in sound.mouth]
    assert [key.at for key in keys] == sorted({key.at for key in keys})
    assert sum(key.press == 100 for key in keys) >= 4
    assert keys[-1].open == keys[-1].press == 0
    assert not any(sound.mouth for sound in (await spoken(SpeechRequest("Maybe.")))[:-1])


async def test_an_open_request_is_spoken_as_its_text_comes():
    controls = CallControls()
    events = []

    async def tell(event):
        events.append(event)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(speak, engines(), SpeechRequest("Hello ", open=True), controls, tell)
        await anyio.wait_all_tasks_blocked()
        assert events == []
        controls.put(Text(0, "there. And"))
        await anyio.wait_all_tasks_blocked()
        assert sum(samples(sound.pcm) for sound in events) == 2 * WORD
        controls.put(Text(0, " more."), Text(0, "", last=True))
    assert events[-1] == ReplyAudioEnded(0, 0, 4 * WORD)


async def test_faster_is_shorter():
    assert (await spoken(SpeechRequest("Hello there.", speed=2.0)))[-1].samples == WORD


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        (SpeechRequest("  "), BadRequest),
        (SpeechRequest("a" * (LONGEST + 1)), TooLarge),
        (SpeechRequest("Hello.", voice="nobody"), NotFound),
        (SpeechRequest("Hello xfail."), EngineFailed),
    ],
)
async def test_what_cannot_be_spoken_is_a_sentence(request_, problem):
    with pytest.raises(problem):
        await spoken(request_)


async def test_whoever_leaves_ends_the_synthesis():
    scope = anyio.CancelScope()

    async def request():
        with scope:
            await speak(
                engines(), SpeechRequest("xhang."), CallControls(), lambda event: anyio.lowlevel.checkpoint()
            )

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(request)
            await anyio.wait_all_tasks_blocked()
            scope.cancel()
    assert scope.cancelled_caught
