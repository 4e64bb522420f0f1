"""The thread and its header in a real Chromium: instructions, room in the context, copies, versions, and what is read out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect
from tests.support.tabs import RICH, Tab

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
CLIPBOARD = ["clipboard-read", "clipboard-write"]


def calls(count: int) -> str:
    """A reply that calls this many tools at once."""
    written = [
        json.dumps({"name": "calculator", "arguments": {"expression": f"{n} * 7"}}) for n in range(count)
    ]
    return "/say Let me see. " + "".join(f"<tool_call>{call}</tool_call>" for call in written)


def menu(tab: Tab, name: str) -> None:
    """Choose something from the chat's menu."""
    tab.button("This chat").click()
    tab.page.get_by_role("menuitem", name=name).click()


def likes(tab: Tab, **page: Any) -> None:
    """Whoever looks at this tab has these preferences."""
    tab.fulfil("**/api/settings", {"page": page})


# The header


def test_the_header_names_the_chat_and_a_new_one_has_no_name_yet(tab: Tab) -> None:
    title = tab.page.get_by_role("heading", level=1)
    expect(title).to_have_text("Duologue")
    tab.told("/say a long talk about teapots")
    expect(title).to_contain_text("a long talk about teapots")
    menu(tab, "Rename")
    field = tab.page.get_by_label("Title", exact=True)
    field.fill("Teapots")
    field.press("Enter")
    expect(title).to_have_text("Teapots")
    tab.page.keyboard.press("Control+Shift+O")
    expect(title).to_have_text("Duologue")


def test_the_gauge_tells_how_full_the_context_is_and_what_fills_it(tab: Tab) -> None:
    expect(tab.button(re.compile("^Context"))).to_have_count(0)
    tab.told("/say one")
    gauge = tab.button(re.compile("^Context: 0% full"))
    gauge.click()
    panel = tab.page.get_by_role("dialog", name=re.compile("^Context"))
    expect(panel).to_contain_text("of 1,000,000 tokens used")
    expect(panel).to_contain_text("Your messages")
    expect(panel.get_by_role("button", name="Summarize older messages")).to_be_disabled()
    tab.page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(gauge).to_be_focused()


def test_a_context_that_is_nearly_full_says_so_in_words(visit: Callable[..., Tab]) -> None:
    tab = visit()
    full = {"tokens": 3600, "context": 4096, "estimated": True, "reply_room": 496, "parts": []}
    tab.fulfil("**/api/conversations/*/context*", full)
    tab.open().told("/say one")
    tab.button(re.compile("88% full, almost out of space")).click()
    panel = tab.page.get_by_role("dialog", name=re.compile("^Context"))
    expect(panel).to_contain_text("~3,600 of 4,096 tokens")
    expect(panel).to_contain_text("almost too long for the model")


def test_the_oldest_messages_are_summed_up_and_that_is_undone(tab: Tab) -> None:
    for text in ("one", "two", "three"):
        tab.told(f"/say {text}")
    tab.button(re.compile("^Context")).click()
    tab.button("Summarize older messages").click()
    expect(tab.page.get_by_text("Older messages summarized.")).to_be_visible()
    summary = tab.page.get_by_role("region", name="Summary")
    expect(summary).to_contain_text("Earlier messages were summarized")
    expect(tab.replies).to_have_count(3)
    summary.get_by_role("button", name="Undo").click()
    expect(summary).to_have_count(0)
    expect(tab.replies).to_have_count(3)


# Instructions


def test_instructions_are_added_changed_removed_and_brought_back(tab: Tab) -> None:
    tab.told("/say one")
    menu(tab, "Custom instructions")
    dialog = tab.page.get_by_role("dialog", name="Custom instructions")
    expect(dialog.get_by_role("textbox")).to_be_focused()
    dialog.get_by_role("textbox").fill("Be brief.")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    place = tab.page.get_by_role("region", name="Instructions")
    place.get_by_role("button", name="Custom instructions").click()
    expect(place).to_contain_text("Be brief.")
    place.get_by_role("button", name="Edit").click()
    place.get_by_role("textbox").fill("Be long.")
    place.get_by_role("button", name="Save").click()
    expect(place).to_contain_text("Be long.")
    tab.page.reload()
    place.get_by_role("button", name="Custom instructions").click()
    expect(place).to_contain_text("Be long.")
    place.get_by_role("button", name="Remove").click()
    expect(place).to_have_count(0)
    tab.button("Undo").click()
    expect(place).to_have_count(1)
    expect(tab.said).to_have_count(1)


def test_a_new_chat_begins_with_the_instructions_written_for_it(tab: Tab) -> None:
    asked = tab.asked("POST", "/conversations")
    menu(tab, "Custom instructions")
    tab.page.get_by_role("dialog").get_by_role("textbox").fill("Answer in verse.")
    tab.button("Save").click()
    expect(tab.page.get_by_role("region", name="Instructions")).to_be_visible()
    tab.told("/say one")
    assert asked[0]["system"] == "Answer in verse."
    expect(tab.page.get_by_role("region", name="Instructions")).to_be_visible()


# What is done with messages


def test_another_model_is_asked_for_another_reply(visit: Callable[..., Tab]) -> None:
    tab = visit()
    plain = {
        "engine": "x",
        "context": 1000,
        "parameters": 0,
        "description": "",
        "bundled": False,
        "verbs": [],
    }
    names = ("scripted", "the-other")
    tab.capabilities(models=[plain | {"name": name} for name in names], default_model="scripted")
    tab.open().told("/say one")
    asked = tab.asked("POST", "/runs")
    tab.more(tab.reply, "Regenerate with another model")
    expect(tab.page.get_by_role("menuitem", name="the-other")).to_be_focused()
    tab.page.keyboard.press("Escape")
    expect(tab.page.get_by_role("menuitem", name="Regenerate with another model")).to_be_focused()
    tab.page.keyboard.press("ArrowRight")
    tab.page.get_by_role("menuitem", name="the-other").click()
    tab.ended()
    assert asked[0]["verb"] == "regenerate"
    assert asked[0]["options"]["model"] == "the-other"
    tab.forgive("404")


def test_a_chat_goes_on_elsewhere_from_any_message(tab: Tab) -> None:
    tab.told("/say one")
    tab.told("/say two")
    first = tab.page.url
    tab.more(tab.replies.first, "New chat from here")
    expect(tab.page.get_by_text("Copied to a new chat.")).to_be_visible()
    expect(tab.replies).to_have_count(1)
    assert tab.page.url != first
    # Two chats of one name could not be told apart.
    expect(tab.chats.filter(has_text="(2)")).to_have_count(1)
    tab.told("/say three")
    tab.page.goto(first)
    expect(tab.replies).to_have_count(2)
    expect(tab.reply).to_contain_text("two")
    tab.more(tab.said.last, "New chat from here")
    expect(tab.replies).to_have_count(1)
    tab.button("Get a reply").click()
    expect(tab.replies).to_have_count(2)
    expect(tab.reply).to_contain_text("two")


def test_a_reply_is_copied_with_its_formatting_or_as_its_words(visit: Callable[..., Tab]) -> None:
    tab = visit(permissions=CLIPBOARD).open()
    tab.told("/say **Look** at\\n\\n```\\ncode\\n```\\n\\n- this")
    tab.more(tab.reply, "Copy with formatting")
    expect(tab.page.get_by_text("Copied.")).to_be_visible()
    html = tab.page.evaluate(
        "async () => (await (await navigator.clipboard.read())[0].getType('text/html')).text()"
    )
    assert "<strong>Look</strong>" in html
    assert "code" in html
    assert "<button" not in html
    tab.more(tab.reply, "Copy as plain text")
    tab.page.wait_for_function(
        "() => navigator.clipboard.readText().then(text => text.startsWith('Look at'))"
    )
    words = tab.page.evaluate("navigator.clipboard.readText()")
    assert "Copy" not in words
    assert "*" not in words


def test_a_link_to_a_message_leads_there(visit: Callable[..., Tab]) -> None:
    tab = visit(permissions=CLIPBOARD).open()
    tab.told("/say the first of many")
    tab.told("/repeat 60 line\\n\\n")
    tab.more(tab.said.first, "Copy link to here")
    expect(tab.page.get_by_text("Copied.")).to_be_visible()
    address = tab.page.evaluate("navigator.clipboard.readText()")
    tab.page.goto("about:blank")
    tab.page.goto(address)
    expect(tab.page.locator("article.sought")).to_be_in_viewport()
    expect(tab.page.locator("article.sought")).to_contain_text("the first of many")


def test_what_failed_is_copied_for_whoever_can_help(visit: Callable[..., Tab]) -> None:
    tab = visit(permissions=CLIPBOARD).open()
    tab.told("/say half\n/fail The tea is out.")
    tab.reply.get_by_role("button", name="Copy details").click()
    expect(tab.page.get_by_text("Copied.")).to_be_visible()
    details = json.loads(tab.page.evaluate("navigator.clipboard.readText()"))
    assert details["error"]["message"] == "The tea is out."
    assert details["model"] == "scripted"
    assert details["run"]


def test_the_other_version_comes_under_the_same_button(tab: Tab) -> None:
    tab.told("/repeat 30 line\\n\\n")
    tab.button("Regenerate").click()
    tab.ended()
    versions = tab.reply.get_by_role("group", name="Versions")
    earlier = versions.get_by_role("button", name="Earlier version")
    before = earlier.bounding_box()
    earlier.click()
    expect(versions).to_contain_text("1 / 2")
    after = versions.get_by_role("button", name="Earlier version").bounding_box()
    assert before is not None
    assert after is not None
    assert abs(before["y"] - after["y"]) < 2
    later = versions.get_by_role("button", name="Later version")
    expect(later).to_be_focused()
    tab.page.keyboard.press("Enter")
    expect(versions).to_contain_text("2 / 2")
    expect(earlier).to_be_focused()


def test_after_deleting_the_focus_is_on_what_stood_before(tab: Tab) -> None:
    tab.told("/say one")
    tab.told("/say two")
    tab.more(tab.said.last, "Delete message")
    tab.button("Delete").click()
    expect(tab.said).to_have_count(1)
    expect(tab.reply).to_be_focused()


# What a reply shows of itself


def test_a_reply_in_one_piece_shows_how_far_it_is_and_then_all_of_itself(visit: Callable[..., Tab]) -> None:
    tab = visit()
    likes(tab, streaming=False)
    tab.open().say("/say Four words are here.\n/wait 5000\n/say  That is **all**.")
    expect(tab.reply).to_contain_text("Writing, 4 words")
    expect(tab.reply).not_to_contain_text("Four words")
    tab.ended()
    expect(tab.reply.locator("strong")).to_have_text("all")
    expect(tab.reply).not_to_contain_text("Writing")


def test_many_calls_are_one_line_that_opens(tab: Tab) -> None:
    tab.told(calls(4))
    line = tab.reply.get_by_role("button", name=re.compile("^4 tools")).first
    expect(line).to_have_attribute("aria-expanded", "false")
    expect(tab.reply.get_by_role("button", name="calculator")).to_have_count(0)
    line.click()
    expect(tab.reply.get_by_role("button", name="calculator")).to_have_count(4)
    tab.reply.get_by_role("button", name="calculator").nth(2).click()
    expect(tab.reply.locator("pre").last).to_contain_text("14")


def test_a_thought_is_open_for_whoever_likes_it_so(visit: Callable[..., Tab]) -> None:
    tab = visit()
    tab.fulfil("**/api/settings", {"page": {"thinking_open": True}, "options": {"thinking": True}})
    tab.open().told("/say <think>two and **two**</think>Four.")
    thought = tab.reply.get_by_role("button", name="Thought")
    expect(thought).to_have_attribute("aria-expanded", "true")
    expect(tab.reply.locator(".thoughts strong")).to_have_text("two")
    thought.click()
    expect(tab.reply.get_by_text("two and two")).to_be_hidden()


def test_figures_are_in_the_menu_of_a_reply_and_under_each_for_whoever_likes_them(tab: Tab) -> None:
    tab.told("/say one two three")
    expect(tab.reply).not_to_contain_text("tokens")
    tab.more(tab.reply, "Details")
    expect(tab.reply).to_contain_text(re.compile(r"3 tokens · .*by scripted · [\d,]+ tokens read"))
    tab.more(tab.reply, "Details")
    expect(tab.reply).not_to_contain_text("tokens")
    likes(tab, show_figures=True)
    tab.page.reload()
    tab.reply.get_by_role("button", name=re.compile("3 tokens")).click()
    expect(tab.reply).to_contain_text(re.compile(r"by scripted · [\d,]+ tokens read"))


def test_one_s_own_words_are_beside_the_replies_and_no_louder(tab: Tab) -> None:
    tab.told("/say Short.")
    tab.told("/say " + "A longer one, of several lines. " * 8)
    tab.told("مرحبا، كيف الحال؟")
    column = tab.reply.bounding_box()
    assert column is not None
    for number in range(3):
        bubble = tab.said.nth(number).locator("p")
        box = bubble.bounding_box()
        assert box is not None
        assert box["x"] - column["x"] > column["width"] * 0.1
        assert abs(box["x"] + box["width"] - column["x"] - column["width"]) < 1
        assert bubble.evaluate("text => getComputedStyle(text).fontWeight") == "400"


def test_a_turn_has_three_actions_and_a_menu_that_keys_open(tab: Tab) -> None:
    tab.told("/say one")
    for turn in (tab.said, tab.reply):
        expect(turn.get_by_role("button")).to_have_count(3)
    height = tab.said.evaluate("turn => turn.offsetHeight")
    tab.said.hover()
    assert tab.said.evaluate("turn => turn.offsetHeight") == height
    tab.reply.get_by_role("button", name="More", exact=True).focus()
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("menuitem").first).to_be_focused()
    tab.page.keyboard.press("End")
    expect(tab.page.get_by_role("menuitem", name="Delete reply")).to_be_focused()
    tab.page.keyboard.press("Escape")
    expect(tab.reply.get_by_role("button", name="More", exact=True)).to_be_focused()


# Reading


def test_the_end_of_a_reply_leaves_the_reader_where_they_are_and_says_there_is_more(tab: Tab) -> None:
    tab.told("/repeat 40 line\\n\\n")
    tab.say("/pace 50\n/repeat 120 line\\n\\n")
    expect(tab.button("Stop")).to_be_visible()
    scroller = tab.page.locator(".scroller")
    scroller.hover()
    tab.page.mouse.wheel(0, -600)
    expect(tab.button("Latest")).to_be_visible()
    place = scroller.evaluate("box => box.scrollTop")
    tab.ended()
    expect(tab.button("Latest")).to_have_attribute("title", "New activity")
    assert scroller.evaluate("box => box.scrollTop") == place
    tab.button("Latest").click()
    expect(tab.button("Latest")).to_have_count(0)


def test_whole_sentences_are_read_out_to_whoever_wants_them(visit: Callable[..., Tab]) -> None:
    tab = visit()
    likes(tab, announce="sentences")
    tab.open().say("/say The first sentence. And half of\n/hang")
    region = tab.page.locator("[aria-live=polite]:not([role=log])").last
    expect(region).to_have_text("The first sentence.")
    tab.button("Stop").click()
    expect(region).to_have_text("Stopped.")


# Every language, every eye


def gauge(tab: Tab) -> None:
    tab.open().told(f"/say {RICH}")
    tab.button(re.compile("^(Context|Kontext)")).click()
    expect(tab.page.get_by_role("dialog")).to_be_visible()


def chat_menu(tab: Tab) -> None:
    tab.open().told("/say one")
    tab.button(re.compile("^(This chat|Dieser Chat)$")).click()
    expect(tab.page.get_by_role("menuitem").first).to_be_focused()


def instructions(tab: Tab) -> None:
    tab.open()
    tab.button(re.compile("^(This chat|Dieser Chat)$")).click()
    tab.page.get_by_role("menuitem", name=re.compile("[Ii]nstructions|Anweisungen")).click()
    expect(tab.page.get_by_role("dialog").get_by_role("textbox")).to_be_focused()


def tools(tab: Tab) -> None:
    tab.open().told(calls(3))
    tab.reply.get_by_role("button", name=re.compile("^3 ")).first.click()
    tab.reply.get_by_role("button", name="calculator").first.click()
    expect(tab.reply.locator("pre").first).to_be_visible()


def summed_up(tab: Tab) -> None:
    tab.open()
    for text in ("one", "two"):
        tab.told(f"/say {text}")
    tab.button(re.compile("^(Context|Kontext)")).click()
    tab.page.get_by_role("dialog").get_by_role("button").click()
    expect(tab.page.get_by_role("region", name=re.compile("Summary|Zusammenfassung"))).to_be_visible()


SCREENS = [gauge, chat_menu, instructions, tools, summed_up]


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_axe_finds_nothing(visit: Callable[..., Tab], screen: Callable[[Tab], None]) -> None:
    tab = visit(reduced_motion="reduce")
    screen(tab)
    assert tab.complaints_in_both_themes(AXE) == []


class German(Tab):
    """A tab of somebody whose browser speaks German; the composer is another part's."""

    @property
    def composer(self) -> Locator:
        return self.page.locator("#composer textarea")

    def say(self, text: str) -> None:
        self.composer.fill(text)
        self.composer.press("Enter")


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_nothing_is_cut_off_in_longer_words_on_a_narrow_screen(
    visit: Callable[..., Tab], screen: Callable[[Tab], None]
) -> None:
    plain = visit(viewport={"width": 320, "height": 640}, locale="de-DE")
    tab = German(plain.context, plain.url)
    screen(tab)
    assert tab.page.evaluate("() => document.documentElement.lang") == "de"
    wide = tab.page.evaluate(
        """() => [...document.querySelectorAll('body, main, .scroller, footer, header, dialog, [popover]')]
            .filter(box => box.scrollWidth > box.clientWidth && box.clientWidth > 0).map(box => box.outerHTML.slice(0, 120))"""
    )
    assert wide == []
    assert tab.errors == []
