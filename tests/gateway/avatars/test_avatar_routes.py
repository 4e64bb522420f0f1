"""`/api/avatars` over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from tests.support.store_fixtures import clock, memory
from tests.support.vrm_file import PORTRAIT_LANDMARKS, glb, portrait, vrm_document, vrm_file

from duologue.faces.look import Look, Shape
from duologue.gateway.avatars.avatar_routes import router
from duologue.gateway.avatars.library import STATEMENT, AvatarLibrary
from duologue.http.error_responses import exception_handlers
from duologue.store.stores import Store

__all__ = ["clock", "memory"]

pytestmark = pytest.mark.anyio

PLACE = "/api/avatars"
LOOK = Look(
    "ada",
    "Ada",
    {"light": {"skin": "#ffccaa"}, "dark": {}},
    (Shape("head", ("M",), (1.0, 2.0), fill="skin"),),
)


class Desk:
    """The routes, for anna unless the test says otherwise."""

    def __init__(self, library: AvatarLibrary) -> None:
        self.user, self.role = "anna", "user"
        self.rendered: tuple[str, ...] = ()
        self.app = FastAPI(exception_handlers=exception_handlers())
        self.app.include_router(router(library, lambda: self.rendered))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        scope["state"] = {"role": self.role, "user": self.user}
        await self.app(scope, receive, send)


@pytest.fixture
def desk(memory, clock) -> Desk:
    library = AvatarLibrary(5, {"ada": LOOK})
    library.use(Store(memory, clock).avatars)
    return Desk(library)


@pytest.fixture
async def http(desk: Desk) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(desk)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
        yield client


async def bring(http: httpx.AsyncClient, data: bytes, **fields: str) -> httpx.Response:
    return await http.post(PLACE, data=fields, files={"file": ("face", data)})


async def test_a_picture_is_brought_marked_listed_and_deleted(http: httpx.AsyncClient) -> None:
    sent = await bring(http, portrait(200), name="Me", consent="true")
    assert sent.status_code == 201
    row = sent.json()
    assert (row["name"], row["kind"], row["own"], row["shared"], row["ready"]) == (
        "Me",
        "picture",
        True,
        False,
        False,
    )
    assert (row["width"], row["height"], row["landmarks"]) == (200, 200, None)
    assert row["consent"]["statement"] == STATEMENT
    place = f"{PLACE}/{row['id']}"
    marked = await http.put(place, json={"landmarks": PORTRAIT_LANDMARKS, "name": "I"})
    assert (marked.json()["ready"], marked.json()["name"]) == (True, "I")
    assert (await http.get(place)).json()["landmarks"] == PORTRAIT_LANDMARKS
    listed = (await http.get(PLACE)).json()
    assert [each["id"] for each in listed["avatars"]] == ["ada", row["id"]]
    assert (await http.delete(place)).json() == {"id": row["id"], "deleted": True}
    assert (await http.get(place)).json()["error"]["code"] == "avatar_not_found"


async def test_a_file_is_sent_as_what_it_is_and_nothing_else(http: httpx.AsyncClient) -> None:
    data = vrm_file(1)
    id = (await bring(http, data)).json()["id"]
    read = await http.get(f"{PLACE}/{id}/file")
    assert (read.content, read.headers["content-type"]) == (data, "model/gltf-binary")
    assert read.headers["content-disposition"] == f'attachment; filename="{id}.vrm"'
    assert read.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in read.headers["content-security-policy"]
    again = await http.get(f"{PLACE}/{id}/file", headers={"If-None-Match": read.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert (await http.get(f"{PLACE}/{id}/preview")).json()["error"]["code"] == "avatar_without_preview"


async def test_a_preview_is_a_small_picture(http: httpx.AsyncClient) -> None:
    id = (await bring(http, portrait(300), consent="yes")).json()["id"]
    read = await http.get(f"{PLACE}/{id}/preview")
    assert (read.headers["content-type"], read.content[:4]) == ("image/png", b"\x89PNG")


async def test_a_drawn_face_is_given_as_its_shapes(http: httpx.AsyncClient) -> None:
    answer = await http.get(f"{PLACE}/ada/look")
    look = answer.json()
    again = await http.get(f"{PLACE}/ada/look", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert (look["title"], look["shapes"][0]["points"]) == ("Ada", [1.0, 2.0])
    assert (await http.get(f"{PLACE}/ada")).json()["kind"] == "drawn"
    assert (await http.get(f"{PLACE}/eve/look")).json()["error"]["code"] == "avatar_not_found"
    assert (await http.delete(f"{PLACE}/ada")).json()["error"]["code"] == "avatar_not_yours"


async def test_what_is_shared_is_seen_by_others_without_the_owners_consent(
    http: httpx.AsyncClient, desk: Desk
) -> None:
    id = (await bring(http, portrait(200), consent="true")).json()["id"]
    desk.user = "ben"
    assert (await http.get(f"{PLACE}/{id}/file")).status_code == 404
    desk.user, desk.role = "anna", "admin"
    assert (await http.put(f"{PLACE}/{id}", json={"shared": True})).json()["shared"]
    desk.user, desk.role = "ben", "user"
    row = (await http.get(f"{PLACE}/{id}")).json()
    assert not row["own"]
    assert "consent" not in row
    assert (await http.get(f"{PLACE}/{id}/file")).status_code == 200
    assert (await http.put(f"{PLACE}/{id}", json={"name": "X"})).json()["error"]["code"] == "avatar_not_yours"


async def test_what_cannot_be_kept_is_a_sentence(http: httpx.AsyncClient) -> None:
    document, content = vrm_document(1)
    document["images"] = [{"uri": "https://example.com/pixel.png"}]
    for data, consent, expected in (
        (portrait(200), "", "avatar_consent_missing"),
        (portrait(200), "false", "avatar_consent_missing"),
        (glb(document, content), "", "avatar_refers_outside"),
        (b"no face", "true", "image_unreadable"),
    ):
        refused = await bring(http, data, consent=consent)
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, expected)
    assert (await http.post(PLACE, json={"name": "Me"})).status_code == 400
    assert (await http.post(PLACE, files={"other": b"x"})).status_code == 400


async def test_landmarks_outside_the_picture_are_refused(http: httpx.AsyncClient) -> None:
    id = (await bring(http, portrait(200), consent="true")).json()["id"]
    for marks in (PORTRAIT_LANDMARKS | {"chin": [0.5, 7]}, {"chin": [0.5, 0.5]}, {"chin": None}):
        refused = await http.put(f"{PLACE}/{id}", json={"landmarks": marks})
        assert refused.json()["error"]["code"] == "landmarks_invalid"


async def test_the_list_names_the_kinds_that_the_server_renders_in_calls(
    desk: Desk, http: httpx.AsyncClient
) -> None:
    assert (await http.get(PLACE)).json()["rendered"] == []
    desk.rendered = ("drawn", "picture")
    assert (await http.get(PLACE)).json()["rendered"] == ["drawn", "picture"]
