"""Web servers that attack who connects to them: endless, slow, compressed and redirecting answers."""

import gzip
import json

import anyio
import pytest
from tests.tools.fakes import Person
from tests.tools.servers.hostile_site import Site, endless, head, page, silence, site
from tests.tools.servers.talk import open_talk

from duologue.errors import Problem
from duologue.tools.mcp import bounded_http
from duologue.tools.mcp.bounded_http import COOKIES
from duologue.tools.mcp.call_context import SessionLost
from duologue.tools.mcp.message_bounds import PARTS

pytestmark = pytest.mark.anyio

SSE = head(kind="text/event-stream")
MB = 1024 * 1024


def talk_with(served: Site, **more):
    return open_talk("web", url=f"{served.url}/mcp", type="http", **more)


async def reason(served, **more):
    """Why the lists cannot be read. The session must end or answer by itself, without a time limit of the caller."""
    try:
        with anyio.fail_after(60):
            async with talk_with(served, **more) as talk:
                await talk.session.listing()
    except (Problem, SessionLost) as failed:
        return str(failed)
    return "none"


ENDLESS = {
    "JSON": endless(head(), b'{"a":"' + b"x" * MB),
    "numbers": endless(head() + b'{"a":[', b"0," * 100_000),
    "an event": endless(SSE, b"data: " + b"x" * MB),
    "comments": endless(SSE, b": ping\n" * 20_000),
    "lines of one event": endless(SSE, b"data: x\n" * 20_000),
}


@pytest.mark.parametrize("what", ENDLESS)
async def test_an_answer_without_end_is_given_up(what):
    async with site() as served:
        served.answers["tools/list"] = ENDLESS[what]
        assert await reason(served) != "none"
        assert served.sent < 40 * MB


async def test_what_was_too_much_is_said():
    async with site() as served:
        served.answers["tools/list"] = ENDLESS["JSON"]
        assert "more than 16 MB" in await reason(served)
        served.answers["tools/list"] = ENDLESS["numbers"]
        assert f"more than {PARTS:,} values" in await reason(served)


async def test_a_result_that_is_too_large_fails_its_call_alone():
    async with site() as served:
        served.answers["tools/call"] = ENDLESS["JSON"]
        async with talk_with(served) as talk:
            person = Person()
            outcome = await talk.session.call_tool("go", {}, person.context("go"), person.keep)
            assert outcome.failed
            assert "more than 16 MB" in outcome.content[0].text
            assert (await talk.session.listing()).tools


async def test_a_compressed_answer_is_refused():
    async def bomb(request):
        assert request.headers["accept-encoding"] == "identity"
        yield head(content_encoding="gzip") + gzip.compress(bytes(100 * MB))

    async with site() as served:
        served.answers["tools/list"] = bomb
        assert "compressed" in await reason(served)


async def test_a_storm_of_events_before_the_answer_does_no_harm():
    async def storm(request):
        yield SSE
        note = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        yield f"data: {json.dumps(note)}\n\n".encode() * 5000
        result = {"tools": [{"name": "go", "inputSchema": {"type": "object"}}]}
        yield f"data: {json.dumps({'jsonrpc': '2.0', 'id': request.message['id'], 'result': result})}\n\n".encode()

    async with site() as served:
        served.answers["tools/list"] = storm
        async with talk_with(served) as talk:
            assert [tool.name for tool in (await talk.session.listing()).tools] == ["go"]


DRIP = endless(b"HTTP/1.1 200 x\r\nx: ", b"a", 0.05)


@pytest.mark.parametrize("slow", [silence, DRIP], ids=["silent", "drip"])
async def test_a_session_closes_though_the_server_does_not_confirm_it(slow, monkeypatch):
    monkeypatch.setattr(bounded_http, "ANSWER_SECONDS", 0.3)
    async with site() as served:
        served.pages["DELETE /mcp"] = slow
        with anyio.fail_after(30):
            async with talk_with(served) as talk:
                await talk.session.listing()
        assert [request.method for request in served.seen].count("DELETE") == 1


@pytest.mark.parametrize("slow", [silence, DRIP], ids=["silent", "drip"])
async def test_a_server_that_does_not_confirm_a_notification_loses_its_session(slow, monkeypatch):
    monkeypatch.setattr(bounded_http, "ANSWER_SECONDS", 0.3)
    async with site() as served:
        served.answers["notifications/initialized"] = slow
        assert await reason(served) != "none"


REDIRECTS = [
    "http://127.0.0.1:1/",
    "file:///etc/passwd",
    "http://169.254.169.254/latest",
    "//localhost/mcp",
    "\x7f",
]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_never_leaves_the_server(status):
    async with site() as served, site() as other:
        for target in [f"{other.url}/mcp", *REDIRECTS]:
            served.answers["tools/list"] = page({}, status, location=target)
            assert await reason(served, headers={"Authorization": "Bearer secret-secret"}) != "none"
        assert other.seen == []


async def test_a_redirect_in_circles_ends():
    async with site() as served:
        served.pages["POST /again"] = page({}, 307, location="/again")
        served.answers["tools/list"] = page({}, 307, location="/again")
        assert await reason(served) != "none"
        assert len(served.seen) < 60


async def test_cookies_do_not_pile_up():
    async with site() as served:
        numbers = iter(range(10_000))

        async def listed(request):
            fresh = "".join(f"set-cookie: c{next(numbers)}=1\r\n" for _ in range(40))
            result = {"tools": [{"name": "go", "inputSchema": {"type": "object"}}]}
            body = json.dumps({"jsonrpc": "2.0", "id": request.message["id"], "result": result})
            yield head()[:-2] + fresh.encode() + b"\r\n" + body.encode()

        served.answers["tools/list"] = listed
        async with talk_with(served) as talk:
            for _ in range(5):
                await talk.session.listing()
        assert max(request.headers.get("cookie", "").count("=") for request in served.seen) <= COOKIES
