"""What `serve` checks before it starts. The running server is tested end to end."""

import httpx
import pytest

from duologue.config import load
from duologue.errors import StartFailed
from duologue.gateway.app import Gateway
from duologue.gateway.server import public_app, serve
from duologue.wire.worker_protocol import LoadSpec


def test_a_server_that_others_reach_without_a_key_does_not_start(tmp_path):
    settings = load(None, {}, {"data": str(tmp_path), "engine": "scripted", "host": "0.0.0.0"})
    with pytest.raises(StartFailed) as failure:
        serve(settings, announce=lambda line: None)
    assert failure.value.param == "key"


def test_a_server_that_others_reach_with_a_key_that_can_be_guessed_does_not_start(tmp_path):
    flags = {"data": str(tmp_path), "engine": "scripted", "host": "0.0.0.0", "insecure_http": True}
    with pytest.raises(StartFailed, match="at least 20") as failure:
        serve(load(None, {"DUOLOGUE_KEY": "a"}, flags), announce=lambda line: None)
    assert failure.value.param == "key"


@pytest.mark.anyio
async def test_the_public_app_refuses_foreign_hosts(tmp_path):
    settings = load(None, {}, {"data": str(tmp_path), "engine": "scripted"})
    gateway = Gateway(settings, [LoadSpec("w", "scripted", "m")], announce=lambda line: None)
    transport = httpx.ASGITransport(public_app(gateway.app, settings))
    async with httpx.AsyncClient(transport=transport, base_url="http://evil.example") as http:
        assert (await http.get("/health")).status_code == 403
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        assert (await http.get("/health")).status_code == 200
