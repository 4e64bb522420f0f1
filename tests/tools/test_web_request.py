"""A GET of an address that a model or a user named."""

import socket

import pytest
from tests.tools.test_pinned_transport import pointing, site

from duologue.errors import BadRequest, Forbidden, Unavailable
from duologue.tools.ssrf_guard import AddressGuard, AllowList
from duologue.tools.web_request import HOPS, WebAnswer, get_from_web

pytestmark = pytest.mark.anyio
HERE = AddressGuard(AllowList(("127.0.0.1",)))


async def get(url: str, addresses: AddressGuard = HERE, *, most_bytes: int = 1000) -> WebAnswer:
    return await get_from_web(url, addresses, accept="image/png", seconds=10, most_bytes=most_bytes)


async def test_the_answer_has_the_last_address_the_type_and_the_body():
    pages = {
        "/": (302, {"location": "/b", "set-cookie": "a=1"}, b""),
        "/b": (200, {"content-type": "image/png"}, b"x"),
    }
    with site(pages) as (port, seen):
        answer = await get(f" http://127.0.0.1:{port}/ ")
    assert answer == WebAnswer(f"http://127.0.0.1:{port}/b", "image/png", b"x", complete=True)
    for _, headers in seen:
        names = {name.lower(): value for name, value in headers.items()}
        assert names["accept"] == "image/png"
        assert not {"cookie", "referer", "authorization"} & set(names)


async def test_a_long_body_is_cut_and_says_so():
    with site({"/": (200, {}, b"x" * 100_000)}) as (port, _):
        answer = await get(f"http://127.0.0.1:{port}/")
    assert len(answer.body) == 1000
    assert not answer.complete


@pytest.mark.parametrize(
    "url", ["", "file:///etc/passwd", "//a.example/", "http://", "http://[::1", "data:,a"]
)
async def test_only_web_addresses_are_asked(url: str):
    with pytest.raises(BadRequest) as refused:
        await get(url)
    assert refused.value.code == "bad_url"


async def test_this_machine_is_not_asked_unless_allowed():
    with site({"/": (200, {}, b"x")}) as (port, seen):
        with pytest.raises(Forbidden) as refused:
            await get(f"http://127.0.0.1:{port}/", AddressGuard(AllowList()))
        assert refused.value.code == "private_address"
        assert seen == []


async def test_a_redirect_inside_is_refused():
    with site({"/": (302, {"location": "http://inside.example/"}, b"")}) as (port, seen):
        with pytest.raises(Forbidden):
            await get(f"http://page.example:{port}/", pointing(["127.0.0.1"], ["192.168.0.1"]))
        assert len(seen) == 1


async def test_redirects_in_a_circle_end():
    with site({"/": (302, {"location": "/"}, b"")}) as (port, seen):
        with pytest.raises(Unavailable):
            await get(f"http://127.0.0.1:{port}/")
        assert len(seen) == HOPS + 1


async def test_a_server_that_says_nothing_is_left():
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(Unavailable) as refused:
        await get_from_web(
            f"http://127.0.0.1:{silent.getsockname()[1]}/", HERE, accept="*/*", seconds=0.2, most_bytes=10
        )
    assert "0.2 seconds" in refused.value.message


async def test_what_may_be_kept_is_told_of_every_redirect():
    pages = {
        "/a": (302, {"location": "/b", "cache-control": "no-store"}, b""),
        "/b": (200, {"cache-control": "max-age=60"}, b"x"),
    }
    with site(pages) as (port, _):
        assert (await get(f"http://127.0.0.1:{port}/a")).cache_control == "no-store, max-age=60"
