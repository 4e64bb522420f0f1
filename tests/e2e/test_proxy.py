"""Behind a reverse proxy, under a path: with the prefix kept and taken away, known and not known to the server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import anyio
import httpx
import pytest
from tests.support.reverse_proxy import ReverseProxy

from duologue.client.http import Client

pytestmark = pytest.mark.system

KEY = "a-key-of-some-length"
WAYS = {
    # (keeps the prefix, tells of itself), and what the server is started with
    "kept": ((True, True), ["--base-path", "/talk", "--proxy", "127.0.0.1"]),
    "kept, and nothing told": ((True, False), ["--base-path", "/talk"]),
    "taken away": ((False, True), ["--proxy", "127.0.0.1"]),
    "taken away, and nothing told": ((False, False), []),
    "taken away, and the base known": ((False, True), ["--base-path", "/talk", "--proxy", "127.0.0.0/8"]),
}


REPRESENTATIVE = ("kept", "taken away, and nothing told")
"""The least alike; the others differ from one of them in one word, and are long tests."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(way, id=way.replace(" ", "-"), marks=[] if way in REPRESENTATIVE else [pytest.mark.long])
        for way in WAYS
    ],
)
def proxy(request: Any, lasting: Any) -> Iterator[ReverseProxy]:
    (keeps, tells), flags = WAYS[request.param]
    running = lasting("--engine", "scripted", *flags, DUOLOGUE_KEY=KEY).ready()
    with ReverseProxy(running.port, "/talk", keeps=keeps, tells=tells) as made:
        yield made


@pytest.fixture
def http(proxy: ReverseProxy) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {KEY}"}
    with httpx.Client(base_url=proxy.url, headers=headers, trust_env=False, timeout=30) as client:
        yield client


def test_the_apis_answer_and_are_described_where_they_are(http: httpx.Client, proxy: ReverseProxy) -> None:
    assert http.get("/health").json()["status"] == "healthy"
    description = httpx.URL(f"{proxy.url}/openapi.json")
    base = description.join(http.get("/openapi.json").json()["servers"][0]["url"])
    assert str(base).rstrip("/") == proxy.url


def test_a_reply_streams_while_it_is_written(http: httpx.Client) -> None:
    # The model stops in the middle: what came through before was held up by nobody.
    body = {"messages": [{"role": "user", "content": "/say one two\n/hang"}], "stream": True}
    with http.stream("POST", "/v1/chat/completions", json=body) as answer:
        assert answer.headers["x-accel-buffering"] == "no"
        assert "no-transform" in answer.headers["cache-control"]
        assert any("two" in line for line in answer.iter_lines())


def test_a_file_is_kept_and_given_back(http: httpx.Client) -> None:
    kept = http.post("/api/blobs?name=a.txt", content=b"words", headers={"Content-Type": "text/plain"}).json()
    assert http.get(f"/api/blobs/{kept['hash']}").content == b"words"


def test_a_login_holds_under_the_path(proxy: ReverseProxy) -> None:
    with httpx.Client(base_url=proxy.url, trust_env=False) as browser:
        said = browser.post("/api/session", json={"key": KEY})
        assert said.status_code == 200
        assert browser.get("/api/capabilities").status_code == 200
        assert browser.delete("/api/session").status_code == 204
        assert browser.get("/api/capabilities").status_code == 401
        assert list(browser.cookies.jar) == []


def test_a_page_of_the_proxys_own_name_comes_in_and_another_does_not(
    http: httpx.Client, proxy: ReverseProxy
) -> None:
    own = {"Origin": f"http://127.0.0.1:{proxy.port}"}
    assert http.get("/status", headers=own).status_code == 200
    assert http.get("/status", headers={"Origin": "http://evil.example"}).status_code == 403


def test_the_terminal_talks_to_it(proxy: ReverseProxy) -> None:
    command = [sys.executable, "-m", "duologue", "say", "--server", f"{proxy.url}/", "hello"]
    said = subprocess.run(
        command, env={"DUOLOGUE_KEY": KEY, "PATH": ""}, capture_output=True, text=True, timeout=60
    )
    assert (said.returncode, said.stdout.strip() != "") == (0, True), said.stderr


@pytest.mark.anyio
async def test_the_client_follows_a_conversation_and_opens_sockets(proxy: ReverseProxy) -> None:
    async with Client(f"{proxy.url}/", KEY) as client:
        chat = [message async for message in client.chat([{"role": "user", "content": "hello"}])]
        assert chat[-1]["type"] == "done"
        await client.api("POST", "/api/conversations", {"id": "c"})
        text = [{"type": "text", "text": "hello"}]
        send = {"verb": "send", "run": "r", "message": {"id": "m", "content": text}}
        await client.api("POST", "/api/conversations/c/runs", send)
        with anyio.fail_after(30):
            events = [event async for _, event in client.follow("r")]
        assert events[-1]["type"] == "run_done"
        await client.api("DELETE", "/api/conversations/c")


def test_what_lies_outside_is_told_the_base(serve: Any) -> None:
    server = serve("--engine", "scripted", "--base-path", "talk/").ready()
    assert f"{server.url}/talk/ (" in server.wait_for("Duologue is ready")
    with httpx.Client(base_url=server.url, trust_env=False) as http:
        assert "answers under /talk/" in http.get("/health").json()["error"]["message"]
        browser = {"Accept": "text/html"}
        for path in ("/", "/talk"):
            led = http.get(path, headers=browser)
            assert (led.status_code, str(led.url.join(led.headers["location"]))) == (
                308,
                f"{server.url}/talk/",
            )
        assert http.get("/talk/docs/", headers=browser).headers["location"] == "../docs"


def test_a_believed_proxy_says_by_which_name_and_for_whom_it_asks(serve: Any) -> None:
    flags = ("--base-path", "/talk", "--proxy", "127.0.0.1", "--host-name", "chat.example")
    server = serve("--engine", "scripted", *flags).ready()
    told = {
        "X-Forwarded-For": "203.0.113.7",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "chat.example",
    }
    with httpx.Client(base_url=f"{server.url}/talk", headers=told, trust_env=False) as http:
        assert http.get("/status", headers={"Origin": "https://chat.example"}).status_code == 200
        assert http.get("/api/capabilities").json()["base_path"] == "/talk"
    server.wait_for(r"GET /api/capabilities 200 .* from 203\.0\.113\.7")


def test_words_of_whoever_is_no_proxy_change_nothing(serve: Any) -> None:
    server = serve("--engine", "scripted", "--host-name", "chat.example", DUOLOGUE_KEY=KEY).ready()
    told = {
        "X-Forwarded-For": "203.0.113.7",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "chat.example",
    }
    with httpx.Client(base_url=server.url, headers=told, trust_env=False) as http:
        said = http.post("/api/session", content=json.dumps({"key": KEY}))
        assert "secure" not in said.headers["set-cookie"].lower()
        foreign = http.get("/health", headers={"Origin": "https://chat.example"})
    assert foreign.status_code == 403
    assert "203.0.113.7" not in server.output
