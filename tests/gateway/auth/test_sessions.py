"""Logins, the brake on guessing, and `/api/session`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse

from duologue.errors import Problem, Unavailable
from duologue.gateway.auth.guessing import GuessGuard
from duologue.gateway.auth.keys import Keys
from duologue.gateway.auth.middleware import Authentication, cookie_name
from duologue.gateway.auth.rate_limit import GUESSES, SECONDS_PER_GUESS
from duologue.gateway.auth.sessions import LIFETIME, LoginSessions, router
from duologue.gateway.middleware.forwarded import Proxies
from duologue.gateway.middleware.proxy import ProxyMiddleware
from duologue.http.error_responses import problem_body, problem_headers
from duologue.store.database import Database
from duologue.store.users import Users

COOKIE = cookie_name(8006)


class Clock:
    """Seconds for what is slowed, and the same moment in milliseconds for what is kept."""

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


@asynccontextmanager
async def visiting(
    users: Users,
    key: str | None,
    clock: Clock,
    scheme: str = "http",
    under: str = "",
    proxies: Proxies | None = None,
) -> AsyncIterator[httpx.AsyncClient]:
    """A browser before a server that was just started on the database of `users`."""
    keys = Keys(key, clock=clock)
    await keys.use(users)
    logins = LoginSessions(keys)
    app = FastAPI()
    guessing = GuessGuard(clock=clock, pause=0)
    app.include_router(router(keys, logins, cookie=COOKIE, now=clock.now, guessing=guessing))

    @app.get("/api/thing")
    async def thing() -> str:
        return "thing"

    @app.exception_handler(Problem)
    async def answer(request, problem):
        body = problem_body(problem, request.url.path)
        return JSONResponse(body, problem.status, headers=problem_headers(problem))

    guarded = Authentication(app, keys, logins, cookie=COOKIE, now=clock.now, guessing=guessing)
    transport = httpx.ASGITransport(ProxyMiddleware(guarded, under, proxies or Proxies()))
    async with httpx.AsyncClient(transport=transport, base_url=f"{scheme}://localhost") as browser:
        yield browser


@pytest.fixture
async def keys(users):
    """Keys without one in the settings; the table is read whenever a test says `refresh`."""
    keys = Keys(None)
    await keys.use(users)
    await users.add_key("ada")
    keys.outdated()
    await keys.refresh()
    return keys


@pytest.mark.anyio
async def test_a_token_opens_its_login_until_it_ends(keys):
    logins = LoginSessions(keys, lifetime=10)
    token = await logins.open("local", 1_000_000)
    await keys.refresh()
    assert logins.user(token, 1_009_999).name == "ada"
    assert logins.user(token, 1_010_000) is None
    assert logins.user("guess", 1_000_000) is None


@pytest.mark.anyio
async def test_a_login_of_a_time_when_the_clock_was_years_ahead_does_not_last_for_years(keys):
    years, day = 10 * 365 * 24 * 3600 * 1000, 24 * 3600 * 1000
    logins = LoginSessions(keys)
    ahead = await logins.open("local", years)
    right = await logins.open("local", day)
    await keys.refresh()
    assert logins.user(ahead, day) is None
    assert logins.user(right, day).name == "ada"
    assert logins.user(right, day - 3_600_000).name == "ada", "the clock went back by an hour"
    assert logins.user(right, years) is None


@pytest.mark.anyio
async def test_a_closed_login_is_over(keys):
    logins = LoginSessions(keys)
    token = await logins.open("local", 1_000_000)
    await keys.refresh()
    assert logins.user(token, 1_000_000)
    await logins.close(token)
    await logins.close("never was")
    await keys.refresh()
    assert logins.user(token, 1_000_000) is None


@pytest.mark.anyio
async def test_a_token_is_nowhere_kept(keys, users):
    token = await LoginSessions(keys).open("local", 1_000_000)
    await keys.refresh()
    assert token not in repr(await users.register())
    assert token not in repr(vars(keys))


@pytest.mark.anyio
async def test_before_there_is_a_database_nobody_can_log_in():
    logins = LoginSessions(Keys("secret"))
    with pytest.raises(Unavailable):
        await logins.open("local", 0)
    await logins.close("whatever")
    assert logins.user("whatever", 0) is None


@pytest.mark.anyio
async def test_the_right_key_gives_a_cookie_that_opens_the_server(users, clock):
    async with visiting(users, "secret", clock) as http:
        assert (await http.get("/api/thing")).status_code == 401
        answer = await http.post("/api/session", json={"key": "secret"})
        assert answer.json() == {"user": "local", "name": "local", "role": "admin", "required": True}
        header = answer.headers["set-cookie"].lower()
        assert "httponly" in header
        assert "samesite=strict" in header
        assert "secure" not in header
        assert (await http.get("/api/thing")).status_code == 200
        assert (await http.get("/api/session")).json()["user"] == "local"


@pytest.mark.anyio
async def test_over_https_the_cookie_is_for_https_only(users, clock):
    async with visiting(users, "secret", clock, "https") as http:
        answer = await http.post("/api/session", json={"key": "secret"})
        assert "secure" in answer.headers["set-cookie"].lower()


@pytest.mark.anyio
async def test_logging_out_ends_the_session_also_for_a_copied_cookie(users, clock):
    async with visiting(users, "secret", clock) as http:
        await http.post("/api/session", json={"key": "secret"})
        copied = {"Cookie": f"{COOKIE}={http.cookies[COOKIE]}"}
        assert (await http.delete("/api/session")).status_code == 204
        assert COOKIE not in http.cookies
        assert (await http.get("/api/thing", headers=copied)).status_code == 401


@pytest.mark.anyio
async def test_a_session_ends_by_time(users, clock):
    async with visiting(users, "secret", clock) as http:
        await http.post("/api/session", json={"key": "secret"})
        clock.at += LIFETIME
        assert (await http.get("/api/thing")).status_code == 401


@pytest.mark.anyio
async def test_guessing_is_slowed_and_the_right_key_is_not(users, clock):
    async with visiting(users, "secret", clock) as http:
        for number in range(GUESSES):
            assert (await http.post("/api/session", json={"key": f"{number}"})).status_code == 401
        slowed = await http.post("/api/session", json={"key": "guess"})
        assert slowed.status_code == 429
        assert slowed.json()["error"]["code"] == "rate_limited"
        assert int(slowed.headers["retry-after"]) == SECONDS_PER_GUESS
        assert (await http.post("/api/session", json={"key": "secret"})).status_code == 200
        assert (await http.get("/api/thing")).status_code == 200


@pytest.mark.anyio
async def test_the_login_and_every_other_door_count_together(users, clock):
    async with visiting(users, "secret", clock) as http:
        for number in range(GUESSES // 2):
            assert (await http.post("/api/session", json={"key": f"{number}"})).status_code == 401
            guess = {"authorization": f"Bearer guess {number}"}
            assert (await http.get("/api/thing", headers=guess)).status_code == 401
        for headers in (
            {"authorization": "Bearer guess"},
            {"x-api-key": "guess"},
            {"cookie": f"{COOKIE}=guess"},
        ):
            assert (await http.get("/api/thing", headers=headers)).status_code == 429
        assert (await http.get("/api/thing")).status_code == 401  # no key is no guess
        assert (await http.get("/api/thing", headers={"x-api-key": "secret"})).status_code == 200


@pytest.mark.anyio
@pytest.mark.parametrize("body", [b"", b"secret", b"[]", b"{}", b'{"key": 5}', b'{"key": ""}', b"\xff"])
async def test_a_login_without_a_key_says_what_to_send(body, users, clock):
    async with visiting(users, "secret", clock) as http:
        answer = await http.post("/api/session", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "key"


@pytest.mark.anyio
async def test_without_a_key_everyone_is_local_and_no_cookie_is_needed(users, clock):
    async with visiting(users, None, clock) as http:
        answer = await http.post("/api/session", json={})
        assert answer.json() == {"user": "local", "name": "local", "role": "admin", "required": False}
        assert "set-cookie" not in answer.headers
        assert (await http.get("/api/session")).json()["required"] is False


@pytest.mark.anyio
async def test_a_key_of_the_database_logs_in_its_user(users, clock):
    ada = await users.add_key("ada")
    async with visiting(users, None, clock) as http:
        answer = await http.post("/api/session", json={"key": ada.value})
        assert answer.json() == {"user": "local", "name": "ada", "role": "admin", "required": True}
        assert (await http.get("/api/session")).json() == answer.json()


@pytest.mark.anyio
async def test_a_restart_of_the_server_asks_nobody_again(users, clock):
    ada = await users.add_key("ada")
    async with visiting(users, None, clock) as http:
        await http.post("/api/session", json={"key": ada.value})
        kept = {"Cookie": f"{COOKIE}={http.cookies[COOKIE]}"}
    async with visiting(users, None, clock) as http:
        assert (await http.get("/api/thing", headers=kept)).status_code == 200


@pytest.mark.anyio
async def test_another_key_in_the_settings_is_asked_for(users, clock):
    async with visiting(users, "secret", clock) as http:
        await http.post("/api/session", json={"key": "secret"})
        kept = {"Cookie": f"{COOKIE}={http.cookies[COOKIE]}"}
    async with visiting(users, "secret", clock) as http:
        assert (await http.get("/api/thing", headers=kept)).status_code == 200
    async with visiting(users, "another", clock) as http:
        assert (await http.get("/api/thing", headers=kept)).status_code == 401


@pytest.mark.anyio
async def test_revoking_a_key_ends_the_logins_of_its_user_within_a_second(users, clock):
    await users.add_key("ada")
    bob = await users.add_key("bob")
    async with visiting(users, None, clock) as http:
        await http.post("/api/session", json={"key": bob.value})
        assert (await http.get("/api/thing")).status_code == 200
        await users.revoke(bob.key.id)
        clock.at += 1
        assert (await http.get("/api/thing")).status_code == 401


@pytest.mark.anyio
async def test_the_cookie_belongs_to_the_path_the_server_is_under_and_goes_with_the_login(users, clock):
    async with visiting(users, "secret", clock, under="/talk") as http:
        await http.post("/talk/api/session", json={"key": "secret"})
        assert [cookie.path for cookie in http.cookies.jar] == ["/talk"]
        assert (await http.get("/talk/api/thing")).status_code == 200
        await http.delete("/talk/api/session")
        assert list(http.cookies.jar) == []


@pytest.mark.anyio
async def test_behind_a_believed_proxy_each_client_has_its_own_tries_and_https_its_own_cookie(users, clock):
    async with visiting(users, "secret", clock, proxies=Proxies(["127.0.0.1"])) as http:

        def login(key: str, client: str):
            headers = {"X-Forwarded-For": client, "X-Forwarded-Proto": "https"}
            return http.post("/api/session", json={"key": key}, headers=headers)

        for number in range(GUESSES):
            assert (await login(f"{number}", "203.0.113.7")).status_code == 401
        assert (await login("guess", "6.6.6.6, 203.0.113.7")).status_code == 429
        answer = await login("secret", "203.0.113.8")
        assert (answer.status_code, "Secure" in answer.headers["set-cookie"]) == (200, True)


@pytest.mark.anyio
async def test_a_login_works_on_behalf_of_the_key_it_was_made_with(users, clock):
    ada = await users.add_key("ada")
    keys = Keys(None)
    await keys.use(users)
    logins = LoginSessions(keys)
    new = await logins.open(ada.account.id, 1_000_000, key=ada.key.id)
    old = await logins.open(ada.account.id, 1_000_000)
    await keys.refresh()
    assert logins.user(new, 1_000_000).key == ada.key.id
    assert logins.user(old, 1_000_000).key == ""


@pytest.mark.anyio
async def test_a_key_that_was_revoked_since_it_was_looked_up_opens_no_login(users, clock):
    """At another gateway, less than a second ago."""
    made = await users.add_key("ada")
    await users.add_key("ada")
    async with visiting(users, None, clock) as browser:
        await users.revoke(made.key.id)
        refused = await browser.post("/api/session", json={"key": made.value})
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, "unauthorized")
    assert (await users.register()).logins == {}
