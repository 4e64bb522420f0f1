"""A picture of a reply, fetched from the web: what is handed on, and what is not."""

import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import anyio.to_thread
import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from httpx2 import Response
from PIL import Image
from tests.tools.test_pinned_transport import pointing, site

from duologue.gateway import web_pictures
from duologue.gateway.auth.keys import Keys
from duologue.gateway.auth.middleware import Authentication, cookie_name
from duologue.gateway.auth.sessions import LoginSessions
from duologue.http.error_responses import exception_handlers
from duologue.store.database import Database
from duologue.store.users import Users
from duologue.tools.ssrf_guard import AddressGuard, AllowList

HERE = AddressGuard(AllowList(("127.0.0.1",)))
COOKIE, NOW = cookie_name(8006), 5_000_000
SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><script>alert(1)</script>'
    b'<image href="file:///etc/passwd"/><rect width="40" height="20" fill="#0a0"/></svg>'
)


def png(width: int, height: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(buffer, "PNG")
    return buffer.getvalue()


def promising_png(width: int, height: int) -> bytes:
    """A PNG that only announces so many pixels."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in ((b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 1000)), (b"IEND", b""))
    )
    return b"\x89PNG\r\n\x1a\n" + chunks


@contextmanager
def shown(body: bytes, kind: str = "image/png", guard: AddressGuard = HERE) -> Iterator[Response]:
    """What `/api/pictures` answers about a web server that sends this."""
    with site({"/a.png": (200, {"content-type": kind}, body)}) as (port, _):
        yield ask({"url": f"http://127.0.0.1:{port}/a.png"}, guard)


def ask(body: Any, guard: AddressGuard = HERE) -> Response:
    app = FastAPI(exception_handlers=exception_handlers())
    app.include_router(web_pictures.router(guard))
    return TestClient(app).post("/api/pictures", json=body)


class Door:
    """`/api/pictures` behind the check of keys and sessions, with the user it was asked for."""

    def __init__(self, keys: Keys, guard: AddressGuard = HERE) -> None:
        self.users: list[str] = []
        app = FastAPI(exception_handlers=exception_handlers())
        app.include_router(web_pictures.router(guard))

        @app.middleware("http")
        async def note(request: Request, next: Any) -> Any:
            self.users.append(request.state.user)
            return await next(request)

        self.sessions = LoginSessions(keys)
        guarded = Authentication(app, keys, self.sessions, cookie=COOKIE, now=lambda: NOW)
        self.client = TestClient(guarded)

    def ask(self, url: str, **headers: str) -> Response:
        return self.client.post("/api/pictures", json={"url": url}, headers=headers)


def code(answer: Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_picture_is_drawn_anew_and_not_kept():
    with shown(png(40, 20) + b"<script>alert(1)</script>") as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "image/webp"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert b"script" not in answer.content
        assert Image.open(io.BytesIO(answer.content)).size == (40, 20)


def test_a_large_picture_is_made_smaller():
    with shown(png(3200, 100)) as answer:
        assert Image.open(io.BytesIO(answer.content)).size == (1600, 50)


def test_a_drawing_becomes_pixels_without_its_script():
    with shown(SVG, "image/svg+xml") as answer:
        assert answer.headers["content-type"] == "image/webp"
        assert b"script" not in answer.content
        grey = Image.open(io.BytesIO(answer.content)).convert("L").tobytes()
        assert 80 < min(grey) <= max(grey) < 120, "the rectangle alone, in its green"


@pytest.mark.parametrize("body", [b"<!doctype html><script>alert(1)</script>", b"", b"\x89PNG\r\n\x1a\nno"])
def test_what_is_no_picture_is_refused_whatever_it_is_called(body: bytes):
    with shown(body) as answer:
        assert code(answer) == (400, "image_unreadable")


def test_more_pixels_than_anyone_needs_are_refused_before_they_are_drawn():
    with shown(promising_png(60_000, 60_000)) as answer:
        assert code(answer) == (413, "image_too_large")


def test_more_bytes_than_a_picture_has_are_not_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(web_pictures, "BYTES", 1_000_000)
    with shown(b"x" * 1_100_000) as answer:
        assert code(answer) == (413, "image_too_large")


def test_this_machine_s_network_is_not_asked():
    with shown(png(2, 2), guard=AddressGuard(AllowList())) as answer:
        assert code(answer) == (403, "private_address")


def test_a_redirect_to_the_inside_is_refused():
    with site({"/a.png": (302, {"location": "http://inside.example/"}, b"")}) as (port, seen):
        guard = pointing(["127.0.0.1"], ["192.168.0.1"])
        assert code(ask({"url": f"http://page.example:{port}/a.png"}, guard)) == (403, "private_address")
        assert len(seen) == 1


def test_a_missing_picture_says_what_its_server_answered():
    with site({}) as (port, _):
        answer = ask({"url": f"http://127.0.0.1:{port}/gone.png"})
    assert code(answer) == (503, "fetch_failed")
    assert "404" in answer.json()["error"]["message"]


@pytest.mark.parametrize("body", [{}, {"url": 1}, {"url": ""}, {"url": "http://a.example/" + "a" * 2000}])
def test_the_address_has_to_be_one(body: dict[str, Any]):
    assert code(ask(body)) == (400, "invalid_request")


def test_addresses_that_are_not_of_the_web_are_refused():
    assert code(ask({"url": "file:///etc/passwd"})) == (400, "bad_url")


@pytest.mark.anyio
async def test_a_picture_is_fetched_for_a_session_or_a_key_and_for_its_user():
    async with Database.memory() as database:
        users = Users(database, lambda: NOW)
        keys = Keys(None)
        await keys.use(users)
        await users.add_key("ada")
        bob = await users.add_key("bob")
        keys.outdated()
        door = Door(keys)
        with site({"/a.png": (200, {"content-type": "image/png"}, png(4, 2))}) as (port, seen):
            url = f"http://127.0.0.1:{port}/a.png"

            async def ask(**headers: str) -> Response:
                return await anyio.to_thread.run_sync(lambda: door.ask(url, **headers))

            for headers in ({}, {"authorization": "Bearer wrong"}, {"cookie": f"{COOKIE}=wrong"}):
                assert (await ask(**headers)).status_code == 401
            assert (seen, door.users) == ([], [])

            session = await door.sessions.open(bob.account.id, NOW)
            for headers in ({"authorization": f"Bearer {bob.value}"}, {"cookie": f"{COOKIE}={session}"}):
                answer = await ask(**headers)
                assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
            assert door.users == [bob.account.id] * 2
            for _, sent in seen:
                assert not {"authorization", "cookie", "referer"} & {name.lower() for name in sent}
