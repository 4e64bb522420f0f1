"""The model that answers a chat: kept over a restart, loaded again when it is not there, and never one the page does not name."""

from __future__ import annotations

import contextlib
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.conftest import Server
from tests.support.held_workers import HeldWorkers
from tests.support.tabs import Tab
from tests.support.tiny_model import write_tiny_model

pytestmark = [pytest.mark.browser, pytest.mark.system]
SECONDS = 60
PATIENCE = 60_000
AWAY = r"ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|status of 50[234]|Failed to (load|fetch)|net::ERR"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers over the same data, with the file of a tiny model, one after another on the same port."""
    folder = tmp_path / "server"
    (folder / "data" / "models").mkdir(parents=True)
    write_tiny_model(folder / "data" / "models" / "tiny.gguf")
    ports: list[int] = []
    with contextlib.ExitStack() as stack:

        def start(**environment: str) -> Server:
            port = {"DUOLOGUE_PORT": str(ports[-1])} if ports else {}
            server = Server(folder, "--engine", "scripted", **port, **environment)
            ports.append(server.port)
            stack.callback(server.stop)
            return server.ready()

        yield start


def call(server: Server, method: str, path: str, **body: object) -> Any:
    answer = httpx.request(method, server.url + path, json=body, timeout=SECONDS)
    assert answer.is_success, answer.text
    return answer.json() if answer.content else None


def load(server: Server, **more: object) -> None:
    call(server, "POST", "/v1/model/load", name="tiny", stream=False, **more)


def unload(server: Server) -> None:
    call(server, "POST", "/v1/model/unload", name="tiny")


def short_replies(server: Server, **options: object) -> None:
    """The tiny model never ends by itself."""
    call(server, "PATCH", "/api/settings", options={"sampling": {"max_tokens": 8}, **options})


def shown_model(tab: Tab) -> Locator:
    return tab.button(re.compile("^Model"))


def speakers(tab: Tab) -> Locator:
    """Who said each reply, for screen readers."""
    return tab.replies.get_by_role("heading")


@pytest.mark.long
def test_a_chat_goes_on_with_its_model_after_the_server_was_killed(
    start: Any, visit: Callable[..., Tab]
) -> None:
    server = start()
    short_replies(server)
    load(server, default=True)
    tab = visit(on=server).open()
    expect(tab.page.get_by_role("status").filter(has_text="tiny answers")).to_be_visible()
    tab.told("hello")
    expect(speakers(tab)).to_have_text(["tiny said"])
    server.stop(signal.SIGKILL)
    start()
    expect(shown_model(tab)).to_contain_text("tiny", timeout=PATIENCE)
    tab.told("hello again")
    expect(speakers(tab)).to_have_text(["tiny said", "tiny said"], timeout=PATIENCE)
    expect(tab.reply.get_by_role("alert")).to_have_count(0)
    tab.forgive(AWAY)


def test_a_new_default_greets_in_every_open_page(start: Any, visit: Callable[..., Tab]) -> None:
    server = start()
    short_replies(server, model="scripted")
    tab = visit(on=server).open()
    expect(tab.page.get_by_role("status").filter(has_text="scripted answers")).to_be_visible()
    call(server, "PATCH", "/api/settings", options={"model": None})
    load(server, default=True)
    tab.page.reload()
    expect(tab.page.get_by_role("status").filter(has_text="tiny answers")).to_be_visible()
    unload(server)
    expect(tab.page.get_by_role("status").filter(has_text="scripted answers")).to_be_visible()
    expect(shown_model(tab)).to_contain_text("scripted")
    load(server, default=True)
    expect(tab.page.get_by_role("status").filter(has_text="tiny answers")).to_be_visible()
    expect(shown_model(tab)).to_contain_text("tiny")


def chat_with_tiny(server: Server, tab: Tab) -> None:
    """A chat that has chosen the tiny model."""
    load(server)
    shown_model(tab).click()
    tab.page.get_by_role("menuitemradio", name=re.compile("^tiny")).click()
    tab.told("hello")
    expect(speakers(tab)).to_have_text(["tiny said"])


def test_a_chat_has_its_model_loaded_again_and_says_so(
    start: Any, visit: Callable[..., Tab], tmp_path: Path
) -> None:
    held = HeldWorkers(tmp_path)
    server = start(**held.environment)
    short_replies(server)
    tab = visit(on=server).open()
    chat_with_tiny(server, tab)
    unload(server)
    expect(tab.page.get_by_text("tiny is not loaded. Sending a message loads it first.")).to_be_visible()
    expect(shown_model(tab)).to_contain_text("tiny")
    held.hold()
    tab.say("hello again")
    thread = tab.page.get_by_role("log", name="Conversation")
    expect(thread.get_by_text("Loading tiny…")).to_be_visible(timeout=PATIENCE)
    expect(tab.page.get_by_text("is not loaded")).to_have_count(0)
    held.release()
    tab.page.wait_for_function("document.querySelectorAll('article[aria-busy]').length === 2")
    expect(tab.reply).to_have_attribute("aria-busy", "false", timeout=PATIENCE)
    expect(speakers(tab)).to_have_text(["tiny said", "tiny said"])
    expect(tab.page.get_by_text("is not loaded")).to_have_count(0)
    names = [row["name"] for row in call(server, "GET", "/api/models")["loaded"]]
    assert names == ["scripted", "tiny"]


def test_a_chat_whose_model_is_gone_falls_back_and_offers_another(
    start: Any, visit: Callable[..., Tab]
) -> None:
    server = start()
    short_replies(server)
    tab = visit(on=server).open()
    chat_with_tiny(server, tab)
    unload(server)
    call(server, "DELETE", "/api/models/tiny")
    tab.page.reload()
    notice = tab.page.get_by_text("tiny is no longer available. scripted answers instead.")
    expect(notice).to_be_visible()
    expect(shown_model(tab)).to_contain_text("scripted")
    tab.told("/say Hello there")
    expect(tab.reply).to_contain_text("Hello there")
    expect(speakers(tab)).to_have_text(["tiny said", "scripted said"])
    tab.button("Choose a model").click()
    tab.page.get_by_role("menuitemradio", name=re.compile("^scripted")).click()
    expect(notice).to_have_count(0)
    expect(tab.button("Choose a model")).to_have_count(0)


def test_a_preferred_model_that_is_gone_is_dropped_by_the_next_new_chat(
    start: Any, visit: Callable[..., Tab]
) -> None:
    server = start()
    tab = visit(on=server).open()
    call(server, "PATCH", "/api/settings", options={"model": "Qwen3-1.7B-Q8_0"})
    tab.page.reload()
    # The page shows the default either way: that it has read the preference can be seen in the browser's copy.
    tab.page.wait_for_function("() => (localStorage.getItem('duologue.preferences') ?? '').includes('Qwen3')")
    expect(shown_model(tab)).to_contain_text("scripted")
    tab.told("/say Hello there")
    expect(tab.reply).to_contain_text("Hello there")
    expect(speakers(tab)).to_have_text(["scripted said"])
    server.until(lambda: "model" not in call(server, "GET", "/api/settings").get("options", {}))


def test_the_first_screen_says_what_is_the_matter(start: Any, visit: Callable[..., Tab]) -> None:
    server = start()
    tab = visit(on=server, service_workers="allow").open()
    tab.page.evaluate("async () => void (await navigator.serviceWorker.ready)")
    call(server, "POST", "/v1/model/unload", name="scripted")
    expect(tab.page.get_by_role("heading", name="No model is loaded")).to_be_visible()
    expect(tab.page.get_by_text("on its way")).to_have_count(0)
    expect(tab.page.get_by_text("Stop this server")).to_have_count(0)
    tab.page.get_by_role("link", name="Open Models").click()
    expect(tab.page.get_by_role("heading", name="Models")).to_be_visible()
    tab.page.goto(tab.url)
    server.stop()
    tab.page.reload()
    expect(tab.page.get_by_role("heading", name="Can’t reach the server")).to_be_visible()
    expect(tab.page.get_by_text("Stop this server")).to_have_count(0)
    start()
    expect(tab.page.get_by_role("status").filter(has_text="scripted answers")).to_be_visible(timeout=PATIENCE)
    tab.forgive(AWAY)


@pytest.mark.long
def test_a_load_that_the_server_died_in_is_shown_tried_again_and_forgotten(
    start: Any, visit: Callable[..., Tab], tmp_path: Path
) -> None:
    held = HeldWorkers(tmp_path)
    server = start(**held.environment)
    load(server)
    server.stop(signal.SIGKILL)
    held.hold()
    server = start(**held.environment)
    server.until(lambda: len(call(server, "GET", "/api/models")["loaded"]) == 2, SECONDS)
    server.stop(signal.SIGKILL)
    held.release()
    server = start()
    tab = visit(on=server).open()
    tab.page.goto(tab.url + "#/models")
    row = tab.page.get_by_role("listitem").filter(
        has=tab.page.get_by_role("heading", name=re.compile("^tiny"))
    )
    expect(row.get_by_role("alert")).to_have_text("The server stopped while it was loading.")
    tab.button("Try tiny again").click()
    expect(row.get_by_role("heading")).to_contain_text("Loaded", timeout=PATIENCE)
    expect(row.get_by_role("alert")).to_have_count(0)
    server.stop()
    (server.data / "models" / "tiny.gguf").unlink()
    server = start()
    expect(row.get_by_role("alert")).to_contain_text("There is no model", timeout=PATIENCE)
    row.get_by_role("button", name=re.compile("^Dismiss the message about ")).click()
    expect(row).to_have_count(0)
    assert call(server, "GET", "/api/models")["remembered"] == []
    tab.forgive(AWAY)
