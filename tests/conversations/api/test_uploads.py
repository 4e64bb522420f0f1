"""Uploads in pieces over HTTP: offsets in headers, and the file at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.conversation_service import Site, opened_site

from duologue.conversations.files.partial_uploads import IDLE_MS, PIECE_BYTES

pytestmark = pytest.mark.anyio

DATA = bytes(range(256)) * 20


async def begin(site: Site, size: int = len(DATA), **fields: Any) -> str:
    answer = await site.ann.post("/api/uploads", json={"size": size} | fields)
    assert answer.status_code == 201, answer.text
    assert answer.json() | {"id": ""} == {
        "id": "",
        "offset": 0,
        "size": size,
        "piece_bytes": PIECE_BYTES,
        "idle_s": IDLE_MS // 1000,
    }
    return f"/api/uploads/{answer.json()['id']}"


async def add(site: Site, address: str, offset: object, data: Any, user: str = "ann") -> httpx.Response:
    return await site.user(user).patch(address, content=data, headers={"Upload-Offset": str(offset)})


def error(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


async def test_a_file_in_pieces_is_the_file(site: Site) -> None:
    address = await begin(site, name="notes.bin", mime="application/octet-stream")
    first = await add(site, address, 0, DATA[:1000])
    assert (first.status_code, first.headers["upload-offset"]) == (204, "1000")
    state = await site.ann.head(address)
    assert (state.headers["upload-offset"], state.headers["upload-length"]) == ("1000", str(len(DATA)))
    last = await add(site, address, 1000, DATA[1000:])
    assert last.status_code == 201
    whole = await site.ann.post("/api/blobs?name=notes.bin", content=DATA)
    assert {**last.json(), "created": 0} == {**whole.json(), "created": 0}
    assert (await site.ann.get(f"/api/blobs/{last.json()['hash']}")).content == DATA
    assert (await add(site, address, len(DATA), b"")).json()["hash"] == last.json()["hash"]


async def test_a_piece_must_begin_where_the_upload_stands(site: Site) -> None:
    address = await begin(site)
    await add(site, address, 0, DATA[:10])
    assert error(await add(site, address, 0, DATA[:10])) == (409, "upload_offset")
    for offset in ("", "-1", "1.5", "x", "9" * 30):
        refused = await add(site, address, offset, DATA)
        assert error(refused) == (400, "invalid_request")
        assert refused.json()["error"]["param"] == "Upload-Offset"
    assert (await site.ann.head(address)).headers["upload-offset"] == "10"


async def test_what_is_too_large_is_refused(site: Site) -> None:
    for body in ({"size": 257 * 2**20}, {"size": 0}, {"size": "x"}, {}):
        answer = await site.ann.post("/api/uploads", json=body)
        assert answer.status_code in (400, 413), body
    address = await begin(site, 2 * PIECE_BYTES)
    assert error(await add(site, address, 0, bytes(PIECE_BYTES + 1))) == (413, "too_large")
    small = await begin(site, 5)
    assert error(await add(site, small, 0, b"123456")) == (413, "too_large")
    assert (await site.ann.head(small)).headers["upload-offset"] == "0"


async def test_what_came_before_the_connection_broke_is_kept(site: Site) -> None:
    """The server gets a part of the body, and then the news that the client is gone."""
    address = await begin(site)
    messages = [
        {"type": "http.request", "body": DATA[:700], "more_body": True},
        {"type": "http.disconnect"},
    ]
    answers: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        answers.append(message)

    scope = {
        "type": "http",
        "method": "PATCH",
        "path": address,
        "raw_path": address.encode(),
        "query_string": b"",
        "headers": [(b"upload-offset", b"0")],
        "state": {"user": "ann"},
    }
    await site.app(scope, receive, send)
    assert answers[0]["status"] == 400
    assert (await site.ann.head(address)).headers["upload-offset"] == "700"
    assert (await add(site, address, 700, DATA[700:])).status_code == 201


async def test_it_is_its_user_s_alone(site: Site) -> None:
    address = await begin(site)
    assert (await site.bob.head(address)).status_code == 404
    assert error(await add(site, address, 0, DATA, "bob")) == (404, "upload_not_found")
    assert error(await site.bob.delete(address)) == (404, "upload_not_found")
    assert (await site.ann.delete(address)).status_code == 204
    assert (await site.ann.head(address)).status_code == 404


async def test_it_goes_on_after_a_restart_and_not_for_ever(tmp_path: Path) -> None:
    async with opened_site(tmp_path) as site:
        address, left = await begin(site), await begin(site)
        await add(site, address, 0, DATA[:1000])
    async with opened_site(tmp_path) as site:
        assert (await site.ann.head(address)).headers["upload-offset"] == "1000"
        assert (await add(site, address, 1000, DATA[1000:])).status_code == 201
        site.clock.at += IDLE_MS + 1000
        assert (await site.ann.head(left)).status_code == 404
        await site.service.retention.round()
        assert list((tmp_path / "uploads").iterdir()) == []
