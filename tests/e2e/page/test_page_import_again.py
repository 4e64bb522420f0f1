"""An export taken from the page, everything deleted, and the same file imported again, twice, and while a reply streams."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import FilePayload, expect
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser


@pytest.fixture
def fresh(serve: Callable[..., Any]) -> Any:
    return serve("--engine", "scripted").ready()


def listed(server: Any) -> list[dict[str, Any]]:
    chats: list[dict[str, Any]] = httpx.get(f"{server.url}/api/conversations", timeout=30).json()[
        "conversations"
    ]
    return chats


def state(server: Any) -> dict[str, Any]:
    """The chats with their messages, as the server has them."""
    chats = listed(server)
    messages = {
        row["id"]: httpx.get(f"{server.url}/api/conversations/{row['id']}", timeout=30).json()["messages"]
        for row in chats
    }
    return {"chats": chats, "messages": messages}


def data_section(tab: Tab) -> None:
    tab.page.goto(f"{tab.url}#/settings/data")
    expect(tab.page.get_by_role("link", name="Export all chats")).to_be_visible()


def import_file(tab: Tab, path: Path, report: str) -> None:
    """Import it, and wait for what the page says of it."""
    tab.page.locator("input[type=file]").set_input_files(path)
    expect(tab.page.get_by_role("listitem").filter(has_text=path.name).last).to_contain_text(report)


def test_what_was_exported_and_deleted_is_imported_as_it_was(
    fresh: Any, visit: Callable[..., Tab], tmp_path: Path
) -> None:
    tab = visit(on=fresh).open()
    note = FilePayload(name="note.txt", mimeType="text/plain", buffer=b"Go south.")
    tab.page.locator("input[type=file]").first.set_input_files([note])
    expect(tab.page.get_by_role("list", name="Attached files")).to_contain_text("Go south.")
    tab.told("/say the first answer")
    tab.told("/say the second answer")
    before = state(fresh)
    data_section(tab)
    with tab.page.expect_download() as began:
        tab.page.get_by_role("link", name="Export all chats").click()
    archive = tmp_path / "chats.zip"
    began.value.save_as(archive)
    tab.button("Delete all chats").click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("delete")
    dialog.get_by_role("button", name="Delete all chats").click()
    # While they are deleted, one that is still listed may be gone when it is asked for.
    fresh.until(lambda: listed(fresh) == [], seconds=30)

    import_file(tab, archive, "1 chat imported.")
    assert state(fresh) == before
    import_file(tab, archive, "1 already here.")
    assert state(fresh) == before
    tab.chats.first.click()
    expect(tab.reply).to_contain_text("the second answer")
    expect(tab.said.first).to_contain_text("note.txt")


@pytest.mark.long
def test_an_import_while_a_reply_streams_leaves_it_alone(
    fresh: Any, visit: Callable[..., Tab], tmp_path: Path
) -> None:
    tab = visit(on=fresh).open()
    tab.told("/say to be taken along")
    archive = tmp_path / "chats.zip"
    archive.write_bytes(httpx.get(f"{fresh.url}/api/export", timeout=30).content)
    tab.page.get_by_role("link", name="New chat").first.click()
    tab.say("/say begun\n/hang")
    expect(tab.reply).to_contain_text("begun")
    address = tab.page.url
    data_section(tab)
    import_file(tab, archive, "1 already here.")
    tab.page.goto(address)
    expect(tab.reply).to_contain_text("begun")
    expect(tab.reply).to_have_attribute("aria-busy", "true")
    tab.button("Stop").click()
    tab.ended()
    expect(tab.reply).to_contain_text("begun")
