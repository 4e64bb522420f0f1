import sys
from contextlib import asynccontextmanager

import pytest
from tests.tools.fakes import Row, Rows, Servers, Time, definition, until

from duologue.errors import BadRequest, Forbidden, NotFound
from duologue.store.database import Database
from duologue.store.mcp import McpServers
from duologue.tools.mcp.login import LoginNeeded, Returned
from duologue.tools.mcp.registry import ServerRegistry, load
from duologue.tools.ssrf_guard import Addresses, Allowed

pytestmark = pytest.mark.anyio
WEB = {"url": "https://web.example/mcp"}


@asynccontextmanager
async def hub(*configured, rows=None, open_server=None):
    time = Time()
    made = ServerRegistry(
        configured,
        rows or Rows(),
        Addresses(Allowed()),
        connect_s=5,
        now=time.now,
        sleep=time.sleep,
        open_server=open_server or Servers().server,
    )
    async with made.running():
        yield made


class Guarded(Servers):
    """Lets in who signed in: by a token that is kept, or by opening the address."""

    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    @asynccontextmanager
    async def server(self, definition, journal, login, on_phase):
        if login is None:
            raise LoginNeeded
        if not (await self.rows.tokens(definition.name, login.user) or {}).get("tokens"):
            await login.open(f"https://auth.example/?state=state-of-{login.user}")
            came = await login.returned()
            await self.rows.save_tokens(definition.name, login.user, {"tokens": {"access_token": came.code}})
        async with self.connection(on_phase) as session:
            yield session


async def settled(hub, name, user="ann"):
    connection = await hub.connection(name, user)
    await connection.settled()
    return await hub.connection(name, user)


async def test_servers_of_the_configuration_and_added_ones_are_connected():
    async with hub(definition("time"), rows=Rows(Row("web", WEB))) as made:
        phases = {}
        for name in ("time", "web"):
            connection = await settled(made, name)
            phases[name] = (connection.phase, connection.definition.source)
        assert phases == {"time": ("ready", "config"), "web": ("ready", "admin")}


async def test_starting_waits_for_no_server():
    class Slow(Servers):
        @asynccontextmanager
        async def server(self, *args):
            import anyio

            await anyio.sleep_forever()
            yield

    async with hub(definition("slow"), open_server=Slow().server) as made:
        assert (await made.connection("slow", "ann")).phase in ("idle", "starting")


async def test_no_connection_is_made_before_its_time():
    import anyio

    begin, servers, time = anyio.Event(), Servers(), Time()
    made = ServerRegistry(
        [definition("time")],
        Rows(),
        Addresses(Allowed()),
        connect_s=5,
        now=time.now,
        open_server=servers.server,
        begin=begin.wait,
    )
    async with made.running():
        connection = await made.connection("time", "ann")
        await anyio.sleep(0.01)
        assert (connection.phase, servers.tries) == ("idle", 0)
        begin.set()
        await connection.settled()
        assert connection.phase == "ready"


def test_what_connections_need_can_be_loaded_ahead():
    load()
    assert "duologue.tools.mcp.connect" in sys.modules


async def test_one_server_that_fails_leaves_the_others_alone():
    class Mixed(Servers):
        @asynccontextmanager
        async def server(self, definition, journal, login, on_phase):
            if definition.name == "bad":
                raise RuntimeError("broken")
            async with self.connection(on_phase) as session:
                yield session

    async with hub(definition("bad"), definition("good"), open_server=Mixed().server) as made:
        assert (await settled(made, "good")).phase == "ready"
        assert (await settled(made, "bad")).phase == "waiting"


async def test_a_server_can_be_added_changed_and_removed():
    rows = Rows()
    async with hub(rows=rows) as made:
        await made.add("web", WEB, user="ann", keyed=False)
        assert (await settled(made, "web")).phase == "ready"
        await made.add("web", {"url": "https://other.example"}, user="ann", keyed=False)
        assert rows.rows["web"].config == {"url": "https://other.example"}
        first = await made.connection("web", "ann")
        await made.remove("web")
        assert rows.rows == {}
        with pytest.raises(NotFound):
            await made.connection("web", "ann")
        assert first not in made._scopes


async def test_a_server_that_runs_a_command_needs_an_admin_who_used_a_key():
    rows = Rows(Row("run", {"command": "true", "disabled": True}))
    async with hub(rows=rows) as made:
        with pytest.raises(Forbidden):
            await made.add("sh", {"command": "sh"}, user="local", keyed=False)
        with pytest.raises(Forbidden):
            await made.switch("run", disabled=False, user="local", keyed=False)
        assert (await made.switch("run", disabled=False, user="ann", keyed=True)).phase != "off"


async def test_a_switched_off_server_stays_off_after_a_restart():
    rows = Rows(Row("web", WEB))
    async with hub(rows=rows) as made:
        assert (await made.switch("web", disabled=True, user="ann", keyed=False)).phase == "off"
    async with hub(rows=rows) as made:
        assert (await made.connection("web", "ann")).phase == "off"
        await made.switch("web", disabled=False, user="ann", keyed=False)
        assert (await settled(made, "web")).phase == "ready"


async def test_what_stands_in_the_configuration_changes_only_there():
    async with hub(definition("time")) as made:
        for change in (made.remove("time"), made.switch("time", disabled=True, user="a", keyed=True)):
            with pytest.raises(BadRequest) as refused:
                await change
            assert refused.value.code == "configured_server"
        with pytest.raises(BadRequest):
            await made.add("time", WEB, user="a", keyed=True)


async def test_whoever_signed_in_has_a_connection_of_their_own():
    rows = Rows()
    guarded = definition("web", url="https://web.example")
    async with hub(guarded, rows=rows, open_server=Guarded(rows).server) as made:
        assert (await settled(made, "web", "ann")).phase == "login"
        health = await made.sign_in("web", "ann", "http://here/back")
        assert (health.phase, health.login) == ("login", "https://auth.example/?state=state-of-ann")
        assert await made.signed_in(Returned("code", "state-of-ann")) == "web"
        connection = await made.connection("web", "ann")
        await until(lambda: connection.phase == "ready")
        assert (await made.connection("web", "bob")).phase == "login"
        assert await made.connection("web", "bob") is not connection


async def test_a_sign_in_outlives_a_restart():
    rows = Rows()
    rows.kept["web", "ann"] = {"tokens": {"access_token": "x"}}
    guarded = definition("web", url="https://web.example")
    async with hub(guarded, rows=rows, open_server=Guarded(rows).server) as made:
        await settled(made, "web", "bob")
        assert (await settled(made, "web", "ann")).phase == "ready"
        assert (await settled(made, "web", "bob")).phase == "login"


async def test_signing_out_forgets_the_tokens():
    rows = Rows()
    rows.kept["web", "ann"] = {"tokens": {"access_token": "x"}}
    guarded = definition("web", url="https://web.example")
    async with hub(guarded, rows=rows, open_server=Guarded(rows).server) as made:
        await settled(made, "web", "ann")
        assert (await settled(made, "web", "ann")).phase == "ready"
        await made.sign_out("web", "ann")
        assert (await made.connection("web", "ann")).phase == "login"
        assert not rows.kept["web", "ann"]


async def test_a_sign_in_nobody_began_is_refused():
    async with hub(definition("time")) as made:
        with pytest.raises(BadRequest):
            await made.signed_in(Returned("code", "made up"))
        with pytest.raises(BadRequest):
            await made.signed_in(Returned("code", ""))
        with pytest.raises(BadRequest) as refused:
            await made.sign_in("time", "ann", "http://here/back")
        assert refused.value.code == "no_login"
        with pytest.raises(NotFound):
            await made.sign_in("none", "ann", "http://here/back")


async def test_servers_and_sign_ins_are_kept_in_the_real_store():
    async with Database.memory() as database:
        rows = McpServers(database, lambda: 7)
        guarded = Guarded(rows)
        async with hub(rows=rows, open_server=guarded.server) as made:
            await made.add("web", WEB, user="ann", keyed=False)
            await settled(made, "web")
            await made.sign_in("web", "ann", "http://here/back")
            await made.signed_in(Returned("code", "state-of-ann"))
            connection = await made.connection("web", "ann")
            await until(lambda: connection.phase == "ready")
        async with hub(rows=rows, open_server=guarded.server) as made:
            await settled(made, "web")
            assert (await settled(made, "web")).phase == "ready"
            await made.remove("web")
        assert await rows.all() == []
        assert await rows.tokens("web", "ann") is None
