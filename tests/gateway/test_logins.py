"""Sessions, the brake on guessing, and `/api/session`."""

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse

from duologue.errors import Problem
from duologue.gateway.auth import Authentication, Keys, cookie_name
from duologue.gateway.logins import LIFETIME, Brake, Logins, TokenBucket, router
from duologue.gateway.problems import problem_body, problem_headers

COOKIE = cookie_name(8006)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def client(key: str | None, clock: Clock, scheme: str = "http") -> httpx.AsyncClient:
    keys, logins = Keys(key), Logins()
    app = FastAPI()
    app.include_router(router(keys, logins, cookie=COOKIE, clock=clock))

    @app.get("/api/thing")
    async def thing() -> str:
        return "thing"

    @app.exception_handler(Problem)
    async def answer(request, problem):
        body = problem_body(problem, request.url.path)
        return JSONResponse(body, problem.status, headers=problem_headers(problem))

    guarded = Authentication(app, keys, logins, cookie=COOKIE, clock=clock)
    transport = httpx.ASGITransport(guarded)
    return httpx.AsyncClient(transport=transport, base_url=f"{scheme}://localhost")


def test_a_token_opens_its_session_until_it_ends():
    logins = Logins(lifetime=10)
    token = logins.open("ada", now=0)
    assert logins.user(token, now=9.9) == "ada"
    assert logins.user(token, now=10) is None
    assert logins.user("guess", now=0) is None


def test_a_closed_session_is_over():
    logins = Logins()
    token = logins.open("ada", now=0)
    logins.close(token)
    logins.close("never was")
    assert logins.user(token, now=0) is None


def test_a_full_table_forgets_the_oldest_session():
    logins = Logins(limit=2)
    first, second, third = (logins.open("ada", now=0) for _ in range(3))
    assert [logins.user(token, now=0) for token in (first, second, third)] == [None, "ada", "ada"]


def test_the_table_does_not_hold_the_token_itself():
    logins = Logins()
    token = logins.open("ada", now=0)
    assert token not in repr(vars(logins))


def test_a_bucket_gives_its_burst_then_one_at_a_time():
    bucket = TokenBucket(burst=2, seconds=6, now=0)
    assert [bucket.take(0), bucket.take(0)] == [0, 0]
    assert bucket.take(0) == 6
    assert bucket.take(3) == pytest.approx(3)
    assert bucket.take(6) == 0
    assert bucket.take(6) > 0


def test_a_quiet_bucket_never_holds_more_than_its_burst():
    bucket = TokenBucket(burst=1, seconds=1, now=0)
    assert bucket.take(1000) == 0
    assert bucket.take(1000) > 0


def test_the_brake_holds_one_address_and_not_the_other():
    brake = Brake(burst=1, seconds=10)
    assert brake.take("a", 0) == 0
    assert brake.take("a", 0) > 0
    assert brake.take("b", 0) == 0


def test_the_brake_remembers_a_bounded_number_of_addresses():
    brake = Brake(burst=1, seconds=10, limit=2)
    for address in "abc":
        brake.take(address, 0)
    assert len(brake._buckets) == 2
    assert brake.take("a", 0) == 0, "the address that was quiet longest is forgotten"


@pytest.mark.anyio
async def test_the_right_key_gives_a_cookie_that_opens_the_server():
    async with client("secret", Clock()) as http:
        assert (await http.get("/api/thing")).status_code == 401
        answer = await http.post("/api/session", json={"key": "secret"})
        assert answer.json() == {"user": "local", "role": "admin", "required": True}
        header = answer.headers["set-cookie"].lower()
        assert "httponly" in header
        assert "samesite=strict" in header
        assert "secure" not in header
        assert (await http.get("/api/thing")).status_code == 200
        assert (await http.get("/api/session")).json()["user"] == "local"


@pytest.mark.anyio
async def test_over_https_the_cookie_is_for_https_only():
    async with client("secret", Clock(), "https") as http:
        answer = await http.post("/api/session", json={"key": "secret"})
        assert "secure" in answer.headers["set-cookie"].lower()


@pytest.mark.anyio
async def test_logging_out_ends_the_session_also_for_a_copied_cookie():
    async with client("secret", Clock()) as http:
        await http.post("/api/session", json={"key": "secret"})
        copied = {"Cookie": f"{COOKIE}={http.cookies[COOKIE]}"}
        assert (await http.delete("/api/session")).status_code == 204
        assert COOKIE not in http.cookies
        assert (await http.get("/api/thing", headers=copied)).status_code == 401


@pytest.mark.anyio
async def test_a_session_ends_by_time():
    clock = Clock()
    async with client("secret", clock) as http:
        await http.post("/api/session", json={"key": "secret"})
        clock.now += LIFETIME
        assert (await http.get("/api/thing")).status_code == 401


@pytest.mark.anyio
async def test_guessing_is_slowed_even_for_the_right_key():
    clock = Clock()
    async with client("secret", clock) as http:
        for _ in range(5):
            assert (await http.post("/api/session", json={"key": "guess"})).status_code == 401
        slowed = await http.post("/api/session", json={"key": "secret"})
        assert slowed.status_code == 429
        assert slowed.json()["error"]["code"] == "rate_limited"
        clock.now += 6
        assert (await http.post("/api/session", json={"key": "secret"})).status_code == 200


@pytest.mark.anyio
@pytest.mark.parametrize("body", [b"", b"secret", b"[]", b"{}", b'{"key": 5}', b'{"key": ""}', b"\xff"])
async def test_a_login_without_a_key_says_what_to_send(body):
    async with client("secret", Clock()) as http:
        answer = await http.post("/api/session", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "key"


@pytest.mark.anyio
async def test_without_a_key_everyone_is_local_and_no_cookie_is_needed():
    async with client(None, Clock()) as http:
        answer = await http.post("/api/session", json={})
        assert answer.json() == {"user": "local", "role": "admin", "required": False}
        assert "set-cookie" not in answer.headers
        assert (await http.get("/api/session")).json()["required"] is False
