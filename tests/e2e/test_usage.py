"""Limits and usage from outside: over each API, and with the published clients."""

from __future__ import annotations

import csv
import io
import json
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from duologue.gateway.usage.service import FLUSH_S

pytestmark = [pytest.mark.system, pytest.mark.anyio]

OWN_KEY = "the-key-of-the-settings"
MESSAGES = [{"role": "user", "content": "Hello"}]


class Limited:
    """A server with the key of an admin, and keys of users with limits."""

    def __init__(self, server: Any) -> None:
        self.server, self.url = server, server.url
        self.admin = httpx.AsyncClient(
            base_url=server.url, headers={"Authorization": f"Bearer {OWN_KEY}"}, timeout=60
        )

    async def key(self, name: str, **limits: Any) -> httpx.AsyncClient:
        made = (await self.admin.post("/api/keys", json={"name": name})).json()
        (await self.admin.patch(f"/api/keys/{made['id']}", json=limits)).raise_for_status()
        headers = {"Authorization": f"Bearer {made['key']}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=60)

    async def used(self, name: str, group: str = "key") -> list[dict[str, Any]]:
        rows = (await self.admin.get("/api/usage", params={"group": f"user,{group}"})).json()["rows"]
        return [row for row in rows if row["name"] == name]


@pytest.fixture(scope="module")
def shared(lasting):
    return lasting("--engine", "scripted", "--slots", "4", DUOLOGUE_KEY=OWN_KEY).ready()


@pytest.fixture
async def limited(shared):
    made = Limited(shared)
    async with made.admin:
        yield made


def chat(http, **fields):
    return http.post("/v1/chat/completions", json={"model": "", "messages": MESSAGES, **fields})


async def test_a_limit_of_requests_holds_over_every_api_and_says_when_to_come_again(limited):
    http = await limited.key("requests", requests_per_minute=1)
    first = await chat(http)
    assert first.status_code == 200
    assert first.headers["x-ratelimit-limit-requests"] == "1"
    assert first.headers["x-ratelimit-remaining-requests"] == "0"
    refusals = {
        "chat": await chat(http),
        "stream": await chat(http, stream=True),
        "text": await http.post("/v1/completions", json={"model": "", "prompt": "Hello"}),
        "responses": await http.post("/v1/responses", json={"model": "", "input": "Hello"}),
        "messages": await http.post(
            "/v1/messages", json={"model": "scripted", "max_tokens": 5, "messages": MESSAGES}
        ),
    }
    for api, answer in refusals.items():
        assert answer.status_code == 429, (api, answer.text)
        assert 1 <= int(answer.headers["retry-after"]) <= 61, api
        assert "1 request a minute" in answer.text, api
    assert refusals["chat"].json()["error"]["code"] == "rate_limit_exceeded"
    assert refusals["messages"].json()["error"]["type"] == "rate_limit_error"
    (row,) = await limited.used("requests")
    assert (row["requests"], row["errors"]) == (1, 0)


async def test_requests_at_a_time_are_counted_while_they_run(limited):
    http = await limited.key("concurrent", concurrent=2)
    script = {"role": "user", "content": "/say Wait\n/hang"}
    async with anyio.create_task_group() as tasks:
        running = 0
        for _ in range(2):
            await tasks.start(_streaming, http, script)
            running += 1
        refused = await chat(http)
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "concurrency_limit_exceeded")
        limits = (await http.get("/api/usage/limits")).json()
        assert limits["running"] == running == 2
        tasks.cancel_scope.cancel()
    with anyio.fail_after(30):
        while (await chat(http)).status_code != 200:
            pass


async def _streaming(http, message, *, task_status) -> None:
    body = {"model": "", "messages": [message], "stream": True}
    async with http.stream("POST", "/v1/chat/completions", json=body) as answer:
        told = False
        async for _ in answer.aiter_bytes():
            if not told:
                told = True
                task_status.started()


async def test_several_prompts_are_one_request(limited):
    http = await limited.key("prompts", concurrent=1, requests_per_minute=1)
    answer = await http.post("/v1/completions", json={"model": "", "prompt": ["One", "Two", "Three"]})
    assert [choice["index"] for choice in answer.json()["choices"]] == [0, 1, 2]
    (row,) = await limited.used("prompts")
    assert (row["requests"], row["total_tokens"]) == (1, answer.json()["usage"]["total_tokens"])
    assert (await chat(http)).status_code == 429


async def test_a_days_tokens_end_with_their_own_code(limited):
    http = await limited.key("quota", tokens_per_day=1)
    assert (await chat(http)).status_code == 200
    refused = await chat(http)
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "insufficient_quota")
    assert int(refused.headers["retry-after"]) >= 1


async def test_a_key_sees_only_the_models_it_may_use(limited):
    name = (await limited.admin.get("/v1/models")).json()["data"][0]["id"]
    http = await limited.key("other model", models=["something-else"])
    assert (await http.get("/v1/models")).json()["data"] == []
    assert (await http.get("/api/capabilities")).json()["models"] == []
    for model in (name, ""):
        refused = await chat(http, model=model)
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "model_not_found")
    may = await limited.key("this model", models=[f"{name[:3]}*"])
    assert [entry["id"] for entry in (await may.get("/v1/models")).json()["data"]] == [name]
    assert (await chat(may, model=name)).status_code == 200


async def test_a_chat_of_the_page_counts_for_the_key_of_the_login(limited):
    made = (await limited.admin.post("/api/keys", json={"name": "page"})).json()
    async with httpx.AsyncClient(base_url=limited.url, timeout=60) as http:
        (await http.post("/api/session", json={"key": made["key"]})).raise_for_status()
        body = {"model": "", "messages": MESSAGES}
        (await http.post("/v1/chat/completions", json=body)).raise_for_status()
        (row,) = (await http.get("/api/usage?group=key")).json()["rows"]
    assert (row["key"], row["prefix"], row["requests"]) == (made["id"], made["prefix"], 1)


async def test_a_line_of_a_batch_counts_for_the_key_that_made_it_and_waits_for_its_limits(limited):
    http = await limited.key("batch", concurrent=1)
    lines = "".join(
        json.dumps(
            {
                "custom_id": f"{number}",
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": {"model": "", "messages": MESSAGES},
            }
        )
        + "\n"
        for number in range(3)
    )
    form = {"purpose": "batch"}
    file = (await http.post("/v1/files", data=form, files={"file": ("in.jsonl", lines)})).json()
    body = {
        "input_file_id": file["id"],
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
    }
    batch = (await http.post("/v1/batches", json=body)).json()
    with anyio.fail_after(60):
        while (state := (await http.get(f"/v1/batches/{batch['id']}")).json())["status"] != "completed":
            assert state["status"] in ("validating", "in_progress", "finalizing"), state
    assert state["request_counts"] == {"total": 3, "completed": 3, "failed": 0}
    (row,) = await limited.used("batch", "key,kind")
    assert (row["kind"], row["requests"]) == ("batch", 3)


async def test_usage_outlives_a_stop_and_a_key(serve):
    server = serve("--engine", "scripted", DUOLOGUE_KEY=OWN_KEY).ready()
    limited = Limited(server)
    async with limited.admin:
        http = await limited.key("leaver")
        answer = (await chat(http)).json()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(30) == 0
    command = [sys.executable, "-m", "duologue", "usage", "--format", "csv", "--data", str(server.data)]
    with anyio.fail_after(60):
        done = await anyio.run_process(command)
    (row,) = csv.DictReader(io.StringIO(done.stdout.decode()))
    assert (row["name"], row["requests"]) == ("leaver", "1")
    assert int(row["total_tokens"]) == answer["usage"]["total_tokens"] > 0


def stored(data: Path) -> tuple[int, int]:
    """The requests and the tokens in the database, as far as they are written."""
    with sqlite3.connect(f"file:{data / 'duologue.db'}?mode=ro", uri=True) as connection:
        sums = "SELECT COALESCE(SUM(requests), 0), COALESCE(SUM(prompt + completion), 0) FROM usage"
        requests, tokens = connection.execute(sums).fetchone()
    return requests, tokens


async def test_a_kill_loses_what_was_not_yet_written_and_counts_nothing_twice(serve):
    server = serve("--engine", "scripted", DUOLOGUE_KEY=OWN_KEY).ready()
    async with Limited(server).admin as http:
        tokens = [(await chat(http)).json()["usage"]["total_tokens"] for _ in range(3)]
        with anyio.fail_after(60):
            while stored(server.data)[0] < 3:  # noqa: ASYNC110 (what is waited for is another process)
                await anyio.sleep(0.05)
        assert stored(server.data) == (3, sum(tokens)), "nobody asked for it: it is written every few seconds"
        tokens += [(await chat(http)).json()["usage"]["total_tokens"] for _ in range(2)]
        server.stop(signal.SIGKILL)
    requests, kept = stored(server.data)
    assert 3 <= requests <= 5, "only what came since the last write may be lost"
    assert kept == sum(tokens[:requests])
    again = serve("--engine", "scripted", "--data", str(server.data), DUOLOGUE_KEY=OWN_KEY).ready()
    limited = Limited(again)
    async with limited.admin as http:
        more = (await chat(http)).json()["usage"]["total_tokens"]
        rows = (await http.get("/api/usage", params={"group": "user"})).json()["rows"]
    assert sum(row["requests"] for row in rows) == requests + 1
    assert sum(row["total_tokens"] for row in rows) == kept + more
    assert FLUSH_S <= 5.0, "the most that docs/running.md says may be lost"
