"""Messages sent while a reply runs, when that is stopped: they wait for the user, and none is lost or sent by itself."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser


def waiting(tab: Tab) -> Locator:
    return tab.page.get_by_role("group", name="Queued message")


def stopped_with_two_waiting(tab: Tab) -> None:
    tab.say("/say one\n/hang")
    expect(tab.reply).to_contain_text("one")
    for text in ("/say two", "/say three"):
        tab.composer.fill(text)
        tab.composer.press("Enter")
    expect(waiting(tab)).to_have_count(2)
    tab.page.keyboard.press("Escape")
    tab.ended()
    expect(waiting(tab)).to_contain_text(["Not sent yet", "Not sent yet"])


def test_what_waits_behind_a_stopped_reply_is_sent_when_the_user_says_so(tab: Tab) -> None:
    stopped_with_two_waiting(tab)
    tab.page.keyboard.press("Escape")
    expect(waiting(tab)).to_have_count(2)
    waiting(tab).first.get_by_role("button", name="Send now").click()
    expect(tab.replies).to_have_count(2)
    expect(tab.reply).to_contain_text("two")
    tab.ended()
    expect(waiting(tab)).to_have_count(1)
    waiting(tab).get_by_role("button", name="Send now").click()
    expect(tab.replies).to_have_count(3)
    expect(tab.reply).to_contain_text("three")
    expect(waiting(tab)).to_have_count(0)


def test_what_waits_is_still_there_after_a_reload_and_after_another_message(tab: Tab) -> None:
    stopped_with_two_waiting(tab)
    tab.page.reload()
    expect(waiting(tab)).to_contain_text(["Not sent yet", "Not sent yet"])
    tab.told("/say four")
    expect(tab.reply).to_contain_text("four")
    expect(waiting(tab)).to_have_count(2)


def test_what_waits_is_edited_or_removed(tab: Tab) -> None:
    stopped_with_two_waiting(tab)
    waiting(tab).last.get_by_role("button", name="Remove").click()
    expect(waiting(tab)).to_have_count(1)
    waiting(tab).get_by_role("button", name="Edit").click()
    expect(waiting(tab)).to_have_count(0)
    expect(tab.composer).to_have_value("/say two")
