"""Import and export over HTTP: what goes out comes in again."""

import io
import os
import zipfile
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from tests.support.conversation_service import Site, opened_site

pytestmark = pytest.mark.anyio


def error(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


async def filled(site: Site) -> None:
    await site.conversation(title="Brot & Käse", system="Be kind.")
    kept = (await site.ann.post("/api/blobs?name=note.txt", content=b"the boat is red")).json()["hash"]
    content = [{"type": "text", "text": "what colour?"}, {"type": "file", "blob": kept}]
    body = {"verb": "send", "run": "r1", "message": {"id": "m1", "content": content}}
    await site.ann.post("/api/conversations/c/runs", json=body)
    await site.events("r1")


async def test_a_conversation_goes_out_as_json_lines_and_comes_in_elsewhere(tmp_path: Any) -> None:
    async with opened_site(tmp_path / "one") as site:
        await filled(site)
        before = await site.texts()
        exported = await site.ann.get("/api/conversations/c/export")
        assert exported.headers["content-disposition"].startswith("attachment; filename=")
        again = await site.ann.post("/api/import?name=x.jsonl", content=exported.content)
        assert (again.json()["imported"], again.json()["skipped"]) == (0, 1)
    async with opened_site(tmp_path / "two") as site:
        for imported, skipped in ((1, 0), (0, 1)):
            report = (await site.ann.post("/api/import", content=exported.content)).json()
            assert (report["imported"], report["skipped"]) == (imported, skipped)
        assert await site.texts() == before
        assert (await site.whole())["conversation"]["title"] == "Brot & Käse"
        (hash,) = {
            part["blob"]
            for row in (await site.whole())["messages"]
            for part in row["content"]
            if "blob" in part
        }
        assert (await site.ann.get(f"/api/blobs/{hash}")).content == b"the boat is red"


async def test_a_conversation_goes_out_as_markdown_of_the_branch_shown(site: Site) -> None:
    await filled(site)
    text = (await site.ann.get("/api/conversations/c/export?format=markdown")).text
    assert text.startswith("# Brot & Käse")
    assert "what colour?" in text
    assert error(await site.ann.get("/api/conversations/c/export?format=pdf"))[0] == 400


async def test_everything_of_a_user_goes_out_as_one_zip(site: Site) -> None:
    await filled(site)
    await site.conversation("d")
    await site.ann.patch("/api/conversations/d", json={"archived": True})
    await site.user("bob").post("/api/conversations", json={"id": "e"})
    archive = zipfile.ZipFile(io.BytesIO((await site.ann.get("/api/export")).content))
    names = [name for name in archive.namelist() if name.endswith(".jsonl")]
    assert len(names) == 2
    assert any(archive.read(name) == b"the boat is red" for name in archive.namelist())
    report = (await site.user("cid").post("/api/import", content=b"")).json()
    assert report["error"]["code"] == "import_unknown"


async def test_what_is_no_conversation_is_refused(site: Site) -> None:
    assert error(await site.ann.post("/api/import", content=b"hello")) == (400, "import_unknown")


async def test_a_file_that_is_too_large_is_refused_by_its_setting(tmp_path: Any) -> None:
    async with opened_site(tmp_path, limits={"import_mb": 1}) as site:
        refused = await site.ann.post("/api/import", content=b"x" * (2**20 + 1))
        assert error(refused) == (413, "too_large")
        assert "limits.import_mb" in refused.json()["error"]["message"]


async def test_bodies_that_never_end_keep_nobody_from_importing(site: Site) -> None:
    begun: list[int] = []

    async def endless(number: int) -> AsyncIterator[bytes]:
        yield b"[" * 10
        begun.append(number)
        await anyio.sleep_forever()

    async def send(number: int) -> None:
        user = site.ann if number < 2 else site.user("cem")
        await user.post("/api/import", content=endless(number))

    async with anyio.create_task_group() as tasks:
        for number in range(4):
            tasks.start_soon(send, number)
        with anyio.fail_after(60):
            while len(begun) < 4:
                await anyio.lowlevel.checkpoint()
            third = await site.ann.post("/api/import", content=b"hello")
            answer = await site.user("bob").post("/api/import", content=b"hello")
        assert error(third) == (429, "import_running")
        assert error(answer) == (400, "import_unknown")
        tasks.cancel_scope.cancel()


async def test_an_import_ends_with_the_server_and_leaves_no_file(site: Site) -> None:
    folder = site.service.spool._folder
    entered = anyio.Event()

    async def body() -> AsyncIterator[bytes]:
        yield b"["
        entered.set()
        await anyio.sleep_forever()

    async def send() -> None:
        answer = await site.ann.post("/api/import", content=body())
        assert answer.status_code == 503
        assert "shutting down" in answer.json()["error"]["message"]

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(send)
            await entered.wait()
            await site.service.close()
    assert os.listdir(folder) == []
