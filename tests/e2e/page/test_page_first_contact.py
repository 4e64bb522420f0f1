"""First contact: from a fresh server to the reply of a better model with one click, with a real server and a hub on loopback,
which are also killed, cut off and wrong."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Route, expect
from tests.e2e.conftest import Server
from tests.support.hub_stand_in import Hub, serving
from tests.support.ports import free_port
from tests.support.tabs import Tab
from tests.support.tiny_model import TinyModel, write_tiny_model

from duologue.models.recommended import RECOMMENDED

pytestmark = pytest.mark.browser
PATIENCE = 60_000
"""Milliseconds: machines that run other tests beside this one load a model slowly."""
# In the tests `start` comes before `visit`: tabs are closed before their servers.


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """Has every model that may be proposed, whatever this machine is: all are one tiny file."""
    content = write_tiny_model(tmp_path / "tiny.gguf", TinyModel()).read_bytes()
    files = {model.repository: {model.file: content} for model in RECOMMENDED if model.first_choice}
    with serving(Hub(files)) as running:
        yield running


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts a server on the same data, as often as a test wants to."""
    servers: list[Server] = []

    def begin(endpoint: str, **environment: str) -> Server:
        servers.append(Server(tmp_path, HF_ENDPOINT=endpoint, **environment))
        return servers[-1].ready()

    yield begin
    for server in servers:
        server.stop()


def offer(tab: Tab) -> Locator:
    return tab.button(re.compile("^Get a better model"))


def title(tab: Tab) -> str:
    """The title of the model that the button names."""
    expect(offer(tab)).to_be_enabled(timeout=PATIENCE)
    return offer(tab).locator("small").inner_text().split(" · ")[0]


def answers(tab: Tab, name: str) -> Locator:
    return tab.page.get_by_role("main").get_by_text(f"{name} answers.")


def downloads(server: Server) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = httpx.get(f"{server.url}/api/models", timeout=30).json()["downloads"]
    return rows


def test_one_click_leads_to_the_reply_of_a_better_model_and_it_stays(
    hub: Hub,
    start: Callable[..., Server],
    visit: Callable[..., Tab],
    record_property: Callable[[str, object], None],
) -> None:
    begun = time.monotonic()
    server = start(hub.url)
    tab = visit(on=server).open()
    expect(answers(tab, "duologue-mini")).to_be_visible()
    name = title(tab)
    offer(tab).click()
    expect(answers(tab, name)).to_be_visible(timeout=PATIENCE)
    tab.say("Hello")
    expect(tab.reply).to_have_attribute("aria-busy", "false", timeout=PATIENCE)
    record_property("seconds_to_the_reply_of_a_better_model", round(time.monotonic() - begun, 1))
    tab.page.close()
    server.stop()
    tab = visit(on=start(hub.url)).open()
    expect(answers(tab, name)).to_be_visible(timeout=PATIENCE)


@pytest.mark.long
def test_a_wrong_checksum_is_said_there_and_can_be_tried_again(
    hub: Hub, start: Callable[..., Server], visit: Callable[..., Tab]
) -> None:
    hub.checksums = dict.fromkeys((file for files in hub.files.values() for file in files), "0" * 64)
    tab = visit(on=start(hub.url)).open()
    name = title(tab)
    offer(tab).click()
    problem = tab.page.get_by_role("main").get_by_role("alert")
    expect(problem).to_contain_text("is not the file that the hub announced", timeout=PATIENCE)
    hub.checksums = {}
    tab.button(f"Try {name} again").click()
    expect(answers(tab, name)).to_be_visible(timeout=PATIENCE)


@pytest.mark.long
def test_a_full_disk_is_said_there_with_what_to_do(
    hub: Hub, start: Callable[..., Server], visit: Callable[..., Tab]
) -> None:
    hub.sizes = dict.fromkeys((file for files in hub.files.values() for file in files), 10**15)
    tab = visit(on=start(hub.url)).open()
    name = title(tab)
    offer(tab).click()
    problem = tab.page.get_by_role("main").get_by_role("alert")
    expect(problem).to_contain_text("are free on the disk", timeout=PATIENCE)
    expect(problem).to_contain_text("Make room")
    expect(tab.button(f"Try {name} again")).to_be_visible()


def test_a_hub_that_cannot_be_reached_is_said_there(
    start: Callable[..., Server], visit: Callable[..., Tab]
) -> None:
    tab = visit(on=start(f"http://127.0.0.1:{free_port()}")).open()
    name = title(tab)
    offer(tab).click()
    problem = tab.page.get_by_role("main").get_by_role("alert")
    expect(problem).to_contain_text("cannot be reached", timeout=PATIENCE)
    expect(tab.button(f"Try {name} again")).to_be_visible()


def test_a_download_is_cancelled_where_it_was_begun(
    hub: Hub, start: Callable[..., Server], visit: Callable[..., Tab]
) -> None:
    hub.stalls = True
    server = start(hub.url)
    tab = visit(on=server).open()
    name = title(tab)
    offer(tab).click()
    # Before its first bytes there is nothing to resume.
    server.until(lambda: any(row["done"] > 0 for row in downloads(server)), seconds=60)
    tab.button(f"Cancel download of {name}").click()
    resume = tab.button(f"Resume download of {name}")
    expect(resume).to_be_visible()
    hub.stalls = False
    resume.click()
    expect(answers(tab, name)).to_be_visible(timeout=PATIENCE)
    assert "range" in hub.downloads()[-1].headers


def test_nothing_moves_when_the_server_has_looked_at_its_machine(
    start: Callable[..., Server], hub: Hub, visit: Callable[..., Tab]
) -> None:
    server = start(hub.url)
    tab = visit(on=server)
    held: list[Route] = []
    tab.page.route("**/api/models", lambda route: held.append(route))
    tab.open()
    expect(offer(tab)).to_be_disabled(timeout=PATIENCE)
    before = tab.page.get_by_role("main").get_by_role("heading").bounding_box()
    for route in held:
        route.continue_()
    expect(offer(tab)).to_be_enabled(timeout=PATIENCE)
    assert tab.page.get_by_role("main").get_by_role("heading").bounding_box() == before


def test_a_user_who_is_no_admin_reads_who_can_add_a_model(visit: Callable[..., Tab]) -> None:
    tab = visit()
    tab.capabilities(features={"models": False})
    tab.open()
    expect(answers(tab, "duologue-mini")).to_be_visible()
    expect(tab.page.get_by_text("Ask an admin for a better model.")).to_be_visible()
    expect(offer(tab)).to_have_count(0)
