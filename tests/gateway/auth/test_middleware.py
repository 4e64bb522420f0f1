"""Keys, the rules of the start, and the check of every request and socket."""

import base64
from typing import Any

import anyio
import httpx
import pytest
from fastapi import Depends, FastAPI
from fastapi.responses import JSONResponse

from duologue.config import load
from duologue.errors import Problem, StartFailed
from duologue.gateway.auth.keys import Keys, User, wall_clock
from duologue.gateway.auth.middleware import (
    Authentication,
    admin,
    check_start,
    cookie_name,
    has_key,
    is_loopback,
    keyed_admin,
    misplaced,
)
from duologue.gateway.auth.sessions import LoginSessions
from duologue.store.database import Database
from duologue.store.users import Users

COOKIE = cookie_name(8006)
KEY = "swordfish-0123456789"
NOW = 5_000_000

NO_RECEIVE: Any = None
NO_SEND: Any = None
"""The other side of ASGI where nothing is read or sent."""


async def through(scope, *, key: str | None = KEY, keys: Keys | None = None, **options):
    """What a request meets: (status, body) of a refusal, or the state it came through with."""
    came, messages = [], []
    keys = keys or Keys(key)

    async def app(scope, receive, send):
        came.append(scope)

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        messages.append(message)

    scope = {
        "method": "GET",
        "path": "/v1/models",
        "headers": [],
        "extensions": {"websocket.http.response": {}},
    } | scope
    guard = Authentication(app, keys, LoginSessions(keys), cookie=COOKIE, now=lambda: NOW, **options)
    await guard(scope, receive, send)
    if came:
        return came[0]
    return messages[0]["status"], messages[1]["body"]


def http(path: str = "/v1/models", method: str = "GET", **headers: str):
    raw = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    return {"type": "http", "path": path, "method": method, "headers": raw}


@pytest.fixture
async def users():
    async with Database.memory() as database:
        yield Users(database, lambda: NOW)


@pytest.fixture
async def keys(users):
    """The keys of a database, and no key in the settings."""
    keys = Keys(None)
    await keys.use(users)
    return keys


@pytest.fixture
async def locked(users):
    """The key of the settings, with a database for the logins."""
    keys = Keys(KEY)
    await keys.use(users)
    return keys


def in_base64(key: str) -> str:
    return base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost", "LOCALHOST"])
def test_loopback_needs_nothing(host):
    assert is_loopback(host)
    check_start(host, has_key=False, insecure_http=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.5", "box.local", "localhost.example"])
def test_what_others_can_reach_needs_a_key_and_a_word_about_plain_http(host):
    with pytest.raises(
        StartFailed, match=r"needs a key\. Create one with `duologue key add NAME`.*--key-file"
    ):
        check_start(host, has_key=False, insecure_http=True)
    with pytest.raises(StartFailed, match="--insecure-http"):
        check_start(host, has_key=True, insecure_http=False)
    check_start(host, has_key=True, insecure_http=True)
    check_start(host, has_key=True, insecure_http=False, tls=True)
    with pytest.raises(StartFailed, match="needs a key"):
        check_start(host, has_key=False, insecure_http=False, tls=True)


@pytest.mark.anyio
async def test_without_a_key_everyone_is_local_whatever_they_send():
    scope = await through(http(authorization="Bearer whatever"), key=None)
    assert (scope["state"]["user"], scope["state"]["role"]) == ("local", "admin")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": f"Bearer {KEY}"},
        {"authorization": f"bearer   {KEY} "},
        {"x_api_key": KEY},
    ],
)
async def test_the_key_opens_the_door(headers):
    scope = await through(http(**headers))
    assert scope["state"]["user"] == "local"


@pytest.mark.anyio
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": ""},
        {"authorization": "Bearer "},
        {"authorization": KEY},
        {"authorization": f"Basic {KEY}"},
        {"authorization": f"Bearer {KEY[:-1]}"},
        {"authorization": "Bearer \xff\xfe"},
        {"x_api_key": KEY.upper()},
        {"cookie": f"{COOKIE}={KEY}"},
        {"cookie": f"{COOKIE}="},
        {"x_forwarded_for": "127.0.0.1"},
    ],
)
async def test_whatever_is_not_the_key_is_turned_away(headers):
    status, body = await through(http(**headers))
    assert status == 401
    assert b"Authorization: Bearer KEY" in body


@pytest.mark.anyio
async def test_the_key_is_not_read_from_the_address():
    status, _ = await through(http() | {"query_string": f"key={KEY}&api_key={KEY}&token={KEY}".encode()})
    assert status == 401


@pytest.mark.anyio
async def test_the_peer_address_is_no_credential():
    status, _ = await through(http() | {"client": ("127.0.0.1", 5000)})
    assert status == 401


@pytest.mark.anyio
async def test_a_session_opens_the_door_and_a_wrong_key_beside_it_does_not(locked):
    cookie = f"theme=dark; {COOKIE}={await LoginSessions(locked).open('local', NOW)}"
    scope = await through(http(cookie=cookie), keys=locked)
    assert scope["state"]["user"] == "local"
    status, _ = await through(http(cookie=cookie, authorization="Bearer wrong"), keys=locked)
    assert status == 401


@pytest.mark.anyio
async def test_the_session_of_another_port_is_not_ours(locked):
    cookie = f"{cookie_name(9000)}={await LoginSessions(locked).open('local', NOW)}"
    assert (await through(http(cookie=cookie), keys=locked))[0] == 401


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/health"), ("HEAD", "/ready"), ("POST", "/api/session"), ("GET", "/"), ("GET", "/assets/a.js")],
)
async def test_what_is_open_is_open(method, path):
    scope = await through(http(path, method), open_files={"/", "/assets/a.js"})
    assert (scope["state"]["user"], scope["state"]["role"]) == ("", "")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/health/"),
        ("GET", "//health"),
        ("POST", "/health"),
        ("GET", "/Health"),
        ("GET", "/api/session"),
        ("DELETE", "/api/session"),
        ("POST", "/api/session/"),
        ("POST", "/"),
        ("GET", "/assets/../v1/models"),
        ("GET", "/metrics"),
        ("GET", "/status"),
        ("GET", "/workers"),
        ("GET", "/docs"),
        ("GET", "/openapi.json"),
        ("GET", "/no/such/path"),
        ("OPTIONS", "/v1/models"),
    ],
)
async def test_everything_else_is_closed(method, path):
    assert (await through(http(path, method), open_files={"/", "/assets/a.js"}))[0] == 401


@pytest.mark.anyio
async def test_a_browser_without_a_session_is_shown_the_login_wherever_it_goes():
    async def page(scope, receive, send):
        await send({"type": "http.response.start", "status": 401, "headers": []})
        await send({"type": "http.response.body", "body": b"login"})

    browser = http("/some/view", accept="text/html,*/*")
    assert await through(browser, login_page=page) == (401, b"login")
    script = http("/some/view", accept="application/json")
    assert b"needs a key" in (await through(script, login_page=page))[1]


@pytest.mark.anyio
async def test_a_socket_without_the_key_is_refused_before_it_opens():
    for offered in (
        [],
        ["duologue"],
        [f"duologue.key.{in_base64('wrong')}"],
        ["duologue.key.%%%"],
        ["duologue.key."],
    ):
        assert (await through({"type": "websocket", "path": "/ws/chat", "subprotocols": offered}))[0] == 401


@pytest.mark.anyio
async def test_no_path_is_open_to_a_socket():
    assert (await through({"type": "websocket", "path": "/health", "subprotocols": []}))[0] == 401


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("offered", "seen", "chosen"),
    [
        (["duologue", f"duologue.key.{in_base64(KEY)}"], ["duologue"], "duologue"),
        ([f"duologue.key.{in_base64(KEY)}"], [], f"duologue.key.{in_base64(KEY)}"),
    ],
)
async def test_a_socket_brings_its_key_as_a_subprotocol_which_the_endpoint_never_sees(offered, seen, chosen):
    accepted = []

    async def app(scope, receive, send):
        assert scope["subprotocols"] == seen
        assert scope["state"]["user"] == "local"
        await send({"type": "websocket.accept"})

    async def send(message):
        accepted.append(message)

    keys = Keys(KEY)
    guard = Authentication(app, keys, LoginSessions(keys), cookie=COOKIE)
    scope = {"type": "websocket", "path": "/ws/chat", "headers": [], "subprotocols": offered}
    await guard(scope, NO_RECEIVE, send)
    assert accepted[0]["subprotocol"] == chosen


@pytest.mark.anyio
async def test_a_key_of_the_database_says_who_is_asking(keys, users):
    ada, bob = await users.add_key("ada"), await users.add_key("bob")
    keys.outdated()
    state = (await through(http(authorization=f"Bearer {bob.value}"), keys=keys))["state"]
    assert state == {
        "user": bob.account.id,
        "role": "user",
        "name": "bob",
        "keyed": True,
        "key": bob.key.id,
    }
    state = (await through(http(x_api_key=ada.value), keys=keys))["state"]
    assert state == {"user": "local", "role": "admin", "name": "ada", "keyed": True, "key": ada.key.id}


@pytest.mark.anyio
async def test_once_a_key_exists_every_request_needs_one_also_when_it_is_revoked(keys, users):
    state = (await through(http(), keys=keys))["state"]
    assert (state["user"], state["role"], state["keyed"]) == ("local", "admin", False)
    ada = await users.add_key("ada")
    keys.outdated()
    assert (await through(http(), keys=keys))[0] == 401
    await users.revoke(ada.key.id)
    keys.outdated()
    assert (await through(http(), keys=keys))[0] == 401
    assert (await through(http(authorization=f"Bearer {ada.value}"), keys=keys))[0] == 401


@pytest.mark.anyio
async def test_what_others_can_reach_is_closed_even_when_no_key_is_left(users):
    reachable = Keys(None, always=True)
    await reachable.use(users)
    assert (await through(http(), keys=reachable))[0] == 401


@pytest.mark.anyio
async def test_an_open_address_knows_no_user():
    state = (await through(http("/health")))["state"]
    assert state == {"user": "", "role": "", "name": "", "keyed": False, "key": ""}


@pytest.mark.anyio
async def test_a_socket_whose_key_is_revoked_hears_no_more_and_is_closed(keys, users):
    ada = await users.add_key("ada")
    keys.outdated()
    heard, sent = [], []

    async def app(scope, receive, send):
        heard.append(await receive())
        await users.revoke(ada.key.id)
        keys.outdated()
        heard.append(await receive())
        await send({"type": "websocket.send", "text": "late"})

    async def receive():
        return {"type": "websocket.receive", "text": "hello"}

    async def send(message):
        sent.append(message)

    headers = [(b"authorization", f"Bearer {ada.value}".encode())]
    scope = {"type": "websocket", "path": "/ws/chat", "headers": headers, "subprotocols": []}
    await Authentication(app, keys, LoginSessions(keys), cookie=COOKIE)(scope, receive, send)
    assert [message["type"] for message in heard] == ["websocket.receive", "websocket.disconnect"]
    assert [(message["type"], message["code"]) for message in sent] == [("websocket.close", 1008)]


@pytest.mark.anyio
async def test_a_stream_whose_key_is_revoked_ends(keys, users):
    ada, bob = await users.add_key("ada"), await users.add_key("bob")
    keys.outdated()
    sent = []

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"one", "more_body": True})
        await users.revoke(bob.key.id)
        keys.outdated()
        await send({"type": "http.response.body", "body": b"two", "more_body": True})

    async def send(message):
        sent.append(message.get("body"))

    guard = Authentication(app, keys, LoginSessions(keys), cookie=COOKIE)
    await guard(http(authorization=f"Bearer {bob.value}"), NO_RECEIVE, send)
    assert sent == [None, b"one"]
    await guard(http(authorization=f"Bearer {ada.value}"), NO_RECEIVE, send)
    assert sent == [None, b"one", None, b"one", b"two"], "somebody else's goes on"


@pytest.mark.parametrize(
    ("before", "after", "heard"),
    [("admin", "user", []), ("admin", "admin", [b"more"]), ("user", "admin", [b"more"])],
    ids=["taken-away", "still-there", "given"],
)
@pytest.mark.anyio
async def test_a_stream_ends_when_its_user_is_no_admin_any_more(keys, users, before, after, heard):
    await users.add_key("ada", admin=True)
    bob = await users.add_key("bob", admin=before == "admin")
    keys.outdated()
    sent = []

    async def app(scope, receive, send):
        await users.change("bob", role=after)
        keys.outdated()
        await send({"type": "http.response.body", "body": b"more", "more_body": True})

    async def send(message):
        sent.append(message["body"])

    guard = Authentication(app, keys, LoginSessions(keys), cookie=COOKIE)
    await guard(http(authorization=f"Bearer {bob.value}"), NO_RECEIVE, send)
    assert sent == heard


@pytest.mark.anyio
async def test_a_broken_connection_stays_a_broken_connection(keys):
    async def app(scope, receive, send):
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        await Authentication(app, keys, LoginSessions(keys), cookie=COOKIE)(http(), NO_RECEIVE, NO_SEND)


@pytest.fixture
async def roles():
    """A function: the answer's status for someone of this role who did or did not use a key."""
    app = FastAPI()

    @app.get("/for/admins", dependencies=[Depends(admin)])
    async def for_admins() -> None: ...

    @app.get("/for/keyed", dependencies=[Depends(keyed_admin)])
    async def for_keyed() -> None: ...

    @app.exception_handler(Problem)
    async def answer(request, problem):
        return JSONResponse({"code": problem.code}, problem.status)

    async def ask(path, **state):
        async def as_someone(scope, receive, send):
            await app(scope | {"state": state}, receive, send)

        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(as_someone), base_url="http://localhost"
        ) as asking:
            answered = await asking.get(path)
            return answered.status_code if answered.status_code == 200 else answered.json()["code"]

    return ask


@pytest.mark.anyio
async def test_admins_are_told_from_users_and_from_those_without_a_key(roles):
    assert await roles("/for/admins", role="admin", keyed=False) == 200
    assert await roles("/for/admins", role="user", keyed=True) == "admin_needed"
    assert await roles("/for/admins", role="", keyed=False) == "admin_needed"
    assert await roles("/for/keyed", role="admin", keyed=True) == 200
    assert await roles("/for/keyed", role="admin", keyed=False) == "key_needed"
    assert await roles("/for/keyed", role="admin") == "key_needed"
    assert await roles("/for/keyed", role="user", keyed=True) == "admin_needed"


def test_whether_a_server_will_ask_for_a_key_is_known_before_it_starts(tmp_path):
    settings = load(None, {}, {"data": str(tmp_path)})
    assert not has_key(settings)
    assert has_key(load(None, {}, {"data": str(tmp_path), "key": KEY}))

    async def add():
        async with Database.opened(None, tmp_path, now=wall_clock) as database:
            await Users(database, wall_clock).add_key("ada")

    anyio.run(add)
    assert has_key(settings)


@pytest.mark.parametrize(
    ("role", "path", "code"),
    [
        ("worker", "/v1/models", "worker_key"),
        ("worker", "/api/keys", "worker_key"),
        ("worker", "/join", "worker_key"),
        ("worker", "/joinery", "worker_key"),
        ("worker", "/join/live", None),
        ("user", "/join/live", "worker_key_needed"),
        ("admin", "/join/files/abc", "worker_key_needed"),
    ],
)
def test_workers_join_and_do_nothing_else_and_nobody_else_joins(role, path, code):
    refusal = misplaced(role, path)
    assert (refusal.code if refusal else None) == code


@pytest.mark.parametrize("path", ["/v1/models", "/api/session", "/metrics", "/"])
@pytest.mark.anyio
async def test_a_workers_key_is_refused_before_any_endpoint(keys, users, path):
    await users.add_key("ada")
    box = await users.add_key("box", worker=True)
    keys.outdated()
    reached, sent = [], []

    async def app(scope, receive, send):
        reached.append(scope["path"])

    async def send(message):
        sent.append(message)

    guard = Authentication(app, keys, LoginSessions(keys), cookie=COOKIE, open_files={"/"})
    await guard(http(path, authorization=f"Bearer {box.value}"), NO_RECEIVE, send)
    assert not reached
    assert sent[0]["status"] == 403


@pytest.mark.anyio
async def test_the_key_of_a_place_joins_and_ends_with_its_place(keys, users):
    await users.add_key("ada")
    keys.outdated()
    places = {"place-1": "worker_1"}
    keys.place_of = places.get
    assert keys.user("place-1") == User("place worker_1", "worker", "worker_1", "place worker_1")
    assert keys.accepts("place worker_1", "place worker_1")
    del places["place-1"]
    assert keys.user("place-1") is None
