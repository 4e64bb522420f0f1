"""First contact when the server is killed: at every stage between the click and the reply of the better model, with a tab that
stays open meanwhile. The server is started again; nobody clicks again."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.conftest import Server
from tests.support.hub_stand_in import Hub, serving
from tests.support.ports import free_port
from tests.support.tabs import Tab
from tests.support.tiny_model import TinyModel, write_tiny_model

from duologue.models.recommended import RECOMMENDED

pytestmark = pytest.mark.browser
PATIENCE = 60_000
"""Milliseconds: machines that run other tests beside this one load a model slowly."""
COUNT_CLICKS = "window.clicks = 0; addEventListener('pointerdown', () => { window.clicks += 1; }, true);"


class FirstContact:
    """A tab on a server that is killed and started again on the same port, with the same data and the same hub."""

    def __init__(self, folder: Path, hub: Hub) -> None:
        self.folder = folder
        self.hub = hub
        self.port = free_port()
        self.servers: list[Server] = []

    def start(self, **environment: str) -> Server:
        self.servers.append(
            Server(self.folder, DUOLOGUE_PORT=str(self.port), HF_ENDPOINT=self.hub.url, **environment)
        )
        return self.servers[-1].ready()

    @property
    def server(self) -> Server:
        return self.servers[-1]

    def kill(self) -> None:
        self.server.stop(signal.SIGKILL)

    def downloads(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = httpx.get(f"{self.server.url}/api/models", timeout=30).json()[
            "downloads"
        ]
        return rows

    def until(self, true: Callable[[dict[str, Any]], bool]) -> None:
        """Until there is a download of which it is true."""
        self.server.until(lambda: any(true(row) for row in self.downloads()), seconds=60)


@pytest.fixture
def content(tmp_path: Path) -> bytes:
    return write_tiny_model(tmp_path / "tiny.gguf", TinyModel()).read_bytes()


@pytest.fixture
def contact(tmp_path: Path, content: bytes) -> Iterator[FirstContact]:
    """The hub has every model that may be proposed, whatever this machine is: all are one tiny file."""
    files = {model.repository: {model.file: content} for model in RECOMMENDED if model.first_choice}
    with serving(Hub(files)) as hub:
        contact = FirstContact(tmp_path, hub)
        yield contact
        for server in contact.servers:
            server.stop()


def offer(tab: Tab) -> Locator:
    return tab.button(re.compile("^Get a better model"))


def open_page(contact: FirstContact, visit: Callable[..., Tab]) -> tuple[Tab, str]:
    """A tab that counts clicks, and the title of the model it offers."""
    tab = visit(on=contact.server)
    tab.page.add_init_script(COUNT_CLICKS)
    tab.open()
    proposal = offer(tab).locator("small")
    expect(proposal).to_contain_text(
        " · ", timeout=PATIENCE
    )  # until then it says that it looks at the machine
    return tab, proposal.inner_text().split(" · ")[0]


def answers(tab: Tab, name: str) -> Locator:
    return tab.page.get_by_role("main").get_by_text(f"{name} answers.")


def it_answers(tab: Tab, name: str, clicks: int = 1) -> None:
    """The better model is there without a further click, and the next words that are typed go to it."""
    expect(answers(tab, name)).to_be_visible(timeout=PATIENCE)
    tab.page.keyboard.type("Hello")
    tab.page.keyboard.press("Enter")
    expect(tab.reply).to_have_attribute("aria-busy", "false", timeout=PATIENCE)
    assert tab.page.evaluate("window.clicks") == clicks
    forgive_absence(tab)


def forgive_absence(tab: Tab) -> None:
    """While the server was away the browser complained about each attempt to reach it."""
    tab.forgive(
        "ERR_(CONNECTION_(REFUSED|RESET|CLOSED)|CONTENT_LENGTH_MISMATCH|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE)"
    )


@pytest.mark.long
def test_killed_right_after_the_click_it_goes_on(contact: FirstContact, visit: Callable[..., Tab]) -> None:
    contact.hub.stalls = True
    contact.start()
    tab, name = open_page(contact, visit)
    with tab.page.expect_response("**/api/models/downloads"):
        offer(tab).click()
    contact.kill()
    contact.hub.stalls = False
    contact.start()
    it_answers(tab, name)


def test_killed_in_mid_download_it_goes_on_where_it_was(
    contact: FirstContact, visit: Callable[..., Tab]
) -> None:
    contact.hub.stalls = True
    contact.start()
    tab, name = open_page(contact, visit)
    offer(tab).click()
    contact.until(lambda row: row["done"] > 0)
    contact.kill()
    expect(tab.page.get_by_role("banner").locator("~ [role=status]")).not_to_be_empty()
    contact.start()
    expect(tab.page.get_by_role("main").get_by_text(f"Getting {name}.")).to_be_visible()
    contact.until(lambda row: row["done"] > 0)
    contact.kill()
    contact.hub.stalls = False
    contact.start()
    it_answers(tab, name)
    assert "range" in contact.hub.downloads()[-1].headers


def killed_before_the_check(contact: FirstContact, visit: Callable[..., Tab], file: bytes) -> tuple[Tab, str]:
    """Killed between the last byte and the check: what is on the disk then is made from a kill in mid-download."""
    contact.hub.stalls = True
    contact.start()
    tab, name = open_page(contact, visit)
    offer(tab).click()
    contact.until(lambda row: row["done"] > 0)
    contact.kill()
    contact.hub.stalls = False
    (part,) = contact.server.data.rglob("*.gguf.part")
    part.write_bytes(file)
    return tab, name


@pytest.mark.long
def test_killed_while_the_file_is_checked_it_is_checked_again_and_not_fetched(
    contact: FirstContact, content: bytes, visit: Callable[..., Tab]
) -> None:
    tab, name = killed_before_the_check(contact, visit, content)
    fetched = len(contact.hub.downloads())
    contact.start()
    it_answers(tab, name)
    assert len(contact.hub.downloads()) == fetched


@pytest.mark.long
def test_what_a_power_cut_garbled_is_said_and_one_click_fetches_it_anew(
    contact: FirstContact, content: bytes, visit: Callable[..., Tab]
) -> None:
    tab, name = killed_before_the_check(contact, visit, content[:-100] + bytes(100))
    contact.start()
    problem = tab.page.get_by_role("main").get_by_role("alert")
    expect(problem).to_contain_text("is not the file that the hub announced", timeout=PATIENCE)
    tab.button(f"Try {name} again").click()
    it_answers(tab, name, clicks=2)


def killed_in_mid_load(contact: FirstContact, visit: Callable[..., Tab]) -> tuple[Tab, str]:
    """The page, and the name of the model that was being loaded when the server was killed."""
    contact.start()
    tab, name = open_page(contact, visit)
    offer(tab).click()
    contact.until(lambda row: row["state"] == "loading")
    contact.kill()
    return tab, name


def test_killed_in_mid_load_it_is_loaded_and_not_fetched_again(
    contact: FirstContact, visit: Callable[..., Tab]
) -> None:
    tab, name = killed_in_mid_load(contact, visit)
    fetched = len(contact.hub.downloads())
    contact.start()
    it_answers(tab, name)
    assert len(contact.hub.downloads()) == fetched


@pytest.mark.long
def test_killed_twice_in_mid_load_it_says_so_and_one_click_loads_it(
    contact: FirstContact, visit: Callable[..., Tab]
) -> None:
    tab, name = killed_in_mid_load(contact, visit)
    contact.start()
    contact.until(lambda row: row["state"] == "loading")
    contact.kill()
    contact.start()
    problem = tab.page.get_by_role("main").get_by_role("alert")
    expect(problem).to_contain_text("stopped 2 times", timeout=PATIENCE)
    tab.button(f"Try {name} again").click()
    it_answers(tab, name, clicks=2)


@pytest.mark.long
def test_killed_once_it_is_loaded_it_still_answers(contact: FirstContact, visit: Callable[..., Tab]) -> None:
    contact.start()
    tab, name = open_page(contact, visit)
    offer(tab).click()
    expect(answers(tab, name)).to_be_visible(timeout=PATIENCE)
    contact.kill()
    contact.start()
    it_answers(tab, name)


@pytest.mark.long
def test_killed_while_it_replies_the_chat_goes_on_with_the_same_model(
    contact: FirstContact, visit: Callable[..., Tab]
) -> None:
    contact.start()
    tab, name = open_page(contact, visit)
    offer(tab).click()
    expect(answers(tab, name)).to_be_visible(timeout=PATIENCE)
    tab.page.keyboard.type("Hello")
    with tab.page.expect_response("**/api/runs/*/events"):
        tab.page.keyboard.press("Enter")
    contact.kill()
    contact.start()
    expect(tab.reply).to_have_attribute("aria-busy", "false", timeout=PATIENCE)
    tab.page.reload()
    tab.page.get_by_role("link", name="New chat").first.click()
    it_answers(tab, name, clicks=1)  # the one on *New chat*: the page is new
    forgive_absence(tab)


@pytest.mark.long
def test_under_its_parent_a_killed_gateway_comes_back_and_goes_on_by_itself(
    contact: FirstContact, visit: Callable[..., Tab]
) -> None:
    contact.hub.stalls = True
    server = contact.start(DUOLOGUE_SUPERVISE="true")
    tab, name = open_page(contact, visit)
    offer(tab).click()
    contact.until(lambda row: row["done"] > 0)
    contact.hub.stalls = False
    parent = server.process.pid
    (gateway, *_) = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    os.kill(int(gateway), signal.SIGKILL)
    it_answers(tab, name)
    assert "range" in contact.hub.downloads()[-1].headers
