"""A reply with its sound: both at once, one end, and each ended with the other."""

import anyio
import pytest
from msgspec.structs import replace
from tests.gateway.fake_seats import FakeGenerate, failed, words
from tests.gateway.fake_voice_worker import WORD, Seats

from duologue.errors import Problem
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.speech.spoken_stream import with_speech
from duologue.values.events import AudioDelta, Done, Failed, TextDelta
from duologue.values.messages import user
from duologue.values.requests import ChatRequest
from duologue.values.speech import SpeechRequest

pytestmark = pytest.mark.anyio

REQUEST = SpeechRequest(voice="low", language="en", open=True)


async def events_of(seats: Seats, generate, **options):
    async with with_speech(
        generate(ChatRequest((user("Hi"),))), SpeechService(seats), REQUEST, **options
    ) as reply:
        events = [event async for batch in reply for _, event in batch]
        return events, reply.problem


async def test_the_text_is_spoken_and_the_end_comes_after_the_sound():
    seats = Seats()
    events, problem = await events_of(seats, FakeGenerate(words("Hello, ", "you.")))
    assert [type(event) for event in events if not isinstance(event, AudioDelta)] == [
        TextDelta,
        TextDelta,
        Done,
    ]
    sound = [event for event in events if isinstance(event, AudioDelta)]
    assert [len(delta.pcm) // 2 for delta in sound] == [WORD, WORD]
    assert [delta.words[0].text for delta in sound] == ["Hello,", "you."]
    assert isinstance(events[-1], Done)
    assert (seats.lent, problem, seats.requests) == (0, None, [REQUEST])


async def test_the_keys_of_a_mouth_come_with_the_sound():
    seats = Seats()
    request = replace(REQUEST, mouth=True)
    async with with_speech(
        FakeGenerate(words("Hello, ", "you."))(ChatRequest((user("Hi"),))), SpeechService(seats), request
    ) as reply:
        events = [event async for batch in reply for _, event in batch]
    assert [key.at for event in events if isinstance(event, AudioDelta) for key in event.mouth] == [0, WORD]


async def test_a_reply_without_text_takes_no_seat():
    seats = Seats()
    events, _ = await events_of(seats, FakeGenerate([Done("tool_calls")]))
    assert events == [Done("tool_calls")]
    assert seats.requests == []


async def test_the_models_slot_is_free_while_the_rest_is_spoken():
    seats = Seats()
    seats.hold = anyio.Event()
    generate = FakeGenerate(words("one two three"))
    async with with_speech(generate(ChatRequest((user("Hi"),))), SpeechService(seats), REQUEST) as reply:
        batches = aiter(reply)
        assert [await anext(batches), await anext(batches)]
        await anyio.wait_all_tasks_blocked()
        assert (generate.running, seats.lent) == (0, 1)
        seats.hold.set()
        assert [event async for batch in batches for _, event in batch][-1] == Done("stop")


async def test_leaving_ends_the_model_and_the_voice():
    seats = Seats()
    seats.hold = anyio.Event()
    generate = FakeGenerate()
    async with with_speech(generate(ChatRequest((user("Hi"),))), SpeechService(seats), REQUEST):
        await anyio.wait_all_tasks_blocked()
        assert generate.running == 1
    assert (generate.running, seats.lent) == (0, 0)


async def test_what_its_reader_raises_goes_on_as_it_came():
    with pytest.raises(ValueError, match="mine"):
        async with with_speech(FakeGenerate()(ChatRequest((user("Hi"),))), SpeechService(Seats()), REQUEST):
            raise ValueError("mine")


async def test_a_voice_that_fails_leaves_the_text_alone():
    seats = Seats(fails=Problem("It broke.", code="engine_failed"))
    events, problem = await events_of(seats, FakeGenerate(words("one two", " three")))
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "one two three"
    assert isinstance(events[-1], Done)
    assert problem is not None
    assert problem.message == "It broke."


async def test_a_voice_that_is_needed_fails_the_reply():
    seats = Seats(fails=Problem("It broke.", code="engine_failed", status=502))
    async with with_speech(
        FakeGenerate(words("one two"))(ChatRequest((user("Hi"),))),
        SpeechService(seats),
        REQUEST,
        required=True,
    ) as reply:
        events = []
        async for batch in reply:
            events += [event for _, event in batch]
            if isinstance(events[-1], Failed):
                break
    assert events[-1] == Failed("engine_failed", "It broke.", 502)


async def test_a_model_that_fails_ends_the_reply():
    events, _ = await events_of(Seats(), FakeGenerate([TextDelta("Well"), *failed("worker_lost")]))
    assert [event for event in events if not isinstance(event, AudioDelta)] == [
        TextDelta("Well"),
        *failed("worker_lost"),
    ]
