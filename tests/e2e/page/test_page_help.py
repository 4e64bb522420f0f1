"""Help: questions about Duologue are answered from its documentation, on a screen, from the palette and by `/help`."""

import re

import pytest
from playwright.sync_api import expect
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser


def test_help_is_asked_in_the_message_field(tab: Tab) -> None:
    tab.composer.fill("/help how do I make a backup?")
    tab.composer.press("Enter")
    expect(tab.page.get_by_role("searchbox", name="Ask about Duologue")).to_have_value(
        "how do I make a backup?"
    )
    expect(tab.page.locator("details[open]")).to_contain_text("duologue backup")
    expect(tab.page.locator("details summary").first).to_have_text(re.compile("^Conversations and backups"))
    tab.page.get_by_role("link", name="Back to the chat").click()
    expect(tab.composer).to_have_value("")


def test_the_palette_asks_the_help_what_was_typed(tab: Tab) -> None:
    tab.page.keyboard.press("Control+k")
    tab.page.get_by_role("combobox").fill("https certificate")
    tab.page.get_by_role("option", name="Search help for").click()
    expect(tab.page.locator("details summary").first).to_have_text(re.compile("^HTTPS"))


def test_the_screen_begins_with_common_questions_and_says_when_nothing_is_found(tab: Tab) -> None:
    tab.page.goto(tab.url + "#/help")
    tab.page.get_by_role("link", name="How do I start a voice call?").click()
    expect(tab.page.locator("details").first).to_contain_text("Voice")
    tab.page.get_by_role("searchbox", name="Ask about Duologue").fill("xyzzy")
    expect(tab.page.get_by_text("No results. Try other words.")).to_be_visible()
