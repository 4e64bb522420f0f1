"""The page over two gateways of one PostgreSQL, behind an nginx that gives every request and socket to the next of them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from tests.e2e.conftest import Server
from tests.support.installed_proxies import nginx_for, running
from tests.support.ports import free_port
from tests.support.tabs import Tab

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed"),
]
KEY = "the-key-of-the-admin-of-both-gateways"
REQUEST = re.compile(r"^127\.0\.0\.1:(\d+) (.+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def gateways(start_gateway: Callable[..., Server]) -> list[Server]:
    servers = [start_gateway("--proxy", "127.0.0.1", DUOLOGUE_KEY=KEY) for _ in range(2)]
    return [server.ready() for server in servers]


@pytest.fixture(scope="module")
def server(gateways: list[Server], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """What the browser knows: the proxy. `log` is what it passed on, and to which port."""
    folder: Path = tmp_path_factory.mktemp("nginx")
    port, log = free_port(), folder / "access"
    command = nginx_for(folder, port, [gateway.port for gateway in gateways])
    file = folder / "duologue.conf"
    # In turns: the file of `deploy/` prefers the gateway with fewer connections, which would keep the page at one for a while.
    text = file.read_text().replace("    least_conn;\n", "")
    text = text.replace("client_max_body_size", f"access_log {log} passed;\n    client_max_body_size", 1)
    file.write_text(f"log_format passed '$upstream_addr $request_method $uri';\n{text}")
    with running(command):
        url = f"http://127.0.0.1:{port}"
        gateways[0].until(partial(answers, url))
        yield SimpleNamespace(url=url, log=log)


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ready", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module", autouse=True)
def without_chats() -> None:
    """These gateways have none."""


def test_a_person_notices_nothing_of_two_gateways(server: Any, visit: Callable[..., Tab]) -> None:
    """Signs in, reads a reply while it is written, reloads in its middle, stops it, asks for another one, edits, and finds it all again."""
    tab = visit()
    tab.page.goto(tab.url)
    tab.page.get_by_label("Key").fill(KEY)
    tab.button("Log in").click()
    expect(tab.composer).to_be_visible()

    tab.say("/pace 20\n/repeat 4000 word ")
    expect(tab.reply).to_contain_text("word word")
    tab.page.reload()
    expect(tab.reply).to_contain_text("word word")
    expect(tab.reply).to_have_attribute("aria-busy", "true")
    before = len(tab.reply.inner_text())
    tab.page.wait_for_function(
        "before => [...document.querySelectorAll('article[aria-busy]')].at(-1).innerText.length > before",
        arg=before + 50,
    )
    tab.button("Stop").click()
    tab.ended()

    tab.told("/say one")
    tab.button("Regenerate").click()
    versions = tab.reply.get_by_role("group", name="Versions")
    expect(versions).to_contain_text("2 / 2")
    tab.ended()
    tab.composer.press("ArrowUp")
    editor = tab.page.get_by_role("textbox", name="Edit message")
    editor.fill("/say two")
    editor.press("Enter")
    expect(tab.reply).to_contain_text("two")
    tab.ended()
    tab.page.reload()
    expect(tab.reply).to_contain_text("two")
    expect(tab.replies.first).to_contain_text("word word")
    expect(tab.said.last.get_by_role("group", name="Versions")).to_contain_text("2 / 2")
    expect(tab.chats.filter(has_text="word")).to_have_count(1)

    passed = REQUEST.findall(server.log.read_text())
    assert len({port for port, request in passed if "/api/" in request}) == 2, passed
    tab.forgive("401")
