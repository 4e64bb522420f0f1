"""Request bodies that are too large, by declaration or by surprise."""

import anyio
import httpx
import pytest
from tests.gateway.middleware.served_app import LIMIT


@pytest.mark.anyio
async def test_a_body_too_large_by_its_announcement_is_refused_at_once(port):
    announced = b"POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n"
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        await stream.send(announced)
        answer = b""
        while b"limits.body_mb" not in answer:
            answer += await stream.receive()
    assert answer.startswith(b"HTTP/1.1 413 ")


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/v1/echo", "/parsed"])
async def test_a_body_that_grows_too_large_while_it_streams_is_refused(port, path):
    async def endless():
        for _ in range(50):
            yield b"x" * 100

    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
        headers = {"Content-Type": "application/json"}
        answer = await http.post(path, content=endless(), headers=headers)
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "too_large"


@pytest.mark.anyio
async def test_a_body_of_exactly_the_limit_comes_in(port):
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
        assert (await http.post("/v1/echo", content=b"x" * LIMIT)).json() == {"size": LIMIT}


@pytest.mark.anyio
async def test_a_path_may_have_a_limit_of_its_own(port):
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
        assert (await http.post("/v1/files/echo", content=b"x" * 2 * LIMIT)).json() == {"size": 2 * LIMIT}
        refused = await http.post("/v1/files/echo", content=b"x" * 4 * LIMIT)
    assert refused.status_code == 413
    assert "limits.file_mb" in refused.json()["error"]["message"]


@pytest.mark.anyio
async def test_a_limit_without_a_setting_is_told_in_bytes(port):
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
        refused = await http.post("/v1/tiny/echo", content=b"x" * 11)
    assert refused.status_code == 413
    assert "larger than 10 bytes" in refused.json()["error"]["message"]
