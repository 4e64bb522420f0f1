"""The composer: drafts that are nowhere lost, files and what fits which model, choices of a chat, lists after / and @."""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import FilePayload, Locator, expect
from tests.support.hostile_files import LAYERS
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
LIBRARY = Path(__file__).parent / "library_server.py"
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAIAAAAuKetIAAAARUlEQVR42u3PsQkAMAgAMO3qk+7+v/cLQUg+SNZ0XPbiOAEBAQEB"
    "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAYE9Hy16ATZXvHGgAAAAAElFTkSuQmCC"
)
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n"
READER = {
    "name": "reader",
    "engine": "llama",
    "context": 8192,
    "parameters": 1_500_000_000,
    "description": "",
    "bundled": False,
    "verbs": ["prefill", "thinking", "effort", "tools"],
    "modalities": ["text"],
    "state": "ready",
}
SEER = READER | {"name": "seer", "modalities": ["text", "image"], "parameters": 7_600_000_000}


@pytest.fixture(scope="module")
def library(lasting: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server with an MCP server that offers prompts and resources."""
    config = tmp_path_factory.mktemp("library") / "duologue.yaml"
    servers = {"library": {"command": sys.executable, "args": [str(LIBRARY)]}}
    config.write_text(json.dumps({"mcp": {"servers": servers}}))
    server = lasting("--engine", "scripted", "--config", str(config)).ready()

    def there() -> bool:
        rows = httpx.get(f"{server.url}/api/mcp", timeout=30).json()["servers"]
        return any(row["name"] == "library" and row["phase"] == "ready" for row in rows)

    server.until(there, seconds=60)
    return server


@pytest.fixture
def server(library: Any) -> Any:
    return library


@pytest.fixture(autouse=True)
def fresh(library: Any) -> None:
    """What was begun to be written, and what was chosen, is on the server and would be the next test's."""
    httpx.delete(f"{library.url}/api/drafts/new", timeout=30)
    httpx.patch(f"{library.url}/api/settings", json={"options": None, "page": None}, timeout=30)


def draft(library: Any, conversation: str = "new") -> Any:
    return httpx.get(f"{library.url}/api/drafts/{conversation}").json()


def kept(library: Any, text: str, conversation: str = "new") -> None:
    library.until(lambda: draft(library, conversation).get("text", "") == text)


def attach(tab: Tab, name: str, mime: str, data: bytes) -> None:
    tab.page.locator("input[type=file]").set_input_files({"name": name, "mimeType": mime, "buffer": data})


def files(tab: Tab) -> Locator:
    return tab.page.get_by_role("list", name="Attached files").get_by_role("listitem")


def menu(tab: Tab, button: str | re.Pattern[str], item: str) -> None:
    tab.button(button).click()
    tab.page.locator("[role^=menuitem]").filter(has_text=re.compile(rf"^\s*{item}")).click()


def offers(tab: Tab) -> Locator:
    return tab.page.get_by_role("listbox").get_by_role("option")


def two_models(tab: Tab) -> None:
    tab.capabilities(models=[READER, SEER], default_model="reader")


def only_the_seer_takes_pictures(tab: Tab) -> None:
    """As its server would say, which has no model with these names and asks another one."""
    unfit = {"became": "refused", "code": "modality_unsupported", "message": "The model reader takes text."}
    tab.fulfil("**/fit?model=reader", {"kind": "image"} | unfit)
    tab.fulfil("**/fit?model=seer", {"kind": "image", "became": "kept", "frames": 1, "tokens": 256})


# Drafts


def test_a_draft_with_its_files_appears_on_another_device_and_goes_when_it_is_sent(
    visit: Callable[..., Tab], library: Any
) -> None:
    phone = visit().open()
    desk = visit().open()
    phone.composer.fill("half a thought")
    attach(phone, "notes.txt", "text/plain", b"Buy tea.")
    expect(desk.composer).to_have_value("half a thought")
    expect(files(desk)).to_contain_text(["notes.txt"])
    phone.button("Send").click()
    phone.ended()
    expect(desk.composer).to_have_value("")
    expect(files(desk)).to_have_count(0)


def test_a_draft_is_on_the_server_when_the_page_goes_away_at_once(tab: Tab, library: Any) -> None:
    tab.told("/say one")
    conversation = tab.page.url.split("/")[-1]
    tab.composer.fill("typed and gone")
    tab.page.goto("about:blank")
    kept(library, "typed and gone", conversation)
    tab.open()
    tab.page.goto(f"{tab.url}#/c/{conversation}")
    expect(tab.composer).to_have_value("typed and gone")


def only_reading(route: Any) -> None:
    if route.request.method == "GET":
        route.continue_()
    else:
        route.abort("connectionrefused")


def test_what_was_typed_here_later_than_elsewhere_stays_and_the_other_can_be_had(
    visit: Callable[..., Tab], library: Any
) -> None:
    tab = visit()
    tab.page.route("**/api/drafts/**", lambda route: route.abort("connectionrefused"))
    httpx.put(f"{library.url}/api/drafts/new", json={"text": "from elsewhere", "files": []})
    tab.open()
    tab.composer.fill("from here")
    # What was typed must not reach the server before the page has read what is there.
    tab.page.route("**/api/drafts/**", only_reading)
    tab.page.reload()
    expect(tab.composer).to_have_value("from here")
    tab.button("Use that draft").click()
    expect(tab.composer).to_have_value("from elsewhere")
    tab.forgive("ERR_CONNECTION_REFUSED")


# Files


def test_a_long_paste_becomes_a_file_and_can_be_text_again(tab: Tab) -> None:
    paste = """text => {
        const data = new DataTransfer();
        data.setData('text/plain', text);
        document.querySelector('textarea').dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
    }"""
    long = "A sentence of a long text. " * 200
    tab.page.evaluate(paste, long)
    expect(files(tab)).to_contain_text(["Pasted text.txt"])
    expect(files(tab)).to_contain_text(["A sentence of a long text."])
    expect(tab.composer).to_have_value("")
    tab.button("Paste as text").click()
    expect(files(tab)).to_have_count(0)
    expect(tab.composer).to_have_value(long)


def test_a_picture_for_a_model_that_reads_says_so_and_names_one_that_sees(visit: Callable[..., Tab]) -> None:
    tab = visit()
    two_models(tab)
    only_the_seer_takes_pictures(tab)
    tab.open()
    attach(tab, "cat.png", "image/png", PICTURE)
    expect(files(tab).get_by_role("alert")).to_have_text("reader can’t use images, so this will be left out.")
    expect(tab.button("Send")).to_be_disabled()
    tab.button("Switch to seer").click()
    expect(files(tab).get_by_role("alert")).to_have_count(0)
    expect(tab.button("Model: seer")).to_be_visible()
    expect(tab.button("Send")).to_be_enabled()


def test_a_drawing_that_cannot_be_read_says_so_before_it_is_sent(visit: Callable[..., Tab]) -> None:
    tab = visit()
    tab.open()
    attach(tab, "drawing.svg", "image/svg+xml", LAYERS)
    expect(files(tab).get_by_role("alert")).to_contain_text("The file cannot be read", timeout=60_000)
    tab.errors.clear()  # Chromium's, of the thumbnail that is not there


def test_a_document_is_given_as_text_or_pages(visit: Callable[..., Tab]) -> None:
    tab = visit()
    two_models(tab)
    tab.open()
    # The few bytes of this file are not read.
    tab.fulfil("**/api/blobs/*/inspection", {"code": "", "message": "", "scan": False})
    attach(tab, "tea.pdf", "application/pdf", PDF)
    menu(tab, "Send tea.pdf as: Automatic", "Page images")
    expect(files(tab).get_by_role("alert")).to_contain_text("reader can’t use images")
    tab.button("Send as text").click()
    expect(files(tab).get_by_role("alert")).to_have_count(0)
    tab.composer.fill("/say read it")
    with tab.page.expect_request("**/runs") as asked:
        tab.button("Send").click()
    body = asked.value.post_data_json
    assert body is not None
    assert body["message"]["content"][0]["given"] == "text"
    tab.forgive("400")


def test_a_file_that_did_not_arrive_is_tried_again(tab: Tab) -> None:
    tab.page.route("**/api/blobs?*", lambda route: route.abort("connectionrefused"))
    attach(tab, "notes.txt", "text/plain", b"Buy tea.")
    expect(files(tab).get_by_role("alert")).to_contain_text("The server isn’t responding.")
    tab.page.unroute("**/api/blobs?*")
    tab.button("Try again: notes.txt").click()
    expect(files(tab)).to_contain_text(["8 byte"])
    expect(tab.button("Send")).to_be_enabled()
    tab.forgive("ERR_CONNECTION_REFUSED")


def test_more_files_than_a_message_carries_are_refused_with_the_settings_name(
    visit: Callable[..., Tab],
) -> None:
    tab = visit()
    tab.capabilities(limits={"attachments": 1, "blob_bytes": 4})
    tab.open()
    chooser = tab.page.locator("input[type=file]")
    chooser.set_input_files(
        [FilePayload(name=name, mimeType="text/plain", buffer=b"12345") for name in ("one.txt", "two.txt")]
    )
    expect(tab.page.get_by_text("limits.attachments")).to_be_visible()
    expect(files(tab)).to_have_count(1)
    expect(files(tab).get_by_role("alert")).to_contain_text("limits.blob_mb")


# Choices


def test_how_long_it_thinks_is_sent_and_remembered(visit: Callable[..., Tab]) -> None:
    tab = visit()
    two_models(tab)
    asked = tab.asked("POST", "/runs")
    tab.open()
    tab.add("Thinking", "Low")
    tab.say("/say one")
    expect(tab.button("Thinking: Low")).to_be_visible()
    tab.add("Thinking", "No limit")
    tab.page.reload()
    tab.button("Thinking: No limit").click()
    expect(tab.button("Thinking: No limit")).to_have_count(0)
    expect(tab.composer).to_be_focused()
    assert (asked[0]["options"]["thinking"], asked[0]["options"]["effort"]) == (True, "low")


def test_tools_are_switched_off_for_a_chat_whole_or_by_server(tab: Tab) -> None:
    asked = tab.asked("POST", "/runs")
    tab.add("Tools")
    panel = tab.page.get_by_role("dialog", name="Tools")
    library = panel.get_by_role("switch", name="library")
    expect(library).to_be_checked()
    library.click()
    expect(library).not_to_be_checked()
    assert tab.complaints(AXE) == []
    panel.get_by_role("switch", name="Let the model use tools").click()
    expect(library).to_be_disabled()
    tab.page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(tab.button("Add")).to_be_focused()
    expect(tab.button("Tools: off")).to_be_visible()
    tab.told("/say one")
    options = asked[0]["options"]
    assert (options["tools"], options["servers"]) == (False, {"library": False})


def test_the_composer_has_four_controls_with_the_ways_to_call_at_one_of_them_and_its_key_hint_goes_with_the_first_message(
    visit: Callable[..., Tab],
) -> None:
    tab = visit().with_voice().open()
    form = tab.page.locator("#composer")
    expect(form.get_by_role("button")).to_have_count(5)
    for name in ("Add", re.compile("^Model"), "Call", "Ways to call", "Send"):
        expect(form.get_by_role("button", name=name, exact=isinstance(name, str))).to_be_visible()
    call, ways = tab.button("Call").bounding_box(), tab.button("Ways to call").bounding_box()
    assert call is not None
    assert ways is not None
    assert ways["x"] - (call["x"] + call["width"]) <= 2, "one control to the eye"
    assert ways["width"] >= 24
    expect(form.get_by_text("Enter", exact=True)).to_be_visible()
    tab.told("/say one")
    expect(form.get_by_text("Enter", exact=True)).to_have_count(0)


# While a reply runs


def test_what_is_said_with_ctrl_enter_goes_in_at_the_next_step(tab: Tab) -> None:
    asked = tab.asked("POST", "/runs")
    tab.say("/say one\n/hang")
    expect(tab.reply).to_contain_text("one")
    tab.composer.fill("first")
    tab.composer.press("Enter")
    tab.composer.fill("sooner")
    with tab.page.expect_request(lambda request: request.method == "POST" and request.url.endswith("/runs")):
        tab.composer.press("Control+Enter")
    waiting = tab.page.get_by_role("group", name="Queued message")
    expect(waiting).to_have_count(2)
    expect(waiting.filter(has_text="sooner")).to_contain_text("Sends at the next step")
    assert [run["busy"] for run in asked] == ["queue", "queue", "steer"]
    tab.button("Stop").click()


# Lists


def test_a_prompt_is_found_by_a_slash_and_put_where_one_types(tab: Tab) -> None:
    tab.composer.press_sequentially("/sh")
    expect(offers(tab)).to_have_text([re.compile("/shelf")])
    active = tab.composer.get_attribute("aria-activedescendant")
    assert active
    assert offers(tab).first.get_attribute("id") == active
    assert tab.complaints(AXE) == []
    tab.composer.press("Enter")
    expect(tab.composer).to_have_value("Which books are on the shelf?")
    expect(offers(tab)).to_have_count(0)
    expect(tab.said).to_have_count(0)


def test_a_prompt_asks_for_its_arguments_and_completes_them(tab: Tab) -> None:
    tab.composer.fill("Before\n")
    tab.composer.press("Control+End")
    tab.composer.press_sequentially("/acc")
    expect(offers(tab)).to_have_count(1)
    tab.composer.press("Tab")
    form = tab.page.get_by_role("dialog", name="Sum up a book")
    book = form.get_by_label(re.compile("book"))
    book.press_sequentially("t")
    expect(form.locator("datalist option")).to_have_count(2)
    book.fill("tea")
    assert tab.complaints(AXE) == []
    form.get_by_role("button", name="Insert").click()
    expect(form).to_have_count(0)
    expect(tab.composer).to_have_value("Before\nSum up the book on tea in 100 words.")
    expect(tab.composer).to_be_focused()


def test_a_resource_is_found_by_an_at_and_goes_with_the_message(tab: Tab) -> None:
    tab.composer.press_sequentially("read @te")
    offers(tab).filter(has_text="The book of tea").click()
    expect(tab.composer).to_have_value("read ")
    expect(files(tab)).to_have_count(1)
    asked = tab.asked("POST", "/runs")
    tab.told("/say read")
    content = asked[0]["message"]["content"]
    assert (content[0]["type"], content[0]["text"]) == ("resource", "Water first, then leaves.")


def test_a_pattern_of_resources_is_filled_in(tab: Tab) -> None:
    tab.add("Prompts and resources", "Resources")
    offers(tab).filter(has_text="library://books/{book}").click()
    form = tab.page.get_by_role("dialog", name="A book")
    form.get_by_label(re.compile("book")).fill("travel")
    form.get_by_role("button", name="Attach").click()
    expect(files(tab)).to_have_count(1)
    expect(tab.composer).to_have_value("")


def test_what_no_list_knows_is_only_text_and_escape_closes_a_list_and_nothing_else(tab: Tab) -> None:
    tab.say("/say one\n/hang")
    expect(tab.reply).to_contain_text("one")
    tab.composer.press_sequentially("@nobody")
    expect(offers(tab)).to_have_count(0)
    tab.composer.fill("")
    tab.composer.press_sequentially("/")
    expect(offers(tab).filter(has_text="/new")).to_be_visible()
    tab.composer.press("ArrowDown")
    tab.composer.press("Escape")
    expect(offers(tab)).to_have_count(0)
    tab.composer.press_sequentially("ne")
    expect(offers(tab)).to_have_count(0)
    expect(tab.button("Stop")).to_be_visible()
    tab.button("Stop").click()


def test_commands_of_the_page_are_in_the_same_list(tab: Tab) -> None:
    tab.told("/say one")
    tab.composer.press_sequentially("/new")
    expect(offers(tab)).to_have_count(1)
    tab.composer.press("Enter")
    expect(tab.said).to_have_count(0)
    expect(tab.composer).to_have_value("")


# Looks


def test_everything_of_the_composer_fits_a_narrow_screen(visit: Callable[..., Tab]) -> None:
    tab = visit(viewport={"width": 320, "height": 640}, reduced_motion="reduce")
    two_models(tab)
    tab.open()
    attach(tab, "a picture with a long name that does not fit.png", "image/png", PICTURE)
    expect(files(tab).get_by_role("alert")).to_be_visible()
    tab.composer.fill("a word")
    for name in ("Add", "Call", "Send"):
        box = tab.button(name).bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 320
    assert tab.page.evaluate("() => document.scrollingElement.scrollWidth") <= 320
    assert tab.complaints_in_both_themes(AXE) == []
