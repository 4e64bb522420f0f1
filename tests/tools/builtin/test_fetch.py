import pytest
from tests.tools.test_pinned_transport import pointing, site

from duologue.errors import BadRequest, Forbidden, Unavailable
from duologue.tools import web_request
from duologue.tools.builtin import fetch
from duologue.tools.builtin.fetch import fetch_page
from duologue.tools.ssrf_guard import AddressGuard, AllowList

pytestmark = pytest.mark.anyio
HTML = {"content-type": "text/html; charset=utf-8"}
HERE = AddressGuard(AllowList(("127.0.0.1",)))


async def test_a_page_is_its_title_its_address_and_its_text():
    page = "<title>Tea</title><h1>Tea</h1><p>Grüner <a href='/t'>Tee</a></p>".encode()
    with site({"/p": (200, HTML, page)}) as (port, seen):
        root = f"http://127.0.0.1:{port}"
        assert await fetch_page(f"{root}/p", HERE) == f"Tea\n{root}/p\n\n# Tea\n\nGrüner [Tee]({root}/t)"
        assert "duologue" in seen[0][1]["user-agent"]


async def test_a_long_page_is_read_on_from_where_it_was_left():
    with site({"/": (200, {"content-type": "text/plain"}, b"0123456789")}) as (port, _):
        root = f"http://127.0.0.1:{port}/"
        assert "0123\n\n[6 more characters; fetch again with start=4.]" in await fetch_page(
            root, HERE, length=4
        )
        assert (await fetch_page(root, HERE, start=4)).endswith("456789")
        assert "only 10 characters" in await fetch_page(root, HERE, start=99)


async def test_encodings_are_those_the_page_says():
    pages = {
        "/header": (200, {"content-type": "text/plain; charset=latin-1"}, "é".encode("latin-1")),
        "/inside": (
            200,
            {"content-type": "text/html"},
            b'<meta charset="utf-16le">' + "é".encode("latin-1"),
        ),
        "/wrong": (200, {"content-type": "text/plain; charset=nonsense"}, "é".encode()),
        "/json": (200, {"content-type": "application/json"}, b'{"a":"\\u00e9"}'),
    }
    with site(pages) as (port, _):
        root = f"http://127.0.0.1:{port}"
        assert (await fetch_page(f"{root}/header", HERE)).endswith("é")
        assert (await fetch_page(f"{root}/wrong", HERE)).endswith("é")
        assert '"a": "é"' in await fetch_page(f"{root}/json", HERE)
        await fetch_page(f"{root}/inside", HERE)


async def test_redirects_are_followed_and_each_is_checked():
    with site(
        {"/": (302, {"location": "/b"}, b""), "/b": (200, {"content-type": "text/plain"}, b"there")}
    ) as (
        port,
        _,
    ):
        assert (await fetch_page(f"http://127.0.0.1:{port}/", HERE)).endswith("there")


async def test_a_redirect_to_the_inside_is_refused():
    with site({"/": (302, {"location": "http://inside.example/"}, b"")}) as (port, seen):
        with pytest.raises(Forbidden):
            await fetch_page(f"http://page.example:{port}/", pointing(["127.0.0.1"], ["192.168.0.1"]))
        assert len(seen) == 1


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://x.example/"])
async def test_a_redirect_away_from_the_web_is_refused(target):
    with site({"/": (302, {"location": target}, b"")}) as (port, _), pytest.raises(BadRequest):
        await fetch_page(f"http://127.0.0.1:{port}/", HERE)


async def test_redirects_in_a_circle_end():
    with site({"/": (302, {"location": "/"}, b"")}) as (port, seen):
        with pytest.raises(Unavailable):
            await fetch_page(f"http://127.0.0.1:{port}/", HERE)
        assert len(seen) == web_request.HOPS + 1


async def test_no_cookie_travels():
    pages = {"/": (302, {"location": "/b", "set-cookie": "a=1"}, b""), "/b": (200, {}, b"x")}
    with site(pages) as (port, seen):
        await fetch_page(f"http://127.0.0.1:{port}/", HERE)
        assert "cookie" not in {name.lower() for _, headers in seen for name in headers}


async def test_a_page_without_measure_is_cut(monkeypatch):
    monkeypatch.setattr(fetch, "BYTES", 1000)
    with site({"/": (200, {"content-type": "text/plain"}, b"x" * 100_000)}) as (port, _):
        assert len(await fetch_page(f"http://127.0.0.1:{port}/", HERE)) < 1100


async def test_what_is_no_page_says_what_it_is():
    with site({"/": (200, {"content-type": "application/zip"}, b"PK")}) as (port, _):
        with pytest.raises(BadRequest) as refused:
            await fetch_page(f"http://127.0.0.1:{port}/", HERE)
        assert "application/zip" in refused.value.message


async def test_a_server_that_refuses_or_is_not_there_is_said():
    with site({}) as (port, _):
        with pytest.raises(Unavailable) as failed:
            await fetch_page(f"http://127.0.0.1:{port}/none", HERE)
        assert "404" in failed.value.message
    with pytest.raises(Unavailable):
        await fetch_page(f"http://127.0.0.1:{port}/", HERE)


@pytest.mark.parametrize("url", ["example.com", "file:///etc/passwd", "http://", "javascript:x", ""])
async def test_what_is_no_address_of_a_page_is_refused(url):
    with pytest.raises(BadRequest):
        await fetch_page(url, HERE)
