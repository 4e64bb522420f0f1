"""Deleting messages, which can be undone, and copies of chats, which can be told from their originals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser


def delete_first_message(tab: Tab) -> None:
    tab.more(tab.said.first, "Delete message")
    tab.page.get_by_role("group", name="Delete").get_by_role("button", name="Delete", exact=True).click()
    expect(tab.said).to_have_count(0)


def test_deleting_a_chats_messages_can_be_undone_and_leaves_no_blank_page(tab: Tab) -> None:
    tab.told("/say one")
    tab.told("/say two")
    delete_first_message(tab)
    expect(tab.page.get_by_role("list", name="Examples")).to_be_visible()
    toast = tab.page.get_by_role("status").filter(has_text="Deleted")
    toast.get_by_role("button", name="Undo").click()
    expect(tab.said).to_have_count(2)
    expect(tab.reply).to_contain_text("two")
    expect(toast).to_have_count(0)
    # How full the context of a branch is may be asked just when the branch is deleted; the page then keeps what it shows.
    tab.forgive("status of 404")


def test_a_reload_in_between_loses_nothing(tab: Tab, server: Any) -> None:
    tab.told("/say one")
    conversation = tab.page.url.rsplit("/", 1)[-1]
    # Its answer, not only the request: what is restored below must be deleted by then.
    with tab.page.expect_response(lambda answer: answer.request.method == "DELETE") as deletion:
        delete_first_message(tab)
    tab.page.reload()
    expect(tab.said).to_have_count(0)
    message = deletion.value.url.rsplit("/", 1)[-1]
    restore = f"{server.url}/api/conversations/{conversation}/messages/{message}/restore"
    httpx.post(restore).raise_for_status()
    expect(tab.said).to_have_count(1)
    expect(tab.reply).to_contain_text("one")


def test_a_copy_of_a_chat_has_a_title_of_its_own(tab: Tab) -> None:
    tab.told("/say a chat about rye bread")
    original = tab.page.url
    tab.button("This chat").click()
    tab.page.get_by_role("menuitem", name="Duplicate chat").click()
    expect(tab.page).not_to_have_url(original)
    expect(tab.chats.filter(has_text="rye bread (2)")).to_have_count(1)
    expect(tab.page.get_by_role("heading", level=1)).to_contain_text("rye bread (2)")


def test_what_is_said_about_a_chat_goes_when_the_chat_is_left(tab: Tab) -> None:
    tab.told("/say one")
    tab.button("This chat").click()
    tab.page.get_by_role("menuitem", name="Duplicate chat").click()
    toast = tab.page.get_by_role("status").filter(has_text="Copied to a new chat")
    expect(toast).to_be_visible()
    tab.page.go_back()
    expect(toast).to_have_count(0)


def test_a_toast_covers_neither_the_last_reply_nor_the_composer(visit: Callable[..., Tab]) -> None:
    for size in ({"width": 1280, "height": 800}, {"width": 390, "height": 844}):
        tab = visit(viewport=size).open()
        tab.told("/say " + "many words " * 400)
        tab.told("/say the end")
        original = tab.reply.get_attribute("data-message") or ""
        tab.button("This chat").click()
        tab.page.get_by_role("menuitem", name="Duplicate chat").click()
        toast = tab.page.get_by_role("status").filter(has_text="Copied to a new chat").locator("p")
        expect(toast).to_be_visible()
        expect(tab.reply).not_to_have_attribute("data-message", original)
        actions = tab.reply.locator(".foot")
        expect(actions).to_be_in_viewport()
        box, foot, form = (
            toast.bounding_box(),
            actions.bounding_box(),
            tab.page.locator("#composer").bounding_box(),
        )
        assert box is not None
        assert foot is not None
        assert form is not None
        assert foot["y"] + foot["height"] <= box["y"] + 1
        assert box["y"] + box["height"] <= form["y"] + 1
