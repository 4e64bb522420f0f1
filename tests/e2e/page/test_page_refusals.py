"""Messages that the server refuses, and files that cannot be used: said once, with what mends it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser


def attach(tab: Tab, path: Path) -> None:
    tab.page.locator("input[type=file]").first.set_input_files(str(path))


def attached(tab: Tab) -> Locator:
    return tab.page.get_by_role("list", name="Attached files").get_by_role("listitem")


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("data.bin", bytes(range(256)) * 8, "cannot be given to a model"),
        ("empty.txt", b"", "empty"),
        ("broken.pdf", b"%PDF-1.7 nothing follows", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_used_says_so_when_it_is_attached(
    tab: Tab, tmp_path: Path, name: str, data: bytes, sentence: str
) -> None:
    (tmp_path / name).write_bytes(data)
    attach(tab, tmp_path / name)
    expect(attached(tab).get_by_role("alert")).to_contain_text(sentence)
    expect(tab.button("Send")).to_be_disabled()
    tab.page.reload()
    expect(attached(tab).get_by_role("alert")).to_contain_text(sentence)
    # A broken PDF has no picture of its first page.
    tab.forgive("404")


def refused(tab: Tab, code: str, sentence: str) -> None:
    """The next message is refused so."""
    body = {"error": {"code": code, "message": sentence}}
    tab.fulfil("**/api/conversations/*/runs", body, 400)


def test_a_refused_message_stands_once_and_goes_without_its_file(tab: Tab, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Tea.")
    attach(tab, tmp_path / "notes.txt")
    expect(attached(tab)).to_contain_text("4")
    refused(tab, "document_unreadable", "notes.txt: it cannot be read.")
    tab.say("/say hello")
    alert = tab.reply.get_by_role("alert")
    expect(alert).to_contain_text("notes.txt: it cannot be read.")
    expect(tab.composer).to_have_value("")
    expect(attached(tab)).to_have_count(0)
    expect(alert.get_by_role("button", name="Try again")).to_have_count(0)
    expect(tab.page.get_by_role("heading", level=1)).to_have_text("New chat")
    tab.page.unroute("**/api/conversations/*/runs")
    alert.get_by_role("button", name="Remove the file").click()
    expect(tab.reply).to_contain_text("hello")
    expect(tab.said).to_have_count(1)
    tab.ended()
    expect(tab.page.get_by_role("heading", level=1)).to_contain_text("/say hello")
    tab.forgive("400")


def test_a_refused_message_goes_back_into_the_composer_to_be_edited(tab: Tab) -> None:
    refused(tab, "invalid_request", "No.")
    tab.say("/say hello")
    tab.reply.get_by_role("alert").get_by_role("button", name="Edit").click()
    expect(tab.composer).to_have_value("/say hello")
    expect(tab.said).to_have_count(0)
    tab.page.unroute("**/api/conversations/*/runs")
    tab.button("Send").click()
    expect(tab.reply).to_contain_text("hello")
    tab.forgive("400")


def test_trying_again_is_offered_where_it_can_help(tab: Tab) -> None:
    refused(tab, "queue_full", "The queue is full.")
    tab.say("/say hello")
    expect(tab.reply.get_by_role("alert")).to_contain_text("The queue is full.")
    tab.page.unroute("**/api/conversations/*/runs")
    tab.reply.get_by_role("button", name="Try again").click()
    expect(tab.reply).to_contain_text("hello")
    expect(tab.said).to_have_count(1)
    tab.forgive("400")


def test_a_refused_message_is_not_lost_by_a_reload(tab: Tab, server: Any) -> None:
    refused(tab, "queue_full", "The queue is full.")
    tab.say("/say hello")
    expect(tab.reply.get_by_role("alert")).to_be_visible()
    tab.page.reload()
    expect(tab.composer).to_have_value("/say hello")
    tab.forgive("400")
