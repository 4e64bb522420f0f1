"""Everything that was exported comes back as it was: chats with branches, folders in folders, tags, files and choices."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from tests.e2e.conftest import Server

pytestmark = pytest.mark.system

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Chats:
    """A client of one server, with what the page does to make chats."""

    def __init__(self, server: Server) -> None:
        self.client = httpx.Client(base_url=server.url, timeout=60)
        self._number = 0

    def api(self, method: str, path: str, **how: Any) -> Any:
        answer = self.client.request(method, path, **how)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def run(self, chat: str, **command: Any) -> str:
        """Begin a run, with a message's id that no other has."""
        self._number += 1
        run = f"run{self._number}"
        self.api("POST", f"/api/conversations/{chat}/runs", json=command | {"run": run})
        return run

    def end(self, run: str) -> None:
        assert "run_done" in self.client.get(f"/api/runs/{run}/events").text

    def ask(self, chat: str, id: str, text: str, *files: dict[str, Any]) -> None:
        content = [{"type": "text", "text": text}, *files]
        self.end(self.run(chat, verb="send", message={"id": id, "content": content}))

    def everything(self) -> dict[str, Any]:
        """All that is kept of the chats. `sequence` counts the rows of a whole server."""
        rows = [
            row
            for archived in ("false", "true")
            for row in self.api("GET", f"/api/conversations?archived={archived}")["conversations"]
        ]
        messages = {row["id"]: self.api("GET", f"/api/conversations/{row['id']}")["messages"] for row in rows}
        return {
            "folders": self.api("GET", "/api/folders"),
            "tags": self.api("GET", "/api/tags"),
            "chats": rows,
            "messages": {
                id: [{name: value for name, value in row.items() if name != "sequence"} for row in each]
                for id, each in messages.items()
            },
        }

    def export(self) -> bytes:
        return self.client.get("/api/export").content

    def take(self, data: bytes) -> dict[str, Any]:
        report: dict[str, Any] = self.api("POST", "/api/import", content=data)
        return report


@pytest.fixture
def begin(serve: Callable[..., Server]) -> Iterator[Callable[[], Chats]]:
    """Further servers, each with nothing in it."""
    begun: list[Chats] = []

    def start() -> Chats:
        begun.append(Chats(serve("--engine", "scripted").ready()))
        return begun[-1]

    yield start
    for chats in begun:
        chats.client.close()


@pytest.fixture
def chats(begin: Callable[[], Chats]) -> Chats:
    """A server with a chat in a folder in a folder, with branches, a file and choices; and one that is archived."""
    chats = begin()
    chats.api("PUT", "/api/folders/home", json={"name": "Home"})
    chats.api("PUT", "/api/folders/trips", json={"name": "Trips", "parent": "home"})
    one = chats.api("POST", "/api/conversations", json={})["id"]
    blob = chats.api(
        "POST",
        "/api/blobs",
        params={"name": "map.png"},
        content=PICTURE,
        headers={"content-type": "image/png"},
    )
    chats.ask(one, "q1", "/say first")
    note = chats.api(
        "POST",
        "/api/blobs",
        params={"name": "notes.txt"},
        content=b"Go south.",
        headers={"content-type": "text/plain"},
    )
    chats.ask(
        one,
        "q2",
        "/say second",
        {"type": "file", "blob": note["hash"], "name": "notes.txt"},
    )
    edited = {"id": "q3", "content": [{"type": "text", "text": "/say other"}]}
    chats.end(chats.run(one, verb="edit", message="q2", new=edited))
    chosen = {
        "title": "A trip",
        "folder": "trips",
        "tags": ["south", "2026"],
        "pinned": True,
        "options": {"thinking": False, "sampling": {"temperature": 0.25}},
    }
    chats.api("PATCH", f"/api/conversations/{one}", json=chosen)
    old = chats.api("POST", "/api/conversations", json={})["id"]
    chats.ask(old, "o1", "/say old")
    chats.api("PATCH", f"/api/conversations/{old}", json={"archived": True})
    assert blob["hash"]
    return chats


def test_another_server_has_the_same_afterwards_and_exports_the_same(
    chats: Chats, begin: Callable[[], Chats]
) -> None:
    data = chats.export()
    other = begin()
    report = other.take(data)
    assert (report["imported"], report["skipped"], report["problems"]) == (2, 0, [])
    assert other.everything() == chats.everything()
    assert contents(other.export()) == contents(data)


def test_imported_twice_there_is_still_one_of_each(chats: Chats, begin: Callable[[], Chats]) -> None:
    data = chats.export()
    other = begin()
    other.take(data)
    once = other.everything()
    report = other.take(data)
    assert (report["imported"], report["skipped"], report["problems"]) == (0, 2, [])
    assert other.everything() == once


def test_what_was_deleted_comes_back_with_the_export(chats: Chats) -> None:
    before, data = chats.everything(), chats.export()
    for row in before["chats"]:
        chats.api("DELETE", f"/api/conversations/{row['id']}")
    for folder in ("trips", "home"):
        chats.api("DELETE", f"/api/folders/{folder}")
    assert chats.everything()["chats"] == []
    assert chats.take(data)["imported"] == 2
    after = chats.everything()
    assert after["messages"] == before["messages"]
    assert [folder["name"] for folder in after["folders"]["folders"]] == ["Home", "Trips"]
    assert {row["title"]: row["folder"] for row in after["chats"] if row.get("folder")} == {"A trip": "trips"}


def test_while_a_reply_streams_an_import_disturbs_nothing(chats: Chats, begin: Callable[[], Chats]) -> None:
    data = chats.export()
    other = begin()
    live = other.api("POST", "/api/conversations", json={})["id"]
    content = [{"type": "text", "text": "/say begun\n/hang"}]
    run = other.run(live, verb="send", message={"id": "live", "content": content})
    assert other.take(data)["imported"] == 2
    assert other.take(other.export())["skipped"] == 3
    assert other.api("GET", f"/api/runs/{run}").get("outcome") is None
    other.api("POST", f"/api/runs/{run}/stop")
    last = other.api("GET", f"/api/conversations/{live}")["messages"][-1]
    assert (last["status"], last["content"][0]["text"]) == ("stopped", "begun")


def contents(archive: bytes) -> dict[str, Any]:
    """The files of an export, in which rows are numbered by the server."""

    def line(text: str) -> Any:
        value = json.loads(text)
        value.get("message", {}).pop("sequence", None)
        return value

    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {
            name: [line(text) for text in opened.read(name).decode().splitlines()]
            if name.endswith(".jsonl")
            else opened.read(name)
            for name in opened.namelist()
        }
