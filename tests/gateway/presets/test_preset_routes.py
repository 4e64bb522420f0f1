"""What the demo's pages fetch, over HTTP."""

import base64

import httpx
import pytest
from fastapi import FastAPI
from tests.gateway.fake_voice_worker import Seats

from duologue.gateway.presets.preset_routes import router
from duologue.gateway.presets.voice_samples import VoiceSamples
from duologue.gateway.speech.service import SpeechService
from duologue.http.error_responses import exception_handlers

pytestmark = pytest.mark.anyio


def browser(seats: Seats | None) -> httpx.AsyncClient:
    app = FastAPI(exception_handlers=exception_handlers())
    app.include_router(router(VoiceSamples(SpeechService(seats))))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://duologue")


async def test_a_preset_is_chosen_and_its_sound_fetched():
    pytest.importorskip("av")
    async with browser(Seats()) as client:
        lists = (await client.get("/api/presets")).json()
        [omni, *_] = lists["omni"]
        sound = (await client.get(f"/api/presets/omni/{omni['id']}/audio")).json()["ref_audio"]
        parts = (await client.get("/api/presets/turnbased/companion_en/audio")).json()
    data = base64.b64decode(sound["data"])
    assert round(len(data) / 4 / 16_000, 1) == sound["duration"] > 0
    assert parts["system_content_audio"] == [sound]


async def test_the_default_voice_has_a_sample():
    pytest.importorskip("av")
    async with browser(Seats()) as client:
        body = (await client.get("/api/default_ref_audio")).json()
    assert body["sample_rate"] == 16_000
    assert len(base64.b64decode(body["base64"])) == 4 * body["samples"]
    assert body["duration"] == round(body["samples"] / 16_000, 1)


async def test_without_a_voice_the_presets_are_words_alone():
    async with browser(None) as client:
        lists = (await client.get("/api/presets")).json()
        assert "ref_audio" not in lists["omni"][0]
        assert (await client.get("/api/presets/omni/companion_en/audio")).json() == {}
        answer = await client.get("/api/default_ref_audio")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "voice_unavailable")


async def test_a_preset_that_does_not_exist_is_named():
    async with browser(Seats()) as client:
        answer = await client.get("/api/presets/omni/pirate/audio")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "preset_not_found")


async def test_a_front_end_is_told_how_long_to_wait_before_it_plays():
    async with browser(None) as client:
        assert (await client.get("/api/frontend_defaults")).json() == {"playback_delay_ms": 200}
