"""Users and their keys from outside: who may come in, what belongs to whom, and over HTTPS."""

import ssl
import subprocess
import sys
from pathlib import Path

import anyio
import httpx
import pytest
from tests.support.conversation_client import (
    ConversationClient,
    content,
    fetch,
    new_id,
    text_of,
    tool_call_script,
)
from tests.support.sample_files import drawing, encoded
from tests.support.vrm_file import portrait

from duologue.client.http import Client
from duologue.errors import Problem

pytestmark = [pytest.mark.system, pytest.mark.anyio]


def duologue(*arguments: object) -> subprocess.CompletedProcess[str]:
    """One command, as a person gives it."""
    command = [sys.executable, "-m", "duologue", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def key_of(name: str, data, *more: str) -> str:
    made = duologue("key", "add", name, *more, "--data", data)
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


@pytest.fixture(scope="module")
def shared(lasting):
    """A server with two users; who they are is made while it runs."""
    server = lasting("--engine", "scripted").ready()
    return server, key_of("ada", server.data), key_of("ben", server.data)


@pytest.fixture
async def both(shared):
    server, ada, ben = shared
    async with Client(server.url, ada) as one, Client(server.url, ben) as other:
        await known(other)
        yield one, other


async def known(client: Client) -> None:
    """A running server knows a new key within a second."""
    with anyio.fail_after(60):
        while (await code(client.api("GET", "/api/conversations"))) == "unauthorized":  # noqa: ASYNC110 (it is not told)
            await anyio.sleep(0.02)


async def code(awaitable) -> str:
    """How it was refused; nothing when it was not."""
    try:
        await awaitable
    except Problem as problem:
        return problem.code
    return ""


async def code_of(awaitable) -> tuple[int, str]:
    with pytest.raises(Problem) as problem:
        await awaitable
    return problem.value.status, problem.value.code


async def test_what_one_user_has_does_not_exist_for_another(both):
    ada, ben = both
    word = "w" + new_id()[:12]
    talk = await ConversationClient.begin(ada, title=f"About {word}", tags=["mine"])
    blob = await ada.upload(word.encode() * 9, "secret.txt")
    run = await talk.say([*content(f"/say {word}\n/hang"), {"type": "file", "blob": blob["hash"]}])
    await talk.until_text(run, word)
    waiting = (await talk.wait("/say more", "queue"))["pending"]["id"]
    await ada.api("PUT", f"/api/drafts/{talk.id}", {"text": word})
    folder = new_id()
    await ada.api("PUT", f"/api/folders/{folder}", {"name": word})
    message = (await talk.messages())[0]["id"]

    gone = [
        ("GET", talk.path, None),
        ("PATCH", talk.path, {"title": "Mine now"}),
        ("DELETE", talk.path, None),
        ("POST", f"{talk.path}/restore", None),
        ("POST", f"{talk.path}/fork", {"id": new_id(), "message": message}),
        ("PUT", f"{talk.path}/system", {"text": "Obey."}),
        ("PATCH", f"{talk.path}/messages/{message}", {"content": content("Changed.")}),
        ("GET", f"{talk.path}/messages/{message}/deletion", None),
        ("DELETE", f"{talk.path}/messages/{message}", None),
        ("GET", f"{talk.path}/context", None),
        ("POST", f"{talk.path}/compact", {}),
        ("POST", f"{talk.path}/title", None),
        ("GET", f"{talk.path}/export?format=jsonl", None),
        ("GET", f"{talk.path}/pending", None),
        ("DELETE", f"{talk.path}/pending/{waiting}", None),
        ("POST", f"{talk.path}/runs", {"verb": "regenerate", "run": new_id(), "message": message}),
        ("GET", f"/api/runs/{run}", None),
        ("GET", f"/api/runs/{run}/events", None),
        ("POST", f"/api/runs/{run}/stop", None),
        ("POST", f"/api/runs/{run}/steer", {"id": new_id(), "content": content("Obey.")}),
        ("GET", f"/api/blobs/{blob['hash']}", None),
        ("GET", f"/api/blobs/{blob['hash']}/thumbnail", None),
        ("PUT", f"/api/drafts/{talk.id}", {"text": "x"}),
    ]
    for method, path, body in gone:
        status, code = await code_of(ben.api(method, path, body))
        assert (status, code in ("not_found", "blob_not_found")) == (404, True), (
            f"{method} {path}: {status} {code}"
        )
    own = await ConversationClient.begin(ben)
    assert await code_of(own.say("/say hi", run=run)) == (400, "id_taken")
    assert (await own.messages()) == []
    assert (await code_of(own.say("/say hi", parent=message)))[1] == "unknown_parent"
    assert (await code_of(ben.api("PATCH", own.path, {"leaf": message})))[0] in (400, 404)
    file = [*content("/say hi"), {"type": "file", "blob": blob["hash"]}]
    assert (await code_of(own.say(file)))[0] == 404
    assert (await code_of(ConversationClient.begin(ben, folder=folder)))[0] in (400, 404)
    assert (await code_of(ben.api("POST", "/api/conversations", {"id": talk.id})))[1] == "id_taken"
    assert [row["id"] for row in (await ben.api("GET", "/api/conversations"))["conversations"]] == [own.id]
    assert (await ben.api("GET", f"/api/search?q={word}"))["hits"] == []
    assert (await ben.api("GET", "/api/tags"))["tags"] == {}
    assert (await ben.api("GET", "/api/folders"))["folders"] == []
    assert (await ada.api("GET", f"/api/runs/{run}")).get("outcome") is None
    await talk.stop(run)
    assert text_of(await talk.last()).strip() == word


async def test_questions_and_permissions_are_each_users_own(serve, tmp_path):
    plain = Path(__file__).parent.parent / "tools" / "servers" / "odd.py"
    file = tmp_path / "settings.yaml"
    servers = f"mcp: {{servers: {{odd: {{command: {sys.executable}, args: [{plain}]}}}}}}\n"
    file.write_text(servers)
    server = serve("--engine", "scripted", "--config", str(file)).ready()
    keys = key_of("ada", server.data), key_of("ben", server.data)
    async with Client(server.url, keys[0]) as ada, Client(server.url, keys[1]) as ben:
        await known(ben)
        talk = await ConversationClient.begin(ada, options={"max_turns": 1})
        assert (await ada.api("POST", "/api/mcp/servers/odd/reconnect"))["phase"] == "ready"
        run = await talk.say(tool_call_script({"name": "whoami", "arguments": {}}))
        asked = await talk.first_approval(run)
        assert (await ben.api("GET", "/api/approvals"))["approvals"] == []
        assert await code_of(ConversationClient(ben, talk.id).answer(asked, "server")) == (404, "not_found")
        await talk.answer(asked, "tool")
        await talk.events(run)
        assert (await ben.api("GET", "/api/permissions"))["permissions"] == []
        other = await ConversationClient.begin(ben, options={"max_turns": 1})
        run = await other.say(tool_call_script({"name": "whoami", "arguments": {}}))
        assert (await other.first_approval(run))["tool"] == "whoami"
        await other.stop(run)
        command = {"name": "evil", "config": {"command": "sh"}}
        assert await code_of(ben.api("POST", "/api/mcp/servers", command)) == (403, "admin_needed")
        assert await code_of(ben.api("GET", "/api/keys")) == (403, "admin_needed")


async def test_the_feed_tells_nobody_of_anothers_conversations(both, shared):
    ada, ben = both
    server, _, key = shared
    seen = []
    async with (
        httpx.AsyncClient(base_url=server.url, headers={"x-api-key": key}, timeout=60) as http,
        http.stream("GET", "/api/events") as feed,
    ):
        hers = await ConversationClient.begin(ada)
        await hers.ask("/say hello")
        own = await ConversationClient.begin(ben)
        async for line in feed.aiter_lines():
            seen.append(line)
            if own.id in line:
                break
    assert hers.id not in "".join(seen)


async def test_the_first_key_inherits_what_was_written_without_one(serve):
    server = serve("--engine", "scripted").ready()
    picture = encoded(drawing())
    async with Client(server.url) as client:
        talk = await ConversationClient.begin(client, title="Before")
        blob = await client.upload(picture, "before.png")
        assert await talk.ask("/say hello") == "hello"
        await client.api("PATCH", "/api/settings", {"theme": "dark"})
    key = key_of("ada", server.data)
    server.until(lambda: httpx.get(f"{server.url}/api/conversations").status_code == 401)
    async with Client(server.url, key) as client:
        [row] = (await client.api("GET", "/api/conversations"))["conversations"]
        assert (row["id"], row["title"]) == (talk.id, "Before")
        talk.client = client
        assert await talk.ask("/say still here") == "still here"
        assert (await client.api("GET", "/api/settings"))["theme"] == "dark"
        headers = {"authorization": f"Bearer {key}"}
        assert fetch(f"{server.url}/api/blobs/{blob['hash']}", headers=headers).content == picture
    second = key_of("ben", server.data)
    async with Client(server.url, second) as client:
        await known(client)
        assert (await client.api("GET", "/api/conversations"))["conversations"] == []
    listed = duologue("key", "list", "--data", server.data).stdout
    assert key not in listed
    assert "ada" in listed
    duologue("key", "revoke", "ben", "--data", server.data)
    headers = {"x-api-key": second}
    server.until(lambda: httpx.get(f"{server.url}/api/conversations", headers=headers).status_code == 401)


async def test_a_reset_key_ends_the_stream_that_is_still_open_with_it_and_not_the_reply(shared):
    server, _, _ = shared
    key = key_of("eve", server.data)
    async with Client(server.url, key) as eve:
        await known(eve)
        talk = await ConversationClient.begin(eve)
        run = await talk.say("/pace 100\n/repeat 1000 two ")
        await talk.until_text(run, "two")
        reset = await anyio.to_thread.run_sync(duologue, "key", "reset", "eve", "--data", server.data)
        assert reset.returncode == 0
        assert await code(talk.events(run)) in ("unauthorized", "connection_lost")
        assert await code(talk.load()) == "unauthorized"
    async with Client(server.url, reset.stdout.strip()) as eve:
        await known(eve)
        assert (await eve.api("GET", f"/api/runs/{run}")).get("outcome") is None
        assert (await ConversationClient(eve, talk.id).stop(run))["outcome"] == "stopped"


async def test_a_disabled_user_is_cut_off_and_their_reply_stops_with_its_text_kept(shared):
    server, admin_key, _ = shared
    key = key_of("mia", server.data)
    async with Client(server.url, key) as mia, Client(server.url, admin_key) as admin:
        await known(mia)
        talk = await ConversationClient.begin(mia)
        run = await talk.say("/pace 100\n/repeat 1000 two ")
        await talk.until_text(run, "two")
        await admin.api("PATCH", "/api/keys/users/mia", {"disabled": True})
        assert await code(talk.events(run)) in ("unauthorized", "connection_lost")
        assert await code(talk.load()) == "unauthorized"
        with anyio.fail_after(60):
            while (await admin.api("GET", "/status"))["running_tasks"]:  # noqa: ASYNC110 (a client is not told)
                await anyio.sleep(0.05)
        await admin.api("PATCH", "/api/keys/users/mia", {"disabled": False})
        assert (await mia.api("GET", f"/api/runs/{run}"))["outcome"] == "failed"
        assert "two" in text_of(await talk.last())
        log = (await admin.api("GET", "/api/admin/audit?act=user.&limit=2"))["rows"]
        assert [(row["name"], row["target"], row["details"]) for row in log] == [
            ("ada", "mia", {"disabled": False}),
            ("ada", "mia", {"disabled": True}),
        ]
        assert await code_of(mia.api("GET", "/api/admin/audit")) == (403, "admin_needed")


async def test_without_a_valid_key_left_the_work_of_a_user_stops(shared):
    server, _, _ = shared
    key = key_of("kim", server.data)
    async with Client(server.url, key) as kim:
        await known(kim)
        talk = await ConversationClient.begin(kim)
        run = await talk.say("/hang")
        await kim.api("GET", f"/api/runs/{run}")
        revoked = await anyio.to_thread.run_sync(duologue, "key", "revoke", "kim", "--data", server.data)
        assert revoked.returncode == 0
    async with Client(server.url, key_of("kim", server.data)) as kim:
        await known(kim)
        with anyio.fail_after(60):
            while (await kim.api("GET", f"/api/runs/{run}")).get("outcome") is None:  # noqa: ASYNC110 (nor here)
                await anyio.sleep(0.05)
        assert (await kim.api("GET", f"/api/runs/{run}"))["outcome"] == "failed"


def test_https_with_the_servers_own_authority_is_verified_by_a_strict_client(serve):
    server = serve("--engine", "scripted", "--tls").ready()
    url = server.url.replace("http://", "https://")
    authority = httpx.get(f"{url}/ca.crt", verify=False)
    trusting = ssl.create_default_context(cadata=authority.text)
    for host in ("127.0.0.1", "localhost"):
        with httpx.Client(base_url=f"https://{host}:{server.port}", verify=trusting, trust_env=False) as http:
            assert http.get("/ready").status_code == 200
            id = http.post("/api/conversations", json={}).json()["id"]
            assert http.get(f"/api/conversations/{id}").status_code == 200
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(f"{url}/ready", trust_env=False)
    secret = [path for path in (server.data / "tls").rglob("*") if b"PRIVATE KEY" in path.read_bytes()]
    assert secret
    assert all(path.stat().st_mode & 0o077 == 0 for path in secret)


async def test_a_face_is_seen_previewed_spoken_with_and_deleted_by_its_owner_alone(both, shared):
    server, ada, ben = shared
    async with (
        httpx.AsyncClient(base_url=server.url, headers={"Authorization": f"Bearer {ada}"}, timeout=60) as one,
        httpx.AsyncClient(
            base_url=server.url, headers={"Authorization": f"Bearer {ben}"}, timeout=60
        ) as other,
    ):
        made = await one.post(
            "/api/avatars",
            files={"file": ("ada.png", portrait(), "image/png")},
            data={"name": "Ada", "consent": "true"},
        )
        assert made.status_code == 201, made.text
        face = f"/api/avatars/{made.json()['id']}"
        listed = (await other.get("/api/avatars")).raise_for_status().json()["avatars"]
        assert made.json()["id"] not in [row["id"] for row in listed]
        for method, place, body in (
            ("GET", face, None),
            ("GET", f"{face}/file", None),
            ("GET", f"{face}/preview", None),
            ("PUT", face, {"name": "Ben"}),
            ("POST", f"{face}/clips", {"text": "Hello."}),
            ("DELETE", face, None),
        ):
            refused = await other.request(method, place, json=body)
            assert (refused.status_code, refused.json()["error"]["code"]) == (404, "avatar_not_found"), place
        assert (await one.get(f"{face}/preview")).headers["content-type"] == "image/png"
        assert (await one.get(face)).json()["name"] == "Ada"
        assert (await one.delete(face)).status_code == 200
