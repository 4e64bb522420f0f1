"""The page for every hand, eye and ear: keyboard, screen reader, themes, widths, directions, and the way in."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from tests.support.tabs import RICH, Tab, operation

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"

# Logging in


def test_a_key_opens_the_page_when_one_is_needed(visit: Callable[..., Tab]) -> None:
    tab = visit()
    locked = {"error": {"code": "unauthorized", "message": "A key is needed."}}
    tab.fulfil("**/api/capabilities", locked, 401)
    tab.fulfil("**/api/session", {"error": {"message": "The key is wrong."}}, 401)
    tab.page.goto(tab.url)
    expect(tab.page.get_by_label("Key")).to_be_focused()
    tab.page.keyboard.type("guess")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("alert")).to_have_text("The key is wrong.")
    tab.fulfil("**/api/session", {"user": "local"})
    tab.capabilities()
    with tab.page.expect_request("**/api/session") as sent:
        tab.button("Log in").click()
    assert sent.value.post_data_json == {"key": "guess"}
    expect(tab.composer).to_be_focused()
    tab.forgive("401")


# Keyboard, sight, sound


def test_the_keyboard_alone_is_enough(tab: Tab) -> None:
    keyboard = tab.page.keyboard
    keyboard.type("/say first line")
    keyboard.press("Shift+Enter")
    keyboard.type("/say and second")
    expect(tab.composer).to_have_value("/say first line\n/say and second")
    keyboard.press("Enter")
    tab.ended()
    expect(tab.reply).to_contain_text("first lineand second")
    expect(tab.composer).to_be_focused()
    for _ in range(20):
        keyboard.press("Shift+Tab")
        if tab.page.evaluate("() => document.activeElement.ariaLabel") == "Regenerate":
            break
    expect(tab.button("Regenerate")).to_be_focused()
    keyboard.press("Enter")
    expect(tab.reply.get_by_role("group", name="Versions")).to_contain_text("2 / 2")


def test_an_input_method_s_enter_does_not_send(tab: Tab) -> None:
    tab.composer.fill("にほん")
    for fields in ({"isComposing": True}, {"keyCode": 229}):
        tab.composer.dispatch_event("keydown", {"key": "Enter", "bubbles": True} | fields)
    expect(tab.composer).to_have_value("にほん")
    expect(tab.said).to_have_count(0)


def test_the_thread_follows_only_a_reader_at_its_end(tab: Tab) -> None:
    scroller = tab.page.locator(".scroller")
    from_end = "box => Math.round(box.scrollHeight - box.clientHeight - box.scrollTop)"
    tab.told("/repeat 40 line\\n\\n")
    assert scroller.evaluate(from_end) <= 1
    tab.say("/pace 15\n/repeat 100 line\\n\\n\n/hang")
    expect(tab.button("Stop")).to_be_visible()
    scroller.hover()
    tab.page.mouse.wheel(0, -500)
    expect(tab.button("Latest")).to_be_visible()
    tab.page.wait_for_function("() => document.querySelector('.scroller').scrollTop > 0")
    before = scroller.evaluate("box => [box.scrollTop, box.scrollHeight]")
    tab.page.wait_for_function(
        "(height) => document.querySelector('.scroller').scrollHeight > height + 300", arg=before[1]
    )
    assert scroller.evaluate("box => box.scrollTop") == before[0]
    tab.button("Latest").click()
    expect(tab.button("Latest")).to_have_count(0)
    assert scroller.evaluate(from_end) <= 1


def test_unfolding_a_thought_does_not_move_it(visit: Callable[..., Tab]) -> None:
    tab = visit(viewport={"width": 800, "height": 400}).open()
    tab.told("/say <think>" + "line\\n\\n" * 40 + "</think>Done.")
    thought = tab.reply.get_by_role("button", name="Thought for")
    before = thought.bounding_box()
    thought.click()
    expect(tab.button("Latest")).to_be_visible()
    assert thought.bounding_box() == before


def test_the_theme_follows_the_system_until_one_is_chosen(visit: Callable[..., Tab]) -> None:
    tab = visit(color_scheme="dark").open()
    paper = "() => getComputedStyle(document.body).backgroundColor"
    dark = tab.page.evaluate(paper)
    tab.button("Theme: system").click()
    light = tab.page.evaluate(paper)
    assert light != dark
    tab.page.reload()
    expect(tab.button("Theme: light")).to_be_visible()
    assert tab.page.evaluate(paper) == light
    tab.button("Theme: light").click()
    assert tab.page.evaluate(paper) == dark
    tab.page.emulate_media(color_scheme="light")
    assert tab.page.evaluate(paper) == dark
    tab.button("Theme: dark").click()
    assert tab.page.evaluate(paper) == light


def test_a_screen_reader_hears_the_beginning_and_the_end(tab: Tab) -> None:
    region = tab.page.locator("[aria-live=polite]:not([role=log])").last
    tab.say("/say **Four**\n/hang")
    expect(tab.reply).to_contain_text("Four")
    expect(region).to_have_text("scripted is answering.")
    expect(tab.page.get_by_role("log")).to_have_attribute("aria-live", "off")
    tab.button("Stop").click()
    expect(region).to_have_text("Stopped.")
    tab.told("/say **Five**")
    expect(region).to_have_text("scripted: Five")


def empty(tab: Tab) -> None:
    tab.open()


def conversation(tab: Tab) -> None:
    tab.open().told(f"/say <think>a\\n\\n- b</think>{RICH}")
    tab.button(re.compile("^Thought")).click()
    tab.button("Regenerate").click()
    tab.ended()


def failure(tab: Tab) -> None:
    tab.open().told("/fail The tea is out.")


def running(tab: Tab) -> None:
    tab.open().say(f"/say {RICH}\n/hang")
    expect(tab.reply).to_contain_text("That is all.")


def editing(tab: Tab) -> None:
    tab.open().told("/say one")
    tab.composer.press("ArrowUp")
    expect(tab.page.get_by_label("Edit message")).to_be_focused()


def deleting(tab: Tab) -> None:
    tab.open().told("/say one")
    tab.more(tab.said, "Delete message")
    expect(tab.page.get_by_role("group", name="Delete").get_by_role("button", name="Cancel")).to_be_focused()


def waiting(tab: Tab) -> None:
    tab.open().say("/say one\n/hang")
    expect(tab.reply).to_contain_text("one")
    tab.composer.fill("and then this, which is a little longer than one line of a narrow screen")
    tab.composer.press("Control+Enter")
    expect(tab.page.get_by_role("group", name="Queued message")).to_be_visible()
    tab.composer.fill("and one more")


def list_of_chats(tab: Tab) -> None:
    tab.open().told("/say one of the chats in the list")
    if tab.button("Chats").count():
        tab.button("Chats").click()
    expect(tab.chats.first).to_be_visible()


def searching(tab: Tab) -> None:
    list_of_chats(tab)
    tab.page.get_by_role("searchbox").fill("chats in the list")
    expect(tab.page.locator("mark").first).to_be_visible()


def login(tab: Tab) -> None:
    tab.fulfil("**/api/capabilities", {"error": {"message": "A key is needed."}}, 401)
    tab.page.goto(tab.url)
    expect(tab.page.get_by_label("Key")).to_be_visible()
    tab.forgive("401")


def loading(tab: Tab) -> None:
    tab.capabilities(state="loading", detail="The model is loading.", models=[], default_model=None)
    tab.open()
    expect(tab.page.get_by_text("The model is loading.")).to_be_visible()


SCREENS = [
    empty,
    conversation,
    failure,
    running,
    editing,
    deleting,
    waiting,
    list_of_chats,
    searching,
    login,
    loading,
]


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_axe_finds_nothing(visit: Callable[..., Tab], screen: Callable[[Tab], None]) -> None:
    tab = visit(reduced_motion="reduce")
    screen(tab)
    assert tab.complaints_in_both_themes(AXE) == []


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_nothing_is_cut_off_on_a_narrow_screen(
    visit: Callable[..., Tab], screen: Callable[[Tab], None]
) -> None:
    tab = visit(viewport={"width": 320, "height": 640})
    screen(tab)
    for width in (320, 360, 768):
        tab.page.set_viewport_size({"width": width, "height": 640})
        wide = tab.page.evaluate(
            """() => [...document.querySelectorAll('body, main, .scroller, footer, header, form')]
                .filter(box => box.scrollWidth > box.clientWidth).map(box => box.outerHTML.slice(0, 120))"""
        )
        assert wide == [], f"{width} px"
        assert tab.page.evaluate("() => document.documentElement.scrollHeight <= innerHeight"), (
            f"the page itself scrolls at {width} px"
        )


RIGHT_TO_LEFT = r"مرحبا\n\n- واحد\n- اثنان\n\n```py\nx = 1\n```\n\nBack to the left."


def test_text_runs_in_its_own_direction(tab: Tab) -> None:
    tab.told(f"שלום\n/say {RIGHT_TO_LEFT}")
    directions = tab.reply.evaluate(
        """reply => ['p:first-of-type', 'ul', 'pre', '.block:last-child p'].map(
            part => getComputedStyle(reply.querySelector('.prose ' + part)).direction)"""
    )
    assert directions == ["rtl", "rtl", "ltr", "ltr"]
    assert tab.said.last.locator("p").evaluate("said => getComputedStyle(said).direction") == "rtl"
    tab.composer.fill("שלום")
    assert tab.composer.evaluate("area => getComputedStyle(area).direction") == "rtl"


def test_what_a_person_types_is_shown_as_typed(tab: Tab) -> None:
    typed = "**Ada** & <b>Bob</b> `x`\n# no heading\n- one\n\n    deep   in\n1) *y* _z_ \\\\* &amp; $x^2$"
    tab.told(typed)
    assert tab.said.last.locator("p").inner_text() == typed


def test_the_apis_are_described_under_the_strict_policy(visit: Callable[..., Tab]) -> None:
    tab = visit()
    tab.page.goto(tab.url + "docs")
    operation(tab.page, "/v1/chat/completions").locator(".opblock-summary").click()
    expect(tab.page.get_by_text("repetition_penalty").first).to_be_visible(timeout=60_000)
    tab.button("Try it out").click()
    expect(tab.button("Execute")).to_be_visible()


def test_the_description_of_the_apis_needs_the_key_and_comes_after_the_login(
    chromium: Browser, serve: Callable[..., Any]
) -> None:
    address = serve("--engine", "scripted", DUOLOGUE_KEY="a-key-of-some-length").ready().url
    page = chromium.new_page()
    answer = page.goto(f"{address}/docs")
    assert answer is not None
    assert answer.status == 401
    page.get_by_label("Key", exact=True).fill("a-key-of-some-length")
    page.get_by_role("button", name="Log in").click()
    expect(operation(page, "/v1/chat/completions")).to_be_visible()
    page.close()


def test_on_a_phone_enter_breaks_the_line(visit: Callable[..., Tab]) -> None:
    tab = visit(viewport={"width": 360, "height": 640}, is_mobile=True, has_touch=True).open()
    expect(tab.composer).not_to_be_focused()
    tab.composer.press_sequentially("/say one\n/say two")
    expect(tab.composer).to_have_value("/say one\n/say two")
    tab.button("Send").tap()
    tab.ended()
    expect(tab.reply).to_contain_text("onetwo")
