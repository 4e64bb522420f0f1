"""`/api/session/logins`: where one is signed in, and signing out of it."""

from contextlib import asynccontextmanager

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse

from duologue.errors import Problem
from duologue.gateway.auth import login_routes, sessions
from duologue.gateway.auth.keys import NOTED_SECONDS, Keys
from duologue.gateway.auth.middleware import Authentication, cookie_name
from duologue.gateway.auth.sessions import LIFETIME, LoginSessions
from duologue.store.database import Database
from duologue.store.users import Users

pytestmark = pytest.mark.anyio
COOKIE = cookie_name(8006)
FIREFOX = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}


class Clock:
    at = 1000.0

    def __call__(self) -> float:
        return self.at

    def now(self) -> int:
        return int(self.at * 1000)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
async def users(clock):
    async with Database.memory() as database:
        yield Users(database, clock.now)


class House:
    """A server, and browsers that sign in."""

    def __init__(self, app, clock):
        self.app, self.clock = app, clock

    @asynccontextmanager
    async def browser(self, key=None, headers=None, client=("10.0.0.1", 5000)):
        self.clock.at += 1
        transport = httpx.ASGITransport(self.app, client=client)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=headers
        ) as http:
            if key is not None:
                assert (await http.post("/api/session", json={"key": key})).json()["required"]
            self.clock.at += 1
            yield http


@pytest.fixture
async def house(users, clock):
    keys = Keys(None, clock=clock, now=clock.now)
    await keys.use(users)
    logins = LoginSessions(keys)
    app = FastAPI()
    app.include_router(sessions.router(keys, logins, cookie=COOKIE, now=clock.now))
    app.include_router(login_routes.router(keys, logins, cookie=COOKIE))

    @app.exception_handler(Problem)
    async def answer(request, problem):
        return JSONResponse({"code": problem.code, "message": problem.message}, problem.status)

    return House(Authentication(app, keys, logins, cookie=COOKIE, now=clock.now), clock)


async def rows(http, query="") -> list[dict]:
    answer = await http.get(f"/api/session/logins{query}")
    assert answer.status_code == 200
    return answer.json()["logins"]


async def test_a_user_sees_their_own_browsers_and_which_one_this_is(house, users):
    ada, bob = await users.add_key("ada"), await users.add_key("bob")
    async with (
        house.browser(ada.value),
        house.browser(bob.value, FIREFOX, ("2001:db8:1:2:3::4", 1)) as first,
        house.browser(bob.value),
    ):
        listed = await rows(first)
        assert [row["current"] for row in listed] == [False, True]
        assert [(row["agent"], row["address"]) for row in listed] == [
            ("python-httpx", "10.0.0.1"),
            ("Firefox, Linux", "2001:db8:1:2::/64"),
        ]
        assert {row["name"] for row in listed} == {"bob"}
        assert bob.value not in str(listed)
        assert first.cookies[COOKIE] not in str(listed)


async def test_a_browser_that_is_used_was_seen_just_now(house, users, clock):
    ada = await users.add_key("ada")
    async with house.browser(ada.value, client=("10.0.0.1", 1)), house.browser(ada.value) as other:
        clock.at += NOTED_SECONDS + 5
        await rows(other)
        clock.at += NOTED_SECONDS + 5
        listed = await rows(other)
    assert [row["current"] for row in listed] == [True, False]
    assert listed[0]["last_seen"] > listed[0]["created"] + NOTED_SECONDS * 1000
    assert listed[1]["last_seen"] == listed[1]["created"]


async def test_one_browser_is_signed_out_and_the_others_stay(house, users):
    ada = await users.add_key("ada")
    async with house.browser(ada.value) as here, house.browser(ada.value) as lost:
        (id,) = [row["id"] for row in await rows(here) if not row["current"]]
        assert (await here.delete(f"/api/session/logins/{id}")).status_code == 204
        assert (await lost.get("/api/session/logins")).status_code == 401
        assert len(await rows(here)) == 1
        assert (await here.delete(f"/api/session/logins/{id}")).status_code == 404


async def test_all_others_are_signed_out_at_once(house, users):
    ada, bob = await users.add_key("ada"), await users.add_key("bob")
    async with (
        house.browser(ada.value) as here,
        house.browser(ada.value) as there,
        house.browser(bob.value) as bobs,
    ):
        assert (await here.delete("/api/session/logins")).json() == {"ended": 1}
        assert (await there.get("/api/session/logins")).status_code == 401
        assert len(await rows(here)) == len(await rows(bobs)) == 1
        with_key = {"Authorization": f"Bearer {ada.value}"}
        async with house.browser(headers=with_key) as script:
            assert (await script.delete("/api/session/logins")).json() == {"ended": 1}


async def test_nobody_sees_or_ends_anothers_but_an_admin(house, users):
    ada, bob = await users.add_key("ada"), await users.add_key("bob")
    async with house.browser(ada.value) as admins, house.browser(bob.value) as bobs:
        (own,) = await rows(admins)
        assert (await bobs.delete(f"/api/session/logins/{own['id']}")).status_code == 404
        assert (await bobs.get("/api/session/logins?everyone=true")).json()["code"] == "admin_needed"
        everyone = await rows(admins, "?everyone=true")
        assert {row["name"] for row in everyone} == {"ada", "bob"}
        (theirs,) = [row["id"] for row in everyone if row["name"] == "bob"]
        assert (await admins.delete(f"/api/session/logins/{theirs}")).status_code == 204
        assert (await bobs.get("/api/session/logins")).status_code == 401


async def test_a_login_ends_with_the_key_that_opened_it(house, users, clock):
    await users.add_key("ada")
    bob = await users.add_key("bob", expires=clock.now() + 60_000)
    async with house.browser(bob.value) as http:
        (row,) = await rows(http)
        assert row["expires"] == bob.key.expires < row["created"] + LIFETIME * 1000
        await users.add_key("bob")
        clock.at += 60
        assert (await http.get("/api/session/logins")).status_code == 401


async def test_before_there_is_a_database_nothing_can_be_listed():
    keys = Keys("a-key-of-the-settings")
    app = FastAPI()
    app.include_router(login_routes.router(keys, LoginSessions(keys), cookie=COOKIE))

    @app.exception_handler(Problem)
    async def answer(request, problem):
        return JSONResponse({"code": problem.code}, problem.status)

    guarded = Authentication(app, keys, LoginSessions(keys), cookie=COOKIE)
    headers = {"Authorization": "Bearer a-key-of-the-settings"}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(guarded), base_url="http://localhost", headers=headers
    ) as http:
        assert (await http.get("/api/session/logins")).status_code == 503
