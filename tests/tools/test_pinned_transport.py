import http.server
import threading
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from duologue.errors import Forbidden
from duologue.tools.pinned_transport import checked_transport
from duologue.tools.ssrf_guard import AddressGuard, AllowList

pytestmark = pytest.mark.anyio


@contextmanager
def site(pages):
    """A web server on loopback: path -> (status, headers, body). Gives its port and the requests it got."""
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, dict(self.headers)))
            status, headers, body = pages.get(self.path, (404, {}, b""))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.server_port, seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def pointing(*answers, allowed=("127.0.0.0/8",)):
    """AddressGuard by a resolver that gives one answer after the other, then the last one again."""
    left = list(answers)

    async def resolve(host, port):
        return left.pop(0) if len(left) > 1 else left[0]

    return AddressGuard(AllowList(allowed), resolve)


async def test_a_request_goes_to_the_checked_address_under_the_hosts_name():
    with site({"/": (200, {}, b"hello")}) as (port, seen):
        async with httpx2.AsyncClient(transport=checked_transport(pointing(["127.0.0.1"]))) as client:
            answer = await client.get(f"http://page.example:{port}/")
        assert answer.text == "hello"
        assert str(answer.request.url) == f"http://page.example:{port}/"
        ((_, headers),) = seen
        assert {name.lower(): value for name, value in headers.items()}["host"] == f"page.example:{port}"


async def test_a_private_address_is_refused_before_anything_is_sent():
    with site({}) as (port, seen):
        transport = checked_transport(pointing(["127.0.0.1"], allowed=()))
        async with httpx2.AsyncClient(transport=transport) as client:
            with pytest.raises(Forbidden):
                await client.get(f"http://page.example:{port}/")
        assert seen == []


async def test_a_name_that_moves_inside_is_caught_at_the_next_request():
    with site({"/": (200, {}, b"")}) as (port, seen):
        addresses = pointing(["127.0.0.1"], ["10.0.0.1"])
        async with httpx2.AsyncClient(transport=checked_transport(addresses)) as client:
            await client.get(f"http://page.example:{port}/")
            with pytest.raises(Forbidden):
                await client.get(f"http://page.example:{port}/")
        assert len(seen) == 1


async def test_two_names_never_share_a_connection():
    transport: Any = checked_transport(pointing(["127.0.0.1"]))
    with site({"/": (200, {}, b"")}) as (port, _):
        async with httpx2.AsyncClient(transport=transport) as client:
            for host in ("a.example", "b.example", "a.example"):
                await client.get(f"http://{host}:{port}/")
            assert len(transport._by_host) == 2
