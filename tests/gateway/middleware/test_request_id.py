"""The id of a request: in the answer, the log, the metrics and the refusals."""

import re
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.typing import Origin

from duologue import telemetry
from duologue.gateway.middleware.request_id import RequestId


@pytest.mark.anyio
async def test_a_socket_of_our_own_page_opens_and_has_an_id(port):
    url = f"ws://127.0.0.1:{port}/ws"
    headers = {"X-Request-Id": "mine-1"}
    async with connect(
        url, origin=Origin(f"http://127.0.0.1:{port}"), additional_headers=headers, proxy=None
    ) as ws:
        assert await ws.recv() == "mine-1"
        assert ws.response.headers["x-request-id"] == "mine-1"


@pytest.mark.anyio
async def test_an_id_of_the_client_is_kept_where_it_is_harmless(port):
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
        answer = await http.get("/hello/you", headers={"X-Request-Id": "a.b_c-1"})
        assert answer.headers["x-request-id"] == "a.b_c-1"
        assert answer.json() == {"id": "a.b_c-1"}
        for forged in ("two words", "x" * 129, "a;b", '"', "é"):
            given = {b"X-Request-Id": forged.encode("latin-1")}
            answer = await http.get("/hello/you", headers=given)
            assert re.fullmatch("[0-9a-f]{16}", answer.headers["x-request-id"])


@pytest.mark.anyio
async def test_clients_of_anthropic_find_the_id_where_they_look(port):
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
        theirs = await http.get(
            "/v1/models", headers={"anthropic-version": "2023-06-01", "X-Request-Id": "mine-2"}
        )
        others = await http.get("/v1/models")
    assert (theirs.headers["request-id"], theirs.headers["x-request-id"]) == ("mine-2", "mine-2")
    assert "request-id" not in others.headers


@pytest.mark.anyio
async def test_requests_are_counted_by_the_route_never_by_the_path(port):
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
        await http.get("/hello/some-name-nobody-knows")
        await http.get("/no/such/path-nobody-knows")
    figures = telemetry.metrics().render()[0].decode()
    assert 'endpoint="GET /hello/{name}",outcome="200"' in figures
    assert 'endpoint="GET other",outcome="404"' in figures
    assert "nobody-knows" not in figures


@pytest.mark.anyio
async def test_the_id_is_gone_from_the_context_when_the_request_ends():
    async def app(scope, receive, send):
        assert telemetry.request_id.get() != ""
        raise RuntimeError("broken")

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    unused: Any = None
    with pytest.raises(RuntimeError):
        await RequestId(app)(scope, unused, unused)
    assert telemetry.request_id.get() == ""
