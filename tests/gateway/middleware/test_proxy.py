"""A request as it would have come without proxy and base path."""

from typing import Any

import pytest
from starlette.requests import Request

from duologue.gateway.middleware.forwarded import Proxies
from duologue.gateway.middleware.proxy import ProxyMiddleware, base_of

pytestmark = pytest.mark.anyio

HTML: dict[str, Any] = {"accept": "text/html"}
PROXY = "10.0.0.1"


async def came(
    path: str,
    base: str = "",
    *,
    peer: str = PROXY,
    kind: str = "http",
    method: str = "GET",
    query: bytes = b"",
    **headers: Any,
) -> tuple[dict[str, Any] | None, list[Any]]:
    """The scope as it went on, None where it did not, and what was answered."""
    gone: list[Any] = []
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        gone.append(scope)

    async def receive() -> dict[str, str]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope: dict[str, Any] = {
        "type": kind,
        "path": path,
        "query_string": query,
        "scheme": "ws" if kind == "websocket" else "http",
        "client": (peer, 4711),
        "headers": [
            (b"host", b"inner"),
            *((n.replace("_", "-").encode(), v.encode()) for n, v in headers.items()),
        ],
    }
    if kind == "http":
        scope["method"] = method
    await ProxyMiddleware(app, base, Proxies([PROXY]))(scope, receive, send)
    return (gone[0] if gone else None), sent


async def test_the_base_is_taken_off_and_told_to_who_names_our_addresses():
    scope, _ = await came("/talk/api/session", "/talk")
    assert scope is not None
    assert (scope["path"], base_of(scope), scope["app_root_path"]) == ("/api/session", "/talk", "/talk")
    assert "root_path" not in scope


async def test_without_a_base_nothing_changes():
    scope, _ = await came("/api/session", peer="192.0.2.1", x_forwarded_host="evil.example")
    assert scope is not None
    assert (scope["path"], base_of(scope), scope["scheme"]) == ("/api/session", "", "http")
    assert (scope["client"], dict(scope["headers"])[b"host"]) == (("192.0.2.1", 4711), b"inner")


async def test_what_a_believed_proxy_says_is_the_request():
    scope, _ = await came(
        "/x", x_forwarded_for="203.0.113.7", x_forwarded_proto="https", x_forwarded_host="chat.example"
    )
    assert scope is not None
    assert (scope["client"][0], scope["scheme"]) == ("203.0.113.7", "https")
    assert [value for name, value in scope["headers"] if name == b"host"] == [b"chat.example"]


async def test_addresses_of_ours_are_made_as_the_browser_knows_them():
    told: dict[str, Any] = {"x_forwarded_proto": "https", "x_forwarded_host": "chat.example"}
    cases: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("/talk/x", "/talk", {}),
        ("/x", "", {"x_forwarded_prefix": "/talk"}),
    )
    for path, base, prefix in cases:
        scope, _ = await came(path, base, **told, **prefix)
        assert scope is not None
        assert str(Request(scope).base_url) == "https://chat.example/talk/"


async def test_a_socket_that_came_by_https_is_a_secure_one():
    scope, _ = await came("/ws/chat", kind="websocket", x_forwarded_proto="https")
    assert scope is not None
    assert scope["scheme"] == "wss"


@pytest.mark.parametrize(
    ("path", "location"), [("/", b"a/talk/"), ("/a/talk", b"talk/"), ("/a/talk?x=1", b"talk/?x=1")]
)
async def test_a_browser_is_led_to_the_page(path, location):
    path, _, query = path.partition("?")
    scope, sent = await came(path, "/a/talk", query=query.encode(), **HTML)
    assert scope is None
    assert (sent[0]["status"], dict(sent[0]["headers"])[b"location"]) == (308, location)


async def test_a_program_at_the_root_is_told_the_base():
    _, sent = await came("/", "/talk", accept="application/json")
    assert sent[0]["status"] == 404
    assert b"this server answers under /talk/" in sent[1]["body"]


@pytest.mark.parametrize(("method", "path"), [("GET", "/health"), ("POST", "/"), ("POST", "/talk")])
async def test_what_is_outside_is_told_the_base(method, path):
    _, sent = await came(path, "/talk", method=method, **HTML)
    assert sent[0]["status"] == 404
    assert b"not_found" in sent[1]["body"]


async def test_a_socket_outside_is_refused():
    _, sent = await came("/ws/chat", "/talk", kind="websocket")
    assert sent[0]["type"] == "websocket.close"
