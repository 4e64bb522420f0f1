"""`/api/avatars/{id}/clips` over HTTP."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx
import pytest
from fastapi import FastAPI
from tests.gateway.avatars.test_clip_service import Place
from tests.support.sample_files import tone, wav_file

from duologue.gateway.avatars.clip_routes import router
from duologue.http.error_responses import exception_handlers

pytestmark = pytest.mark.anyio

PLACE = "/api/avatars/mira/clips"


class ClipDesk:
    """The routes, for anna unless the test says otherwise."""

    def __init__(self, place: Place) -> None:
        self.user, self.place = "anna", place
        self.app = FastAPI(exception_handlers=exception_handlers())
        self.app.include_router(router(place.clips))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        scope["state"] = {"role": "user", "user": self.user}
        await self.app(scope, receive, send)


@pytest.fixture
async def desk(tmp_path) -> AsyncIterator[ClipDesk]:
    place = Place(tmp_path)
    async with anyio.create_task_group() as tasks:
        await tasks.start(place.clips.run)
        yield ClipDesk(place)
        tasks.cancel_scope.cancel()


@pytest.fixture
async def http(desk) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(desk)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
        yield client


async def ended(http: httpx.AsyncClient, clip: str) -> dict[str, Any]:
    with anyio.fail_after(30):
        while (row := (await http.get(clip)).json())["state"] not in ("ready", "failed"):  # noqa: ASYNC110 (as a client does)
            await anyio.sleep(0.01)
    return dict(row)


async def test_a_clip_is_asked_for_followed_fetched_and_deleted(http, desk):
    asked = await http.post(PLACE, json={"text": "second", "speed": 1.2})
    assert asked.status_code == 202
    clip = f"{PLACE}/{asked.json()['id']}"
    assert (await ended(http, clip))["state"] == "ready"
    events = await http.get(f"{clip}/events")
    assert events.headers["content-type"].startswith("text/event-stream")
    assert '"state":"ready"' in events.text
    film = await http.get(f"{clip}/file")
    assert (film.content, film.headers["content-type"]) == (b"first second", "video/mp4")
    assert (await http.get(f"{clip}/file", headers={"range": "bytes=0-4"})).content == b"first"
    desk.user = "berta"
    for path in ("", "/file", "/events"):
        assert (await http.get(clip + path)).status_code == 404
    assert (await http.delete(clip)).status_code == 404
    desk.user = "anna"
    assert (await http.delete(clip)).status_code == 204
    assert (await http.get(clip)).json()["error"]["code"] == "clip_not_found"


async def test_a_recording_is_a_form(http):
    files = {"file": ("a.wav", wav_file(tone(16_000, 0.5)))}
    asked = await http.post(PLACE, files=files, data={"language": "de"})
    assert asked.status_code == 202
    assert (await ended(http, f"{PLACE}/{asked.json()['id']}"))["state"] == "ready"


@pytest.mark.parametrize(
    "body", [{}, {"text": ""}, {"text": "x", "speed": 9}, {"text": "x" * 20_000}, {"text": "x", "size": 1}]
)
async def test_a_body_that_is_wrong_is_told(http, body):
    refused = await http.post(PLACE, json=body)
    assert refused.status_code in (400, 413)
    assert refused.json()["error"]["message"].endswith(".")


async def test_a_form_without_a_sound_is_told(http):
    assert (await http.post(PLACE, files={"other": b"x"})).status_code == 400
    assert (await http.post(PLACE, files={"file": ("a.pdf", b"%PDF-1.7")})).json()["error"][
        "code"
    ] == "sound_unsupported"
