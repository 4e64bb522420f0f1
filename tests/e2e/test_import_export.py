"""Conversations into a running server and out again, over its public surface."""

import io
import json
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from tests.support.bombs import zipped

pytestmark = pytest.mark.system

SAMPLES = Path(__file__).parent.parent / "conversations" / "importing" / "samples"


@pytest.fixture
def client(serve):
    with httpx.Client(base_url=serve("--engine", "scripted").ready().url, timeout=30) as client:
        yield client


def taken(client, data: bytes) -> dict:
    answer = client.post("/api/import", content=data)
    assert answer.status_code == 200, answer.text
    return answer.json()


def listed(client) -> dict[str, dict]:
    rows = [
        row
        for archived in ("false", "true")
        for row in client.get(f"/api/conversations?archived={archived}").json()["conversations"]
    ]
    return {row["id"]: row for row in rows}


def test_every_sample_is_imported_and_the_whole_comes_back_on_another_server(client, serve):
    imported = [taken(client, path.read_bytes())["imported"] for path in sorted(SAMPLES.iterdir())]
    assert imported == [1, 1, 1, 2]
    here = listed(client)
    archive = client.get("/api/export").content
    assert zipfile.ZipFile(io.BytesIO(archive)).testzip() is None
    with httpx.Client(base_url=serve("--engine", "scripted").ready().url, timeout=30) as other:
        report = taken(other, archive)
        assert (report["imported"], report["skipped"], report["problems"]) == (5, 0, [])
        assert listed(other) == here
        for id in here:
            there = other.get(f"/api/conversations/{id}").json()["messages"]
            assert [without_place(row) for row in there] == [
                without_place(row) for row in client.get(f"/api/conversations/{id}").json()["messages"]
            ]
        assert taken(other, archive)["skipped"] == 5


def without_place(row: dict) -> dict:
    """A row as it is on every server: `sequence` counts all rows of one."""
    return {name: value for name, value in row.items() if name != "sequence"}


def test_what_was_imported_is_found_shown_and_gone_on_with(client):
    [id] = taken(client, (SAMPLES / "llama_ui.jsonl").read_bytes())["conversations"]
    assert client.get("/api/search?q=rises").json()["hits"][0]["conversation"] == id
    picture = client.get(f"/api/conversations/{id}").json()["messages"][1]["content"][1]
    assert client.get(f"/api/blobs/{picture['blob']}").content.startswith(b"\x89PNG")
    gauge = client.get(f"/api/conversations/{id}/context").json()
    assert gauge["tokens"] > 0
    verb = {
        "verb": "send",
        "run": "r1",
        "message": {"id": "q", "content": [{"type": "text", "text": "/say ebb"}]},
    }
    assert client.post(f"/api/conversations/{id}/runs", json=verb).status_code == 202
    events = [
        json.loads(line[6:])
        for line in client.get("/api/runs/r1/events").text.splitlines()
        if line.startswith("data: ")
    ]
    assert events[-1]["outcome"] == "done"
    assert client.get(f"/api/conversations/{id}").json()["messages"][-1]["content"][0]["text"] == "ebb"


def test_a_branch_is_exported_as_a_text_to_read(client):
    [id] = taken(client, (SAMPLES / "llama_ui.jsonl").read_bytes())["conversations"]
    answer = client.get(f"/api/conversations/{id}/export?format=markdown")
    assert answer.headers["content-type"].startswith("text/markdown")
    assert answer.text.startswith("# Tides\n")
    assert "It rises." in answer.text
    assert "I do not know." not in answer.text


@pytest.mark.parametrize("data", [b"hello", b"PK\x03\x04 cut", b'[{"mapping": '])
def test_what_is_no_import_is_refused_with_a_sentence(client, data):
    answer = client.post("/api/import", content=data)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] in ("import_unknown", "import_unreadable")
    assert "Traceback" not in answer.text


def test_an_archive_that_unpacks_to_anything_keeps_nobody_waiting_and_leaves_nothing(serve):
    server = serve("--engine", "scripted").ready()
    bomb = zipped("conversations.json", b"[", b" " * 2**20, times=30)
    with (
        httpx.Client(base_url=server.url, timeout=120) as client,
        httpx.Client(base_url=server.url, timeout=120) as other,
        ThreadPoolExecutor(1) as threads,
    ):
        reading = threads.submit(client.post, "/api/import", content=bomb)
        while not reading.done():
            assert other.get("/health").status_code == 200
        answer = reading.result()
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "import_unknown")
        assert taken(client, (SAMPLES / "chatgpt.json").read_bytes())["imported"] == 1
    assert list((server.data / "incoming").iterdir()) == []
    assert "Traceback" not in server.output
