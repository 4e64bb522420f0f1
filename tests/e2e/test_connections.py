"""Rude clients of a real server: requests without end, without haste and without number, and others meanwhile."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.system

KEY = "a-key-of-some-length"
SECONDS = 2
TOTAL = 40
LOW = {
    "DUOLOGUE_KEY": KEY,
    "DUOLOGUE_CONNECTIONS__FIRST_BYTE_S": str(SECONDS),
    "DUOLOGUE_CONNECTIONS__HEADER_S": str(SECONDS),
    "DUOLOGUE_CONNECTIONS__HANDSHAKE_S": str(SECONDS),
    "DUOLOGUE_CONNECTIONS__BODY_WINDOW_S": str(SECONDS),
    "DUOLOGUE_CONNECTIONS__TOTAL": str(TOTAL),
}
START = b"POST /api/session HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def bounded(lasting: Any) -> Any:
    """A server whose bounds in time are low."""
    return lasting("--engine", "scripted", **LOW).ready()


@pytest.fixture(scope="module")
def secure(lasting: Any) -> Any:
    return lasting("--engine", "scripted", "--tls", **LOW).ready()


@contextlib.contextmanager
def connected(server: Any, sent: bytes = b"") -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
        client.sendall(sent)
        yield client


def received(client: socket.socket) -> bytes:
    """What comes until the server closes."""
    data = b""
    with contextlib.suppress(ConnectionError):
        while more := client.recv(65536):
            data += more
    return data


def code_of(answer: bytes) -> str:
    return str(json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"])


def memory(server: Any) -> int:
    """Megabytes of the gateway's process."""
    status = Path(f"/proc/{server.process.pid}/status")
    if not status.exists():
        pytest.skip("needs /proc")
    found = re.search(r"VmRSS:\s+(\d+)", status.read_text())
    assert found
    return int(found[1]) // 1024


def is_healthy(server: Any) -> bool:
    return httpx.get(f"{server.url}/health", trust_env=False, timeout=30).status_code == 200


@pytest.mark.parametrize(
    ("start", "piece", "code"),
    [
        (START, b"a:b\r\n" * 10_000, "headers_too_large"),
        (START + b"X: ", b"a" * 50_000, "headers_too_large"),
        (b"GET /", b"a" * 50_000, "request_line_too_long"),
    ],
)
def test_headers_without_end_take_no_memory_and_hold_nobody_up(
    bounded: Any, start: bytes, piece: bytes, code: str
) -> None:
    before = memory(bounded)
    with connected(bounded, start) as client:
        with contextlib.suppress(ConnectionError):
            for _ in range(1000):
                client.sendall(piece)
        assert is_healthy(bounded)
        assert code_of(received(client)) == code
    assert memory(bounded) - before < 50


def test_slow_clients_are_closed_each_with_what_it_can_be_told(bounded: Any) -> None:
    with (
        connected(bounded) as silent,
        connected(bounded, START + b"X") as half_a_head,
        connected(bounded, START + b"Content-Length: 50\r\n\r\nhalf") as half_a_body,
        connected(
            bounded, b"GET /ws/chat HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        ) as half_a_socket,
    ):
        assert received(silent) == b""
        for client in (half_a_head, half_a_body, half_a_socket):
            answer = received(client)
            assert answer.startswith(b"HTTP/1.1 408 ")
            assert code_of(answer) == "request_timeout"
    assert "Traceback" not in bounded.output


def test_idle_connections_shut_nobody_out(bounded: Any) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(3 * TOTAL):
            stack.enter_context(connected(bounded))
        assert is_healthy(bounded)
    bounded.wait_for("closed an idle connection to make room")


def test_what_is_met_is_counted_and_logged_once_a_minute(bounded: Any) -> None:
    for _ in range(5):
        with connected(bounded, b"nonsense\r\n") as client:
            assert code_of(received(client)) == "invalid_http"
    headers = {"Authorization": f"Bearer {KEY}"}
    metrics = httpx.get(f"{bounded.url}/metrics", headers=headers, trust_env=False).text
    assert 'duologue_connection_bounds_total{bound="invalid"} 5.0' in metrics
    assert len(re.findall("refused a request that is not HTTP", bounded.output)) == 1


def test_uploads_that_are_broken_off_leave_no_trace(bounded: Any) -> None:
    form = b"Content-Type: multipart/form-data; boundary=b\r\n"
    json_type = b"Content-Type: application/json\r\n"
    key = f"Authorization: Bearer {KEY}\r\n".encode()
    paths = {
        b"/api/session": json_type,
        b"/api/blobs": b"",
        b"/api/import": form,
        b"/v1/audio/transcriptions": form,
        b"/v1/audio/speech": json_type,
        b"/v1/chat/completions": json_type,
        b"/v1/model/load": json_type,
        b"/api/keys": json_type,
        b"/api/conversations": json_type,
    }
    for path, kind in paths.items():
        for length in (b"Content-Length: 1000\r\n", b"Transfer-Encoding: chunked\r\n"):
            head = b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\n" + key + kind + length + b"\r\n"
            with connected(bounded, head + b"5\r\n--b\r\n\r\n"):
                pass
    seen = len(paths) * 2
    bounded.until(lambda: len(re.findall(r"POST /\S+ \d+ ", bounded.output)) >= seen)
    assert "Traceback" not in bounded.output
    assert " ERROR " not in bounded.output


def test_the_limit_on_open_files_is_raised(bounded: Any) -> None:
    limits = Path(f"/proc/{bounded.process.pid}/limits")
    if not limits.exists():
        pytest.skip("needs /proc")
    found = re.search(r"Max open files\s+(\d+|unlimited)\s+(\d+|unlimited)", limits.read_text())
    assert found
    soft, hard = (10**9 if text == "unlimited" else int(text) for text in found.groups())
    assert soft >= min(hard, 16_384)


def test_the_https_port_says_where_to_go_and_waits_for_no_half_handshake(secure: Any) -> None:
    with connected(secure, b"\x16\x03\x01\x02") as half, connected(secure) as silent:
        plain = f"GET /chat HTTP/1.1\r\nHost: localhost:{secure.port}\r\n\r\n".encode()
        with connected(secure, plain) as client:
            answer = received(client)
            assert answer.startswith(b"HTTP/1.1 400 ")
            assert code_of(answer) == "https_needed"
            assert f"https://localhost:{secure.port}/chat".encode() in answer
        with connected(secure, b"\x00\xff" * 50) as client:
            assert b"HTTP" not in received(client)
        received(half)
        assert received(silent) == b""
    trusting = ssl.create_default_context(cafile=secure.data / "tls" / "ca.pem")
    url = f"https://localhost:{secure.port}/health"
    assert httpx.get(url, verify=trusting, trust_env=False).status_code == 200
    assert "Traceback" not in secure.output


def test_a_server_with_open_connections_stops_at_once(serve: Any) -> None:
    server = serve("--engine", "scripted").ready()
    with connected(server), connected(server, b"GET /health"), connected(server, START):
        assert is_healthy(server)
        assert server.stop() == 0
    assert "Traceback" not in server.output
