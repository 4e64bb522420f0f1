"""The way to a hub: who sees the token, what is followed, what a status means, how long it is tried."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.support.hub_stand_in import Hub

from duologue.config import Settings, load
from duologue.errors import BadRequest, Busy, EngineFailed, Forbidden, ModelNotFound, Problem, Unauthorized
from duologue.gateway.tls import tls_files, trusting
from duologue.models.hub import http as connection_module
from duologue.models.hub.http import HubConnection, TransientFailure, connect, pause, refusal
from duologue.models.hub.resume import Stopped

PATH = "/someone/Tiny-GGUF/resolve/0123456789abcdef0123456789abcdef01234567/Tiny-Q4_K_M.gguf"
TOKEN = "hf_very_secret"


def read(connection: HubConnection, url: str) -> bytes:
    with connection.get(url, "the file") as response:
        return b"".join(response.iter_raw())


def test_a_redirect_is_followed_and_the_token_stays_with_the_hub(hub: Hub, content: bytes) -> None:
    hub.token = TOKEN
    with HubConnection(hub.url, TOKEN) as connection:
        assert read(connection, hub.url + PATH) == content
    first, second = hub.requests
    assert first.headers["authorization"] == f"Bearer {TOKEN}"
    assert "authorization" not in second.headers
    assert TOKEN not in str(second.headers)


def test_other_servers_never_see_the_token(hub: Hub) -> None:
    with HubConnection("https://hub.example", TOKEN) as connection, pytest.raises(ModelNotFound):
        read(connection, hub.url + "/nothing")
    assert TOKEN not in str(hub.requests)


def test_no_packing_is_asked_for(hub: Hub, connection: HubConnection) -> None:
    read(connection, hub.url + PATH)
    assert {request.headers["accept-encoding"] for request in hub.requests} == {"identity"}


def test_a_redirect_to_an_open_connection_elsewhere_is_not_followed(
    hub: Hub, connection: HubConnection
) -> None:
    hub.redirects["/away"] = "http://files.example/a.gguf"
    with pytest.raises(BadRequest, match="not encrypted"):
        read(connection, hub.url + "/away")


def test_a_redirect_from_outside_to_this_machine_is_not_followed() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(302, headers={"location": "http://127.0.0.1:8006/secret"})

    with HubConnection("https://hub.example") as connection:
        connection._client = httpx.Client(transport=httpx.MockTransport(answer))
        with pytest.raises(BadRequest, match="on this machine"):
            read(connection, "https://hub.example/a")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "localhost.",
        "10.0.0.1",
        "169.254.169.254",
        "192.168.1.1",
        "[::1]",
        "[fd00::1]",
        "0.0.0.0",
    ],
)
def test_a_redirect_from_outside_into_a_private_network_is_not_followed(host: str) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(302, headers={"location": f"https://{host}/secret"})

    with HubConnection("https://hub.example") as connection:
        connection._client = httpx.Client(transport=httpx.MockTransport(answer))
        with pytest.raises(BadRequest, match="not followed"):
            read(connection, "https://hub.example/a")
    assert asked == ["hub.example"]


@pytest.mark.parametrize("name", ["files.example", "xn--bcher-kva.example", "0x7f.1"])
def test_a_redirect_to_a_name_of_a_private_address_is_not_followed_and_nothing_is_sent_there(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *rest: real("127.0.0.1", *rest))
    received: list[bytes] = []

    def serve(listener: socket.socket) -> None:
        with listener.accept()[0] as client:
            received.append(client.recv(1000))

    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        HubConnection("https://hub.example") as connection,
    ):
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        away = f"https://{name}:{listener.getsockname()[1]}/secret"
        outside = httpx.MockTransport(lambda request: httpx.Response(302, headers={"location": away}))
        connection._client = httpx.Client(mounts={"https://hub.example": outside}, trust_env=False)
        with pytest.raises(BadRequest, match="not followed") as refused:
            read(connection, "https://hub.example/a")
        thread.join(10)
    assert refused.value.code == "address_refused"
    assert received == [b""]


def test_a_mirror_in_the_own_network_may_redirect_within_it() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.host == "10.0.0.1":
            return httpx.Response(302, headers={"location": "https://10.0.0.2/a"})
        return httpx.Response(200, stream=httpx.ByteStream(b"model"))

    with HubConnection("https://10.0.0.1") as connection:
        connection._client = httpx.Client(transport=httpx.MockTransport(answer))
        assert read(connection, "https://10.0.0.1/a") == b"model"


def test_a_circle_of_redirects_ends(hub: Hub, connection: HubConnection) -> None:
    hub.redirects["/round"] = "/round"
    with pytest.raises(EngineFailed, match="without end"):
        read(connection, hub.url + "/round")
    assert len(hub.requests) == connection_module.MAX_REDIRECTS + 1


@pytest.mark.parametrize("hub_address", ["http://hub.example", "hub.example", "https://a:b@hub.example", ""])
def test_a_hub_that_may_not_be_asked_is_refused_at_once(hub_address: str) -> None:
    with pytest.raises(BadRequest):
        HubConnection(hub_address)


@pytest.mark.parametrize(
    ("status", "reason", "kind", "words"),
    [
        (401, "RepoNotFound", ModelNotFound, "set HF_TOKEN"),
        (401, "", Unauthorized, "set HF_TOKEN"),
        (401, "GatedRepo", Forbidden, "licence"),
        (403, "", Forbidden, "licence"),
        (404, "EntryNotFound", ModelNotFound, "Check the spelling"),
        (404, "", ModelNotFound, "Check the spelling"),
        (429, "", Busy, "some minutes"),
        (500, "", EngineFailed, "answered 500"),
        (418, "", EngineFailed, "answered 418"),
    ],
)
def test_each_refusal_says_what_to_do(status: int, reason: str, kind: type[Problem], words: str) -> None:
    problem = refusal(status, reason, "a/b", host="hub.example", has_token=False)
    assert type(problem) is kind
    assert words in problem.message
    assert "hub.example" in problem.message


def test_a_token_that_is_not_accepted_is_told() -> None:
    assert "not accepted" in refusal(401, "", "a/b", host="hub.example", has_token=True).message


def test_what_may_pass_is_tried_again_after_the_time_the_server_asks_for(
    hub: Hub, connection: HubConnection, pauses: list[float], content: bytes
) -> None:
    hub.statuses = [(429, {"retry-after": "7"}), (503, {})]
    assert connection.with_retries(lambda: read(connection, hub.url + PATH)) == content
    assert pauses == [7.0, 2.0]


def test_every_pause_is_told(hub: Hub) -> None:
    lines: list[str] = []
    hub.statuses = [(503, {})]
    with HubConnection(hub.url, sleep=lambda seconds: None, notice=lines.append) as connection:
        connection.with_retries(lambda: read(connection, hub.url + PATH))
    assert lines == ["127.0.0.1 answered 503. Trying again in 1 s."]


def test_patience_has_an_end(hub: Hub, connection: HubConnection, pauses: list[float]) -> None:
    hub.statuses = [(500, {})] * 10
    with pytest.raises(EngineFailed, match="answered 500"):
        connection.with_retries(lambda: read(connection, hub.url + PATH))
    assert pauses == [1.0, 2.0]


def test_a_server_that_wants_an_hour_is_left_alone(
    hub: Hub, connection: HubConnection, pauses: list[float]
) -> None:
    hub.statuses = [(429, {"retry-after": "3600"})]
    with pytest.raises(Busy):
        connection.with_retries(lambda: read(connection, hub.url + PATH))
    assert pauses == []


def test_what_cannot_pass_is_not_tried_again(
    hub: Hub, connection: HubConnection, pauses: list[float]
) -> None:
    with pytest.raises(ModelNotFound):
        connection.with_retries(lambda: read(connection, hub.url + "/nothing"))
    assert (len(hub.requests), pauses) == (1, [])


def test_progress_renews_the_patience(connection: HubConnection, pauses: list[float]) -> None:
    position = 0

    def step() -> str:
        nonlocal position
        if position < 20:
            position += 1
            raise TransientFailure("Cut.", EngineFailed("Cut."))
        return "whole"

    assert connection.with_retries(step, lambda: position, attempts=2) == "whole"
    assert pauses == [1.0] * 20


@pytest.mark.parametrize(
    ("attempt", "asked", "seconds"),
    [(0, None, 1.0), (3, None, 8.0), (0, 30.0, 30.0), (0, 61.0, None), (5, None, None), (5, 1.0, None)],
)
def test_pauses_grow_and_end(attempt: int, asked: float | None, seconds: float | None) -> None:
    assert pause(attempt, asked, 6) == seconds


def test_no_network_is_one_sentence_that_says_what_else_can_be_done(pauses: list[float]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with (
        HubConnection(f"http://127.0.0.1:{port}", sleep=pauses.append) as connection,
        pytest.raises(Problem, match="cannot be reached") as raised,
    ):
        connection.with_retries(lambda: read(connection, f"http://127.0.0.1:{port}/a"))
    assert raised.value.code == "hub_unreachable"
    assert "HF_ENDPOINT" in raised.value.message


def test_a_server_that_stands_still_is_left(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.stalls = True
    monkeypatch.setattr(connection_module, "TIMEOUT", httpx.Timeout(5, read=0.1))
    with HubConnection(hub.url) as connection, pytest.raises(TransientFailure) as raised:
        read(connection, hub.url + PATH)
    assert "no answer" in raised.value.problem.message


def lets_go(connection: HubConnection, url: str) -> bool:
    """Whether a thread that reads from a server which falls silent ends when the connection is stopped."""
    ended: list[BaseException] = []
    first = threading.Event()

    def reading() -> None:
        try:
            with connection.get(url, "the file") as response:
                for _ in response.iter_raw():
                    first.set()
        except Stopped as stopped:
            ended.append(stopped)

    thread = threading.Thread(target=reading, daemon=True)
    thread.start()
    assert first.wait(60)
    connection.stop()
    thread.join(10)
    return len(ended) == 1


def test_a_connection_that_is_stopped_lets_go_of_a_silent_server_at_once(hub: Hub) -> None:
    hub.stalls = True
    with HubConnection(hub.url) as connection:
        assert lets_go(connection, hub.url + PATH)
        with pytest.raises(Stopped):
            read(connection, hub.url + PATH)


@contextmanager
def silent_over_tls(settings: Settings) -> Iterator[str]:
    """The address of an HTTPS server that sends a little of what it announced and then nothing."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*tls_files(settings))
    over = threading.Event()

    def serve(listener: socket.socket) -> None:
        with context.wrap_socket(listener.accept()[0], server_side=True) as client:
            client.recv(4096)
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome")
            over.wait(30)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        try:
            yield f"https://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            over.set()
            thread.join(10)


def test_it_lets_go_of_an_encrypted_connection_too(tmp_path: Path) -> None:
    settings = load(None, {}, {"data": str(tmp_path), "tls.enabled": True})
    with silent_over_tls(settings) as url, HubConnection(url) as connection:
        trust = trusting(settings)
        assert trust is not None
        connection._client = httpx.Client(verify=trust, trust_env=False, timeout=60)
        assert lets_go(connection, f"{url}/a.gguf")


def test_a_connection_that_is_stopped_does_not_try_again(
    connection: HubConnection, pauses: list[float]
) -> None:
    def step() -> None:
        connection.stop()
        raise TransientFailure("It broke.", EngineFailed("It broke."))

    with pytest.raises(Stopped):
        connection.with_retries(step)
    assert pauses == []


def test_the_variables_of_the_hubs_own_tools_are_understood(hub: Hub, content: bytes) -> None:
    hub.token = TOKEN
    with connect({"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN}) as connection:
        assert read(connection, hub.url + PATH) == content
    with connect({}) as connection:
        assert connection.hub == "https://huggingface.co"
