"""Files and batches with OpenAI's own client: on the bundled model, beside people who chat, and across a kill of the server."""

import base64
import io
import json
import os
import signal
from collections.abc import Iterator
from typing import Literal

import httpx
import openai
import pytest
from tests.support.sample_files import pdf

pytestmark = pytest.mark.system

URL: Literal["/v1/chat/completions"] = "/v1/chat/completions"


def lines(*contents: str, **body: object) -> bytes:
    """A batch's input: one request for each of these messages."""
    requests = [
        {
            "custom_id": f"r{number}",
            "method": "POST",
            "url": URL,
            "body": {"messages": [{"role": "user", "content": content}]} | body,
        }
        for number, content in enumerate(contents)
    ]
    return "\n".join(map(json.dumps, requests)).encode()


def client_of(server) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="unused", timeout=60)


def made(client: openai.OpenAI, data: bytes, **more):
    file = client.files.create(file=("in.jsonl", data), purpose="batch")
    return client.batches.create(input_file_id=file.id, endpoint=URL, completion_window="24h", **more)


def ended(server, client: openai.OpenAI, id: str):
    ends = ("completed", "failed", "expired", "cancelled")
    server.until(lambda: client.batches.retrieve(id).status in ends)
    return client.batches.retrieve(id)


def results(client: openai.OpenAI, file: str | None) -> dict[str, dict]:
    assert file is not None
    written = [json.loads(line) for line in client.files.content(file).text.splitlines()]
    assert len({line["custom_id"] for line in written}) == len(written)
    return {line["custom_id"]: line for line in written}


@pytest.fixture
def client(bundled) -> Iterator[openai.OpenAI]:
    with client_of(bundled) as client:
        yield client


def test_files_come_and_go(bundled, client):
    file = client.files.create(
        file=("notes.txt", io.BytesIO(b"some words")),
        purpose="user_data",
        expires_after={"anchor": "created_at", "seconds": 3600},
    )
    assert (file.filename, file.bytes, file.purpose, file.status) == (
        "notes.txt",
        10,
        "user_data",
        "processed",
    )
    assert file.expires_at == file.created_at + 3600
    assert client.files.retrieve(file.id) == file
    assert client.files.content(file.id).read() == b"some words"
    others = [client.files.create(file=(f"{number}", b"x"), purpose="vision") for number in range(3)]
    listed = [entry.id for entry in client.files.list(limit=2, order="asc")]
    assert {file.id, *(other.id for other in others)} <= set(listed), "page after page"
    assert {entry.id for entry in client.files.list(purpose="vision")} == {other.id for other in others}
    for entry in (file, *others):
        assert client.files.delete(entry.id).deleted
    with pytest.raises(openai.NotFoundError) as missing:
        client.files.retrieve(file.id)
    assert missing.value.code == "file_not_found"
    with pytest.raises(openai.BadRequestError) as refused:
        client.files.create(file=("a", b"x"), purpose="fine-tune")
    assert refused.value.param == "purpose"


def test_a_stored_pdf_is_read_by_a_model_of_text(bundled, client):
    file = client.files.create(file=("boats.pdf", pdf("the boat is red")), purpose="user_data")
    inline = httpx.post(
        bundled.url + URL, json=asked({"file_data": base64_of(pdf("the boat is red"))}), timeout=60
    )
    stored = httpx.post(bundled.url + URL, json=asked({"file_id": file.id}), timeout=60)
    tokens = [answer.json()["usage"]["prompt_tokens"] for answer in (inline, stored)]
    assert tokens[0] == tokens[1], "the same prompt, however the file came"
    missing = httpx.post(bundled.url + URL, json=asked({"file_id": "file-x"}), timeout=60)
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "file_not_found")
    client.files.delete(file.id)


def asked(file: dict) -> dict:
    parts = [{"type": "text", "text": "Colour?"}, {"type": "file", "file": file | {"filename": "boats.pdf"}}]
    return {"messages": [{"role": "user", "content": parts}], "max_tokens": 2, "temperature": 0}


def base64_of(data: bytes) -> str:
    return "data:application/pdf;base64," + base64.b64encode(data).decode()


def test_a_batch_is_answered_as_its_requests_would_be(bundled, client):
    questions = [f"What is {number} + 2?" for number in range(5)]
    batch = made(client, lines(*questions, max_tokens=12, temperature=0), metadata={"night": "1"})
    assert (batch.status, batch.metadata) == ("validating", {"night": "1"})
    batch = ended(bundled, client, batch.id)
    assert batch.status == "completed"
    assert batch.request_counts is not None
    assert (batch.request_counts.total, batch.request_counts.completed) == (5, 5)
    assert batch.error_file_id is None
    found = results(client, batch.output_file_id)
    for number, question in enumerate(questions):
        response = found[f"r{number}"]["response"]
        assert response["status_code"] == 200
        direct = client.chat.completions.create(
            model="",
            messages=[{"role": "user", "content": question}],
            max_tokens=12,
            temperature=0,
        )
        assert response["body"]["choices"][0]["message"]["content"] == direct.choices[0].message.content
    tokens = sum(line["response"]["body"]["usage"]["total_tokens"] for line in found.values())
    assert batch.usage is not None
    assert batch.usage.total_tokens == tokens
    assert batch.id in [entry.id for entry in client.batches.list(limit=1)]


def test_a_wrong_request_and_a_wrong_input_are_told(bundled, client):
    data = lines("Hello", max_tokens=2) + b"\n" + lines("a", "b", temperature="hot").splitlines()[1]
    batch = ended(bundled, client, made(client, data).id)
    assert batch.status == "completed"
    error = results(client, batch.error_file_id)["r1"]["response"]
    assert (error["status_code"], error["body"]["error"]["param"]) == (400, "temperature")
    failed = ended(bundled, client, made(client, lines("a") + b"\nnothing\n" + lines("b")).id)
    assert failed.status == "failed"
    assert failed.errors is not None
    assert [(entry.line, entry.code) for entry in failed.errors.data or ()] == [
        (2, "invalid_json_line"),
        (3, "duplicate_custom_id"),
    ]


def test_a_batch_goes_on_after_the_server_was_killed(serve):
    contents = [*(f"word {number}" for number in range(6)), *["/hang"] * 2, *(f"more {n}" for n in range(4))]
    # Two of the three slots that batches may have hang, so that the others go through the third in whatever order.
    first = serve("--engine", "scripted", DUOLOGUE_SLOTS="4").ready()
    with client_of(first) as client:
        batch = made(client, lines(*contents, max_tokens=5))

        def hangs() -> bool:
            counts = client.batches.retrieve(batch.id).request_counts
            return counts is not None and counts.completed == 10 and len(tasks(first)) == 2

        first.until(hangs)
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait(60)
    # Another model answers now, for which `/hang` is a word like any other.
    second = serve("--data", str(first.data)).ready()
    with client_of(second) as client:
        last = ended(second, client, batch.id)
        assert last.status == "completed"
        assert last.request_counts is not None
        assert (last.request_counts.completed, last.request_counts.failed) == (12, 0)
        found = results(client, last.output_file_id)
        assert set(found) == {f"r{number}" for number in range(12)}
        models = {id: line["response"]["body"]["model"] for id, line in found.items()}
        second_model = models["r6"]
        assert {id for id, model in models.items() if model == second_model} == {"r6", "r7"}, (
            "what the first server had answered is not asked again"
        )


def test_whoever_chats_never_waits_for_a_batch(serve):
    server = serve("--engine", "scripted", DUOLOGUE_SLOTS="2").ready()
    with client_of(server) as client:
        batch = made(client, lines(*["/hang"] * 20))
        server.until(lambda: any(task["request_type"] == "batch" for task in tasks(server)))
        for _ in range(3):
            reply = client.chat.completions.create(
                model="", messages=[{"role": "user", "content": "Hello"}], timeout=30
            )
            assert reply.choices[0].message.content
        assert sum(task["request_type"] == "batch" for task in tasks(server)) == 1, "one slot stays free"
        client.batches.cancel(batch.id)
        assert ended(server, client, batch.id).status == "cancelled"
        server.until(lambda: not tasks(server))


def tasks(server) -> list[dict]:
    found: list[dict] = httpx.get(f"{server.url}/status", timeout=60).json()["running_tasks"]
    return found


def test_files_and_batches_are_their_owners_alone(serve):
    server = serve("--engine", "scripted", DUOLOGUE_KEY="a-key-of-some-length").ready()
    asked = {"name": "ben", "role": "user"}
    answer = httpx.post(f"{server.url}/api/keys", json=asked, headers={"x-api-key": "a-key-of-some-length"})
    key = answer.json()["key"]
    with (
        openai.OpenAI(base_url=f"{server.url}/v1", api_key="a-key-of-some-length") as ours,
        openai.OpenAI(base_url=f"{server.url}/v1", api_key=key) as other,
    ):
        batch = ended(server, ours, made(ours, lines("Hello")).id)
        assert batch.output_file_id is not None
        for reach in (
            lambda: other.files.content(batch.output_file_id),
            lambda: other.files.delete(batch.input_file_id),
            lambda: other.batches.retrieve(batch.id),
            lambda: other.batches.cancel(batch.id),
        ):
            with pytest.raises(openai.NotFoundError):
                reach()
        assert not other.files.list().data
        assert not other.batches.list().data
        assert ended(server, other, made(other, lines("Hello")).id).status == "completed"
