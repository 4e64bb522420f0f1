"""A file of a temporary chat that came to another gateway is read there, as the file of the user who asks."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.support.passing_gateways import ONE, THREE, TWO, BreaksOff, Gateway

from duologue.errors import Unavailable
from duologue.gateway.cluster.files_elsewhere import FilesElsewhere, asking, note_request

pytestmark = pytest.mark.anyio
HASH = "a" * 64
PATH = f"/api/blobs/{HASH}"


def request(path: str = "/api/conversations/c/runs", *headers: tuple[bytes, bytes]) -> dict[str, Any]:
    """A message with a file."""
    sent = [
        (b"authorization", b"Bearer mine"),
        (b"content-length", b"99"),
        (b"range", b"bytes=0-1"),
        *headers,
    ]
    fields = {"method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"x=1"}
    return {"type": "http", "headers": sent, "client": ("198.51.100.7", 1), "state": {}, **fields}


async def read(gateway: Gateway) -> bytes | None:
    async with FilesElsewhere(gateway.neighbours)(HASH) as found:
        return None if found is None else b"".join([piece async for piece in found.pieces])


async def test_it_is_asked_of_the_others_in_turn_with_the_users_key_and_the_clients_address():
    one, two, three = Gateway(ONE, has=("/none",)), Gateway(TWO, has=("/none",)), Gateway(THREE, has=(PATH,))
    one.reaches(two, three)
    note_request(request())
    assert await read(one) == b"3 "
    (seen,) = three.seen
    assert (seen.method, seen.url.path, seen.url.query) == ("GET", PATH, "")
    assert seen.headers["authorization"] == "Bearer mine"
    assert "content-length" not in seen.headers
    assert "range" not in seen.headers
    assert seen.client is not None
    assert seen.client.host == "198.51.100.7"


async def test_a_file_that_nobody_has_is_not_found():
    one, two = Gateway(ONE), Gateway(TWO, has=("/none",))
    one.reaches(two)
    note_request(request())
    assert await read(one) is None


async def test_a_gateway_that_is_asked_for_a_file_asks_no_other():
    one, two = Gateway(ONE), Gateway(TWO, has=(PATH,))
    one.reaches(two)
    note_request(request(PATH, (b"x-duologue-hop", b"any")))
    assert await read(one) is None
    assert not two.seen
    note_request(request("/api/conversations/c/runs", (b"x-duologue-hop", b"any")))
    assert await read(one) == b"2 "


async def test_work_that_no_request_began_asks_nobody():
    one, two = Gateway(ONE), Gateway(TWO, has=(PATH,))
    one.reaches(two)
    asking.set(None)
    assert await read(one) is None


async def test_a_gateway_that_dies_while_its_file_is_read_is_said_to_be_unreachable():
    one, two = Gateway(ONE), Gateway(TWO)
    one.reaches(two)
    breaks = httpx.MockTransport(lambda request: httpx.Response(200, stream=BreaksOff()))
    one.neighbours._client = httpx.AsyncClient(transport=breaks)
    note_request(request())
    with pytest.raises(Unavailable, match="cannot be reached"):
        await read(one)
