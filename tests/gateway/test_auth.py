"""Keys, the rules of the start, and the check of every request and socket."""

import base64

import pytest

from duologue.errors import StartFailed
from duologue.gateway.auth import (
    Authentication,
    Keys,
    SocketLimit,
    User,
    check_start,
    cookie_name,
    is_loopback,
    read_key,
)
from duologue.gateway.logins import Logins

COOKIE = cookie_name(8006)
KEY = "swordfish-0123456789"


async def through(scope, *, key: str | None = KEY, logins: Logins | None = None, **options):
    """What a request meets: (status, body) of a refusal, or the state it came through with."""
    came, messages = [], []

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
    guard = Authentication(app, Keys(key), logins or Logins(), cookie=COOKIE, clock=lambda: 0.0, **options)
    await guard(scope, receive, send)
    if came:
        return came[0]
    return messages[0]["status"], messages[1]["body"]


def http(path: str = "/v1/models", method: str = "GET", **headers: str):
    raw = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    return {"type": "http", "path": path, "method": method, "headers": raw}


def in_base64(key: str) -> str:
    return base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")


def test_a_key_is_known_by_its_hash_alone():
    keys = Keys(KEY)
    assert keys.required
    assert keys.user(KEY) == User("local", "admin")
    assert keys.user(KEY + "x") is None
    assert keys.user("") is None
    assert KEY not in repr(vars(keys))


def test_without_a_key_no_candidate_is_one():
    assert not Keys(None).required
    assert not Keys("").required
    assert Keys(None).user("") is None


def test_keys_of_two_starts_hash_differently():
    assert vars(Keys(KEY))["_digest"] != vars(Keys(KEY))["_digest"]


def test_a_key_file_is_read_without_its_line_end(tmp_path):
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    assert read_key(None, file) == KEY
    assert read_key(KEY, None) == KEY
    assert read_key(None, None) is None
    assert read_key("", None) is None


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is empty"),
        ("two words", "without spaces"),
        ("two\nlines", "one line"),
        (b"\xff", "it is not text"),
    ],
)
def test_a_key_file_that_holds_no_key_says_so(tmp_path, content, sentence):
    file = tmp_path / "key"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(StartFailed, match=sentence):
        read_key(None, file)


def test_a_missing_key_file_and_two_keys_say_so(tmp_path):
    with pytest.raises(StartFailed, match="cannot be read: No such file"):
        read_key(None, tmp_path / "missing")
    with pytest.raises(StartFailed, match="give one of"):
        read_key(KEY, tmp_path / "key")


def test_a_key_no_header_can_carry_is_refused_at_the_start():
    with pytest.raises(StartFailed, match="one line"):
        read_key("clé", None)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost", "LOCALHOST"])
def test_loopback_needs_nothing(host):
    assert is_loopback(host)
    check_start(host, has_key=False, insecure_http=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.5", "box.local", "localhost.example"])
def test_what_others_can_reach_needs_a_key_and_a_word_about_plain_http(host):
    with pytest.raises(StartFailed, match=r"needs a key\. Make one with .*--key-file"):
        check_start(host, has_key=False, insecure_http=True)
    with pytest.raises(StartFailed, match="--insecure-http"):
        check_start(host, has_key=True, insecure_http=False)
    check_start(host, has_key=True, insecure_http=True)


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
async def test_a_session_opens_the_door_and_a_wrong_key_beside_it_does_not():
    logins = Logins()
    cookie = f"theme=dark; {COOKIE}={logins.open('local', 0.0)}"
    scope = await through(http(cookie=cookie), logins=logins)
    assert scope["state"]["user"] == "local"
    status, _ = await through(http(cookie=cookie, authorization="Bearer wrong"), logins=logins)
    assert status == 401


@pytest.mark.anyio
async def test_the_session_of_another_port_is_not_ours():
    logins = Logins()
    cookie = f"{cookie_name(9000)}={logins.open('local', 0.0)}"
    assert (await through(http(cookie=cookie), logins=logins))[0] == 401


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

    guard = Authentication(app, Keys(KEY), Logins(), cookie=COOKIE)
    scope = {"type": "websocket", "path": "/ws/chat", "headers": [], "subprotocols": offered}
    await guard(scope, None, send)
    assert accepted[0]["subprotocol"] == chosen


@pytest.mark.anyio
async def test_a_user_may_hold_so_many_sockets_and_gets_the_place_of_a_closed_one_back():
    import anyio

    release = anyio.Event()
    statuses = []

    async def app(scope, receive, send):
        statuses.append("open")
        await release.wait()

    limit = SocketLimit(app, 2)

    async def knock():
        async def receive():
            return {"type": "websocket.connect"}

        async def send(message):
            if "status" in message:
                statuses.append(message["status"])

        scope = {"type": "websocket", "path": "/ws", "state": {"user": "ada"}}
        await limit(scope | {"extensions": {"websocket.http.response": {}}}, receive, send)

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(knock)
        await anyio.wait_all_tasks_blocked()
        assert statuses == ["open", "open", 429]
        release.set()
    await knock()
    assert statuses[-1] == "open"
