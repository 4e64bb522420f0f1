"""A name that leads to a cloud's credentials is refused when the worker connects, before anything is sent."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx
import pytest
from anyio.abc import SocketStream

from duologue.engines.openai_remote import connected_address
from duologue.engines.openai_remote.connected_address import refuse_credentials_address
from duologue.engines.openai_remote.engine import load
from duologue.engines.openai_remote.speech_client import SpeechClient
from duologue.errors import Forbidden
from duologue.values.events import Failed
from duologue.values.messages import user
from duologue.values.requests import ChatRequest

pytestmark = pytest.mark.anyio


class Site:
    """A server on loopback that answers everything with an empty list."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.connections = 0
        self.port = 0

    async def serve(self, stream: SocketStream) -> None:
        self.connections += 1
        async with stream:
            try:
                while True:
                    self.received.append(await stream.receive())
                    await stream.send(
                        b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{"data":[]}'
                    )
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                pass


@asynccontextmanager
async def site() -> AsyncIterator[Site]:
    there = Site()
    async with await anyio.create_tcp_listener(local_host="127.0.0.1", family=socket.AF_INET) as listener:
        there.port = listener.extra(anyio.abc.SocketAttribute.local_port)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, there.serve)
            yield there
            tasks.cancel_scope.cancel()


@pytest.fixture
def loopback_keeps_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loopback is the only network a test can reach, so it stands for 169.254.169.254."""
    monkeypatch.setattr(
        connected_address, "is_metadata", lambda address: address == ipaddress.IPv4Address("127.0.0.1")
    )


async def test_a_name_that_leads_there_is_refused_and_nothing_is_sent(
    loopback_keeps_credentials: None,
) -> None:
    hooks = {"request": [refuse_credentials_address]}
    async with site() as there, httpx.AsyncClient(event_hooks=hooks, trust_env=False) as client:
        with pytest.raises(Forbidden, match=r"localhost leads to 127\.0\.0\.1") as refused:
            await client.get(
                f"http://localhost:{there.port}/v1/models", headers={"authorization": "Bearer key"}
            )
        assert refused.value.code == "private_address"
        assert there.received == []


async def test_an_address_that_is_written_as_one_is_what_was_meant(loopback_keeps_credentials: None) -> None:
    hooks = {"request": [refuse_credentials_address]}
    async with site() as there, httpx.AsyncClient(event_hooks=hooks, trust_env=False) as client:
        assert (await client.get(f"http://127.0.0.1:{there.port}/")).status_code == 200


async def test_other_names_are_reached_over_one_connection() -> None:
    hooks = {"request": [refuse_credentials_address]}
    async with site() as there, httpx.AsyncClient(event_hooks=hooks, trust_env=False) as client:
        for _ in range(2):
            assert (await client.get(f"http://localhost:{there.port}/")).status_code == 200
        assert (there.connections, len(there.received)) == (1, 2)


async def test_a_reply_says_why(loopback_keeps_credentials: None) -> None:
    async with site() as there:
        engine = await load({"url": f"http://localhost:{there.port}", "key": "key", "several": True})
        try:
            request = ChatRequest((user("hello"),), upstream_model="m")
            async with engine.chat(0, request) as events:
                last = [event async for event in events][-1]
        finally:
            await engine.close()
        assert isinstance(last, Failed)
        assert last.code == "private_address"
        assert there.received == []


async def test_a_speech_server_is_asked_no_more_than_that(loopback_keeps_credentials: None) -> None:
    async with site() as there:
        client = SpeechClient(f"http://localhost:{there.port}", "key", "voice.speaker")
        try:
            with pytest.raises(Forbidden):
                await client.post_form(
                    "/audio/transcriptions", {"model": "m"}, ("a.wav", b"RIFF", "audio/wav")
                )
        finally:
            await client.close()
        assert there.received == []
