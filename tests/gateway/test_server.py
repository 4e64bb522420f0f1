"""What `serve` checks before it starts. The running server is tested end to end."""

import socket

import httpx
import pytest

from duologue.config import load
from duologue.errors import StartFailed
from duologue.gateway.app import Gateway
from duologue.gateway.server import ollama_listener, public_app, serve
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


def test_the_port_of_ollama_is_opened_only_where_it_is_on(tmp_path):
    off = load(None, {}, {"data": str(tmp_path)})
    with ollama_listener(off, has_key=False, is_restart=False) as listener:
        assert listener is None
    on = load(None, {}, {"data": str(tmp_path), "compat.ollama.enabled": True, "compat.ollama.port": 0})
    with ollama_listener(on, has_key=False, is_restart=False) as listener:
        assert listener is not None
        assert listener.getsockname()[0] == "127.0.0.1"


def test_a_port_of_ollama_that_is_taken_stops_a_start_but_no_restart(tmp_path, caplog):
    with socket.create_server(("127.0.0.1", 0)) as other:
        number = other.getsockname()[1]
        flags = {"data": str(tmp_path), "compat.ollama.enabled": True, "compat.ollama.port": number}
        settings = load(None, {}, flags)
        with (
            pytest.raises(StartFailed, match=r"compat\.ollama\.port"),
            ollama_listener(settings, has_key=False, is_restart=False),
        ):
            pass
        with ollama_listener(settings, has_key=False, is_restart=True) as listener:
            assert listener is None
    assert "Ollama's API is not served" in caplog.text


def test_a_port_of_ollama_that_others_reach_needs_a_key(tmp_path):
    flags = {"data": str(tmp_path), "compat.ollama.enabled": True, "compat.ollama.host": "0.0.0.0"}
    with (
        pytest.raises(StartFailed) as failure,
        ollama_listener(load(None, {}, flags), has_key=False, is_restart=False),
    ):
        pass
    assert failure.value.param == "key"
