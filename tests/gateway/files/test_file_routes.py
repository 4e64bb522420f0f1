"""`/v1/files` over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from tests.support.store_fixtures import Clock, clock, memory
from tests.support.stored_files import clients
from tests.support.user_files import file_folder

from duologue.config.sections.batches import FileSettings
from duologue.gateway.files import file_routes
from duologue.gateway.files.stored_files import StoredFiles
from duologue.store.batches.file_rows import FileRows
from duologue.store.database import Database

__all__ = ["clock", "memory"]
pytestmark = pytest.mark.anyio


@pytest.fixture
async def http(
    memory: Database, clock: Clock, tmp_path: Path, anyio_backend: Any
) -> AsyncIterator[httpx.AsyncClient]:
    files = StoredFiles(FileSettings(), file_folder(tmp_path), limit_mb=1, now=clock)
    async with anyio.create_task_group() as tasks, clients(file_routes.router(files)) as client:
        await tasks.start(files.run, FileRows(memory, clock))
        yield client
        tasks.cancel_scope.cancel()


async def store(http: httpx.AsyncClient, data: bytes = b"{}\n", name: str = "a.jsonl", **fields: str) -> Any:
    fields = {"purpose": "batch"} | fields
    answer = await http.post("/files", data=fields, files={"file": (name, data)})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_file_comes_and_goes(http):
    file = await store(http, b"some words", "notes ä.txt", purpose="user_data")
    assert (file["object"], file["bytes"], file["filename"]) == ("file", 10, "notes ä.txt")
    assert file["id"].startswith("file-")
    assert (await http.get(f"/files/{file['id']}")).json() == file
    content = await http.get(f"/files/{file['id']}/content")
    assert content.content == b"some words"
    assert content.headers["content-type"] == "application/octet-stream"
    assert content.headers["content-disposition"].startswith("attachment; ")
    assert content.headers["x-content-type-options"] == "nosniff"
    gone = {"id": file["id"], "object": "file", "deleted": True}
    assert (await http.delete(f"/files/{file['id']}")).json() == gone
    missing = await http.get(f"/files/{file['id']}/content")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "file_not_found")


async def test_a_file_that_vanishes_before_it_is_read_is_not_found(http, tmp_path):
    file = await store(http)
    (tmp_path / "files" / file["id"]).unlink()
    missing = await http.get(f"/files/{file['id']}/content")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "file_not_found")
    empty = await store(http, b"")
    (tmp_path / "files" / empty["id"]).unlink()
    assert (await http.get(f"/files/{empty['id']}/content")).status_code == 404


async def test_a_file_that_is_deleted_while_it_is_sent_arrives_whole(http, tmp_path, monkeypatch):
    monkeypatch.setattr("duologue.gateway.files.stored_files.PIECE", 1000)
    file = await store(http, b"word " * 1000)
    path = tmp_path / "files" / file["id"]
    # The client of these tests reads an answer when it is complete, so the application itself is asked.
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)
        path.unlink(missing_ok=True)

    async def receive() -> Any:
        await anyio.sleep_forever()

    scope = {
        "type": "http", "method": "GET", "path": f"/v1/files/{file['id']}/content", "query_string": b"",
        "headers": [(b"user", b"ada")], "root_path": "",
    }  # fmt: skip
    await http._transport.app(scope, receive, send)
    assert sent[0]["status"] == 200
    assert b"".join(message.get("body", b"") for message in sent) == b"word " * 1000


async def test_to_others_it_does_not_exist(http):
    file = await store(http)
    for method, path in (("GET", ""), ("GET", "/content"), ("DELETE", "")):
        answer = await http.request(method, f"/files/{file['id']}{path}", headers={"user": "ben"})
        assert answer.status_code == 404
    assert (await http.get("/files", headers={"user": "ben"})).json()["data"] == []


async def test_the_purpose_may_stand_behind_the_file(http):
    body = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nwords\r\n'
        b'--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nvision\r\n--b--\r\n'
    )
    answer = await http.post(
        "/files", content=body, headers={"content-type": "multipart/form-data; boundary=b"}
    )
    assert answer.json()["purpose"] == "vision"


@pytest.mark.parametrize(
    ("request_", "code", "param"),
    [
        ({"data": {"purpose": "fine-tune"}, "files": {"file": b"a"}}, "unsupported", "purpose"),
        ({"data": {}, "files": {"file": b"a"}}, "invalid_request", "purpose"),
        ({"json": {"purpose": "batch"}}, "invalid_request", None),
        ({"data": {"purpose": "batch"}, "files": {"other": (None, "a")}}, "invalid_request", None),
        ({"data": {"purpose": "batch"}, "files": {"file": bytes(2**20 + 1)}}, "too_large", None),
    ],
)
async def test_what_cannot_be_stored_is_refused(http, request_, code, param):
    error = (await http.post("/files", **request_)).json()["error"]
    assert (error["code"], error["param"]) == (code, param)
    assert (await http.get("/files")).json()["data"] == []


async def test_a_file_may_have_an_end(http, clock):
    file = await store(
        http, b"{}", "a.jsonl", **{"expires_after[anchor]": "created_at", "expires_after[seconds]": "3600"}
    )
    assert file["expires_at"] == file["created_at"] + 3600
    clock.forward(3_600_000)
    assert (await http.get(f"/files/{file['id']}")).status_code == 404


async def test_files_are_listed_page_by_page(http, clock):
    ids = []
    for number in range(3):
        ids.append((await store(http, name=f"{number}", purpose="vision" if number == 1 else "batch"))["id"])
        clock.forward(1)
    page = (await http.get("/files", params={"limit": 2})).json()
    assert [file["id"] for file in page["data"]] == [ids[2], ids[1]]
    assert (page["has_more"], page["last_id"]) == (True, ids[1])
    rest = (await http.get("/files", params={"after": page["last_id"]})).json()
    assert ([file["id"] for file in rest["data"]], rest["has_more"]) == ([ids[0]], False)
    upward = (await http.get("/files", params={"order": "asc", "purpose": "batch"})).json()
    assert [file["id"] for file in upward["data"]] == [ids[0], ids[2]]
    for wrong in ({"limit": "0"}, {"order": "up"}, {"purpose": "fun"}):
        assert (await http.get("/files", params=wrong)).status_code == 400
    assert (await http.get("/files", params={"after": "file-x"})).status_code == 404
