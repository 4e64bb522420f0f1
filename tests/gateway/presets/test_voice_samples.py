"""Samples of the server's voices: made once, at the rate that callers have, by a voice of the language."""

import pytest
from tests.gateway.fake_voice_worker import CARD, WORD, Seats

from duologue.errors import Unavailable
from duologue.gateway.presets.preset_list import sample_text
from duologue.gateway.presets.voice_samples import VoiceSamples
from duologue.gateway.speech.service import SpeechService
from duologue.values.speech import SpeechCard, SpeechEngineStatus, SpeechRequest

pytestmark = pytest.mark.anyio


async def test_a_sample_is_spoken_once_and_changed_to_the_rate_of_callers():
    pytest.importorskip("av")
    seats = Seats()
    voices = VoiceSamples(SpeechService(seats))
    first = await voices.sample("en")
    assert await voices.sample("en") == first
    [request] = seats.requests
    assert isinstance(request, SpeechRequest)
    assert (request.text, request.voice) == (sample_text("en"), "low")
    words = len(request.text.split())
    assert len(first) // 2 == words * WORD * 16_000 // 24_000


def test_a_language_has_a_voice_or_not():
    voices = VoiceSamples(SpeechService(Seats()))
    assert (voices.has("en"), voices.has("zh")) == (True, False)
    assert not VoiceSamples(SpeechService(None)).has("en")
    mute = SpeechCard(speaker=SpeechEngineStatus("failed"), voices=CARD.voices)
    assert not VoiceSamples(SpeechService(Seats(card=mute))).has("en")


async def test_a_voice_that_failed_gives_its_reason():
    voices = VoiceSamples(SpeechService(Seats(refuses=Unavailable("No seat.", code="voice_unavailable"))))
    with pytest.raises(Unavailable, match="No seat"):
        await voices.sample()
