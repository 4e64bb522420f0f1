"""Two gateways over one PostgreSQL: what they share besides runs."""

from __future__ import annotations

import json
import signal
import uuid
from functools import partial
from typing import Any

import anyio
import httpx
import pytest

pytestmark = [pytest.mark.system, pytest.mark.anyio]

OWN_KEY = "the-key-of-the-settings"
LONG = "/pace 50\n/repeat 4000 again"
MESSAGES = [{"role": "user", "content": "Hello"}]


class Pair:
    """Two gateways of one database, and clients of both with a key of a user."""

    def __init__(self, servers: list[Any]) -> None:
        self.servers = servers
        self.urls = [server.url for server in servers]

    def client(self, number: int, key: str = OWN_KEY) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url=self.urls[number], headers={"Authorization": f"Bearer {key}"}, timeout=60
        )

    async def is_known_to_both(self) -> bool:
        for number in range(2):
            async with self.client(number) as client:
                if len((await client.get("/api/gateways")).json()["gateways"]) < 2:
                    return False
        return True

    async def clients(self, name: str, **limits: Any) -> list[httpx.AsyncClient]:
        """Clients of both gateways with one new key."""
        async with self.client(0) as admin:
            made = (await admin.post("/api/keys", json={"name": name})).json()
            (await admin.patch(f"/api/keys/{made['id']}", json=limits)).raise_for_status()
        clients = [self.client(number, made["key"]) for number in range(len(self.urls))]
        for client in clients:
            await until_async(lambda client=client: has_limits(client, limits))
        return clients


async def has_limits(client: httpx.AsyncClient, limits: dict[str, Any]) -> bool:
    """Whether a gateway knows the key, with its limits: it may hear of them later than of the key."""
    answer = await client.get("/api/usage/limits")
    return answer.status_code == 200 and limits.items() <= answer.json()["limits"].items()


async def until_async(true, seconds: float = 60.0) -> None:
    with anyio.fail_after(seconds):
        while not await true():  # noqa: ASYNC110
            await anyio.sleep(0.02)


@pytest.fixture(scope="module")
def start(start_gateway, tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("files"))
    return partial(start_gateway, "--slots", "4", DUOLOGUE_KEY=OWN_KEY, DUOLOGUE_STORAGE__FOLDER=folder)


@pytest.fixture(scope="module")
def pair(start) -> Pair:
    pair = Pair([start().ready(), start().ready()])
    # Until then each has the limits alone.
    anyio.run(until_async, pair.is_known_to_both)
    return pair


def chat(http: httpx.AsyncClient, **fields: Any):
    return http.post("/v1/chat/completions", json={"model": "", "messages": MESSAGES, **fields})


async def statuses(clients: list[httpx.AsyncClient], number: int) -> list[int]:
    """What so many requests at each gateway at once are answered."""
    found: list[int] = []

    async def ask(client: httpx.AsyncClient) -> None:
        found.append((await chat(client)).status_code)

    async with anyio.create_task_group() as tasks:
        for _ in range(number):
            for client in clients:
                tasks.start_soon(ask, client)
    return found


async def test_requests_of_a_minute_are_counted_over_both_gateways(pair: Pair):
    clients = await pair.clients("minute", requests_per_minute=10)
    found = await statuses(clients, 10)
    assert sorted(found) == [200] * 10 + [429] * 10
    refused = await chat(clients[0])
    assert refused.status_code == 429
    assert 0 < float(refused.headers["retry-after"]) <= 61
    assert refused.headers["x-ratelimit-remaining-requests"] == "0"
    left = [(await client.get("/api/usage/limits")).json()["left"] for client in clients]
    assert [one["requests_per_minute"]["left"] for one in left] == [0, 0]


async def test_a_key_that_is_used_at_one_gateway_has_all_of_its_limit_there(pair: Pair):
    clients = await pair.clients("alone", requests_per_minute=12)
    found = [(await chat(clients[1])).status_code for _ in range(14)]
    assert found == [200] * 12 + [429] * 2


async def test_usage_of_both_gateways_is_seen_at_each(pair: Pair):
    clients = await pair.clients("counted")
    for client in clients:
        assert (await chat(client)).status_code == 200

    async def both() -> bool:
        rows = (await clients[0].get("/api/usage", params={"group": "user"})).json()["rows"]
        return sum(row["requests"] for row in rows) == 2

    await until_async(both)


async def test_places_of_a_key_are_counted_over_both_gateways_and_come_back(pair: Pair):
    clients = await pair.clients("places", concurrent=2)
    long = {"messages": [{"role": "user", "content": LONG}], "stream": True}
    async with anyio.create_task_group() as tasks:

        async def hold(client: httpx.AsyncClient, *, task_status: Any) -> None:
            async with client.stream("POST", "/v1/chat/completions", json={"model": "", **long}) as answer:
                assert answer.status_code == 200
                task_status.started()
                async for _ in answer.aiter_lines():
                    pass

        for client in clients:
            await tasks.start(hold, client)
        for client in clients:
            refused = await chat(client)
            assert (refused.status_code, refused.json()["error"]["code"]) == (
                429,
                "concurrency_limit_exceeded",
            )
        tasks.cancel_scope.cancel()

    async def free() -> bool:
        return (await chat(clients[0])).status_code == 200

    await until_async(free)


async def test_a_temporary_chat_is_answered_at_any_gateway_and_never_in_the_database(pair: Pair):
    one, two = await pair.clients("temporary")
    made = (await one.post("/api/conversations", json={"temporary": True})).json()
    address = f"/api/conversations/{made['id']}"
    assert (await two.get(address)).status_code == 200
    run = uuid.uuid4().hex
    message = {"id": uuid.uuid4().hex, "content": [{"type": "text", "text": "A secret word"}]}
    begun = await two.post(f"{address}/runs", json={"verb": "send", "run": run, "message": message})
    assert begun.status_code < 300, begun.text

    async def is_over() -> bool:
        return (await two.get(address)).json()["run"] is None

    await until_async(is_over)
    assert (await two.get(f"/api/runs/{run}")).status_code == 200
    messages = (await two.get(address)).json()["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]
    strangers = await pair.clients("stranger")
    assert [(await client.get(address)).status_code for client in strangers] == [404, 404]
    assert (await two.delete(address)).status_code < 300
    assert (await one.get(address)).status_code == 404


async def test_a_file_for_a_temporary_chat_may_come_to_any_gateway(pair: Pair):
    one, two = await pair.clients("temporary-files")
    made = (await one.post("/api/conversations", json={"temporary": True})).json()
    file = (await two.post("/api/blobs?name=notes.txt&temporary=true", content=b"The word is heron")).json()
    run, part = uuid.uuid4().hex, {"type": "file", "blob": file["hash"], "name": "notes.txt"}
    message = {"id": uuid.uuid4().hex, "content": [part]}
    begun = await two.post(
        f"/api/conversations/{made['id']}/runs", json={"verb": "send", "run": run, "message": message}
    )
    assert begun.status_code < 300, begun.text
    for client in (one, two):
        read = await client.get(f"/api/blobs/{file['hash']}")
        assert (read.text, read.headers["content-type"]) == ("The word is heron", "text/plain; charset=utf-8")
    picture = (await one.post("/api/blobs?name=other.txt&temporary=true", content=b"Another one")).json()
    assert (await two.get(f"/api/blobs/{picture['hash']}/inspection")).json()["code"] == ""
    strangers = await pair.clients("stranger-to-files")
    assert [(await client.get(f"/api/blobs/{file['hash']}")).status_code for client in strangers] == [
        404,
        404,
    ]
    assert (await two.get(f"/api/blobs/{'0' * 64}")).status_code == 404


async def test_an_upload_in_pieces_goes_on_at_another_gateway(pair: Pair):
    one, two = await pair.clients("upload")
    begun = (await one.post("/api/uploads", json={"name": "a.txt", "mime": "text/plain", "size": 10})).json()
    address = f"/api/uploads/{begun['id']}"
    first = await two.patch(address, content=b"12345", headers={"upload-offset": "0"})
    assert first.status_code == 204
    last = await one.patch(address, content=b"67890", headers={"upload-offset": "5"})
    assert last.status_code == 201


async def test_a_response_in_the_background_is_read_and_cancelled_at_another_gateway(pair: Pair):
    one, two = await pair.clients("background")
    asked = {"input": LONG, "background": True, "model": ""}
    begun = (await one.post("/v1/responses", json=asked)).json()
    read = (await two.get(f"/v1/responses/{begun['id']}")).json()
    assert read["status"] in ("queued", "in_progress")
    cancelled = await two.post(f"/v1/responses/{begun['id']}/cancel")
    assert cancelled.json()["status"] == "cancelled"


async def test_a_login_at_one_gateway_holds_at_the_other_at_once(pair: Pair):
    async with pair.client(0) as admin:
        key = (await admin.post("/api/keys", json={"name": "browser"})).json()["key"]
    async with httpx.AsyncClient(base_url=pair.urls[1], timeout=60) as browser:
        assert (await browser.post("/api/session", json={"key": key})).status_code == 200
        cookies = dict(browser.cookies)
    async with httpx.AsyncClient(base_url=pair.urls[0], timeout=60, cookies=cookies) as browser:
        answer = await browser.get("/api/session")
    assert answer.json()["name"] == "browser"


async def test_a_batch_goes_on_at_another_gateway_when_the_first_is_killed_with_one_result_for_each_line(
    pair: Pair,
):
    one, two = await pair.clients("batches")
    lines: list[dict[str, Any]] = [
        {
            "custom_id": f"r{number}",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {"messages": said},
        }
        for number in range(12)
        for said in ([{"role": "user", "content": "/pace 100\n/repeat 5 again"}],)
    ]
    data = "\n".join(map(json.dumps, lines)).encode()
    sent = await two.post("/v1/files", files={"file": ("in.jsonl", data)}, data={"purpose": "batch"})
    file = sent.json()["id"]
    asked = {"input_file_id": file, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    batch = (await two.post("/v1/batches", json=asked)).json()["id"]

    async def some_done() -> bool:
        return (await two.get(f"/v1/batches/{batch}")).json()["request_counts"]["completed"] >= 2

    await until_async(some_done)
    pair.servers[1].stop(signal.SIGKILL)

    async def is_complete() -> bool:
        return (await one.get(f"/v1/batches/{batch}")).json()["status"] == "completed"

    await until_async(is_complete, 180)
    done = (await one.get(f"/v1/batches/{batch}")).json()
    output = (await one.get(f"/v1/files/{done['output_file_id']}/content")).text.splitlines()
    assert sorted(json.loads(line)["custom_id"] for line in output) == sorted(
        line["custom_id"] for line in lines
    )
