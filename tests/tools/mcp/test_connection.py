from contextlib import asynccontextmanager
from functools import partial

import anyio
import pytest
from tests.tools.fakes import SCHEMA, FakeSession, Person, Servers, Time, server_config, until

from duologue.errors import BadRequest, Forbidden, Unavailable
from duologue.tools.mcp.capabilities import ServerTool
from duologue.tools.mcp.connection import McpConnection
from duologue.tools.mcp.health import Journal
from duologue.tools.mcp.login import WAIT_SECONDS, AuthorizationResponse, LoginNeeded, McpLogin

pytestmark = pytest.mark.anyio
REFUSED = Unavailable("It answered 502 Bad Gateway.")


def has_slept(time: Time, times: int) -> bool:
    return len(time.sleeps) == times


def is_in_phase(connection: McpConnection, phase: str) -> bool:
    return connection.phase == phase


@asynccontextmanager
async def running_connection(servers, time=None, *, connect_s=5.0, login=None, **server):
    """A running connection."""
    time = time or Time()
    about = server_config(**server)
    connection = McpConnection(
        about,
        Journal(about.secrets, time.now),
        servers.connection,
        connect_s=connect_s,
        now=time.now,
        sleep=time.sleep,
        login=login,
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connection.run)
        await anyio.lowlevel.checkpoint()
        yield connection
        tasks.cancel_scope.cancel()


async def call_echo(connection, word="hi"):
    person = Person()
    outcome = await connection.call_tool("echo", {"word": word}, person.context(), person.keep)
    return outcome.failed, outcome.content[0].text


async def test_a_server_that_answers_is_ready_with_what_it_offers():
    async with running_connection(Servers()) as connection:
        await connection.wait_for_attempt()
        health = connection.health()
        assert (health.phase, health.tools, health.title, health.protocol) == (
            "ready",
            1,
            "Fake",
            "2026-07-28",
        )
        assert await call_echo(connection) == (False, "echo hi")
        assert [line.text for line in connection.journal.lines()] == [
            "starting",
            "handshake",
            "listing",
            "ready: 1 tool.",
        ]


async def test_a_server_that_fails_is_tried_again_later_and_later():
    time, servers = Time(), Servers(REFUSED, REFUSED, REFUSED)
    async with running_connection(servers, time) as connection:
        for tries, seconds in ((1, 1.0), (2, 2.0), (3, 4.0)):
            await until(partial(has_slept, time, tries))
            assert (connection.phase, connection.message) == ("waiting", REFUSED.message)
            assert time.sleeps[-1] == seconds
            assert connection.health().retry == time.now() + seconds * 1000
            time.move(seconds)
        await until(lambda: connection.phase == "ready")


async def test_a_call_while_the_server_is_down_waits_for_one_try():
    servers = Servers(REFUSED)
    async with running_connection(servers) as connection:
        await until(lambda: connection.phase == "waiting")
        assert await call_echo(connection) == (False, "echo hi")
        assert servers.tries == 2


async def test_a_call_fails_with_a_sentence_when_that_try_fails_too():
    async with running_connection(Servers(REFUSED, REFUSED)) as connection:
        await until(lambda: connection.phase == "waiting")
        failed, text = await call_echo(connection)
        assert failed
        assert text == "The tool server s is unavailable. It answered 502 Bad Gateway."


async def test_calls_that_come_together_wait_for_the_same_try():
    servers = Servers(REFUSED)
    async with running_connection(servers) as connection:
        await until(lambda: connection.phase == "waiting")
        outcomes = []

        async def call():
            outcomes.append(await call_echo(connection))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(call)
        assert outcomes == [(False, "echo hi")] * 5
        assert servers.tries == 2


async def test_a_call_the_server_never_heard_is_made_once_more():
    first, second = FakeSession(), FakeSession()
    first.losing = [True]
    async with running_connection(Servers(first, second)) as connection:
        await connection.wait_for_attempt()
        assert await call_echo(connection) == (False, "echo hi")
        assert second.calls == [("echo", {"word": "hi"})]


async def test_a_call_that_may_have_run_is_never_made_twice():
    first, second = FakeSession(), FakeSession()
    first.losing = [False]
    async with running_connection(Servers(first, second)) as connection:
        await connection.wait_for_attempt()
        failed, text = await call_echo(connection)
        assert failed
        assert "unknown whether the tool finished" in text
        assert second.calls == []


async def test_a_call_is_given_up_after_two_sessions_were_lost():
    first, second = FakeSession(), FakeSession()
    first.losing, second.losing = [True], [True]
    async with running_connection(Servers(first, second)) as connection:
        await connection.wait_for_attempt()
        assert (await call_echo(connection))[0]


async def test_a_server_that_dies_while_idle_is_connected_again():
    time, first = Time(), FakeSession()
    async with running_connection(Servers(first), time) as connection:
        await connection.wait_for_attempt()
        first.lost()
        await until(lambda: connection.phase == "waiting")
        time.move(1)
        await until(lambda: connection.phase == "ready")


async def test_a_server_that_dies_after_a_long_time_is_a_first_failure_again():
    time = Time()
    sessions = [FakeSession(), FakeSession(), FakeSession()]
    async with running_connection(Servers(REFUSED, REFUSED, *sessions), time) as connection:
        for tries in (1, 2):
            await until(partial(has_slept, time, tries))
            time.move(5)
        await until(lambda: connection.phase == "ready")
        time.move(60)
        sessions[0].lost()
        await until(lambda: connection.phase == "waiting")
        assert time.sleeps == [1, 2, 1]


async def test_a_server_that_hangs_is_given_up_in_time():
    class Hanging(FakeSession):
        async def listing(self):
            await anyio.sleep_forever()

    async with running_connection(Servers(Hanging()), connect_s=0.02) as connection:
        await until(lambda: connection.phase == "waiting")
        assert "mcp.connect_s" in connection.message


async def test_what_a_person_must_mend_is_not_tried_again():
    for problem in (Forbidden("Private."), BadRequest("No such command.")):
        servers = Servers(problem)
        async with running_connection(servers) as connection:
            await until(partial(is_in_phase, connection, "failed"))
            assert (await call_echo(connection))[0]
            assert servers.tries == 1
            await connection.reconnect_and_wait()
            assert (connection.phase, servers.tries) == ("ready", 2)


async def test_a_bug_in_a_library_ends_one_try_and_no_more():
    async with running_connection(
        Servers(ValueError("secret detail"), ExceptionGroup("x", [OSError("y")]))
    ) as connection:
        await until(lambda: connection.phase == "waiting")
        assert "secret detail" not in connection.message
        await connection.reconnect_and_wait()
        assert connection.phase == "waiting"
        await connection.reconnect_and_wait()
        assert connection.phase == "ready"


async def test_changed_lists_are_read_again():
    session = FakeSession()
    async with running_connection(Servers(session)) as connection:
        await connection.wait_for_attempt()
        session.changed(ServerTool("echo"), ServerTool("new", schema=SCHEMA))
        await until(lambda: len(connection.listing.tools) == 2)


async def test_a_disabled_server_is_off_and_says_so():
    servers = Servers()
    async with running_connection(servers, command="true", disabled=True) as connection:
        assert connection.phase == "off"
        assert "switched off" in (await call_echo(connection))[1]
        assert servers.tries == 0


async def test_a_server_that_wants_a_sign_in_waits_for_a_person():
    time, servers = Time(), Servers(LoginNeeded())
    async with running_connection(servers, time) as connection:
        await until(lambda: connection.phase == "login")
        assert "sign in" in (await call_echo(connection))[1]
        assert time.sleeps == []


async def test_signing_in_may_take_longer_than_connecting():
    login = McpLogin("ann", "", interactive=True)
    seconds_left = []

    class Guarded(Servers):
        @asynccontextmanager
        async def connection(self, on_phase):
            await login.open("https://auth.example/?state=s")
            seconds_left.append(anyio.current_effective_deadline() - anyio.current_time())
            await login.wait_for_response()
            async with super().connection(on_phase) as session:
                yield session

    async with running_connection(Guarded(), connect_s=5, login=login) as connection:
        await connection.wait_for_attempt()
        assert (connection.phase, connection.health().login) == ("login", "https://auth.example/?state=s")
        # The time of a person, not the 5 s of a server.
        assert seconds_left == [pytest.approx(WAIT_SECONDS, abs=10)]
        await anyio.wait_all_tasks_blocked()
        assert connection.phase == "login"
        assert not connection.health().signed_in
        login.complete(AuthorizationResponse("code", "s"))
        await until(lambda: connection.phase == "ready")
        assert connection.health().login == ""
        assert connection.health().signed_in


async def test_secrets_are_in_no_message():
    failing = Servers(Unavailable("Wrong key hunter2hunter2."))
    async with running_connection(
        failing, url="https://x.example", headers={"A": "hunter2hunter2"}
    ) as connection:
        await until(lambda: connection.phase == "waiting")
        assert connection.message == "Wrong key ***."


async def test_other_requests_are_answered_or_refused_with_a_sentence():
    session = FakeSession()
    async with running_connection(Servers(session)) as connection:
        await connection.wait_for_attempt()
        person = Person()
        content = await connection.request(lambda one: one.read("a://b", person.keep))
        assert content[0].text == "a://b"
    async with running_connection(Servers(REFUSED, REFUSED)) as connection:
        await until(lambda: connection.phase == "waiting")
        with pytest.raises(Unavailable) as refused:
            await connection.request(lambda one: one.read("a://b", person.keep))
        assert refused.value.code == "tool_server_unavailable"


async def test_a_call_that_waits_for_a_server_that_is_removed_fails_with_a_sentence():
    class Hanging(Servers):
        @asynccontextmanager
        async def connection(self, on_phase):
            await anyio.sleep_forever()
            yield

    time, outcomes = Time(), []
    about = server_config()
    connection = McpConnection(
        about, Journal((), time.now), Hanging().connection, connect_s=60, now=time.now, sleep=time.sleep
    )

    async def call():
        outcomes.append(await call_echo(connection))

    async with anyio.create_task_group() as others, anyio.create_task_group() as keeping:
        keeping.start_soon(connection.run)
        others.start_soon(call)
        await until(lambda: connection.phase == "starting")
        keeping.cancel_scope.cancel()
    assert outcomes == [(True, "The tool server s was removed.")]


async def test_what_a_library_raises_in_a_call_is_a_failed_outcome():
    class Broken(FakeSession):
        async def call_tool(self, *arguments):
            raise KeyError("secret detail")

    async with running_connection(Servers(Broken())) as connection:
        await connection.wait_for_attempt()
        failed, text = await call_echo(connection)
        assert failed
        assert "secret detail" not in text


async def test_a_server_whose_lists_change_whenever_they_are_read_is_not_read_all_the_time():
    class Restless(FakeSession):
        reads = 0

        async def listing(self):
            self.reads += 1
            listing = await super().listing()
            self.changed()
            return listing

    time, session = Time(), Restless()
    async with running_connection(Servers(session), time) as connection:
        await connection.wait_for_attempt()
        await until(lambda: time.sleeps)
        assert session.reads == 2
        time.move(1)
        await until(lambda: session.reads == 3)
        await until(lambda: len(time.sleeps) == 2)


async def test_a_name_nobody_knows_yet_is_tried_again():
    servers = Servers(BadRequest("No address is known.", code="unknown_host"))
    async with running_connection(servers) as connection:
        await until(lambda: connection.phase == "waiting")
