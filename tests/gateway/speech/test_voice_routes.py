"""`/api/assets/ref_audio` over HTTP: in the demo's shapes and in ours."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from tests.gateway.fake_voice_worker import CARD, Seats
from tests.support.sample_files import tone, wav_file
from tests.support.store_fixtures import clock, memory

from duologue.gateway.speech.service import SpeechService
from duologue.gateway.speech.voice_library import STATEMENT, VoiceLibrary
from duologue.gateway.speech.voice_routes import router
from duologue.http.error_responses import exception_handlers
from duologue.store.stores import Store

__all__ = ["clock", "memory"]

pytestmark = pytest.mark.anyio

PLACE = "/api/assets/ref_audio"
FILE = wav_file(tone(16_000, 1.5))
SENT = {"name": "Me", "audio_base64": base64.b64encode(FILE).decode(), "consent": True}


class Desk:
    """The routes, for anna unless the test says otherwise."""

    def __init__(self, library: VoiceLibrary) -> None:
        self.user, self.role = "anna", "user"
        self.app = FastAPI(exception_handlers=exception_handlers())
        self.app.include_router(router(library, SpeechService(Seats("one two", card=CARD), None, library)))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        scope["state"] = {"role": self.role, "user": self.user}
        await self.app(scope, receive, send)


@pytest.fixture
def desk(memory, clock) -> Desk:
    library = VoiceLibrary(most=3)
    library.use(Store(memory, clock).custom_voices)
    return Desk(library)


@pytest.fixture
async def http(desk: Desk) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(desk)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
        yield client


async def test_a_voice_is_sent_as_json_listed_and_deleted(http: httpx.AsyncClient) -> None:
    sent = await http.post(PLACE, json=SENT)
    assert sent.status_code == 201
    row = sent.json()
    assert (row["success"], row["name"], row["source_type"], row["sample_rate"]) == (
        True,
        "Me",
        "upload",
        16000,
    )
    assert (row["duration_ms"], row["own"], row["shared"], row["text"]) == (1500, True, False, "")
    assert row["consent"]["statement"] == STATEMENT
    listed = (await http.get(PLACE)).json()
    assert (listed["total"], [each["id"] for each in listed["ref_audios"]]) == (1, [row["id"]])
    assert listed["clones"] is False
    assert (await http.get(f"{PLACE}/{row['id']}")).json()["id"] == row["id"]
    assert (await http.delete(f"{PLACE}/{row['id']}")).json()["success"] is True
    assert (await http.get(PLACE)).json()["total"] == 0
    assert (await http.delete(f"{PLACE}/{row['id']}")).status_code == 404


async def test_a_voice_is_sent_as_a_form(http: httpx.AsyncClient) -> None:
    form = {"name": "Me", "consent": "I am Anna.", "text": "one"}
    sent = await http.post(PLACE, data=form, files={"file": ("a.wav", FILE, "audio/wav")})
    assert sent.status_code == 201
    assert (sent.json()["text"], sent.json()["consent"]["statement"]) == ("one", "I am Anna.")


async def test_the_recording_is_played_by_its_owner(http: httpx.AsyncClient, desk: Desk) -> None:
    id = (await http.post(PLACE, json=SENT)).json()["id"]
    played = await http.get(f"{PLACE}/{id}/audio")
    assert (played.headers["content-type"], played.headers["cache-control"]) == ("audio/wav", "no-store")
    assert played.content == FILE
    desk.user = "ben"
    assert (await http.get(f"{PLACE}/{id}/audio")).status_code == 404


@pytest.mark.parametrize("consent", [None, False, "", "false", " "])
async def test_a_voice_without_consent_is_refused(http: httpx.AsyncClient, consent: Any) -> None:
    refused = await http.post(
        PLACE, json={**SENT, "consent": consent} if consent is not None else {**SENT, "consent": ""}
    )
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "voice_consent_missing")
    assert (await http.get(PLACE)).json()["total"] == 0


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"audio_base64": "%%%"}, 400, "invalid_request"),
        ({"audio_base64": ""}, 400, "invalid_request"),
        ({"audio_base64": base64.b64encode(b"hello").decode()}, 400, "sound_unsupported"),
        ({"name": ""}, 400, "invalid_request"),
        ({"name": "x" * 200}, 400, "invalid_request"),
        ({"colour": "red"}, 400, "invalid_request"),
    ],
)
async def test_what_cannot_be_kept_is_refused(
    http: httpx.AsyncClient, change: dict[str, str], status: int, code: str
) -> None:
    refused = await http.post(PLACE, json=SENT | change)
    assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)


async def test_a_form_without_a_file_is_refused(http: httpx.AsyncClient) -> None:
    refused = await http.post(PLACE, files={"other": ("a.wav", FILE, "audio/wav")}, data={"consent": "true"})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "file")


async def test_the_recogniser_writes_down_what_is_said(http: httpx.AsyncClient) -> None:
    id = (await http.post(PLACE, json=SENT)).json()["id"]
    assert (await http.post(f"{PLACE}/{id}/transcript")).json()["text"] == "one two"
    corrected = await http.patch(f"{PLACE}/{id}", json={"text": "one, two"})
    assert corrected.json()["text"] == "one, two"
    assert (await http.get(f"{PLACE}/{id}")).json()["text"] == "one, two"


async def test_an_admin_shares_a_voice_and_others_learn_only_its_name(
    http: httpx.AsyncClient, desk: Desk
) -> None:
    id = (await http.post(PLACE, json=SENT | {"text": "secret"})).json()["id"]
    assert (await http.patch(f"{PLACE}/{id}", json={"shared": True})).json()["error"][
        "code"
    ] == "admin_needed"
    desk.role = "admin"
    assert (await http.patch(f"{PLACE}/{id}", json={"shared": True})).json()["shared"] is True
    desk.user, desk.role = "ben", "user"
    (row,) = (await http.get(PLACE)).json()["ref_audios"]
    assert (row["id"], row["own"]) == (id, False)
    assert not {"text", "consent"} & row.keys()
    assert (await http.patch(f"{PLACE}/{id}", json={"name": "Mine"})).json()["error"][
        "code"
    ] == "voice_not_yours"
