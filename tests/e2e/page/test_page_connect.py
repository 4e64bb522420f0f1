"""Connecting model servers on the page: one click for one that is found, a test in place, and a chat with its model."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from tests.support.model_server import ModelServer, serving
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def model_server() -> Iterator[ModelServer]:
    models = [{"id": "far-llama", "owned_by": "library"}]
    extra = {"/api/show": {"capabilities": ["completion", "tools"]}}
    with serving(ModelServer(models, reply="Greetings from afar", extra=extra)) as server:
        yield server


@pytest.fixture(scope="module")
def started(lasting: Callable[..., Any], model_server: ModelServer) -> Any:
    return lasting("--engine", "scripted", DUOLOGUE_DISCOVER=json.dumps([model_server.url])).ready()


@pytest.fixture
def front(started: Any) -> Any:
    """A server to which nothing is connected."""
    for upstream in httpx.get(f"{started.url}/api/upstreams", timeout=60).json()["upstreams"]:
        httpx.delete(f"{started.url}/api/upstreams/{upstream['name']}", timeout=60)
    return started


def test_a_found_server_is_connected_with_one_click_and_its_model_chats(
    visit: Callable[..., Tab], front: Any
) -> None:
    tab = visit(on=front).open()
    tab.page.goto(tab.url + "#/models")
    tab.button("Connect a server").click()
    tab.button("Connect Ollama").click()
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    section = tab.page.get_by_role("region", name="Connected servers")
    expect(section).to_contain_text("Connected")
    expect(section).to_contain_text("far-llama")
    expect(section).to_contain_text("text only · tools")
    tab.button("Edit ollama").click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_role("switch", name="As the server says").click()
    dialog.get_by_role("checkbox", name="pictures").check()
    dialog.get_by_text("Time limits").click()
    dialog.get_by_label("Seconds until the first word of a reply").fill("42")
    dialog.get_by_role("button", name="Save").click()
    expect(section).to_contain_text("pictures · tools")
    tab.button("Edit ollama").click()
    expect(dialog.get_by_label("Seconds until the first word of a reply")).to_have_value("42")
    dialog.get_by_role("button", name="Cancel").click()
    tab.page.get_by_role("link", name="Back to the chat").click()
    tab.button(re.compile("^Model")).click()
    tab.page.get_by_role("menuitemradio", name=re.compile("^far-llama")).click()
    tab.composer.fill("Hello")
    tab.composer.press("Enter")
    expect(tab.replies.last).to_contain_text("Greetings from afar")


def test_an_address_is_tested_in_place_connected_and_removed(
    visit: Callable[..., Tab], front: Any, model_server: ModelServer
) -> None:
    tab = visit(on=front).open()
    tab.page.goto(tab.url + "#/models")
    tab.button("Connect a server").click()
    dialog = tab.page.get_by_role("dialog")
    address = dialog.get_by_label("Address", exact=True)
    address.fill("http://127.0.0.1:9")
    dialog.get_by_role("button", name="Test").click()
    expect(dialog.get_by_role("alert")).to_contain_text("refused the connection")
    address.fill(model_server.url)
    dialog.get_by_role("button", name="Test").click()
    expect(dialog.get_by_role("status")).to_contain_text("Greetings from afar")
    dialog.get_by_role("button", name="OpenAI").click()
    expect(address).to_have_count(0)
    expect(dialog.get_by_role("link", name="Get a key from OpenAI")).to_be_visible()
    dialog.get_by_role("button", name="Another address").click()
    address.fill(model_server.url)
    dialog.get_by_role("button", name="Connect", exact=True).last.click()
    expect(dialog).to_have_count(0)
    tab.button("Options for 127.0.0.1").click()
    tab.page.get_by_role("menuitem", name="Remove").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(tab.button("Options for 127.0.0.1")).to_have_count(0)
