"""Dialogs: typing and Enter work at once, in the dialog's first field or on the button that does no harm."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, expect
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[3]
NOTES = Path(__file__).parent / "notes_server.py"


@pytest.fixture(scope="module")
def home(lasting: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server with a chat, a folder and a tool server."""
    config = tmp_path_factory.mktemp("dialogs") / "duologue.yaml"
    servers = {"notes": {"command": sys.executable, "args": [str(NOTES)]}}
    config.write_text(json.dumps({"mcp": {"servers": servers}}))
    server = lasting("--engine", "scripted", "--config", str(config)).ready()
    httpx.post(f"{server.url}/api/conversations", json={"id": "tea", "title": "Tea"}).raise_for_status()
    httpx.put(f"{server.url}/api/folders/drinks", json={"name": "Drinks"}).raise_for_status()
    return server


@pytest.fixture
def tab(home: Any, visit: Callable[..., Tab]) -> Tab:
    return visit(on=home).open()


def settings(tab: Tab, section: str) -> None:
    tab.page.goto(f"{tab.url}#/settings/{section}")


def from_list(what: str) -> Callable[[Tab], None]:
    def open_it(tab: Tab) -> None:
        tab.button("List options").click()
        tab.page.get_by_role("menuitem", name=what, exact=True).click()

    return open_it


def from_chat(what: str) -> Callable[[Tab], None]:
    return lambda tab: tab.does(tab.chat("Tea"), what)


def from_folder(what: str) -> Callable[[Tab], None]:
    return lambda tab: tab.does(tab.page.locator("[data-row=drinks]"), what)


def from_data(action: str) -> Callable[[Tab], None]:
    def open_it(tab: Tab) -> None:
        settings(tab, "data")
        tab.button(action).click()

    return open_it


def from_server(what: str) -> Callable[[Tab], None]:
    def open_it(tab: Tab) -> None:
        settings(tab, "tools")
        tab.button("Options for notes").click()
        tab.page.get_by_role("menuitem", name=what, exact=True).click()

    return open_it


def add_server(tab: Tab) -> None:
    settings(tab, "tools")
    tab.button("Add server").click()


def dialog(tab: Tab) -> Locator:
    return tab.page.get_by_role("dialog")


WITH_FIELD = {
    "a new folder": from_list("New folder"),
    "a folder's name": from_folder("Rename"),
    "a folder's place": from_folder("Move to folder"),
    "a chat's tags": from_chat("Tags"),
    "a chat's place": from_chat("Move to folder"),
    "a tool server": add_server,
    "all chats": from_data("Delete all chats"),
    "the palette": lambda tab: tab.page.keyboard.press("Control+k"),
}


@pytest.mark.parametrize("name", WITH_FIELD)
def test_typing_goes_into_the_first_field(tab: Tab, name: str) -> None:
    WITH_FIELD[name](tab)
    field = dialog(tab).locator("input[type=text], input:not([type]), textarea").first
    expect(field).to_be_focused()
    tab.page.keyboard.type("Hot drinks")
    expect(field).to_have_value("Hot drinks")


WITHOUT_FIELD = {
    "unsent drafts and cached files": (from_data("Clear this browser"), "Cancel"),
    "a log": (from_server("Show log"), "Close"),
    "the shortcuts": (lambda tab: tab.page.keyboard.press("Control+/"), "Close"),
}


@pytest.mark.parametrize("name", WITHOUT_FIELD)
def test_enter_does_no_harm_where_nothing_is_typed(tab: Tab, name: str) -> None:
    open_it, button = WITHOUT_FIELD[name]
    open_it(tab)
    expect(dialog(tab).get_by_role("button", name=button)).to_be_focused()
    tab.page.keyboard.press("Enter")
    expect(dialog(tab)).to_have_count(0)


def test_a_new_folder_is_made_with_the_keyboard_alone(tab: Tab) -> None:
    from_list("New folder")(tab)
    expect(dialog(tab)).to_be_visible()
    tab.page.keyboard.type("Cold drinks")
    tab.page.keyboard.press("Enter")
    heading = tab.page.get_by_role("navigation", name="Chats").get_by_role("heading", name="Cold drinks")
    expect(heading).to_be_visible()


def test_every_dialog_of_the_page_is_tried_here() -> None:
    """A dialog that is added needs a line in one of the tables above."""
    tried = {
        "AddServerDialog", "ConfirmDialog", "FolderDialog", "MoveDialog", "ServerLogDialog", "ShortcutsDialog",
        "TagsDialog",
    }  # fmt: skip
    elsewhere = {
        "CameraDialog", "ConnectDialog", "EditVoiceDialog", "InstructionsDialog", "JoinDialog", "KeyLimitsDialog",
        "LoadModelDialog",
        "MarkFaceDialog", "NewAvatarDialog", "NewKeyDialog", "NewVoiceDialog", "RenameAvatarDialog", "RenameDialog",
        "SoundDialog",
    }  # fmt: skip
    found = {path.stem for path in (ROOT / "web/src/ui").rglob("*?Dialog.svelte")}
    assert found == tried | elsewhere
