"""Two gateways over one PostgreSQL: what an admin changes at one holds at the other without a restart."""

from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import uuid4

import anyio
import httpx
import pytest
from tests.e2e.conftest import Server
from tests.support.store_fixtures import drop_schema, make_schema
from tests.support.tiny_model import TinyModel, write_tiny_model

pytestmark = [pytest.mark.system, pytest.mark.anyio]


@pytest.fixture
async def gateways(tmp_path, anyio_backend) -> AsyncIterator[tuple[Server, Server]]:
    name = f"changes_{uuid4().hex}"
    url = await make_schema(name)
    servers = []
    try:
        for each in ("one", "two"):
            folder = tmp_path / each
            (folder / "data" / "models").mkdir(parents=True)
            write_tiny_model(folder / "data" / "models" / "tiny.gguf", TinyModel())
            servers.append(Server(folder, "--engine", "scripted", DUOLOGUE_DATABASE=url))
        yield servers[0].ready(), servers[1].ready()
    finally:
        for server in servers:
            server.process.kill()
            server.process.wait(30)
        await drop_schema(name)


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    with anyio.fail_after(60):
        while not await true():  # noqa: ASYNC110 - the servers are other processes
            await anyio.sleep(0.05)


async def chat(client: httpx.AsyncClient) -> httpx.Response:
    await client.post("/api/conversations", json={"id": "c"})
    content = [{"type": "text", "text": "hello"}]
    body = {"verb": "send", "run": uuid4().hex, "message": {"id": uuid4().hex, "content": content}}
    return await client.post("/api/conversations/c/runs", json=body)


async def test_a_mode_that_is_switched_off_at_one_gateway_is_refused_at_the_other(gateways):
    one, two = gateways
    async with (
        httpx.AsyncClient(base_url=one.url, timeout=60) as at_one,
        httpx.AsyncClient(base_url=two.url, timeout=60) as at_two,
    ):

        async def refused() -> bool:
            return (await chat(at_two)).status_code == 403

        async def accepted() -> bool:
            return (await chat(at_two)).status_code == 202

        assert (await at_one.put("/api/admin/apps/turnbased", json={"enabled": False})).status_code == 200
        await until(refused)
        assert (await chat(at_two)).json()["error"]["code"] == "app_disabled"
        assert (await at_one.put("/api/admin/apps/turnbased", json={"enabled": True})).status_code == 200
        await until(accepted)


async def test_the_default_model_that_is_chosen_at_one_gateway_is_that_of_the_other(gateways):
    one, two = gateways
    async with (
        httpx.AsyncClient(base_url=one.url, timeout=60) as at_one,
        httpx.AsyncClient(base_url=two.url, timeout=60) as at_two,
    ):

        async def default() -> str:
            return (await at_two.get("/v1/model")).json()["id"]

        async def is_tiny() -> bool:
            return await default() == "tiny"

        async def is_that_of_the_settings() -> bool:
            return await default() == "scripted"

        for client in (at_one, at_two):
            loaded = await client.post("/v1/model/load", json={"name": "tiny", "stream": False})
            assert loaded.status_code == 200, loaded.text
        assert await is_that_of_the_settings()
        assert (await at_one.put("/api/models/default", json={"name": "tiny"})).status_code == 200
        await until(is_tiny)
        # Unloading it where it was chosen ends the choice everywhere.
        assert (await at_one.post("/v1/model/unload", json={"name": "tiny"})).status_code == 200
        await until(is_that_of_the_settings)


async def test_the_template_that_is_chosen_at_one_gateway_is_that_of_the_other(gateways):
    one, two = gateways
    folder = one.data / "templates"
    folder.mkdir(exist_ok=True)
    (folder / "terse.jinja").write_text("TERSE {{ messages[0].content }}")
    messages = [{"role": "user", "content": "hello"}]
    async with (
        httpx.AsyncClient(base_url=one.url, timeout=60) as at_one,
        httpx.AsyncClient(base_url=two.url, timeout=60) as at_two,
    ):

        async def prompt() -> str:
            rendered = await at_two.post("/apply-template", json={"model": "tiny", "messages": messages})
            assert rendered.status_code == 200, rendered.text
            return rendered.json()["prompt"]

        async def is_terse() -> bool:
            return await prompt() == "TERSE hello"

        async def is_its_own() -> bool:
            return await prompt() == own

        for client in (at_one, at_two):
            loaded = await client.post("/v1/model/load", json={"name": "tiny", "stream": False})
            assert loaded.status_code == 200, loaded.text
        own = await prompt()
        chosen = await at_one.post("/v1/template/switch", json={"model": "tiny", "name": "terse"})
        assert chosen.json() == {"model": "tiny", "template": "terse"}
        await until(is_terse)
        # Whoever takes it back does so for all.
        assert (await at_two.post("/v1/template/unload", json={"model": "tiny"})).status_code == 200
        await until(is_its_own)
