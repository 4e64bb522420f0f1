"""Host and Origin under attack: foreign names, foreign pages, garbled headers."""

import socket
from typing import Any, cast

import anyio
import httpx
import pytest
from tests.gateway.middleware.served_app import ALLOWED, application
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from duologue.errors import StartFailed
from duologue.gateway.middleware.forwarded import Proxies
from duologue.gateway.middleware.host_check import (
    AllowedHosts,
    Authority,
    Origin,
    machine_names,
    parse_authority,
    parse_origin,
)
from duologue.gateway.middleware.stack import with_middleware


async def ask(port: int, raw: bytes) -> tuple[int, bytes]:
    """Send bytes as they are; the status and everything that came back."""
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        await stream.send(raw)
        answer = b""
        with anyio.move_on_after(10):
            while True:
                try:
                    answer += await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    break
    return int(answer.split(b" ", 2)[1]), answer


def request_of(host: str | None, *more: str) -> bytes:
    lines = ["GET /hello/you HTTP/1.1", "Connection: close", *more]
    if host is not None:
        lines.append(f"Host: {host}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:1",
        "localhost.",
        "127.0.0.1:8006",
        "192.168.1.7",
        "[::1]:8006",
        "[fe80::1]",
        "chat.example",
        "Chat.Example.:443",
        f"{socket.gethostname()}:8006",
        f"{socket.gethostname().partition('.')[0]}.local",
    ],
)
async def test_our_names_and_addresses_come_in(port, host):
    assert (await ask(port, request_of(host)))[0] == 200


@pytest.mark.anyio
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "chat.example.evil.example",
        "xchat.example",
        "127.0.0.1.evil.example",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "user@localhost",
        "localhost:8006:8006",
        "localhost:99999",
        "localhost:",
        "localhost/evil.example",
        "evil.example#localhost",
        "::1",
        "[localhost]",
        "[::1",
        "",
        "loc\xe4lhost",
    ],
)
async def test_foreign_and_garbled_names_are_refused(port, host):
    status, answer = await ask(port, request_of(host))
    assert status == 403
    assert b"host_refused" in answer


@pytest.mark.anyio
async def test_a_request_without_host_or_with_two_is_refused(port):
    http_1_0 = b"GET /hello/you HTTP/1.0\r\n\r\n"
    assert (await ask(port, http_1_0))[0] == 403
    assert (await ask(port, request_of("localhost", "Host: evil.example")))[0] in (400, 403)


@pytest.mark.anyio
async def test_a_refused_name_is_told_how_to_allow_it(port):
    _, answer = await ask(port, request_of("home.example"))
    assert b"start the server with --host-name home.example" in answer


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8006", "http://localhost:8006"),
        ("chat.example", "http://chat.example"),
        ("chat.example", "http://chat.example:80"),
        ("[::1]:8006", "http://[::1]:8006"),
        ("127.0.0.1:8006", "https://friend.example"),
        ("127.0.0.1:8006", "HTTPS://friend.example:443"),
    ],
)
async def test_our_own_page_and_listed_origins_come_in(port, host, origin):
    assert (await ask(port, request_of(host, f"Origin: {origin}")))[0] == 200


@pytest.mark.anyio
@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.example",
        "https://localhost:8006",
        "http://localhost:8007",
        "http://localhost",
        "http://127.0.0.1:8006",
        "http://localhost:8006.evil.example",
        "http://localhost:8006/",
        "http://user@localhost:8006",
        "http://friend.example",
        "https://friend.example.evil.example",
        "chrome-extension://abc",
        "file://",
    ],
)
async def test_foreign_origins_are_refused(port, origin):
    status, answer = await ask(port, request_of("localhost:8006", f"Origin: {origin}"))
    assert status == 403
    assert b"origin_refused" in answer


@pytest.mark.anyio
async def test_a_page_behind_a_proxy_nobody_named_is_told_what_to_name(port):
    status, answer = await ask(port, request_of("chat.example", "Origin: https://chat.example"))
    assert status == 403
    assert b"--proxy" in answer
    assert b"origin_refused" in answer
    assert b"--proxy" not in (await ask(port, request_of("chat.example", "Origin: https://evil.example")))[1]


@pytest.mark.anyio
async def test_a_frame_without_an_origin_may_load_what_draws_in_it_and_nothing_else(port):
    null = request_of("localhost:8006", "Origin: null")
    assert (await ask(port, null.replace(b"/hello/you", b"/preview/drawing.js")))[0] == 404
    assert (await ask(port, null.replace(b"/hello/you", b"/preview")))[0] == 403
    assert (await ask(port, null.replace(b"GET /hello/you", b"POST /preview/drawing.js")))[0] == 403
    foreign = request_of("localhost:8006", "Origin: http://evil.example")
    assert (await ask(port, foreign.replace(b"/hello/you", b"/preview/drawing.js")))[0] == 403


@pytest.mark.anyio
async def test_two_origins_are_refused(port):
    own = "Origin: http://localhost:8006"
    assert (await ask(port, request_of("localhost:8006", own, own)))[0] == 403


@pytest.mark.anyio
async def test_a_foreign_page_gets_no_permission_to_read(port):
    _, answer = await ask(port, request_of("localhost:8006", "Origin: http://evil.example"))
    assert b"access-control-allow-origin" not in answer


@pytest.mark.anyio
async def test_a_listed_origin_may_read_and_is_answered_its_preflight(port):
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
        origin = {"Origin": "https://friend.example"}
        shared = await http.get("/hello/you", headers=origin)
        assert shared.headers["access-control-allow-origin"] == "https://friend.example"
        assert "origin" in shared.headers["vary"].lower()
        wanted = {
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, duologue-build",
        }
        preflight = await http.options("/v1/echo", headers=origin | wanted)
        assert preflight.status_code == 204
        assert preflight.headers["access-control-allow-headers"] == "authorization, duologue-build"
        assert "POST" in preflight.headers["access-control-allow-methods"]
        foreign = await http.options("/v1/echo", headers={"Origin": "http://evil.example"} | wanted)
        assert foreign.status_code == 403


@pytest.mark.anyio
@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}],
    ids=["host", "origin", "null"],
)
async def test_a_socket_from_elsewhere_is_refused_before_it_opens(port, headers):
    # The client library writes Host itself, so this handshake is written by hand.
    fields = {"Host": f"127.0.0.1:{port}", "Upgrade": "websocket", "Connection": "Upgrade"} | headers
    fields |= {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    status, answer = await ask(port, f"GET /ws HTTP/1.1\r\n{lines}\r\n".encode())
    assert status == 403
    assert b"refused" in answer
    assert b"x-request-id" in answer.lower()


@pytest.mark.anyio
async def test_a_socket_of_another_port_of_this_machine_is_refused(port):
    with pytest.raises(InvalidStatus) as refused:
        async with connect(
            f"ws://127.0.0.1:{port}/ws", origin=cast(Any, "http://127.0.0.1:3000"), proxy=None
        ):
            pass
    assert refused.value.response.status_code == 403


def test_authorities_are_read_as_urls_write_them():
    assert parse_authority("Host.Example:80") == Authority("host.example", 80)
    assert parse_authority("[::1]") == Authority("::1", None)
    assert parse_authority("a b") is None


def test_origins_get_the_port_of_their_scheme():
    assert parse_origin("https://a.example") == Origin("https", "a.example", 443)
    assert parse_origin("ftp://a.example") is None


def test_a_machine_goes_by_its_name_and_its_local_name(monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "Box.lan")
    assert machine_names() == {"box.lan", "box", "box.local"}


@pytest.mark.parametrize(
    ("names", "origins", "setting"),
    [
        (["a:80"], [], "host_names"),
        (["*"], [], "host_names"),
        ([], ["*"], "allow_origins"),
        ([], ["a.b"], "allow_origins"),
    ],
)
def test_a_setting_that_names_no_host_or_origin_stops_the_start(names, origins, setting):
    with pytest.raises(StartFailed) as stopped:
        AllowedHosts(names, origins)
    assert stopped.value.param == setting


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("peer", "host", "status"),
    [
        ("127.0.0.1", "evil.example", 403),
        ("::1", "evil.example", 403),
        ("127.0.0.1", "127.0.0.1:8006", 200),
        ("127.0.0.1", "chat.example", 200),
        ("10.0.0.1", "backend:8006", 200),
    ],
    ids=[
        "a-page",
        "a-page-by-the-other-protocol",
        "a-proxy-here",
        "one-that-keeps-the-name",
        "a-proxy-elsewhere",
    ],
)
async def test_a_page_at_this_machine_does_not_come_in_by_speaking_like_the_proxy_on_it(peer, host, status):
    app = with_middleware(application(), ALLOWED, proxies=Proxies(["127.0.0.1", "::1", "10.0.0.1"]))
    transport = httpx.ASGITransport(app, client=(peer, 4711))
    told = {"Host": host, "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Host": "chat.example"}
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        assert (await http.get("/hello/you", headers=told)).status_code == status


def browser(site: str, mode: str, dest: str) -> tuple[str, ...]:
    """What browsers say about why they send a request."""
    return (f"Sec-Fetch-Site: {site}", f"Sec-Fetch-Mode: {mode}", f"Sec-Fetch-Dest: {dest}")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("fields", "status"),
    [
        (browser("cross-site", "no-cors", "image"), 403),
        (browser("cross-site", "no-cors", "script"), 403),
        (browser("cross-site", "no-cors", "style"), 403),
        (browser("cross-site", "no-cors", "empty"), 403),
        (browser("cross-site", "cors", "font"), 403),
        (browser("cross-site", "navigate", "iframe"), 403),
        (browser("cross-site", "navigate", "embed"), 403),
        (browser("cross-site", "navigate", "object"), 403),
        (("Sec-Fetch-Site: cross-site",), 403),
        (browser("cross-site", "navigate", "document"), 200),
        (browser("cross-site", "same-origin", "empty"), 200),
        (browser("same-site", "no-cors", "image"), 200),
        (browser("same-origin", "no-cors", "image"), 200),
        (browser("none", "navigate", "document"), 200),
        ((*browser("cross-site", "cors", "empty"), "Origin: https://friend.example"), 200),
    ],
)
async def test_other_sites_may_link_here_and_load_nothing(port, fields, status):
    assert (await ask(port, request_of("localhost", *fields)))[0] == status


@pytest.mark.anyio
async def test_a_form_of_another_site_is_refused_without_an_origin_too(port):
    fields = browser("cross-site", "navigate", "document")
    request = request_of("localhost", *fields).replace(b"GET /hello/you", b"POST /v1/echo")
    assert (await ask(port, request))[0] == 403


@pytest.mark.anyio
async def test_files_of_the_preview_are_for_frames_without_an_origin(port):
    fields = browser("cross-site", "no-cors", "script")
    request = request_of("localhost", *fields).replace(b"/hello/you", b"/preview/frame.js")
    assert (await ask(port, request))[0] == 404
