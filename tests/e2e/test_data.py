"""What is kept, where, and what becomes of it when things go wrong: files, temporary chats, copies, disks, PostgreSQL."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import anyio
import httpx
import pytest
from tests.support.conversation_client import (
    ConversationClient,
    content,
    displayed_texts,
    event_types,
    fetch,
    text_of,
)
from tests.support.hostile_files import LAYERS
from tests.support.sample_files import HEIC, drawing, encoded, opened, pdf, scanned_pdf, svg, turned, wav
from tests.support.store_fixtures import drop_schema, make_schema

from duologue.client.http import Client
from duologue.errors import Problem

pytestmark = [pytest.mark.system, pytest.mark.anyio]


@pytest.fixture
async def client(server):
    async with Client(server.url) as client:
        yield client


async def refused(awaitable) -> Problem:
    with pytest.raises(Problem) as problem:
        await awaitable
    return problem.value


def duologue(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "duologue", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


# ---- files


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (b"plain words", "a.txt", "plain words"),
        ("grüße aus köln".encode("utf-16"), "b.txt", "grüße aus köln"),
        (b"a;b\n1;2\n", "c.csv", "1;2"),
        (pdf("Words on a page"), "d.pdf", "Words on a page"),
    ],
    ids=["text", "utf-16", "csv", "pdf"],
)
async def test_a_document_comes_to_the_model_as_its_text(client, data, name, words):
    talk = await ConversationClient.begin(client)
    before = (await client.api("GET", f"{talk.path}/context"))["tokens"]
    blob = await client.upload(data, name)
    assert blob == {**await client.upload(data, name), "created": blob["created"]}
    await talk.ask([*content("/say seen"), {"type": "file", "blob": blob["hash"], "name": name}])
    part = (await talk.branch())[0]["content"][1]
    assert (part["type"], part["name"]) == ("document", name)
    assert words in (await raw(client, part.get("text") or part["blob"])).decode()
    after = (await client.api("GET", f"{talk.path}/context"))["tokens"]
    assert after - before > len("/say seenseen") + len(words)


async def raw(client: Client, hash: str) -> bytes:
    async with httpx.AsyncClient(base_url=client.base_url) as http:
        return (await http.get(f"/api/blobs/{hash}")).content


@pytest.mark.parametrize(
    ("data", "name", "sentence"),
    [
        (encoded(drawing()), "a.png", "a.png is a picture, but the model scripted takes text"),
        (turned(), "b.jpg", "b.jpg is a picture"),
        (HEIC, "c.heic", "c.heic is a picture"),
        (svg("<rect width='20' height='10'/>"), "d.svg", "d.svg is a picture"),
        (wav(), "e.wav", "e.wav is sound"),
        (scanned_pdf(), "f.pdf", "it is a scan"),
        (b"\x00\x01\x02\x03" * 99, "g.bin", "cannot be given to a model"),
    ],
    ids=["png", "jpeg", "heic", "svg", "wav", "scan", "binary"],
)
async def test_what_this_model_cannot_take_is_refused_with_a_sentence_and_nothing_is_sent(
    client, data, name, sentence
):
    talk = await ConversationClient.begin(client)
    blob = await client.upload(data, name)
    problem = await refused(
        talk.say([*content("/say hm"), {"type": "file", "blob": blob["hash"], "name": name}])
    )
    assert problem.status == 400
    assert sentence in problem.message
    assert await talk.messages() == []


async def test_a_file_is_given_back_in_ranges_and_never_as_a_page_that_runs(client, server):
    page = b"<script>alert(1)</script>"
    hash = (await client.upload(page, "page.html"))["hash"]
    url = f"{server.url}/api/blobs/{hash}"
    part = fetch(url, headers={"Range": "bytes=1-6"})
    assert (part.status_code, part.content) == (206, page[1:7])
    whole = fetch(url)
    assert whole.headers["content-disposition"].startswith("attachment")
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in whole.headers["content-security-policy"]
    assert fetch(url, headers={"If-None-Match": whole.headers["etag"]}).status_code == 304
    hash = (await client.upload(turned(), "turned.jpg"))["hash"]
    small = fetch(f"{server.url}/api/blobs/{hash}/thumbnail?side=32")
    width, height = opened(small.content).size
    assert width < height


async def test_a_drawing_that_no_renderer_survives_is_refused_and_nothing_else_notices(client, server):
    """400 layers in 8.5 KB: they ended the server that drew them."""
    before = len(server.lines)
    hash = (await client.upload(LAYERS, "drawing.svg"))["hash"]
    good = (await client.upload(encoded(drawing(640, 480)), "good.png"))["hash"]
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as http, anyio.create_task_group() as group:
        answers = []

        async def ask() -> None:
            answers.append(await http.get(f"/api/blobs/{hash}/thumbnail?side=96"))
            group.cancel_scope.cancel()

        group.start_soon(ask)
        while True:
            assert (await http.get("/health")).status_code == 200
    assert answers[0].status_code == 404
    assert "cannot be read" in answers[0].json()["error"]["message"]
    assert fetch(f"{server.url}/api/blobs/{good}/thumbnail?side=96").status_code == 200
    server.wait_for("a decoder .* was ended")
    assert len([line for line in server.lines[before:] if "decoder" in line]) == 1


# ---- temporary chats


async def test_a_temporary_chat_leaves_no_byte_in_the_data_folder(serve):
    server = serve("--engine", "scripted", "--log-level", "debug").ready()
    secret = f"secret{uuid4().hex}"
    async with Client(server.url) as client:
        talk = await ConversationClient.begin(client, temporary=True, title=f"t{secret}", system=f"y{secret}")
        kept = await ConversationClient.begin(client)
        async with httpx.AsyncClient(base_url=server.url) as http:
            answer = await http.post(f"/api/blobs?name={secret}.txt&temporary=true", content=secret.encode())
            assert answer.status_code < 300, answer.text
        blob = answer.json()["hash"]
        await client.api("PUT", f"/api/drafts/{talk.id}", {"text": f"d{secret}"})
        said = f"/say w{secret}<think>r{secret}</think>"
        await talk.ask([*content(said), {"type": "file", "blob": blob, "name": f"n{secret}.txt"}])
        run = await talk.say(f"/say more {secret}\n/hang")
        await talk.until_text(run, secret)
        await talk.wait(f"/say q{secret}", "queue")
        await talk.stop(run)
        await kept.ask("/say kept")
        assert [one["id"] for one in (await client.api("GET", "/api/conversations"))["conversations"]] == [
            kept.id
        ]
        assert (await client.api("GET", f"/api/search?q={secret}"))["hits"] == []
        assert secret in "".join(await talk.texts())
    server.stop()
    bare = secret.removeprefix("secret").encode()
    for path in server.data.rglob("*"):
        assert secret not in path.name
        assert not path.is_file() or bare not in path.read_bytes(), path
    assert secret not in server.output
    assert not any(path.is_file() for path in (server.data / "blobs").rglob(f"*{blob[:8]}*"))


# ---- copies


@pytest.mark.long
async def test_a_copy_made_while_a_reply_is_written_is_whole_and_is_put_back(serve, tmp_path):
    file, elsewhere = tmp_path / "copy.tar", tmp_path / "elsewhere"
    server = serve("--engine", "scripted").ready()
    picture = encoded(drawing())
    async with Client(server.url) as client:
        talk = await ConversationClient.begin(client, title="Kept")
        await talk.ask("/say one")
        blob = await client.upload(b"file words", "a.txt")
        await talk.ask([*content("/say two"), {"type": "file", "blob": blob["hash"]}])
        await client.upload(picture, "unused.png")
        run = await talk.say("/say three\n/hang")
        await talk.until_text(run, "three")
        made = await asyncio.to_thread(duologue, "backup", file, "--data", server.data)
        assert made.returncode == 0, made.stderr
        await talk.stop(run)
    busy = duologue("backup", file, "--restore", "--data", server.data)
    assert busy.returncode == 1
    assert "Traceback" not in busy.stderr
    server.stop()
    put_back = duologue("backup", file, "--restore", "--data", elsewhere)
    assert put_back.returncode == 0, put_back.stderr
    again = serve("--engine", "scripted", "--data", str(elsewhere)).ready()
    async with Client(again.url) as client:
        talk.client = client
        texts = await talk.texts()
        assert texts[:4] == ["/say one", "one", "/say two", "two"]
        assert (await talk.last())["status"] == "interrupted"
        assert await raw(client, blob["hash"]) == b"file words"
        assert await (await ConversationClient.begin(client)).ask("/say four") == "four"


# ---- disks


@pytest.fixture
def small_disk(tmp_path):
    """A folder of four megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this user may not mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Take what room is left."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (65536, 4096, 512, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return ballast


async def test_on_a_full_disk_the_text_stays_in_memory_says_so_and_is_kept_when_there_is_room(
    serve, small_disk
):
    server = serve("--engine", "scripted", "--data", str(small_disk / "data")).ready()
    words = " ".join(f"word{n}" for n in range(120))
    async with Client(server.url) as client:
        talk, other = await ConversationClient.begin(client), await ConversationClient.begin(client)
        run = await talk.say(f"/pace 10\n/say {words}\n/hang")
        await talk.until_text(run, "word3")
        ballast = fill(small_disk)
        events = await talk.until(
            run,
            lambda event: (
                event["type"] == "message_added" and bool((event.get("message", {}) or {}).get("error"))
            ),
        )
        assert events[-1][1]["message"]["error"]["code"] == "storage_unavailable"
        problem = await refused(fails_in_the_end(client))
        assert (problem.status, problem.code) == (503, "storage_unavailable")
        events = await talk.until_text(run, "word119")
        shown = text_of(await talk.last())
        assert shown == words
        ballast.unlink()
        await talk.until(
            run,
            lambda event: event["type"] == "message_added" and event["message"].get("error") is None,
            after=events[-1][0],
        )
        ended = await talk.stop(run)
        assert ended["outcome"] == "stopped"
        assert await other.ask("/say again") == "again"
    server.stop(signal.SIGKILL)
    again = serve("--engine", "scripted", "--data", str(small_disk / "data")).ready()
    async with Client(again.url) as client:
        talk.client = client
        answer = await talk.last()
        assert (text_of(answer), answer["status"], answer.get("error")) == (words, "stopped", None)
    again.stop()


async def fails_in_the_end(client: Client) -> None:
    """Conversations until there is no room for one."""
    for _ in range(2000):
        await client.api("POST", "/api/conversations", {"system": "x" * 20_000})


# ---- PostgreSQL


@pytest.fixture
async def postgresql():
    name = f"duologue_{uuid4().hex}"
    url = await make_schema(name)
    yield url
    await drop_schema(name)


async def test_the_same_on_postgresql_through_a_kill_and_a_search(serve, postgresql, tmp_path):
    arguments = ("--engine", "scripted", "--data", str(tmp_path / "data"))
    server = serve(*arguments, DUOLOGUE_DATABASE=postgresql).ready()
    word = f"w{uuid4().hex[:10]}"
    async with Client(server.url) as client:
        talk = await ConversationClient.begin(client, title="On another database")
        assert await talk.ask(f"/say The boat is {word}.") == f"The boat is {word}."
        hits = (await client.api("GET", f"/api/search?q={word}"))["hits"]
        assert {hit["role"] for hit in hits} == {"user", "assistant"}
        run = await talk.say("/pace 60\n/say " + " ".join(f"word{n}" for n in range(150)))
        before = await talk.until_text(run, "word30")
        assert displayed_texts(before)
        for nul in ("?folder=%00", "?tag=%00", f"/{talk.id}?leaf=%00"):
            assert fetch(f"{server.url}/api/conversations{nul}").status_code < 500
        assert "a\x00b" in await (await ConversationClient.begin(client)).ask("/say a\x00b")
    server.stop(signal.SIGKILL)
    assert not (tmp_path / "data" / "duologue.db").exists()
    server = serve(*arguments, DUOLOGUE_DATABASE=postgresql).ready()
    async with Client(server.url) as client:
        talk.client = client
        rest = await talk.events(run, before[-1][0])
        assert (rest[-1][1]["outcome"], event_types(rest)[-2]) == ("interrupted", "message_done")
        answer = await talk.last()
        assert "word20 " in text_of(answer)
        await talk.events(await talk.start("continue", message=answer["id"]))
        assert text_of(await talk.last()) == " ".join(f"word{n}" for n in range(150))
