"""The frame of the page: the palette, keys of one's own, languages, and going from screen to screen."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"


def test_the_palette_does_what_is_typed(tab: Tab) -> None:
    tab.page.keyboard.press("Control+K")
    field = tab.page.get_by_role("combobox", name="Search commands and chats")
    expect(field).to_be_focused()
    tab.page.keyboard.type("keyboard")
    expect(tab.page.get_by_role("option", selected=True)).to_contain_text("Keyboard shortcuts")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    tab.page.keyboard.press("Escape")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)


def test_the_palette_goes_to_chats_and_to_places_in_them(tab: Tab) -> None:
    tab.told("/say The heron stands in the reeds.")
    tab.told("/say Nothing else.")
    tab.page.keyboard.press("Control+Shift+O")
    expect(tab.said).to_have_count(0)
    tab.page.keyboard.press("Control+K")
    expect(tab.page.get_by_role("combobox", name="Search commands and chats")).to_be_focused()
    tab.page.keyboard.type("heron")
    place = tab.page.get_by_role("group", name="In messages").get_by_role("option").first
    expect(place.locator("mark").first).to_have_text(re.compile("heron", re.IGNORECASE))
    place.click()
    expect(tab.replies.first).to_contain_text("The heron stands")
    assert "#/c/" in tab.page.url


def test_the_arrows_walk_through_the_palette_and_around(tab: Tab) -> None:
    # With a chat in the sidebar everything that the palette lists has arrived, and no entry comes between two keys.
    tab.told("/say Listed.")
    expect(tab.chats.first).to_be_visible()
    tab.page.keyboard.press("Control+K")
    options = tab.page.get_by_role("option")
    expect(options.first).to_have_attribute("aria-selected", "true")
    tab.page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    tab.page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    tab.page.keyboard.type("zzzz")
    # Nothing is called that; the help can still be searched for it.
    expect(options).to_have_text([re.compile("Search help for “zzzz”")])
    tab.page.keyboard.press("Escape")
    expect(tab.composer).to_be_focused()


def test_keys_can_be_changed_and_are_heard_at_once(tab: Tab) -> None:
    tab.page.goto(tab.url + "#/settings/shortcuts")
    tab.button(re.compile("^Change shortcut for “Toggle sidebar”")).click()
    tab.page.keyboard.press("q")
    expect(tab.page.get_by_text("Add Ctrl or Alt, or use a function key")).to_be_visible()
    tab.page.keyboard.press("Control+Alt+J")
    expect(tab.button(re.compile("^Change shortcut for “Toggle sidebar”"))).to_contain_text("J")
    sidebar = tab.page.get_by_role("complementary", name="Chats and search")
    tab.page.keyboard.press("Control+B")
    expect(sidebar).to_be_visible()
    tab.page.keyboard.press("Control+Alt+J")
    expect(sidebar).to_have_count(0)
    tab.page.reload()
    expect(tab.button(re.compile("^Change shortcut for “Toggle sidebar”"))).to_contain_text("J")
    expect(sidebar).to_be_visible()
    # The focus in the new document, as a person's is after a click.
    tab.page.get_by_role("heading", name="Settings", exact=True).click()
    tab.page.keyboard.press("Control+Alt+J")
    expect(sidebar).to_have_count(0)
    tab.button("Reset all").click()
    tab.page.keyboard.press("Control+B")
    expect(sidebar).to_be_visible()


def test_a_preference_reaches_the_server_though_the_page_goes_away_at_once(tab: Tab, server: Any) -> None:
    sent = f"{server.url}/api/settings"
    tab.page.goto(tab.url + "#/settings/appearance")
    tab.page.get_by_role("radio", name="Large").check()
    tab.page.get_by_role("radio", name="Wide").check()
    tab.page.goto("about:blank")
    wanted = {"text_size": "large", "reading_width": "wide"}
    server.until(lambda: httpx.get(sent, timeout=30).json().get("page") == wanted)


def test_keys_given_to_one_action_are_taken_from_another(tab: Tab) -> None:
    tab.page.goto(tab.url + "#/settings/shortcuts")
    tab.button(re.compile("^Change shortcut for “New temporary chat”")).click()
    tab.page.keyboard.press("Control+B")
    expect(tab.button(re.compile("^Change shortcut for “Toggle sidebar”: None"))).to_be_visible()
    expect(tab.page.locator("[aria-live=polite]").last).to_contain_text("Removed from “Toggle sidebar”")


def test_the_page_speaks_the_browser_s_language_until_another_is_chosen(visit: Callable[..., Tab]) -> None:
    tab = visit(locale="de-DE")
    tab.page.goto(tab.url)
    expect(tab.page.get_by_role("link", name="Neuer Chat").first).to_be_visible()
    expect(tab.page.locator("html")).to_have_attribute("lang", "de")
    tab.page.goto(tab.url + "#/settings/general")
    tab.page.get_by_label("Sprache").select_option("en")
    expect(tab.page.get_by_role("link", name="New chat").first).to_be_visible()
    expect(tab.page.locator("html")).to_have_attribute("lang", "en")


def test_back_and_forward_go_through_chats_and_screens(tab: Tab) -> None:
    tab.told("/say one")
    chat = tab.page.url
    tab.page.get_by_role("link", name="Settings").click()
    expect(tab.page.get_by_role("heading", name="Settings", level=2)).to_be_focused()
    tab.page.get_by_role("link", name="Models").click()
    expect(tab.page.get_by_role("heading", name="Models", level=2)).to_be_visible()
    tab.page.go_back()
    expect(tab.page.get_by_role("heading", name="Settings", level=2)).to_be_visible()
    tab.page.go_back()
    expect(tab.reply).to_contain_text("one")
    assert tab.page.url == chat
    tab.page.go_forward()
    tab.page.get_by_role("link", name="Back to the chat").click()
    expect(tab.reply).to_contain_text("one")


@pytest.mark.parametrize("screen", ["palette", "shortcuts", "#/models", "#/admin", "#/settings/shortcuts"])
def test_axe_finds_nothing_to_complain_about_on(visit: Callable[..., Tab], screen: str) -> None:
    tab = visit(reduced_motion="reduce").open()
    if screen.startswith("#"):
        tab.page.goto(tab.url + screen)
        expect(tab.page.locator("main section").first).to_be_visible()
        # A section's content is a chunk of its own.
        expect(tab.page.locator("main p.screen[role=status]")).to_have_count(0)
    else:
        tab.page.keyboard.press("Control+K" if screen == "palette" else "Control+/")
        expect(tab.page.get_by_role("dialog")).to_be_visible()
    assert tab.complaints_in_both_themes(AXE) == []
    if screen.startswith("#"):
        tab.page.set_viewport_size({"width": 320, "height": 640})
        # The page is told of its new size with the next frame.
        tab.page.wait_for_function("() => document.documentElement.scrollWidth === 320")
