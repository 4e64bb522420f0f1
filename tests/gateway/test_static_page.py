"""The built page: what is served, how it is kept by browsers, what cannot be reached."""

import gzip
from typing import Any, cast

import httpx
import pytest

from duologue.gateway.static_page import StaticPage, read_files

NAVIGATION = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
SCRIPT = b"export const hello = 'hello';" * 20

NO_RECEIVE: Any = None
"""Nothing is read from the client."""


@pytest.fixture
def folder(tmp_path):
    page = tmp_path / "page"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("<!doctype html><title>Duologue</title>")
    (page / "favicon.svg").write_text("<svg/>")
    (page / "assets" / "app-1a2b3c4d.js").write_bytes(SCRIPT)
    (page / "assets" / "app-1a2b3c4d.js.gz").write_bytes(gzip.compress(SCRIPT))
    (page / "assets" / "app-1a2b3c4d.js.br").write_bytes(b"brotli")
    (tmp_path / "secret.txt").write_text("secret")
    return page


def browser(pages: StaticPage) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(pages), base_url="http://localhost")


@pytest.mark.anyio
async def test_the_page_is_served_and_never_kept_without_asking(folder):
    async with browser(StaticPage(folder)) as http:
        answer = await http.get("/")
    assert answer.text.startswith("<!doctype html>")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.anyio
async def test_a_browser_at_an_unknown_address_is_shown_the_page(folder):
    async with browser(StaticPage(folder)) as http:
        assert (await http.get("/settings", headers=NAVIGATION)).text.startswith("<!doctype html>")


@pytest.mark.anyio
@pytest.mark.parametrize(("path", "up"), [("/chat/17", "../"), ("/a/b/c", "../../"), ("/settings/", "../")])
async def test_a_browser_at_a_deep_address_is_led_to_where_the_pages_files_are(folder, path, up):
    async with browser(StaticPage(folder)) as http:
        answer = await http.get(path, headers=NAVIGATION)
    assert (answer.status_code, answer.headers["location"]) == (307, up)


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/models", "/chat/completions", "/settings"])
async def test_a_program_at_a_wrong_address_is_given_no_page(folder, path):
    async with browser(StaticPage(folder)) as http:
        answer = await http.get(path, headers={"Accept": "application/json"})
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "told"), [("/chat/completions", True), ("/models", True), ("/chats", False)]
)
async def test_a_client_without_v1_in_its_base_url_is_told(folder, path, told):
    async with browser(StaticPage(folder)) as http:
        answer = await http.post(path)
    assert ("ends in /v1" in answer.json()["error"]["message"]) is told


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/v1/v1/messages", "/messages"])
async def test_a_client_of_anthropic_with_a_wrong_base_url_is_told(folder, path):
    async with browser(StaticPage(folder)) as http:
        answer = await http.post(path)
    assert "is the address without /v1" in answer.json()["error"]["message"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "path", ["/v1/nothing", "/api/nothing", "/ws/chat", "/assets/gone-123.js", "/gone.png"]
)
async def test_unknown_addresses_of_apis_and_files_are_errors(folder, path):
    async with browser(StaticPage(folder)) as http:
        answer = await http.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


@pytest.mark.anyio
async def test_other_methods_find_no_endpoint(folder):
    async with browser(StaticPage(folder)) as http:
        answer = await http.post("/v1/nothing")
    assert answer.status_code == 404
    assert "POST /v1/nothing" in answer.json()["error"]["message"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/assets/../../secret.txt",
        "/..",
        "//secret.txt",
        "/./../secret.txt",
        "/..\\secret.txt",
    ],
)
async def test_nothing_outside_the_folder_can_be_named(folder, path):
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "headers": []}
    await StaticPage(folder)(scope, NO_RECEIVE, send)
    assert sent[0]["status"] == 404


@pytest.mark.anyio
async def test_built_files_are_kept_for_good(folder):
    async with browser(StaticPage(folder)) as http:
        answer = await http.get("/assets/app-1a2b3c4d.js", headers={"Accept-Encoding": "identity"})
        assert answer.content == SCRIPT
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
        assert "immutable" in answer.headers["cache-control"]
        assert (await http.get("/favicon.svg")).headers["cache-control"] == "no-cache"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, deflate, br", "br"),
        ("gzip", "gzip"),
        ("br;q=0, gzip;q=0.5", "gzip"),
        ("br;q=0.0", None),
        ("identity", None),
        ("", None),
    ],
)
async def test_what_the_build_compressed_is_sent_to_who_takes_it(folder, accepted, coding):
    sent = []

    async def send(message):
        sent.append(message)

    headers = [(b"accept-encoding", accepted.encode())]
    scope = {"type": "http", "method": "GET", "path": "/assets/app-1a2b3c4d.js", "headers": headers}
    await StaticPage(folder)(scope, NO_RECEIVE, send)
    fields = dict(sent[0]["headers"])
    assert fields.get(b"content-encoding") == (coding.encode() if coding else None)
    assert fields[b"vary"] == b"Accept-Encoding"
    assert fields[b"content-length"] == str(len(sent[1]["body"])).encode()


def test_compressed_twins_have_no_address_of_their_own(folder):
    assert set(read_files(folder)) == {"/index.html", "/favicon.svg", "/assets/app-1a2b3c4d.js"}


@pytest.mark.anyio
async def test_what_the_browser_has_already_is_not_sent_again(folder):
    async with browser(StaticPage(folder)) as http:
        plain = {"Accept-Encoding": "identity"}
        etag = (await http.get("/", headers=plain)).headers["etag"]
        for tags in (etag, f'"other", W/{etag}', "*"):
            again = await http.get("/", headers=plain | {"If-None-Match": tags})
            assert (again.status_code, again.content) == (304, b"")
        assert (await http.get("/", headers=plain | {"If-None-Match": '"other"'})).status_code == 200


@pytest.mark.anyio
async def test_head_says_the_length_and_sends_nothing(folder):
    async with browser(StaticPage(folder)) as http:
        answer = await http.head("/assets/app-1a2b3c4d.js", headers={"Accept-Encoding": "identity"})
    assert answer.headers["content-length"] == str(len(SCRIPT))
    assert answer.content == b""


@pytest.mark.anyio
async def test_a_page_that_was_not_built_says_how_to_build_it(tmp_path):
    pages = StaticPage(tmp_path / "page")
    async with browser(pages) as http:
        answer = await http.get("/")
    assert answer.status_code == 503
    assert "make web" in answer.text
    assert (pages.built, pages.build, pages.login) == (False, None, None)


@pytest.mark.anyio
async def test_a_server_without_its_page_says_so():
    pages = StaticPage(None)
    async with browser(pages) as http:
        answer = await http.get("/")
    assert answer.status_code == 404
    assert "--no-ui" in answer.json()["error"]["message"]
    assert pages.paths == frozenset()


def test_the_open_addresses_are_the_files_and_nothing_else(folder):
    assert StaticPage(folder).paths == {"/", "/index.html", "/favicon.svg", "/assets/app-1a2b3c4d.js"}


def test_another_build_has_another_name(folder):
    before = StaticPage(folder).build
    assert before == StaticPage(folder).build
    (folder / "index.html").write_text("<!doctype html><title>Newer</title>")
    assert StaticPage(folder).build != before


@pytest.mark.anyio
async def test_the_login_is_the_page_with_the_status_of_a_missing_key(folder):
    pages = StaticPage(folder)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(cast(Any, pages.login)), base_url="http://localhost"
    ) as http:
        answer = await http.get("/chat/17")
    assert answer.status_code == 401
    assert answer.text.startswith("<!doctype html>")


@pytest.mark.anyio
async def test_a_socket_nobody_serves_is_refused(folder):
    sent = []

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message)

    await StaticPage(folder)({"type": "websocket", "path": "/ws/nothing", "headers": []}, receive, send)
    assert sent[0]["type"] == "websocket.close"


@pytest.fixture
def documented(folder):
    """A page that was built with the documentation of the APIs."""
    (folder / "docs").mkdir()
    (folder / "docs.html").write_text("<!doctype html><title>The HTTP APIs</title>")
    (folder / "docs" / "docs.js").write_text("show()")
    return folder


@pytest.mark.anyio
async def test_the_apis_are_described_at_docs(documented):
    async with browser(StaticPage(documented)) as http:
        page, script = await http.get("/docs"), await http.get("/docs/docs.js")
        slash = await http.get("/docs/", follow_redirects=False)
    assert "The HTTP APIs" in page.text
    assert script.text == "show()"
    assert (slash.status_code, slash.headers["location"]) == (308, "../docs")


def test_the_description_of_the_apis_is_not_open_to_everyone(documented):
    assert [address for address in StaticPage(documented).paths if "docs" in address] == []


@pytest.mark.anyio
async def test_without_the_built_documentation_the_description_is_named(tmp_path):
    async with browser(StaticPage(tmp_path)) as http:
        answer = await http.get("/docs")
    assert (answer.status_code, "/openapi.json" in answer.text) == (503, True)
    assert answer.headers["retry-after"] == "5"
    async with browser(StaticPage(None)) as http:
        answer = await http.get("/docs")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    assert "/openapi.json" in answer.json()["error"]["message"]


def test_a_build_that_names_itself_goes_by_that_name(folder):
    (folder / "index.html").write_text('<!doctype html><meta name="duologue-build" content="0a1b2c3d4e5f">')
    assert StaticPage(folder).build == "0a1b2c3d4e5f"


@pytest.fixture
def previewing(folder):
    """A page that was built with its preview."""
    (folder / "preview").mkdir()
    (folder / "preview.html").write_text("<!doctype html><title>Preview</title>")
    (folder / "preview" / "drawing.js").write_text("draw()")
    return folder


@pytest.mark.anyio
async def test_the_preview_may_be_framed_by_the_page_and_reach_nothing(previewing):
    async with browser(StaticPage(previewing)) as http:
        answer = await http.get("/preview.html")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none';")
    assert "frame-ancestors 'self'" in policy
    assert "connect-src" not in policy
    assert "allow-same-origin" not in policy
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert answer.headers["connection-allowlist"] == "(response-origin)"


@pytest.mark.anyio
async def test_what_draws_in_the_preview_may_be_loaded_by_a_frame_without_an_origin(previewing):
    async with browser(StaticPage(previewing)) as http:
        drawing, page = await http.get("/preview/drawing.js"), await http.get("/")
        gone = await http.get("/preview/gone", headers=NAVIGATION)
    assert drawing.headers["cross-origin-resource-policy"] == "cross-origin"
    assert "cross-origin-resource-policy" not in page.headers
    assert gone.status_code == 404
    assert {"/preview.html", "/preview/drawing.js"} <= StaticPage(previewing).paths
