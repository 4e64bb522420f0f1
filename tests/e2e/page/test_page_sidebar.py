"""The list of chats: groups, folders, tags, the archive, many at once, the keyboard, temporary chats, the way out."""

import re
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, expect
from tests.e2e.conftest import Server
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"


@pytest.fixture(scope="module")
def listing(lasting: Callable[..., Server]) -> Server:
    """A server whose list of chats is changed."""
    return lasting("--engine", "scripted").ready()


@pytest.fixture
def home(listing: Server) -> Server:
    """The same server with an empty list: what is in it is what the test put there."""
    listing.forget()
    return listing


def put(home: Server, *titles: str, **fields: Any) -> list[str]:
    """Chats with these titles; their ids. A deleted chat keeps its id for an hour, so each test has others."""
    ids = [f"{title.split()[0].lower()}-{token_hex(4)}" for title in titles]
    for id, title in zip(ids, titles, strict=True):
        httpx.post(
            f"{home.url}/api/conversations", json={"id": id, "title": title} | fields
        ).raise_for_status()
    return ids


def titles(tab: Tab) -> list[str]:
    return [link.inner_text().strip() for link in tab.chats.all()]


def rows(tab: Tab) -> Locator:
    return tab.page.locator("nav [data-row]")


def heading(tab: Tab, name: str) -> Locator:
    return tab.page.get_by_role("navigation", name="Chats").get_by_role("heading", name=name, exact=True)


def option(tab: Tab, name: str | re.Pattern[str]) -> None:
    """What the list's own menu offers."""
    tab.button("List options").click()
    tab.page.get_by_role("menuitem", name=name).click()


def focused(tab: Tab) -> str:
    return str(tab.page.evaluate("() => document.activeElement.innerText.trim()"))


# Places


def test_pinned_chats_stand_above_the_days(home: Any, visit: Callable[..., Tab]) -> None:
    put(home, "Tea", "Coffee")
    tab = visit(on=home).open()
    expect(heading(tab, "Today")).to_be_visible()
    # The page shows this before the server has it, and a reload takes a request back that was not sent yet.
    with tab.page.expect_response("**/api/conversations/bulk"):
        tab.does(tab.chat("Tea"), "Pin")
    expect(tab.page.get_by_role("list", name="Pinned").get_by_role("link")).to_have_text(["Tea"])
    expect(tab.chat("Tea").get_by_role("link")).to_be_focused()
    tab.page.reload()
    expect(tab.page.get_by_role("list", name="Pinned").get_by_role("link")).to_have_text(["Tea"])
    tab.does(tab.chat("Tea"), "Unpin")
    expect(heading(tab, "Pinned")).to_have_count(0)


def test_a_folder_is_made_filled_and_still_open_after_a_reload(home: Any, visit: Callable[..., Tab]) -> None:
    put(home, "Tea", "Coffee")
    tab = visit(on=home).open()
    option(tab, "New folder")
    tab.page.get_by_role("textbox", name="Name").fill("Drinks")
    tab.page.keyboard.press("Enter")
    expect(heading(tab, "Drinks")).to_be_visible()
    tab.does(tab.chat("Tea"), "Move to folder")
    tab.page.get_by_role("dialog").get_by_role("button", name="Drinks").click()
    inside = tab.page.get_by_role("list", name="Drinks").get_by_role("link")
    expect(inside).to_have_text(["Tea"])
    tab.button("Undo").click()
    expect(inside).to_have_count(0)
    tab.does(tab.chat("Coffee"), "Move to folder")
    tab.page.get_by_label("New folder").fill("Hot")
    # As above.
    with tab.page.expect_response("**/api/conversations/bulk"):
        tab.button("Create and move").click()
    expect(tab.page.get_by_role("list", name="Hot").get_by_role("link")).to_have_text(["Coffee"])
    tab.page.reload()
    expect(tab.page.get_by_role("list", name="Hot").get_by_role("link")).to_have_text(["Coffee"])
    tab.button("Hot").click()
    expect(tab.chat("Coffee")).to_have_count(0)
    expect(tab.button("Hot")).to_have_attribute("aria-expanded", "false")


def test_a_chat_is_dragged_into_a_folder_and_out_of_it(home: Any, visit: Callable[..., Tab]) -> None:
    put(home, "Tea", "Coffee")
    httpx.put(f"{home.url}/api/folders/f", json={"name": "Drinks"})
    tab = visit(on=home).open()
    tab.chat("Tea").get_by_role("link").drag_to(tab.button("Drinks"))
    expect(tab.chat("Tea")).to_have_count(0)
    tab.button("Drinks").click()
    inside = tab.page.get_by_role("list", name="Drinks").get_by_role("link")
    expect(inside).to_have_text(["Tea"])
    inside.drag_to(heading(tab, "Today"))
    expect(inside).to_have_count(0)
    expect(tab.chat("Tea")).to_have_count(1)


def test_a_folder_is_renamed_put_into_another_and_deleted_with_undo(
    home: Any, visit: Callable[..., Tab]
) -> None:
    for id, name in (("a", "Drinks"), ("b", "Teas")):
        httpx.put(f"{home.url}/api/folders/{id}", json={"name": name})
    put(home, "Sencha", folder="b")
    tab = visit(on=home).open()
    line = tab.page.locator("[data-row=b]")
    tab.does(line, "Rename")
    tab.page.get_by_role("textbox", name="Name").fill("Green teas")
    tab.button("Save").click()
    expect(heading(tab, "Green teas")).to_be_visible()
    tab.does(line, "Move to folder")
    tab.page.get_by_role("dialog").get_by_role("button", name="Drinks").click()
    expect(heading(tab, "Green teas")).to_have_count(0)
    tab.button("Drinks").click()
    tab.button("Green teas").click()
    expect(tab.chat("Sencha")).to_have_count(1)
    tab.does(tab.page.locator("[data-row=a]"), "Delete")
    expect(heading(tab, "Drinks")).to_have_count(0)
    expect(tab.page.get_by_role("list", name="Green teas").get_by_role("link")).to_have_text(["Sencha"])
    tab.button("Undo").click()
    expect(heading(tab, "Drinks")).to_be_visible()
    assert httpx.get(f"{home.url}/api/folders").json()["folders"][1]["parent"] == "a"


def test_a_chat_begun_in_a_folder_is_in_it(home: Any, visit: Callable[..., Tab]) -> None:
    httpx.put(f"{home.url}/api/folders/f", json={"name": "Drinks"})
    tab = visit(on=home).open()
    tab.button("Drinks").click()
    tab.does(tab.page.locator("[data-row=f]"), "New chat in folder")
    expect(tab.composer).to_be_focused()
    tab.told("/say about tea")
    expect(tab.page.get_by_role("list", name="Drinks").get_by_role("link")).to_have_text(["/say about tea"])


def test_the_archive_is_a_list_of_its_own(home: Any, visit: Callable[..., Tab]) -> None:
    put(home, "Tea", "Coffee", "Milk")
    tab = visit(on=home).open()
    tab.does(tab.chat("Tea"), "Archive")
    expect(tab.chats).to_have_count(2)
    tab.button("Undo").click()
    expect(tab.chats).to_have_count(3)
    tab.does(tab.chat("Tea"), "Archive")
    expect(tab.chats).to_have_count(2)
    option(tab, "Archived chats")
    expect(tab.chats).to_have_text(["Tea"])
    tab.does(tab.chat("Tea"), "Unarchive")
    expect(tab.page.get_by_text("No archived chats")).to_be_visible()
    tab.button("Back to all chats").click()
    expect(tab.chats).to_have_count(3)


def test_tags_are_given_and_looked_through(home: Any, visit: Callable[..., Tab]) -> None:
    put(home, "Tea", "Coffee")
    tab = visit(on=home).open()
    tab.does(tab.chat("Tea"), "Tags")
    for tag in ("green", "hot"):
        tab.page.get_by_label("Add tag").fill(tag)
        tab.page.keyboard.press("Enter")
    tab.button("Remove tag hot").click()
    expect(tab.page.get_by_role("dialog").get_by_role("listitem")).to_have_text(["green"])
    tab.page.keyboard.press("Escape")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    option(tab, re.compile("^Tag: green"))
    expect(tab.chats).to_have_text(["Tea"])
    tab.button("Back to all chats").click()
    expect(tab.chats).to_have_count(2)


# Many


def test_many_are_chosen_and_deleted_and_brought_back(home: Any, visit: Callable[..., Tab]) -> None:
    put(home, *(f"Chat{number} talk" for number in range(6)))
    tab = visit(on=home).open()
    expect(tab.chats).to_have_count(6)
    option(tab, "Select chats")
    bar = tab.page.get_by_role("group", name="Selected chats")
    expect(bar.get_by_role("status")).to_have_text("None selected")
    expect(bar.get_by_role("button", name="Delete")).to_be_disabled()
    boxes = tab.page.get_by_role("navigation", name="Chats").get_by_role("checkbox")
    boxes.nth(1).click()
    boxes.nth(4).click(modifiers=["Shift"])
    expect(bar.get_by_role("status")).to_have_text("4 selected")
    bar.get_by_role("button", name="Delete").click()
    expect(tab.chats).to_have_count(2)
    expect(tab.page.get_by_text("Deleted 4 chats.")).to_be_visible()
    tab.button("Undo").click()
    expect(tab.chats).to_have_count(6)
    option(tab, "Select chats")
    bar.get_by_role("button", name="Select all").click()
    expect(bar.get_by_role("status")).to_have_text("6 selected")
    bar.get_by_role("button", name="Archive").click()
    expect(tab.chats).to_have_count(0)
    tab.button("Undo").click()
    expect(tab.chats).to_have_count(6)


def test_escape_ends_choosing(home: Any, visit: Callable[..., Tab]) -> None:
    put(home, "Tea", "Coffee")
    tab = visit(on=home).open()
    tab.does(tab.chat("Tea"), "Select")
    expect(tab.page.get_by_role("checkbox", name="Tea")).to_be_checked()
    expect(tab.page.get_by_role("checkbox", name="Tea")).to_be_focused()
    tab.page.keyboard.press("ArrowUp")
    tab.page.keyboard.press("Space")
    expect(tab.page.get_by_text("2 selected")).to_be_visible()
    tab.page.keyboard.press("Escape")
    expect(tab.chats).to_have_count(2)
    expect(tab.chat("Coffee").get_by_role("link")).to_be_focused()


# The keyboard


def test_tab_passes_the_list_once_and_the_arrows_go_through_it(home: Any, visit: Callable[..., Tab]) -> None:
    *_, milk = put(home, "Tea", "Coffee", "Milk")
    httpx.put(f"{home.url}/api/folders/f", json={"name": "Drinks"})
    tab = visit(on=home).open()
    keyboard = tab.page.keyboard
    expect(tab.chats).to_have_count(3)
    tab.page.get_by_role("searchbox").focus()
    stops = []
    for _ in range(8):
        keyboard.press("Tab")
        stops.append(
            tab.page.evaluate(
                "() => document.activeElement.ariaLabel ?? document.activeElement.innerText.trim()"
            )
        )
    assert stops[:6] == [
        "New chat",
        "List options",
        "Drinks",
        "Options for folder Drinks",
        "Settings",
        "Models",
    ]
    rows(tab).first.get_by_role("button").first.focus()
    keyboard.press("ArrowRight")
    expect(tab.button("Drinks")).to_have_attribute("aria-expanded", "true")
    keyboard.press("ArrowLeft")
    for name in ("Milk", "Coffee", "Tea"):
        keyboard.press("ArrowDown")
        assert focused(tab) == name
    keyboard.press("Home")
    assert focused(tab) == "Drinks"
    keyboard.press("End")
    assert focused(tab) == "Tea"
    keyboard.press("Tab")
    expect(tab.button("Options for Tea")).to_be_focused()
    keyboard.press("Shift+Tab")
    keyboard.press("ArrowUp")
    keyboard.press("F2")
    keyboard.type("Mocha")
    keyboard.press("Enter")
    assert focused(tab) == "Mocha"
    keyboard.press("Delete")
    expect(tab.chats).to_have_count(2)
    assert focused(tab) == "Tea"
    keyboard.press("Delete")
    expect(tab.chats).to_have_count(1)
    assert focused(tab) == "Milk"
    keyboard.press("Enter")
    expect(tab.page).to_have_url(re.compile(f"#/c/{milk}$"))


# One chat


def test_a_reply_is_stopped_in_the_list(tab: Tab) -> None:
    tab.say("/say one that goes on and on\n/hang")
    line = tab.chat("one that goes on and on")
    expect(line).to_contain_text("Replying")
    tab.page.keyboard.press("Control+Shift+O")
    line.hover()
    line.get_by_role("button", name=re.compile("^Stop reply in")).click()
    expect(line).not_to_contain_text("Replying")


def test_a_chat_is_saved_as_a_file(home: Any, visit: Callable[..., Tab]) -> None:
    tab = visit(on=home).open()
    tab.told("/say kept in a file")
    for name, ending in (("Export as Markdown", ".md"), ("Export as JSON Lines", ".jsonl")):
        with tab.page.expect_download() as download:
            tab.does(tab.chat("kept in a file"), name)
        assert download.value.suggested_filename.endswith(ending)
        assert "kept in a file" in Path(download.value.path()).read_text()


def test_the_model_writes_a_title_or_the_server_says_why_not(home: Any, visit: Callable[..., Tab]) -> None:
    (tea,) = put(home, "Tea")
    tab = visit(on=home).open()
    tab.does(tab.chat("Tea"), "Generate title")
    expect(tab.page.get_by_text("This conversation has no messages yet.")).to_be_visible()
    tab.forgive("400")
    tab.fulfil(f"**/api/conversations/{tea}/title", {"id": tea, "title": "All about tea"})
    tab.does(tab.chat("Tea"), "Generate title")
    expect(tab.chat("All about tea")).to_have_count(1)


def test_a_temporary_chat_is_marked_and_in_no_list_of_the_server(
    home: Any, visit: Callable[..., Tab]
) -> None:
    tab = visit(on=home).open()
    begun = tab.asked("POST", "/api/conversations")
    option(tab, re.compile("^New temporary chat"))
    expect(tab.composer).to_be_focused()
    with tab.page.expect_request("**/api/blobs?*") as sent:
        tab.page.locator("input[type=file]").set_input_files(
            {"name": "secret.txt", "mimeType": "text/plain", "buffer": b"hush"}
        )
    assert "temporary=true" in sent.value.url
    expect(tab.button("Send")).to_be_enabled()
    tab.told("/say between us")
    assert begun[0]["temporary"] is True
    temporary = tab.page.get_by_role("list", name="Temporary").get_by_role("link")
    expect(temporary).to_have_text(["/say between us"])
    assert httpx.get(f"{home.url}/api/conversations").json()["conversations"] == []
    tab.page.keyboard.press("Control+Shift+O")
    tab.told("/say for the books")
    assert "temporary" not in begun[1]
    temporary.click()
    expect(tab.reply).to_contain_text("between us")


# Searching


def test_what_is_found_is_put_together_and_gone_through_by_arrows(
    home: Any, visit: Callable[..., Tab]
) -> None:
    tab = visit(on=home).open()
    tab.told("/say one capybara")
    tab.told("/say two capybaras")
    tab.page.keyboard.press("Control+Shift+O")
    tab.told("/say a capybara in the archive")
    tab.does(tab.chat("in the archive"), "Archive")
    field = tab.page.get_by_role("searchbox")
    field.fill("capybara")
    groups = tab.page.locator(".hits h2")
    expect(groups).to_have_count(2)
    expect(groups.filter(has_text="in the archive")).to_contain_text("Archived")
    field.press("ArrowDown")
    hits = tab.page.locator(".hits a")
    expect(hits.first).to_be_focused()
    tab.page.keyboard.press("ArrowDown")
    expect(hits.nth(1)).to_be_focused()
    tab.page.keyboard.press("ArrowUp")
    tab.page.keyboard.press("ArrowUp")
    expect(field).to_be_focused()
    field.press("Enter")
    expect(tab.page.locator("article.sought")).to_be_in_viewport()


# The way out


def test_a_user_sees_who_one_is_and_signs_out(chromium: Browser, serve: Callable[..., Any]) -> None:
    address = serve("--engine", "scripted", DUOLOGUE_KEY="a-key-of-some-length").ready().url
    page = chromium.new_page()
    page.goto(address)
    page.get_by_label("Key", exact=True).fill("a-key-of-some-length")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("link", name="Settings")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Key", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_label("Key", exact=True)).to_be_visible()
    page.close()


def test_the_screens_are_offered_to_those_who_may_use_them(home: Any, visit: Callable[..., Tab]) -> None:
    tab = visit(on=home)
    tab.capabilities(features={"models": False, "admin": False})
    tab.open()
    expect(tab.page.get_by_role("link", name="Settings")).to_be_visible()
    expect(tab.page.get_by_role("link", name="Models")).to_have_count(0)
    expect(tab.page.get_by_role("link", name="Admin")).to_have_count(0)
    expect(tab.button("Sign out")).to_have_count(0)


# For every hand and eye


def folders(tab: Tab) -> None:
    tab.button("Drinks").click()
    expect(tab.chat("Sencha")).to_have_count(1)


def menu(tab: Tab) -> None:
    tab.chat("Tea").hover()
    tab.button("Options for Tea").click()


def choosing(tab: Tab) -> None:
    option(tab, "Select chats")
    tab.page.get_by_role("checkbox", name="Tea").click()
    expect(tab.page.get_by_role("group", name="Selected chats")).to_contain_text("1 selected")


def moving(tab: Tab) -> None:
    tab.does(tab.chat("Tea"), "Move to folder")
    expect(tab.page.get_by_role("dialog", name="Move “Tea”")).to_be_visible()


def tagging(tab: Tab) -> None:
    tab.does(tab.chat("Tea"), "Tags")
    tab.page.get_by_label("Add tag").fill("green")
    tab.page.keyboard.press("Enter")
    expect(tab.button("Remove tag green")).to_be_visible()


def archive(tab: Tab) -> None:
    option(tab, "Archived chats")
    expect(tab.button("Back to all chats")).to_be_visible()


SCREENS = [folders, menu, choosing, moving, tagging, archive]


@pytest.fixture(scope="module")
def furnished(lasting: Callable[..., Any]) -> Any:
    server = lasting("--engine", "scripted").ready()
    httpx.put(f"{server.url}/api/folders/f", json={"name": "Drinks"})
    *_, coffee = put(server, "Tea", "Coffee with a title that is too long for the narrow list of chats")
    put(server, "Sencha", folder="f")
    httpx.patch(f"{server.url}/api/conversations/{coffee}", json={"pinned": True})
    return server


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_axe_finds_nothing_in_the_list(
    furnished: Any, visit: Callable[..., Tab], screen: Callable[[Tab], None]
) -> None:
    tab = visit(on=furnished, reduced_motion="reduce").open()
    screen(tab)
    assert tab.complaints_in_both_themes(AXE) == []


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_the_list_fits_a_narrow_screen(
    furnished: Any, visit: Callable[..., Tab], screen: Callable[[Tab], None]
) -> None:
    tab = visit(on=furnished, viewport={"width": 320, "height": 640}).open()
    tab.button("Chats").click()
    screen(tab)
    wide = tab.page.evaluate(
        """() => [...document.querySelectorAll('body, .side, nav, .bar, dialog, dialog .content')]
            .filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.outerHTML.slice(0, 120))"""
    )
    assert wide == []
