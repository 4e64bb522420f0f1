"""Conversations that live on the server, as the page shows them: coming back, branches, the list, other tabs, files."""

import base64
import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

# Coming back


def test_a_reload_keeps_the_draft_and_the_conversation(tab: Tab) -> None:
    tab.told("/say **kept**")
    tab.composer.fill("a thought not yet sent")
    tab.page.reload()
    expect(tab.reply.locator("strong")).to_have_text("kept")
    expect(tab.composer).to_have_value("a thought not yet sent")


def test_a_reload_in_the_middle_goes_on(tab: Tab) -> None:
    tab.say("/pace 50\n/repeat 160 word \n/say end")
    expect(tab.reply).to_contain_text("word word")
    tab.page.reload()
    expect(tab.reply).to_contain_text("word word")
    expect(tab.reply).to_have_attribute("aria-busy", "true")
    tab.ended()
    expect(tab.reply).to_contain_text(re.compile(r"^\D*(word ){160}end", re.DOTALL))


def test_a_reply_goes_on_while_nobody_looks(tab: Tab) -> None:
    tab.say("/pace 20\n/repeat 20 word \n/say end")
    expect(tab.reply).to_contain_text("word")
    address = tab.page.url
    tab.page.goto("about:blank")
    tab.page.goto(address)
    tab.ended()
    expect(tab.reply).to_contain_text("end")


def test_a_second_tab_shows_the_same_reply_and_stops_it(visit: Callable[..., Tab]) -> None:
    tab = visit().open()
    tab.say("/say half\n/hang")
    expect(tab.reply).to_contain_text("half")
    other = visit(beside=tab)
    other.page.goto(tab.page.url)
    expect(other.reply).to_contain_text("half")
    expect(other.reply).to_have_attribute("aria-busy", "true")
    other.button("Stop").click()
    for each in (tab, other):
        each.ended()
        expect(each.reply).to_contain_text("Stopped.")
    tab.say("/say and on\n/hang")
    expect(other.reply).to_contain_text("and on")
    tab.button("Stop").click()
    other.ended()


def test_a_new_chat_is_empty_and_the_old_one_comes_back(tab: Tab) -> None:
    tab.told("/say one")
    tab.page.keyboard.press("Control+Shift+O")
    expect(tab.replies).to_have_count(0)
    expect(tab.composer).to_be_focused()
    tab.page.get_by_role("link", name="Back to the previous chat").click()
    expect(tab.reply).to_contain_text("one")


def test_back_and_forward_go_from_chat_to_chat(tab: Tab) -> None:
    tab.told("/say one")
    tab.page.keyboard.press("Control+Shift+O")
    expect(tab.replies).to_have_count(0)
    tab.told("/say two")
    tab.page.go_back()
    expect(tab.replies).to_have_count(0)
    tab.page.go_back()
    expect(tab.reply).to_contain_text("one")
    tab.page.go_forward()
    tab.page.go_forward()
    expect(tab.reply).to_contain_text("two")


def test_two_chats_are_answered_side_by_side(tab: Tab) -> None:
    tab.say("/say first chat of two\n/hang")
    expect(tab.reply).to_contain_text("first chat of two")
    tab.page.keyboard.press("Control+Shift+O")
    tab.say("/say second chat of two\n/hang")
    expect(tab.reply).to_contain_text("second chat of two")
    tab.button("Stop").click()
    tab.ended()
    tab.chat("first chat of two").get_by_role("link").click()
    expect(tab.reply).to_contain_text("first chat of two")
    expect(tab.reply).to_have_attribute("aria-busy", "true")
    tab.button("Stop").click()
    tab.ended()


def test_an_address_of_nothing_says_so(tab: Tab) -> None:
    tab.page.goto(tab.url + "#/c/there-is-no-such-chat")
    expect(tab.page.get_by_role("alert")).to_contain_text("Chat not found")
    tab.page.get_by_role("main").get_by_role("button", name="New chat").click()
    expect(tab.page.get_by_role("heading", name="What can I help with?")).to_be_visible()
    assert tab.errors == [], "the console stays quiet"


def test_a_conversation_of_an_earlier_page_comes_to_the_server_once(visit: Callable[..., Tab]) -> None:
    tab = visit()
    former = {
        "version": 1,
        "turns": [
            {"id": "u1", "parent": None, "text": "What did the former page keep?"},
            {
                "id": "a1",
                "parent": "u1",
                "reply": {"text": "This.", "model": "mini", "stage": "ended", "finish": "stop"},
            },
        ],
        "choice": {},
    }
    kept = json.dumps(json.dumps(former))
    tab.page.add_init_script(
        f"if (!sessionStorage.getItem('once')) {{ sessionStorage.setItem('once', '1');"
        f" sessionStorage.setItem('duologue.conversation', {kept}); }}"
    )
    tab.open()
    expect(tab.reply).to_contain_text("This.")
    expect(tab.chat("What did the former page keep?")).to_have_count(1)
    tab.page.reload()
    expect(tab.reply).to_contain_text("This.")
    expect(tab.chat("What did the former page keep?")).to_have_count(1)


# Branches


def test_another_reply_leaves_the_first_one_reachable(tab: Tab) -> None:
    tab.told("/say one")
    tab.button("Regenerate").click()
    versions = tab.reply.get_by_role("group", name="Versions")
    expect(versions).to_contain_text("2 / 2")
    tab.ended()
    # The page shows this before the server has it, and a reload takes a request back that was not sent yet.
    with tab.page.expect_response(lambda answer: answer.request.method == "PATCH"):
        versions.get_by_role("button", name="Earlier version").click()
    expect(versions).to_contain_text("1 / 2")
    tab.page.reload()
    expect(versions).to_contain_text("1 / 2")


def test_up_edits_the_last_message_and_the_old_branch_stays(tab: Tab) -> None:
    tab.told("/say one")
    tab.composer.press("ArrowUp")
    editor = tab.page.get_by_label("Edit message")
    expect(editor).to_be_focused()
    editor.press("Escape")
    expect(tab.composer).to_be_focused()
    tab.composer.press("ArrowUp")
    editor.fill("/say two")
    editor.press("Enter")
    expect(tab.reply).to_contain_text("two")
    tab.ended()
    expect(tab.replies).to_have_count(1)
    tab.said.get_by_role("button", name="Earlier version").click()
    expect(tab.reply).to_contain_text("one")


def test_a_message_and_a_reply_are_changed_in_their_place(tab: Tab) -> None:
    tab.told("/say one")
    tab.said.hover()
    tab.button("Edit message").click()
    tab.page.get_by_label("Edit message").fill("/say uno")
    tab.button("Save without resending").click()
    expect(tab.said).to_contain_text("/say uno")
    tab.more(tab.reply, "Edit reply")
    tab.page.get_by_label("Edit reply").fill("the *other* one")
    tab.button("Save").click()
    expect(tab.reply.locator("em")).to_have_text("other")
    tab.page.reload()
    expect(tab.said).to_contain_text("/say uno")
    expect(tab.reply.locator("em")).to_have_text("other")
    expect(tab.page.get_by_role("group", name="Versions")).to_have_count(0)


def test_deleting_a_message_tells_first_what_goes_with_it(tab: Tab) -> None:
    tab.told("/say one")
    tab.told("/say two")
    tab.more(tab.said.last, "Delete message")
    question = tab.page.get_by_role("group", name="Delete")
    expect(question).to_contain_text(re.compile(r"1\sof your messages and 1\sreply"))
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    tab.page.keyboard.press("Escape")
    expect(question).to_have_count(0)
    tab.more(tab.said.last, "Delete message")
    tab.button("Delete").click()
    expect(tab.said).to_have_count(1)
    expect(tab.reply).to_contain_text("one")
    tab.page.reload()
    expect(tab.said).to_have_count(1)


# While a reply is running


def test_what_waits_is_taken_back_or_goes_in_at_once(tab: Tab) -> None:
    tab.say("/say one\n/hang")
    expect(tab.reply).to_contain_text("one")
    for text in ("first", "second"):
        tab.composer.fill(text)
        tab.button("Send after this reply").click()
    waiting = tab.page.get_by_role("group", name="Queued message")
    expect(waiting).to_have_count(2)
    waiting.first.get_by_role("button", name="Edit").click()
    expect(tab.composer).to_have_value("first")
    expect(waiting).to_have_count(1)
    waiting.get_by_role("button", name="Send now").click()
    expect(waiting).to_contain_text("Sends at the next step")
    waiting.get_by_role("button", name="Remove").click()
    expect(waiting).to_have_count(0)


# The list


def test_the_list_names_the_chat_shows_that_it_is_answered_and_goes_there(tab: Tab) -> None:
    tab.say("/say a chat about sourdough\n/hang")
    line = tab.chat("a chat about sourdough")
    expect(line).to_contain_text("Replying")
    expect(line.get_by_role("link")).to_have_attribute("aria-current", "page")
    tab.button("Stop").click()
    expect(line).not_to_contain_text("Replying")
    tab.page.keyboard.press("Control+Shift+O")
    line.get_by_role("link").click()
    expect(tab.said).to_contain_text("sourdough")


def test_a_chat_is_renamed_in_the_list(tab: Tab) -> None:
    tab.told("/say rename me please")
    line = tab.chat("rename me please")
    tab.does(line, "Rename")
    field = tab.page.get_by_label("Title", exact=True)
    expect(field).to_be_focused()
    field.fill("Renamed by hand")
    field.press("Enter")
    expect(tab.chat("Renamed by hand").get_by_role("link")).to_be_focused()
    expect(tab.page).to_have_title("Renamed by hand · Duologue")
    tab.page.reload()
    expect(tab.chat("Renamed by hand")).to_have_count(1)


def test_a_deleted_chat_can_be_brought_back(tab: Tab) -> None:
    tab.told("/say delete me please")
    line = tab.chat("delete me please")
    tab.does(line, "Delete")
    expect(line).to_have_count(0)
    expect(tab.replies).to_have_count(0)
    tab.button("Undo").click()
    expect(line).to_have_count(1)
    expect(tab.said).to_contain_text("delete me please")


def test_other_tabs_hear_of_new_renamed_and_deleted_chats(visit: Callable[..., Tab]) -> None:
    tab, other = visit().open(), visit().open()
    tab.told("/say heard of elsewhere")
    expect(other.chat("heard of elsewhere")).to_have_count(1)
    line = tab.chat("heard of elsewhere")
    tab.does(line, "Delete")
    expect(other.chat("heard of elsewhere")).to_have_count(0)


def test_a_search_finds_what_was_said_and_leads_to_it(tab: Tab) -> None:
    tab.told("/say The capybara is a calm animal.")
    tab.told("/repeat 60 line\\n\\n")
    tab.page.keyboard.press("Control+Shift+O")
    tab.page.keyboard.press("Control+Shift+F")
    expect(tab.page.get_by_role("searchbox")).to_be_focused()
    tab.page.keyboard.type("capyb")
    hit = (
        tab.page.get_by_role("link").filter(has_text="calm animal").filter(has=tab.page.locator("mark")).first
    )
    expect(hit.locator("mark").first).to_have_text(re.compile("(capybara|Capybara)"))
    hit.click()
    expect(tab.page.locator("article.sought")).to_be_in_viewport()
    tab.page.get_by_role("searchbox").press("Escape")
    expect(tab.chats.first).to_be_visible()


def test_on_a_phone_the_list_is_a_drawer(visit: Callable[..., Tab]) -> None:
    tab = visit(viewport={"width": 360, "height": 640}, is_mobile=True, has_touch=True).open()
    tab.told("/say in the drawer")
    tab.button("New chat").tap()
    expect(tab.replies).to_have_count(0)
    tab.button("Chats").tap()
    drawer = tab.page.get_by_role("dialog", name="Chats")
    expect(drawer).to_be_visible()
    tab.page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    tab.button("Chats").tap()
    tab.chat("in the drawer").get_by_role("link").first.tap()
    expect(drawer).to_have_count(0)
    expect(tab.reply).to_contain_text("in the drawer")


# Files

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAIAAAAuKetIAAAARUlEQVR42u3PsQkAMAgAMO3qk+7+v/cLQUg+SNZ0XPbiOAEBAQEB"
    "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAYE9Hy16ATZXvHGgAAAAAElFTkSuQmCC"
)


def attach(tab: Tab, name: str, mime: str, data: bytes) -> None:
    tab.page.locator("input[type=file]").set_input_files({"name": name, "mimeType": mime, "buffer": data})


def test_a_text_file_goes_with_the_message(tab: Tab) -> None:
    attach(tab, "notes.txt", "text/plain", b"Buy tea.")
    files = tab.page.get_by_role("list", name="Attached files")
    expect(files).to_contain_text("notes.txt")
    expect(tab.button("Send")).to_be_enabled()
    tab.page.reload()
    expect(tab.page.get_by_role("list", name="Attached files")).to_contain_text("notes.txt")
    asked = tab.asked("POST", "/runs")
    tab.told("/say read it")
    expect(tab.page.get_by_role("list", name="Attached files")).to_have_count(0)
    expect(tab.said.get_by_role("link", name="notes.txt")).to_be_visible()
    assert [part["type"] for part in asked[0]["message"]["content"]] == ["file", "text"]
    tab.page.reload()
    expect(tab.said.get_by_role("link", name="notes.txt")).to_be_visible()


def test_a_picture_is_shown_small_and_a_model_without_eyes_says_so(tab: Tab) -> None:
    attach(tab, "cat.png", "image/png", PICTURE)
    files = tab.page.get_by_role("list", name="Attached files")
    expect(files.locator("img")).to_be_visible()
    tab.page.wait_for_function("() => document.querySelector('form img').naturalWidth > 0")
    expect(files.get_by_role("alert")).to_contain_text("can’t use images")
    expect(tab.button("Send")).to_be_disabled()
    tab.told("/say without it")
    expect(tab.said.get_by_role("img", name="cat.png")).to_have_count(0)
    expect(files).to_contain_text("cat.png")
    tab.button("Remove cat.png").click()
    expect(files).to_have_count(0)


def test_files_are_dropped_and_pasted(tab: Tab) -> None:
    drop = """kind => {
        const data = new DataTransfer();
        data.items.add(new File(['x'], kind + '.txt', {type: 'text/plain'}));
        const event = kind === 'paste' ? new ClipboardEvent('paste', {clipboardData: data, bubbles: true})
            : new DragEvent(kind, {dataTransfer: data, bubbles: true});
        document.querySelector('textarea').dispatchEvent(event);
    }"""
    tab.page.evaluate(drop, "dragover")
    expect(tab.page.get_by_text("Drop files to attach")).to_be_visible()
    tab.page.evaluate(drop, "drop")
    expect(tab.page.get_by_text("Drop files to attach")).to_have_count(0)
    tab.page.evaluate(drop, "paste")
    files = tab.page.get_by_role("list", name="Attached files").get_by_role("listitem")
    expect(files).to_have_text([re.compile("drop.txt"), re.compile("paste.txt")])


def test_a_file_that_is_refused_says_why(tab: Tab) -> None:
    tab.fulfil(
        "**/api/blobs?*", {"error": {"code": "too_large", "message": "The file is larger than 256 MB."}}, 413
    )
    attach(tab, "film.txt", "text/plain", b"x")
    expect(tab.page.get_by_role("alert")).to_have_text("The file is larger than 256 MB.")
    expect(tab.button("Send")).to_be_disabled()
    tab.button("Remove film.txt").click()
    tab.forgive("413")
