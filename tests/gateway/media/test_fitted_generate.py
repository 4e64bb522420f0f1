"""Whatever generates gets what its model takes, and who asked is told what was made of it, before all else."""

from array import array

import pytest
from tests.gateway.fake_seats import FakeGenerate, words
from tests.gateway.fake_voice_worker import Seats

from duologue.errors import ModelNotFound
from duologue.gateway.media.fitted_generate import FittedGenerate
from duologue.gateway.media.fitter import MediaFitter
from duologue.gateway.speech.service import SpeechService
from duologue.values.events import Failed, Fitted, FittingNote
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, user
from duologue.values.requests import ChatRequest, ModelCard
from duologue.values.speech import TranscribedPart

pytestmark = pytest.mark.anyio

READS = ModelCard("mini", "scripted", 2048)
SOUND = AudioPart(array("f", [0.5] * 1600).tobytes(), 16_000)
SPOKEN = ChatRequest((Message("user", (SOUND,)),), model="mini")


def made(*said: str, card: ModelCard = READS) -> tuple[FakeGenerate, FittedGenerate]:
    generate = FakeGenerate(*[words("Hi.")] * 3)
    fitter = MediaFitter(SpeechService(Seats(*said)))
    return generate, FittedGenerate(generate, lambda name: card, fitter)


async def events_of(generate, request):
    async with generate(request) as batches:
        return [event async for batch in batches for _, event in batch]


async def test_what_was_made_is_told_before_anything_else():
    inner, generate = made("good morning")
    told, *rest = await events_of(generate, SPOKEN)
    note = FittingNote("messages[0].content[0]", "audio", "text", seconds=0.1)
    assert told == Fitted((TranscribedPart(0, 0, "good morning"),), (note,))
    assert rest == words("Hi.")
    assert inner.requests[0].messages == (Message("user", (TextPart("good morning"),)),)


async def test_a_request_of_words_passes_as_it_is():
    inner, generate = made()
    assert await events_of(generate, ChatRequest((user("hi"),))) == words("Hi.")
    assert inner.requests == [ChatRequest((user("hi"),))]


async def test_what_cannot_be_fitted_is_one_failure_and_asks_for_no_slot():
    inner, generate = made()
    [failed] = await events_of(generate, ChatRequest((Message("user", (ImagePart(b"x"),)),)))
    assert isinstance(failed, Failed)
    assert (failed.code, failed.status) == ("modality_unsupported", 400)
    assert failed.param == "messages[0].content[0]"
    assert inner.requests == []


async def test_a_model_that_is_not_known_yet_gets_the_request_as_it_is():
    inner, generate = made(card=ModelCard("soon", "llama", 0))
    assert await events_of(generate, SPOKEN) == words("Hi.")

    def missing(name: str) -> ModelCard:
        raise ModelNotFound(name)

    other = FittedGenerate(inner, missing, MediaFitter(SpeechService(None)))
    assert await events_of(other, SPOKEN) == words("Hi.")
    assert inner.requests == [SPOKEN, SPOKEN]


async def test_counting_and_reading_ahead_see_what_the_model_will_get():
    _, generate = made("good morning")
    seen: list[ChatRequest] = []

    async def take(request: ChatRequest, user: str) -> None:
        seen.append(request)

    await generate.counting(take)(SPOKEN, "ada")
    await generate.reading_ahead(take)(SPOKEN, "ada")
    assert [request.messages[0].text for request in seen] == ["good morning"] * 2
    await generate.reading_ahead(take)(ChatRequest((Message("user", (ImagePart(b"x"),)),)), "ada")
    assert len(seen) == 2, "its reply will say why"


async def test_fitting_is_over_before_an_event_is_waited_for():
    """A run counts the silence of its model while it waits for an event, and a long video takes a while to read."""
    inner, generate = made("good morning")
    async with generate(SPOKEN):
        assert inner.requests, "the slot was asked for with what was made"
