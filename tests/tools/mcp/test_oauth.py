"""Signing in at a real server on loopback, made with the SDK's own server side."""

import time
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import pytest
from tests.tools.fakes import Person, Rows, until
from tests.tools.servers import npm

from duologue.config import Settings
from duologue.tools.mcp.login import AuthorizationResponse, McpLogin
from duologue.tools.mcp.oauth import TokenStorage, provider
from duologue.tools.toolbox import Toolbox
from duologue.values.conversations import GenerationOptions

pytestmark = pytest.mark.anyio
BACK = "http://127.0.0.1:8006/api/mcp/oauth/callback"


@asynccontextmanager
async def toolbox(port, rows):
    box = Toolbox(
        Settings.model_validate({"mcp": {"servers": {"web": {"url": f"http://127.0.0.1:{port}/mcp"}}}}),
        rows,
        now=lambda: int(time.time() * 1000),
    )
    async with box.running():
        await (await box.registry.connection("web", "ann")).wait_for_attempt()
        yield box


async def sign_in(box, user="ann", back=BACK):
    """As a browser does it: open the address, come back with what the server says."""
    begun = await box.registry.sign_in("web", user, back)
    assert begun.phase == "login"
    async with httpx.AsyncClient() as browser:
        away = await browser.get(begun.login)
    assert away.headers["location"].startswith(back)
    response = parse_qs(urlsplit(away.headers["location"]).query)
    await box.registry.complete_sign_in(
        AuthorizationResponse(response["code"][0], response["state"][0], response.get("iss", [None])[0])
    )
    connection = await box.registry.connection("web", user)
    await until(lambda: connection.phase == "ready")
    return begun.login


async def secret(box, user="ann"):
    connection = await box.registry.connection("web", user)
    await connection.wait_for_attempt()
    offer = await box.offer(user, GenerationOptions())
    tools = [tool for tool in offer.tools if tool.tool == "secret"]
    if not tools:
        return offer.left_out[0].reason
    person = Person()
    outcome = await box.call_tool(
        tools[0], "{}", user=user, conversation="", report=person.report, ask=person.ask, keep=person.keep
    )
    return outcome.content[0].text


async def test_signing_in_registers_proves_itself_and_lets_one_person_in():
    rows = Rows()
    with npm.listening(npm.ours("guarded")) as port:
        async with toolbox(port, rows) as box:
            assert await secret(box) == "You need to sign in to this server first."
            address = await sign_in(box)
            asked = parse_qs(urlsplit(address).query)
            assert asked["code_challenge_method"] == ["S256"]
            assert asked["redirect_uri"] == [BACK]
            assert len(asked["state"][0]) > 20
            assert await secret(box) == "a secret for Ann"
            assert await secret(box, "bob") == "You need to sign in to this server first."
            lines = "\n".join(line.text for line in await box.log("web", "ann"))
            assert rows.saved_tokens["web", "ann"]["tokens"]["access_token"] not in lines


async def test_after_a_restart_nobody_is_asked_and_an_old_token_is_refreshed():
    rows = Rows()
    with npm.listening(npm.ours("guarded"), TOKEN_SECONDS="3600") as port:
        async with toolbox(port, rows) as box:
            await sign_in(box)
        # The token has ended meanwhile, as far as we know.
        row = rows.saved_tokens["web", "ann"]
        first = row["tokens"]["access_token"]
        row["expires"] = 1.0
        async with toolbox(port, rows) as box:
            await secret(box)
            assert await secret(box) == "a secret for Ann"
        assert rows.saved_tokens["web", "ann"]["tokens"]["access_token"] != first


async def test_tokens_the_server_no_longer_knows_lead_back_to_the_sign_in():
    rows = Rows()
    rows.saved_tokens["web", "ann"] = {"tokens": {"access_token": "gone", "token_type": "Bearer"}}
    with npm.listening(npm.ours("guarded")) as port:
        async with toolbox(port, rows) as box:
            await secret(box)
            connection = await box.registry.connection("web", "ann")
            await until(lambda: connection.phase == "login")
            await sign_in(box)
            assert await secret(box) == "a secret for Ann"


async def test_under_another_address_of_ours_the_registration_is_made_anew():
    rows = Rows()
    with npm.listening(npm.ours("guarded")) as port:
        async with toolbox(port, rows) as box:
            await sign_in(box)
            first = rows.saved_tokens["web", "ann"]["client"]["client_id"]
            await box.registry.sign_out("web", "ann")
            await sign_in(box, back="https://duologue.lan:8006/api/mcp/oauth/callback")
            assert rows.saved_tokens["web", "ann"]["client"]["client_id"] != first


async def test_what_is_kept_and_cannot_be_read_is_as_if_there_was_nothing():
    rows = Rows()
    rows.saved_tokens["web", "ann"] = {"tokens": {"nonsense": 1}, "client": {}, "metadata": 5}
    storage = TokenStorage(rows, "web", "ann", BACK)
    assert await storage.get_tokens() is None
    assert await storage.get_client_info() is None
    assert storage.metadata is None


@pytest.mark.parametrize("seconds", [3600, -3600])
async def test_a_refresh_that_another_gateway_has_done_already_is_as_good(seconds):
    rows = Rows()
    token = {"token_type": "Bearer", "expires_in": 3600}
    client = {"client_id": "us", "redirect_uris": [BACK]}
    first = token | {"access_token": "old", "refresh_token": "once"}
    rows.saved_tokens["web", "ann"] = {"tokens": first, "client": client, "expires": 1.0}
    signing_in = provider("http://127.0.0.1:1/mcp", "web", McpLogin("ann", BACK, interactive=False), rows)
    flow = signing_in.async_auth_flow(httpx2.Request("POST", "http://127.0.0.1:1/mcp"))
    refresh = await anext(flow)
    assert b"refresh_token=once" in refresh.content
    # The other gateway was faster, and its answer is stored; the later one is refused.
    second = token | {"access_token": "new", "refresh_token": "twice"}
    rows.saved_tokens["web", "ann"] |= {"tokens": second, "expires": time.time() + seconds}
    request = await flow.asend(httpx2.Response(400, request=refresh))
    assert request.headers.get("authorization") == ("Bearer new" if seconds > 0 else None)
    await flow.aclose()
