"""The page while its server is away, and when it comes back with another build."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.support.reverse_proxy import ReverseProxy
from tests.support.tabs import Tab

pytestmark = [pytest.mark.browser, pytest.mark.system]

AWAY = re.compile("Can’t reach the server. Retrying")
NOTICE = re.compile(r"server|connection|reconnect|\bline\b|\breach", re.IGNORECASE)
GONE = r"ERR_CONNECTION_REFUSED|status of 50[234]|Failed to (load|fetch)|net::ERR"
PACKAGE = Path(__file__).parents[3] / "src" / "duologue"
KEPT = """async () => {
    const addresses = [];
    for (const name of await caches.keys()) {
        for (const request of await (await caches.open(name)).keys()) addresses.push(new URL(request.url).pathname);
    }
    return addresses;
}"""

ONLY = """async (end) => {
    for (let round = 0; round < 300; round++) {
        const names = await caches.keys();
        const { active } = (await navigator.serviceWorker.getRegistration()) ?? {};
        if (names.length === 1 && names[0].endsWith(end) && active?.state === "activated") return true;
        await new Promise((done) => setTimeout(done, 50));
    }
    return false;
}"""


def kept(tab: Tab) -> list[str]:
    """What the browser holds of the page, by address, once it holds all of it."""
    tab.page.evaluate("async () => void (await navigator.serviceWorker.ready)")
    addresses: list[str] = tab.page.evaluate(KEPT)
    return addresses


def leave(tab: Tab) -> None:
    """Close it, without its complaints that nobody answered."""
    tab.page.close()
    tab.forgive(GONE)


def build_of(tab: Tab) -> str | None:
    return tab.page.locator('meta[name="duologue-build"]').get_attribute("content")


def test_the_page_opens_while_the_server_is_away_and_says_so(serve: Any, visit: Callable[..., Tab]) -> None:
    server = serve("--engine", "scripted").ready()
    tab = visit(on=server, service_workers="allow").open()
    assert "/index.html" in kept(tab)
    server.stop()
    tab.page.reload()
    expect(tab.composer).to_be_visible()
    expect(tab.page.get_by_text(AWAY)).to_be_visible()
    leave(tab)


def test_a_server_killed_in_the_middle_of_a_reply_is_one_notice(
    serve: Any, visit: Callable[..., Tab]
) -> None:
    server = serve("--engine", "scripted").ready()
    tab = visit(on=server).open()
    tab.say("/pace 50\n/repeat 2000 word ")
    expect(tab.reply).to_contain_text("word word")
    server.stop(signal.SIGKILL)
    expect(tab.page.get_by_text(AWAY)).to_be_visible()
    # Whoever else notices has noticed by the second time that nobody answers.
    for _ in range(2):
        tab.page.wait_for_event("requestfailed", timeout=30_000)
    said = tab.page.evaluate("() => document.body.innerText.split('\\n')")
    assert len([line for line in said if NOTICE.search(line)]) == 1, said
    leave(tab)


@pytest.mark.long
def test_a_proxy_whose_server_is_gone_does_not_hide_the_page(serve: Any, visit: Callable[..., Tab]) -> None:
    server = serve("--engine", "scripted", "--base-path", "/talk").ready()
    with ReverseProxy(server.port, "/talk", keeps=True) as proxy:
        tab = visit(on=proxy, service_workers="allow").open()
        assert "/talk/index.html" in kept(tab)
        server.stop()
        tab.page.reload()
        expect(tab.composer).to_be_visible()
        expect(tab.page.get_by_text(AWAY)).to_be_visible()
    leave(tab)


def test_nothing_but_the_page_is_kept(serve: Any, visit: Callable[..., Tab]) -> None:
    tab = visit(on=serve("--engine", "scripted").ready(), service_workers="allow").open()
    tab.told("hello")
    tab.page.reload()
    tab.ended()
    others = [address for address in kept(tab) if not address.startswith(("/assets/", "/icons/"))]
    assert sorted(others) == ["/index.html", "/manifest.webmanifest", "/mark.svg", "/theme.js"]


@pytest.mark.long
def test_what_was_taken_away_is_kept_again(serve: Any, visit: Callable[..., Tab]) -> None:
    tab = visit(on=serve("--engine", "scripted").ready(), service_workers="allow").open()
    kept(tab)
    end = tab.page.evaluate("async () => (await caches.keys())[0]")
    tab.page.evaluate("async () => void (await caches.delete((await caches.keys())[0]))")
    tab.page.reload()
    assert tab.page.evaluate(ONLY, end)


def test_it_can_be_put_on_a_home_screen(tab: Tab) -> None:
    page = tab.page
    manifest = page.evaluate(
        "async () => await (await fetch(document.querySelector('link[rel=manifest]').href)).json()"
    )
    assert (manifest["start_url"], manifest["display"]) == ("./", "standalone")
    icons = [*(icon["src"] for icon in manifest["icons"]), "icons/apple-touch-icon.png"]
    sides = page.evaluate(
        """icons => Promise.all(icons.map(async (icon) => {
            const picture = new Image();
            picture.src = icon;
            await picture.decode();
            return picture.naturalWidth;
        }))""",
        icons,
    )
    assert sides[1:] == [192, 512, 512, 180]


@pytest.fixture
def another_build(tmp_path: Path) -> Path:
    """A copy of the server whose page is of another build."""
    copy = tmp_path / "another"
    shutil.copytree(PACKAGE, copy / "duologue", ignore=shutil.ignore_patterns("__pycache__"))
    page = copy / "duologue" / "gateway" / "page"
    name = re.search(r'duologue-build" content="(\w+)"', (page / "index.html").read_text())
    assert name is not None
    for file in ("index.html", "sw.js"):
        path = page / file
        path.write_text(path.read_text().replace(name[1], "abcdef"))
        for twin in (".gz", ".br"):
            path.with_name(file + twin).unlink()
    return copy


def test_a_page_of_a_former_build_becomes_the_new_one(
    serve: Any, visit: Callable[..., Tab], another_build: Path
) -> None:
    former = serve("--engine", "scripted").ready()
    newer = serve("--engine", "scripted", PYTHONPATH=str(another_build)).ready()
    with ReverseProxy(former.port) as proxy:
        tab = visit(on=proxy, service_workers="allow").open()
        kept(tab)
        assert build_of(tab) != "abcdef"
        proxy.behind = newer.port
        tab.page.evaluate("dispatchEvent(new Event('online'))")
        tab.button("Reload").click()
        expect(tab.page.locator('meta[content="abcdef"]')).to_be_attached()
        assert tab.page.evaluate(ONLY, " abcdef"), "the former build is still kept"
        former.stop()
        newer.stop()
        tab.page.reload()
        expect(tab.composer).to_be_visible()
        assert build_of(tab) == "abcdef"
    leave(tab)
