"""Usage and limits on the page: for the user, for admins by key, and edited in the list of keys."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from playwright.sync_api import expect
from tests.support.tabs import Tab

from duologue.store.database import Database
from duologue.store.usage.usage_rows import UsageRows
from duologue.values.usage.usage_counts import UsageCounts, UsageRow, UsageSlot

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
PHONE = {"width": 360, "height": 760}
OWN_KEY = "the-key-of-the-settings"
ADMIN = {"Authorization": f"Bearer {OWN_KEY}"}
PICTURES = os.environ.get("DUOLOGUE_TEST_PICTURES", "")
"""A folder for screenshots, for those who want to look at them."""


def picture(tab: Tab, name: str) -> None:
    if PICTURES:
        tab.page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)


async def _spend(data: Path, keys: dict[str, dict[str, Any]]) -> None:
    today = datetime.now(UTC).date()
    rows = []
    for back in range(40):
        day = (today - timedelta(days=back)).isoformat()
        for name, made in keys.items():
            slot = UsageSlot(day, made["id"], made["user"], name, made["prefix"], "scripted-small", "chat")
            busy = (back * 7 + len(name) * 3) % 11
            if busy > 2:
                counts = UsageCounts(busy * 4, busy // 9, busy * 21_400, busy * 9_100, busy * 3_300)
                rows.append(UsageRow(slot, counts))
    async with Database.opened(None, data, now=lambda: time.time_ns() // 1_000_000) as database:
        await UsageRows(database).add(rows)


@pytest.fixture
def used(serve: Callable[..., Any]) -> tuple[Any, dict[str, dict[str, Any]]]:
    """A server with three users, of whom two have used it for weeks."""
    server = serve("--engine", "scripted", DUOLOGUE_KEY=OWN_KEY, DUOLOGUE_LIMITS__KEY__CONCURRENT="4").ready()
    keys = {
        name: httpx.post(f"{server.url}/api/keys", json={"name": name}, headers=ADMIN).json()
        for name in ("Ada Lovelace", "Max", "Zoe")
    }
    # The thread of the test has the event loop of the browser.
    spending = {name: keys[name] for name in ("Ada Lovelace", "Max")}
    with ThreadPoolExecutor(1) as thread:
        thread.submit(anyio.run, _spend, server.data, spending).result()
    return server, keys


def logged_in(tab: Tab, section: str, key: str = OWN_KEY) -> Tab:
    tab.page.goto(f"{tab.url}#/settings/{section}")
    tab.page.get_by_label("Key").fill(key)
    tab.page.keyboard.press("Enter")
    expect(tab.page.locator("#settings-section")).to_be_attached()
    tab.forgive("401")  # the page asks before it has a key
    return tab


def test_an_admin_sees_every_key_by_day_and_takes_it_to_a_spreadsheet(
    used: Any, visit: Callable[..., Tab]
) -> None:
    server, keys = used
    tab = logged_in(visit(on=server), "usage")
    page = tab.page
    bars = page.get_by_role("figure").get_by_role("listitem")
    expect(bars).to_have_count(30)
    table = page.get_by_role("table")
    expect(table.get_by_role("rowheader")).to_contain_text([re.compile("Ada Lovelace|Max")] * 2)
    expect(table).to_contain_text(f"{keys['Max']['prefix']}…")
    page.get_by_role("radio", name="7 days").check()
    expect(bars).to_have_count(7)
    page.get_by_role("radio", name="By model").check()
    expect(table.get_by_role("rowheader")).to_contain_text(["scripted-small"])
    assert tab.complaints(AXE) == []
    with page.expect_download() as download:
        page.get_by_role("link", name="Download CSV").click()
    assert download.value.suggested_filename.startswith("usage_")
    assert "Ada Lovelace" in download.value.path().read_text()
    picture(tab, "usage-admin")
    page.get_by_role("radio", name="90 days").check()
    page.get_by_role("radio", name="By key").check()
    expect(bars).to_have_count(90)
    page.emulate_media(color_scheme="dark")
    picture(tab, "usage-admin-dark")


def test_a_user_sees_their_own_and_what_is_left(used: Any, visit: Callable[..., Tab]) -> None:
    server, keys = used
    limits = {"requests_per_minute": 20, "tokens_per_day": 2_000_000, "models": ["scripted*"]}
    httpx.patch(f"{server.url}/api/keys/{keys['Max']['id']}", json=limits, headers=ADMIN).raise_for_status()
    tab = logged_in(visit(on=server, viewport=PHONE), "usage", keys["Max"]["key"])
    page = tab.page
    expect(page.get_by_role("heading", name="Your limits")).to_be_visible()
    expect(page.get_by_role("meter", name="Tokens per day")).to_be_visible()
    expect(page.get_by_text("20 of 20 left")).to_be_visible()
    expect(page.get_by_text("Models: scripted*")).to_be_visible()
    expect(page.get_by_role("table").get_by_role("rowheader")).to_have_count(1)
    expect(page.get_by_text("Ada Lovelace")).to_have_count(0)
    assert tab.complaints(AXE) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    picture(tab, "usage-phone")


def test_an_admin_sets_the_limits_of_a_key_and_takes_them_back(used: Any, visit: Callable[..., Tab]) -> None:
    server, keys = used
    tab = logged_in(visit(on=server), "keys")
    page = tab.page
    row = page.get_by_role("article", name="Zoe")
    expect(row).to_contain_text("Not used today")
    expect(row).to_contain_text("4 at a time")
    row.get_by_role("button", name="Limits of").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Requests at a time")).to_have_attribute("placeholder", "Default: 4")
    dialog.get_by_label("Tokens per day").fill("plenty")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_label("Tokens per day")).to_be_focused()
    expect(dialog.get_by_role("alert")).to_have_text("Enter a whole number, or leave it empty.")
    dialog.get_by_label("Tokens per day").fill("1,500,000")
    expect(dialog.get_by_role("alert")).to_have_count(0)
    dialog.get_by_label("Requests at a time").fill("0")
    dialog.get_by_label("Models").fill("scripted*, qwen3:4b")
    assert tab.complaints(AXE) == []
    picture(tab, "limits-dialog")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(row).to_contain_text("1.5 million tokens/day")
    expect(row).not_to_contain_text("at a time")
    listed = httpx.get(f"{server.url}/api/keys", headers=ADMIN).json()["keys"]
    own = next(key["limits"] for key in listed if key["id"] == keys["Zoe"]["id"])
    assert own == {"concurrent": 0, "tokens_per_day": 1_500_000, "models": ["scripted*", "qwen3:4b"]}
    assert tab.complaints(AXE) == []
    picture(tab, "keys")
    row.get_by_role("button", name="Limits of").click()
    for field in ("Requests at a time", "Tokens per day", "Models"):
        dialog.get_by_label(field).fill("")
    dialog.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("4 at a time")
