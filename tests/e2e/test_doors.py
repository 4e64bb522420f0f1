"""An attacker at each door of a running server: the gateway's, the workers', the engine's own."""

import base64
import os
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

pytestmark = pytest.mark.system

KEY = "a-key-of-some-length"
SOCKETS = ["/ws/chat"]
PATHS = ["/", "/health", "/ready", "/status", "/workers", "/metrics", "/docs", "/openapi.json", "/v1/models"]
PATHS += ["/api/capabilities"]


def refused(port: int, path: str, **more) -> int:
    """The status with which a socket is turned away before it is one."""
    with pytest.raises(InvalidStatus) as refusal, connect(f"ws://127.0.0.1:{port}{path}", **more):
        pass
    return refusal.value.response.status_code


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "localhost.evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
    ],
    ids=str,
)
def test_a_foreign_name_or_page_reaches_no_address(server, path, headers):
    answer = httpx.get(server.url + path, headers=headers)
    assert answer.status_code == 403
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize("path", SOCKETS)
def test_a_foreign_page_opens_no_socket(server, path):
    assert refused(server.port, path, origin="http://evil.example") == 403
    assert refused(server.port, path, additional_headers={"Origin": "null"}) == 403


def test_a_rebound_name_posts_no_chat(server):
    body = {"messages": [{"role": "user", "content": "hi"}]}
    headers = {"Host": f"evil.example:{server.port}"}
    assert httpx.post(f"{server.url}/v1/chat/completions", json=body, headers=headers).status_code == 403


def test_our_own_page_and_scripts_come_in(server):
    assert httpx.get(f"{server.url}/status", headers={"Origin": server.url}).status_code == 200
    with connect(f"ws://127.0.0.1:{server.port}/ws/chat", origin=server.url):
        pass
    with connect(f"ws://127.0.0.1:{server.port}/ws/chat"):
        pass


def test_with_a_key_nothing_answers_without_it(serve):
    server = serve("--engine", "scripted", DUOLOGUE_KEY=KEY).ready()
    for path in ("/docs", "/docs/docs.js", "/docs.html"):
        assert httpx.get(server.url + path).status_code == 401
    for path in ("/status", "/workers", "/metrics", "/v1/models", "/api/capabilities", "/openapi.json"):
        assert httpx.get(server.url + path).status_code == 401
        assert httpx.get(server.url + path, headers={"x-api-key": "wrong"}).status_code == 401
        assert httpx.get(f"{server.url}{path}?key={KEY}").status_code == 401
        assert httpx.get(server.url + path, headers={"Authorization": f"Bearer {KEY}"}).status_code == 200
    assert refused(server.port, "/ws/chat") == 401
    with connect(f"ws://127.0.0.1:{server.port}/ws/chat", additional_headers={"x-api-key": KEY}):
        pass
    named = "duologue.key." + base64.urlsafe_b64encode(KEY.encode()).decode().rstrip("=")
    with connect(
        f"ws://127.0.0.1:{server.port}/ws/chat", subprotocols=[Subprotocol("duologue"), Subprotocol(named)]
    ):
        pass


def test_the_page_logs_in_once_and_its_cookie_opens_the_rest(serve):
    server = serve("--engine", "scripted", DUOLOGUE_KEY=KEY).ready()
    with httpx.Client(base_url=server.url) as browser:
        assert browser.post("/api/session", json={"key": "wrong"}).status_code == 401
        answer = browser.post("/api/session", json={"key": KEY})
        assert answer.status_code == 200
        flags = answer.headers["set-cookie"].lower()
        assert "httponly" in flags
        assert "samesite=strict" in flags
        assert browser.get("/api/capabilities").json()["auth"]["required"] is True
        cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        with connect(f"ws://127.0.0.1:{server.port}/ws/chat", additional_headers={"Cookie": cookie}):
            pass
        assert browser.delete("/api/session").status_code == 204
        assert browser.get("/api/capabilities").status_code == 401


def test_the_key_is_nowhere_to_be_read(serve):
    server = serve("--engine", "scripted", DUOLOGUE_KEY=KEY).ready()
    worker = httpx.get(f"{server.url}/workers", headers={"x-api-key": KEY}).json()["workers"][0]["process"]
    assert KEY.encode() not in Path(f"/proc/{worker}/environ").read_bytes()
    for process in (worker, server.process.pid):
        assert KEY.encode() not in Path(f"/proc/{process}/cmdline").read_bytes()
    assert KEY not in server.output


def test_a_workers_port_answers_only_the_gateway(server):
    port = server.worker()["port"]
    for path in ("/health", "/metrics"):
        assert httpx.get(f"http://127.0.0.1:{port}{path}").status_code == 403
    for path in ("/live", "/bulk"):
        assert refused(port, path) == 403
        assert refused(port, path, additional_headers={"Authorization": "Bearer guess"}) == 403


def test_the_workers_secret_is_not_in_its_arguments(server):
    arguments = Path(f"/proc/{server.worker()['process']}/cmdline").read_bytes()
    assert arguments.split(b"\0")[1:] == [b"-P", b"-m", b"duologue.worker", b""]


def test_the_engines_own_port_is_closed(serve):
    """llama.cpp opens an HTTP server of its own beside the worker's; nobody may use it."""
    server = serve().ready()
    worker = server.worker()
    ports = listening(worker["process"]) - {worker["port"]}
    for port in ports:
        for path in ("/completion", "/v1/chat/completions", "/tokenize", "/apply-template"):
            answer = httpx.post(f"http://127.0.0.1:{port}{path}", json={"prompt": "hi", "content": "hi"})
            assert answer.status_code in (401, 403), (port, path)
        for path in ("/props", "/slots", "/metrics", "/"):
            assert httpx.get(f"http://127.0.0.1:{port}{path}").status_code in (401, 403, 404), (port, path)


def listening(process: int) -> set[int]:
    """The TCP ports a process listens on, as Linux tells it."""
    inodes = set()
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        try:
            inodes.add(os.readlink(descriptor))
        except OSError:
            continue
    rows = [row.split() for row in Path(f"/proc/{process}/net/tcp").read_text().splitlines()[1:]]
    return {
        int(row[1].rpartition(":")[2], 16)
        for row in rows
        if row[3] == "0A" and f"socket:[{row[9]}]" in inodes
    }


def test_a_guesser_is_refused_at_every_door_and_the_right_key_is_not(serve):
    server = serve("--engine", "scripted", DUOLOGUE_KEY=KEY).ready()
    with httpx.Client(base_url=server.url) as guesser:
        answers = [guesser.get("/status", headers={"x-api-key": f"guess {number}"}) for number in range(12)]
        assert [answer.status_code for answer in answers] == [401] * 10 + [429] * 2
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 6
        assert guesser.post("/api/session", json={"key": "another"}).status_code == 429
        assert refused(server.port, "/ws/chat", additional_headers={"x-api-key": "one more"}) == 429
        assert guesser.get("/status", headers={"x-api-key": KEY}).status_code == 200
        assert guesser.post("/api/session", json={"key": KEY}).status_code == 200
        large = guesser.post("/api/session", content=b"x" * 5000)
        assert (large.status_code, large.json()["error"]["code"]) == (413, "too_large")
