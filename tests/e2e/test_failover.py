"""Two gateways, two processes, one PostgreSQL: what becomes of replies when one of them dies or stands still."""

import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import anyio
import httpx
import pytest
from tests.e2e.conftest import Server
from tests.support.store_fixtures import drop_schema, make_schema

pytestmark = [pytest.mark.system, pytest.mark.anyio]
LEASE_S = 3


@pytest.fixture
async def gateways(tmp_path, anyio_backend) -> AsyncIterator[tuple[Server, Server]]:
    name = f"failover_{uuid4().hex}"
    url = await make_schema(name)
    servers = []
    try:
        for each in ("one", "two"):
            folder = tmp_path / each
            folder.mkdir()
            environment = {"DATABASE": url, "CLUSTER__LEASE_S": str(LEASE_S)}
            variables = {f"DUOLOGUE_{key}": value for key, value in environment.items()}
            servers.append(Server(folder, "--engine", "scripted", **variables))
        yield servers[0].ready(), servers[1].ready()
    finally:
        for server in servers:
            server.process.kill()
            server.process.wait(30)
        await drop_schema(name)


@asynccontextmanager
async def client_of(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        yield client


async def begun(client: httpx.AsyncClient, text: str = "/pace 20\n/repeat 4000 word ") -> None:
    made = await client.post("/api/conversations", json={"id": "c"})
    assert made.status_code == 201, made.text
    content = [{"type": "text", "text": text}]
    body = {"verb": "send", "run": "r1", "message": {"id": "m1", "content": content}}
    run = await client.post("/api/conversations/c/runs", json=body)
    assert run.status_code == 202, run.text


async def events(client: httpx.AsyncClient, after: int = 0) -> AsyncIterator[tuple[int, dict]]:
    number = after
    async with client.stream("GET", "/api/runs/r1/events", params={"after": after}) as stream:
        async for line in stream.aiter_lines():
            if line.startswith("id: "):
                number = int(line[4:])
            elif line.startswith("data: "):
                yield number, json.loads(line[6:])


async def first_text(client: httpx.AsyncClient) -> int:
    """The number of an event after some text."""
    with anyio.fail_after(60):
        async for number, event in events(client):
            if event["type"] == "delta":
                return number
    raise AssertionError


async def to_the_end(client: httpx.AsyncClient, after: int = 0) -> list[tuple[int, dict]]:
    with anyio.fail_after(90):
        return [entry async for entry in events(client, after)]


async def stop(client: httpx.AsyncClient) -> str:
    with anyio.fail_after(60):
        return (await client.post("/api/runs/r1/stop")).json()["outcome"]


async def last_row(client: httpx.AsyncClient) -> dict:
    return (await client.get("/api/conversations/c")).json()["messages"][-1]


async def test_a_reply_is_watched_at_one_gateway_and_stopped_from_the_other(gateways):
    one, two = gateways
    async with client_of(one) as at_one, client_of(two) as at_two:
        await begun(at_one)
        after = await first_text(at_two)
        assert await stop(at_two) == "stopped"
        for client in (at_one, at_two):
            seen = await to_the_end(client, after)
            assert [event["type"] for _, event in seen].count("run_done") == 1
            assert seen[-1][1]["outcome"] == "stopped"


async def test_a_killed_gateway_has_its_reply_ended_and_continued_by_the_other(gateways):
    one, two = gateways
    async with client_of(one) as at_one, client_of(two) as at_two:
        await begun(at_one)
        after = await first_text(at_two)
        one.process.kill()
        seen = await to_the_end(at_two, after)
        assert seen[-1][1]["outcome"] == "interrupted"
        row = await last_row(at_two)
        assert row["status"] == "interrupted"
        assert row["content"][0]["text"]
        go_on = {"verb": "continue", "run": "r2", "message": row["id"]}
        assert (await at_two.post("/api/conversations/c/runs", json=go_on)).status_code == 202
        with anyio.fail_after(60):
            stopped = await at_two.post("/api/runs/r2/stop")
        assert stopped.json()["outcome"] in ("stopped", "done")


async def test_a_gateway_that_stood_still_writes_nothing_over_the_end(gateways):
    one, two = gateways
    async with client_of(one) as at_one, client_of(two) as at_two:
        await begun(at_one)
        after = await first_text(at_two)
        os.kill(one.process.pid, signal.SIGSTOP)
        try:
            seen = await to_the_end(at_two, after)
            assert seen[-1][1]["outcome"] == "interrupted"
            before = await last_row(at_two)
        finally:
            os.kill(one.process.pid, signal.SIGCONT)
        # Its own viewers read the same end there once it has noticed.
        resumed = await to_the_end(at_one, seen[-1][0] - 1)
        while not resumed or resumed[-1][1]["type"] != "run_done":
            resumed = await to_the_end(at_one, seen[-1][0] - 1)
        assert resumed[-1] == seen[-1]
        assert await last_row(at_two) == before
