import sys
from contextlib import asynccontextmanager

import pytest
from tests.tools.fakes import Row, Rows, Servers, Time, server_config, until

from duologue.errors import BadRequest, Forbidden, NotFound
from duologue.store.database import Database
from duologue.store.mcp import McpServers
from duologue.tools.mcp.login import AuthorizationResponse, LoginNeeded
from duologue.tools.mcp.registry import ServerRegistry, load
from duologue.tools.ssrf_guard import AddressGuard, AllowList

pytestmark = pytest.mark.anyio
WEB = {"url": "https://web.example/mcp"}


@asynccontextmanager
async def running_registry(*configured, rows=None, open_server=None):
    time = Time()
    registry = ServerRegistry(
        configured,
        rows or Rows(),
        AddressGuard(AllowList()),
        connect_s=5,
        now=time.now,
        sleep=time.sleep,
        open_server=open_server or Servers().server,
    )
    async with registry.running():
        yield registry


class Guarded(Servers):
    """Lets in who signed in: by a stored token, or by opening the address."""

    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    @asynccontextmanager
    async def server(self, config, journal, login, on_phase):
        if login is None:
            raise LoginNeeded
        if not (await self.rows.tokens(config.name, login.user) or {}).get("tokens"):
            await login.open(f"https://auth.example/?state=state-of-{login.user}")
            response = await login.wait_for_response()
            await self.rows.save_tokens(config.name, login.user, {"tokens": {"access_token": response.code}})
        async with self.connection(on_phase) as session:
            yield session


async def settle(registry, name, user="ann"):
    connection = await registry.connection(name, user)
    await connection.wait_for_attempt()
    return await registry.connection(name, user)


async def test_servers_of_the_configuration_and_added_ones_are_connected():
    async with running_registry(server_config("time"), rows=Rows(Row("web", WEB))) as registry:
        phases = {}
        for name in ("time", "web"):
            connection = await settle(registry, name)
            phases[name] = (connection.phase, connection.config.source)
        assert phases == {"time": ("ready", "config"), "web": ("ready", "admin")}


async def test_starting_waits_for_no_server():
    class Slow(Servers):
        @asynccontextmanager
        async def server(self, *args):
            import anyio

            await anyio.sleep_forever()
            yield

    async with running_registry(server_config("slow"), open_server=Slow().server) as registry:
        assert (await registry.connection("slow", "ann")).phase in ("idle", "starting")


async def test_no_connection_is_made_before_its_time():
    import anyio

    begin, servers, time = anyio.Event(), Servers(), Time()
    registry = ServerRegistry(
        [server_config("time")],
        Rows(),
        AddressGuard(AllowList()),
        connect_s=5,
        now=time.now,
        open_server=servers.server,
        begin=begin.wait,
    )
    async with registry.running():
        connection = await registry.connection("time", "ann")
        await anyio.wait_all_tasks_blocked()
        assert (connection.phase, servers.tries) == ("idle", 0)
        begin.set()
        await connection.wait_for_attempt()
        assert connection.phase == "ready"


def test_what_connections_need_can_be_loaded_ahead():
    load()
    assert "duologue.tools.mcp.connect" in sys.modules


async def test_one_server_that_fails_leaves_the_others_alone():
    class Mixed(Servers):
        @asynccontextmanager
        async def server(self, config, journal, login, on_phase):
            if config.name == "bad":
                raise RuntimeError("broken")
            async with self.connection(on_phase) as session:
                yield session

    async with running_registry(
        server_config("bad"), server_config("good"), open_server=Mixed().server
    ) as registry:
        assert (await settle(registry, "good")).phase == "ready"
        assert (await settle(registry, "bad")).phase == "waiting"


async def test_a_server_can_be_added_changed_and_removed():
    rows = Rows()
    async with running_registry(rows=rows) as registry:
        await registry.add("web", WEB, user="ann", keyed=False)
        assert (await settle(registry, "web")).phase == "ready"
        await registry.add("web", {"url": "https://other.example"}, user="ann", keyed=False)
        assert rows.rows["web"].config == {"url": "https://other.example"}
        first = await registry.connection("web", "ann")
        await registry.remove("web")
        assert rows.rows == {}
        with pytest.raises(NotFound):
            await registry.connection("web", "ann")
        assert first not in registry._scopes


async def test_a_server_that_runs_a_command_needs_an_admin_who_used_a_key():
    rows = Rows(Row("run", {"command": "true", "disabled": True}))
    async with running_registry(rows=rows) as registry:
        with pytest.raises(Forbidden):
            await registry.add("sh", {"command": "sh"}, user="local", keyed=False)
        with pytest.raises(Forbidden):
            await registry.switch("run", disabled=False, user="local", keyed=False)
        assert (await registry.switch("run", disabled=False, user="ann", keyed=True)).phase != "off"


async def test_a_switched_off_server_stays_off_after_a_restart():
    rows = Rows(Row("web", WEB))
    async with running_registry(rows=rows) as registry:
        assert (await registry.switch("web", disabled=True, user="ann", keyed=False)).phase == "off"
    async with running_registry(rows=rows) as registry:
        assert (await registry.connection("web", "ann")).phase == "off"
        await registry.switch("web", disabled=False, user="ann", keyed=False)
        assert (await settle(registry, "web")).phase == "ready"


async def test_what_stands_in_the_configuration_changes_only_there():
    async with running_registry(server_config("time")) as registry:
        for change in (registry.remove("time"), registry.switch("time", disabled=True, user="a", keyed=True)):
            with pytest.raises(BadRequest) as refused:
                await change
            assert refused.value.code == "configured_server"
        with pytest.raises(BadRequest):
            await registry.add("time", WEB, user="a", keyed=True)


async def test_whoever_signed_in_has_a_connection_of_their_own():
    rows = Rows()
    guarded = server_config("web", url="https://web.example")
    async with running_registry(guarded, rows=rows, open_server=Guarded(rows).server) as registry:
        assert (await settle(registry, "web", "ann")).phase == "login"
        health = await registry.sign_in("web", "ann", "http://here/back")
        assert (health.phase, health.login) == ("login", "https://auth.example/?state=state-of-ann")
        assert await registry.complete_sign_in(AuthorizationResponse("code", "state-of-ann")) == "web"
        connection = await registry.connection("web", "ann")
        await until(lambda: connection.phase == "ready")
        assert (await registry.connection("web", "bob")).phase == "login"
        assert await registry.connection("web", "bob") is not connection


async def test_a_sign_in_outlives_a_restart():
    rows = Rows()
    rows.saved_tokens["web", "ann"] = {"tokens": {"access_token": "x"}}
    guarded = server_config("web", url="https://web.example")
    async with running_registry(guarded, rows=rows, open_server=Guarded(rows).server) as registry:
        await settle(registry, "web", "bob")
        assert (await settle(registry, "web", "ann")).phase == "ready"
        assert (await settle(registry, "web", "bob")).phase == "login"


async def test_signing_out_forgets_the_tokens():
    rows = Rows()
    rows.saved_tokens["web", "ann"] = {"tokens": {"access_token": "x"}}
    guarded = server_config("web", url="https://web.example")
    async with running_registry(guarded, rows=rows, open_server=Guarded(rows).server) as registry:
        await settle(registry, "web", "ann")
        assert (await settle(registry, "web", "ann")).phase == "ready"
        await registry.sign_out("web", "ann")
        assert (await registry.connection("web", "ann")).phase == "login"
        assert not rows.saved_tokens["web", "ann"]


async def test_a_sign_in_nobody_began_is_refused():
    async with running_registry(server_config("time")) as registry:
        with pytest.raises(BadRequest):
            await registry.complete_sign_in(AuthorizationResponse("code", "registry up"))
        with pytest.raises(BadRequest):
            await registry.complete_sign_in(AuthorizationResponse("code", ""))
        with pytest.raises(BadRequest) as refused:
            await registry.sign_in("time", "ann", "http://here/back")
        assert refused.value.code == "no_login"
        with pytest.raises(NotFound):
            await registry.sign_in("none", "ann", "http://here/back")


async def test_servers_and_sign_ins_are_kept_in_the_real_store():
    async with Database.memory() as database:
        rows = McpServers(database, lambda: 7)
        guarded = Guarded(rows)
        async with running_registry(rows=rows, open_server=guarded.server) as registry:
            await registry.add("web", WEB, user="ann", keyed=False)
            await settle(registry, "web")
            await registry.sign_in("web", "ann", "http://here/back")
            await registry.complete_sign_in(AuthorizationResponse("code", "state-of-ann"))
            connection = await registry.connection("web", "ann")
            await until(lambda: connection.phase == "ready")
        async with running_registry(rows=rows, open_server=guarded.server) as registry:
            await settle(registry, "web")
            assert (await settle(registry, "web")).phase == "ready"
            await registry.remove("web")
        assert await rows.all() == []
        assert await rows.tokens("web", "ann") is None


async def test_what_another_gateway_has_changed_is_read_again_and_the_rest_is_left_alone():
    rows, servers = Rows(Row("kept", WEB), Row("gone", WEB), Row("moved", WEB)), Servers()
    async with running_registry(server_config("time"), rows=rows, open_server=servers.server) as registry:
        before = {name: await settle(registry, name) for name in ("time", "kept", "gone", "moved")}
        await rows.delete("gone")
        await rows.put("moved", {"url": "https://other.example/mcp"}, "ann")
        await rows.put("kept", WEB | {"disabled": False}, "ann")
        await rows.put("new", WEB, "ann")
        await registry.reload()
        assert (await settle(registry, "new")).phase == "ready"
        moved = await settle(registry, "moved")
        assert (moved.phase, moved.config.server.url) == ("ready", "https://other.example/mcp")
        assert [
            name for name in ("time", "kept") if await registry.connection(name, "ann") is before[name]
        ] == [
            "time",
            "kept",
        ]
        with pytest.raises(NotFound):
            await registry.connection("gone", "ann")
        assert servers.tries == 6
        await registry.reload()
        await settle(registry, "moved")
        assert servers.tries == 6, "nothing has changed"


async def test_a_sign_in_or_out_at_another_gateway_holds_here():
    rows = Rows()
    guarded = server_config("web", url="https://web.example")
    async with running_registry(guarded, rows=rows, open_server=Guarded(rows).server) as registry:
        assert (await settle(registry, "web")).phase == "login"
        await registry.connection("web", "ann")
        await rows.save_tokens("web", "ann", {"tokens": {"access_token": "x"}})
        await registry.reload()
        await settle(registry, "web")
        signed_in = await settle(registry, "web")
        assert signed_in.phase == "ready"
        await registry.reload()
        assert await registry.connection("web", "ann") is signed_in
        await rows.save_tokens("web", "ann", {})
        await registry.reload()
        assert (await settle(registry, "web")).phase == "login"


async def test_a_sign_in_under_way_is_not_disturbed_by_a_reload():
    rows = Rows()
    guarded = server_config("web", url="https://web.example")
    async with running_registry(guarded, rows=rows, open_server=Guarded(rows).server) as registry:
        await settle(registry, "web", "ann")
        await registry.sign_in("web", "ann", "http://here/back")
        await registry.reload()
        assert await registry.complete_sign_in(AuthorizationResponse("code", "state-of-ann")) == "web"
        connection = await registry.connection("web", "ann")
        await until(lambda: connection.phase == "ready")


async def test_a_sign_in_that_failed_is_tried_again_with_what_another_gateway_has_got():
    rows = Rows()
    rows.saved_tokens["web", "ann"] = {"tokens": {"access_token": "old"}}
    guarded = server_config("web", url="https://web.example")

    class Strict(Guarded):
        @asynccontextmanager
        async def server(self, config, journal, login, on_phase):
            if login is not None and rows.saved_tokens["web", "ann"]["tokens"]["access_token"] == "old":
                await login.open("https://auth.example/?state=s")
            async with super().server(config, journal, login, on_phase) as session:
                yield session

    async with running_registry(guarded, rows=rows, open_server=Strict(rows).server) as registry:
        await settle(registry, "web")
        assert (await settle(registry, "web")).phase == "login"
        await rows.save_tokens("web", "ann", {"tokens": {"access_token": "new"}})
        await registry.reload()
        assert (await settle(registry, "web")).phase == "ready"
