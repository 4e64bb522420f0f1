"""`/api/recordings`, over HTTP: the owner's alone, in every form."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from fastapi import FastAPI
from tests.support.store_fixtures import Clock, clock, memory
from tests.support.user_files import recording_folder

from duologue.config.sections.recordings import RecordingSettings
from duologue.gateway.recordings.recording_routes import router
from duologue.gateway.recordings.service import RecordingService
from duologue.http.error_responses import exception_handlers
from duologue.store.database import Database
from duologue.store.sound.recordings import RecordingRows
from duologue.values import call_events
from duologue.values.messages import ImagePart

pytest.importorskip("av", reason="PyAV is not installed: calls are not recorded")

__all__ = ["clock", "memory"]
pytestmark = pytest.mark.anyio


class Server:
    """Who asks is in the header `user`."""

    def __init__(self, service: RecordingService, http: httpx.AsyncClient) -> None:
        self.service, self.http = service, http

    async def get(self, path: str = "", user: str = "anna", **headers: str) -> httpx.Response:
        return await self.http.get(f"/api/recordings{path}", headers={"user": user, **headers})

    async def record(self, *, ends: bool = True) -> str:
        recorder = await self.service.start("anna", "call", marks=True)
        recorder.server_sent([call_events.UserSaid(0, 1, "Über boats/ships")])
        for _ in range(100):
            recorder.client_sent(call_events.MicrophoneAudio(b"\0\x40" * 320))
        recorder.saw(ImagePart(b"first", "image/png"))
        recorder.saw(ImagePart(b"second", "text/html"))
        if ends:
            recorder.close()
            with anyio.fail_after(60):
                await recorder.written.wait()
        return recorder.id


@pytest.fixture
async def server(memory: Database, clock: Clock, tmp_path: Path) -> AsyncIterator[Server]:
    service = RecordingService(RecordingSettings(user_gb=1), recording_folder(tmp_path))
    app = FastAPI(exception_handlers=exception_handlers())
    app.include_router(router(service))

    async def with_user(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope["state"] = {"user": dict(scope["headers"]).get(b"user", b"local").decode()}
        await app(scope, receive, send)

    async with anyio.create_task_group() as tasks:
        await tasks.start(service.run, RecordingRows(memory, clock))
        transport = httpx.ASGITransport(with_user)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
            yield Server(service, http)
        tasks.cancel_scope.cancel()


async def test_recordings_are_listed(server: Server):
    id = await server.record()
    body = (await server.get()).json()
    [row] = body["recordings"]
    assert (row["id"], row["title"], row["duration"], row["frames"], row["ended"]) == (
        id,
        "Über boats/ships",
        2000,
        2,
        "ended",
    )
    assert (body["allowed"], body["bytes"], body["limit"], body["keep_days"]) == (
        True,
        row["size"],
        2**30,
        30,
    )


async def test_to_anyone_else_there_is_none(server: Server):
    id = await server.record()
    assert (await server.get(user="ben")).json()["recordings"] == []
    for path in ("", "/sound", "/peaks", "/frames/0", "/sound?format=webm"):
        response = await server.get(f"/{id}{path}", user="ben")
        assert (response.status_code, response.json()["error"]["code"]) == (404, "recording_not_found")
    assert (await server.http.delete(f"/api/recordings/{id}", headers={"user": "ben"})).status_code == 404
    assert (await server.get(f"/{id}")).status_code == 200


async def test_the_timeline_is_json_to_look_at_or_to_keep(server: Server):
    id = await server.record()
    response = await server.get(f"/{id}")
    assert [line["text"] for line in response.json()["lines"]] == ["Über boats/ships"]
    assert "no-store" in response.headers["cache-control"]
    assert "content-disposition" not in response.headers
    kept = await server.get(f"/{id}?download=1")
    assert kept.headers["content-disposition"] == (
        "attachment; filename=\"_ber boats_ships.json\"; filename*=UTF-8''%C3%9Cber%20boats_ships.json"
    )


async def test_the_sound_comes_whole_in_parts_and_as_webm(server: Server):
    id = await server.record()
    whole = await server.get(f"/{id}/sound")
    assert (whole.status_code, whole.headers["content-type"]) == (200, "audio/ogg")
    assert whole.content == server.service.archive.local(id).sound.read_bytes()
    part = await server.get(f"/{id}/sound", range="bytes=4-9")
    assert (part.status_code, part.content) == (206, whole.content[4:10])
    webm = await server.get(f"/{id}/sound?format=webm&download=1")
    assert webm.headers["content-type"] == "audio/webm"
    assert webm.content.startswith(b"\x1a\x45\xdf\xa3")
    assert ".webm" in webm.headers["content-disposition"]


async def test_the_sound_of_one_that_runs_is_not_there_yet(server: Server):
    id = await server.record(ends=False)
    response = await server.get(f"/{id}/sound")
    assert (response.status_code, response.json()["error"]["code"]) == (409, "recording_running")
    assert (await server.get(f"/{id}")).json()["ended"] == ""


async def test_a_recording_that_was_cut_off_at_its_beginning_has_no_sound(server: Server):
    id = await server.record()
    sound = server.service.archive.local(id).sound
    sound.write_bytes(sound.read_bytes()[:200])
    for left in (True, False):
        if not left:
            sound.unlink()
        for path in ("/sound", "/sound?format=webm"):
            response = await server.get(f"/{id}{path}")
            assert (response.status_code, response.json()["error"]["code"]) == (404, "nothing_recorded")


async def test_the_waveform_fits_the_screen(server: Server):
    id = await server.record()
    wave = (await server.get(f"/{id}/peaks?bins=10")).json()
    assert wave == {"caller": [128] * 10, "assistant": [0] * 10, "bin_ms": 200.0}
    assert len((await server.get(f"/{id}/peaks")).json()["caller"]) == 40
    assert (await server.get(f"/{id}/peaks?bins=0")).status_code == 400


async def test_pictures_are_served_as_pictures_only(server: Server):
    id = await server.record()
    first, second = [await server.get(f"/{id}/frames/{index}") for index in (0, 1)]
    assert (first.content, first.headers["content-type"]) == (b"first", "image/png")
    assert (second.content, second.headers["content-type"]) == (b"second", "application/octet-stream")
    assert second.headers["x-content-type-options"] == "nosniff"
    assert (await server.get(f"/{id}/frames/2")).status_code == 404


async def test_a_recording_is_deleted(server: Server):
    id = await server.record()
    assert (await server.http.delete(f"/api/recordings/{id}", headers={"user": "anna"})).status_code == 204
    assert (await server.get(f"/{id}")).status_code == 404
    assert (await server.get()).json()["bytes"] == 0


async def test_an_id_is_no_path(server: Server):
    for id in ("..", "%2e%2e", "..%2fr1", "x" * 300):
        assert (await server.get(f"/{id}/sound")).status_code == 404
