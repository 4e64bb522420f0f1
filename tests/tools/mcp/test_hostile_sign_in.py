"""Servers whose sign-in attacks: endless, slow, for another issuer, to addresses inside, with tokens of megabytes."""

import json
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest
from tests.tools.fakes import Rows, until
from tests.tools.servers.hostile_site import Site, endless, head, page, silence, site

from duologue.config import Settings
from duologue.errors import BadRequest
from duologue.tools.mcp import bounded_http
from duologue.tools.mcp.login import AuthorizationResponse
from duologue.tools.toolbox import Toolbox

pytestmark = pytest.mark.anyio

BACK = "http://127.0.0.1:8006/api/mcp/oauth/callback"
MB = 1024 * 1024
RESOURCE = "GET /.well-known/oauth-protected-resource/mcp"
METADATA = "GET /.well-known/oauth-authorization-server"
TOKEN = {"access_token": "t" * 20, "token_type": "Bearer", "expires_in": 3600}


def metadata(served: Site, **other):
    paths = {
        f"{name}_endpoint": f"{served.url}/{name}" for name in ("authorization", "token", "registration")
    }
    return {"issuer": served.url, "response_types_supported": ["code"]} | paths | other


async def _register(request):
    yield head(201) + json.dumps({"client_id": "c", **request.message}).encode()


def guarded(served: Site):
    """Make `served` ask for a sign-in, which works unless a test changes a page."""
    inside = served.pages["POST /mcp"]

    async def door(request):
        if request.headers.get("authorization") == f"Bearer {TOKEN['access_token']}":
            async for piece in inside(request):
                yield piece
        else:
            yield head(401)

    resource = {"resource": f"{served.url}/mcp", "authorization_servers": [served.url]}
    served.pages |= {
        "POST /mcp": door,
        RESOURCE: page(resource),
        METADATA: page(metadata(served)),
        "POST /registration": _register,
        "POST /token": page(TOKEN),
    }


@asynccontextmanager
async def toolbox(served: Site, rows: Rows | None = None):
    settings = {"mcp": {"servers": {"web": {"url": f"{served.url}/mcp", "type": "http"}}, "connect_s": 20}}
    box = Toolbox(Settings.model_validate(settings), rows or Rows(), now=lambda: 0)
    async with box.running():
        await (await box.registry.connection("web", "ann")).wait_for_attempt()
        yield box


async def begin(box):
    """The health after a sign-in was begun: with an address to open, or with the reason why there is none."""
    with anyio.fail_after(60):
        return await box.registry.sign_in("web", "ann", BACK)


async def come_back(box, begun, **answer):
    state = parse_qs(urlsplit(begun.login).query)["state"][-1]
    await box.registry.complete_sign_in(AuthorizationResponse("code", state, **answer))
    connection = await box.registry.connection("web", "ann")
    with anyio.fail_after(60):
        await until(lambda: connection.phase == "ready" or "failed" in connection.message)
    return connection


async def test_a_sign_in_that_plays_by_the_rules_works():
    async with site() as served:
        guarded(served)
        async with toolbox(served) as box:
            begun = await begin(box)
            assert begun.phase == "login"
            assert (await come_back(box, begun)).phase == "ready"
            with pytest.raises(BadRequest):
                await come_back(box, begun)
        asked = next(parse_qs(request.body.decode()) for request in served.seen if request.path == "/token")
        assert len(asked["code_verifier"][0]) >= 43


HUGE = endless(head(), b'{"a":"' + b"x" * MB)
VALUES = endless(head() + b'{"a":[', b"0," * 100_000)


@pytest.mark.parametrize("answer", [HUGE, VALUES], ids=["huge", "values"])
@pytest.mark.parametrize("where", [RESOURCE, METADATA, "POST /registration"])
async def test_what_describes_a_sign_in_is_bounded(where, answer):
    async with site() as served:
        guarded(served)
        served.pages[where] = answer
        async with toolbox(served) as box:
            begun = await begin(box)
            assert begun.login == ""
            assert begun.message
        assert served.sent < 10 * MB


@pytest.mark.parametrize("answer", [silence, endless(head(), b" ", 0.05)], ids=["silent", "drip"])
@pytest.mark.parametrize("where", [METADATA, "POST /registration"])
async def test_a_slow_sign_in_is_given_up(where, answer, monkeypatch):
    monkeypatch.setattr(bounded_http, "ANSWER_SECONDS", 0.3)
    async with site() as served:
        guarded(served)
        served.pages[where] = answer
        async with toolbox(served) as box:
            begun = await begin(box)
            assert begun.login == ""
            assert begun.phase == "waiting"


async def test_a_sign_in_for_another_issuer_is_refused():
    async with site() as served:
        guarded(served)
        served.pages[METADATA] = page(metadata(served, issuer="https://bank.example"))
        async with toolbox(served) as box:
            begun = await begin(box)
            assert begun.login == ""
            assert "issuer" in begun.message


async def test_an_answer_of_another_issuer_is_refused():
    async with site() as served:
        guarded(served)
        async with toolbox(served) as box:
            connection = await come_back(box, await begin(box), issuer="https://bank.example")
            assert "iss mismatch" in connection.message
        assert not [request for request in served.seen if request.path == "/token"]


@pytest.mark.parametrize("address", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x"])
async def test_nobody_is_sent_to_a_script_or_a_file(address):
    async with site() as served:
        guarded(served)
        served.pages[METADATA] = page(metadata(served, authorization_endpoint=address))
        async with toolbox(served) as box:
            assert not (await begin(box)).login.startswith(address[:5])


async def test_a_sign_in_does_not_lead_to_addresses_inside():
    """An added server that may be reached names a sign-in that may not."""
    async with site() as served, site() as inside:
        guarded(served)
        other = f"http://localhost:{inside.port}"
        resource = {"resource": f"{served.url}/mcp", "authorization_servers": [other]}
        served.pages[RESOURCE] = page(resource)
        settings = {"tools": {"private_addresses": ["127.0.0.1/32"]}, "mcp": {"connect_s": 20}}
        box = Toolbox(Settings.model_validate(settings), Rows(), now=lambda: 0)
        box.registry._addresses._resolve = _inside
        async with box.running():
            config = {"url": f"{served.url}/mcp", "type": "http"}
            await box.registry.add("web", config, user="ann", keyed=True)
            await (await box.registry.connection("web", "ann")).wait_for_attempt()
            begun = await begin(box)
            assert begun.login == ""
        assert inside.seen == []


async def _inside(host, port):
    return ["10.0.0.1"]


TOKENS = {
    "long": page(TOKEN | {"access_token": "t" * 500_000}),
    "endless": HUGE,
    "values": VALUES,
    "for ever": page(TOKEN | {"expires_in": 10**400}),
    "no object": page([1]),
    "redirect": page({}, 307, location="http://169.254.169.254/latest/meta-data"),
}


@pytest.mark.parametrize("what", TOKENS)
async def test_a_hostile_token_ends_the_sign_in_and_nothing_else(what):
    rows = Rows()
    async with site() as served:
        guarded(served)
        served.pages["POST /token"] = TOKENS[what]
        async with toolbox(served, rows) as box:
            connection = await come_back(box, await begin(box))
            assert connection.phase == "login"
            assert "tokens" not in rows.saved_tokens.get(("web", "ann"), {})


async def test_a_token_that_never_comes_is_given_up(monkeypatch):
    async with site() as served:
        guarded(served)
        served.pages["POST /token"] = endless(head(), b" ", 0.05)
        async with toolbox(served) as box:
            begun = await begin(box)
            monkeypatch.setattr(bounded_http, "ANSWER_SECONDS", 0.3)
            assert (await come_back(box, begun)).phase == "login"
