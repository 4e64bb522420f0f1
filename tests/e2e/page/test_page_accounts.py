"""Accounts on the page: keys with labels and ends, users renamed and signed out, signed-in browsers, the audit log."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import expect
from tests.e2e.conftest import Server
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
KEY = "the-key-of-the-settings"
ADMIN = {"Authorization": f"Bearer {KEY}"}


@pytest.fixture(scope="module")
def house(lasting: Callable[..., Server]) -> Server:
    """A server with a key in its settings."""
    return lasting("--engine", "scripted", DUOLOGUE_KEY=KEY).ready()


def signed_in(visit: Callable[..., Tab], house: Server, place: str, key: str = KEY) -> Tab:
    tab = visit(on=house)
    tab.page.goto(f"{tab.url}#/{place}")
    tab.page.get_by_label("Key").fill(key)
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_text("Loading…")).to_have_count(0)
    tab.forgive("401")
    return tab


def made(house: Server, name: str, **fields: Any) -> dict[str, Any]:
    answer = httpx.post(f"{house.url}/api/keys", json={"name": name, **fields}, headers=ADMIN)
    answer.raise_for_status()
    key: dict[str, Any] = answer.json()
    return key


def test_a_key_has_a_label_and_an_end_and_is_reset(house: Server, visit: Callable[..., Tab]) -> None:
    tab = signed_in(visit, house, "settings/keys")
    tab.button("Create key").click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label("User name").fill("Mia")
    dialog.get_by_label("Label").fill("laptop")
    dialog.get_by_label("Expires").select_option("90")
    assert tab.complaints(AXE) == []
    dialog.get_by_role("button", name="Create", exact=True).click()
    first = tab.page.get_by_role("textbox", name="Key for Mia").input_value()
    tab.button("Done").click()
    row = tab.page.get_by_role("article", name="Mia")
    expect(row).to_contain_text("laptop")
    expect(row).to_contain_text("expires")
    row.get_by_role("button", name="Reset laptop").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Reset").click()
    second = tab.page.get_by_role("textbox", name="Key for Mia").input_value()
    assert first != second
    for value, status in ((first, 401), (second, 200)):
        headers = {"Authorization": f"Bearer {value}"}
        assert httpx.get(f"{house.url}/api/settings", headers=headers).status_code == status
    tab.button("Done").click()
    expect(row).to_contain_text(second[:10])
    assert tab.complaints(AXE) == []


def test_a_user_is_renamed_signed_out_and_disabled(house: Server, visit: Callable[..., Tab]) -> None:
    key = made(house, "Bob")["key"]
    theirs = signed_in(visit, house, "settings/general", key)
    tab = signed_in(visit, house, "settings/keys")
    row = tab.page.get_by_role("article", name="Bob", exact=True)
    row.get_by_role("button", name="Options for Bob").click()
    tab.page.get_by_role("menuitem", name="Sign out everywhere").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Sign out everywhere").click()
    expect(tab.page.get_by_text("Signed out of 1 browser.")).to_be_visible()
    theirs.page.reload()
    expect(theirs.page.get_by_label("Key")).to_be_visible()
    row.get_by_role("button", name="Options for Bob").click()
    tab.page.get_by_role("menuitem", name="Rename").click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label("New name").fill("local")
    dialog.get_by_role("button", name="Rename").click()
    expect(dialog.get_by_role("alert")).to_contain_text("taken")
    dialog.get_by_label("New name").fill("Robert")
    dialog.get_by_role("button", name="Rename").click()
    row = tab.page.get_by_role("article", name="Robert")
    row.get_by_role("button", name="Disable Robert").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Disable").click()
    expect(row.get_by_role("button", name="Enable Robert")).to_be_visible()
    headers = {"Authorization": f"Bearer {key}"}
    assert httpx.get(f"{house.url}/api/settings", headers=headers).status_code == 401
    tab.forgive("400")
    tab.forgive("401")
    theirs.forgive("401")


def test_signed_in_browsers_are_seen_and_signed_out_of(house: Server, visit: Callable[..., Tab]) -> None:
    # A name of its own: a second try of this test would count the browsers of the first.
    key = made(house, f"Eve {uuid4().hex[:6]}")["key"]
    lost = signed_in(visit, house, "settings/general", key)
    tab = signed_in(visit, house, "settings/logins", key)
    rows = tab.page.get_by_role("list", name="Signed-in browsers").get_by_role("listitem")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text(re.compile(r"Chrome, \w+\s*This browser"))
    expect(rows.first.get_by_role("button")).to_have_count(0)
    expect(rows.last).to_contain_text("from 127.0.0.1")
    expect(tab.page.get_by_role("switch")).to_have_count(0)
    assert tab.complaints(AXE) == []
    rows.last.get_by_role("button", name="Sign out of Chrome").click()
    expect(rows).to_have_count(1)
    lost.page.reload()
    expect(lost.page.get_by_label("Key")).to_be_visible()
    lost.page.get_by_label("Key").fill(key)
    lost.page.keyboard.press("Enter")
    expect(lost.page.get_by_text("Settings").first).to_be_visible()
    tab.page.reload()
    expect(rows).to_have_count(2)
    tab.button("Sign out of all other browsers").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
    expect(rows).to_have_count(1)
    lost.forgive("401")
    tab.forgive("401")


def test_an_admin_sees_where_everyone_is_signed_in(house: Server, visit: Callable[..., Tab]) -> None:
    signed_in(visit, house, "settings/general", made(house, "Kim")["key"])
    tab = signed_in(visit, house, "settings/logins")
    rows = tab.page.get_by_role("list", name="Signed-in browsers").get_by_role("listitem")
    expect(rows.filter(has_text="Kim")).to_have_count(0)
    tab.page.get_by_role("switch", name="Show everyone’s").check()
    expect(rows.filter(has_text="Kim")).to_have_count(1)
    assert tab.complaints(AXE) == []


def test_the_audit_log_says_what_admins_did(house: Server, visit: Callable[..., Tab]) -> None:
    made(house, "Zoe")
    httpx.patch(f"{house.url}/api/keys/users/Zoe", json={"role": "admin"}, headers=ADMIN)
    assert httpx.delete(f"{house.url}/api/models/none", headers=ADMIN).status_code == 404
    tab = signed_in(visit, house, "admin")
    log = tab.page.get_by_role("region", name="Audit log")
    rows = log.get_by_role("listitem")
    expect(rows.nth(0)).to_contain_text(re.compile(r"Deleted a model\s+none\s+Refused"))
    expect(rows.nth(1)).to_contain_text(re.compile(r"Changed a user\s+Zoe"))
    expect(rows.nth(1)).to_contain_text("role: admin")
    expect(rows.nth(2)).to_contain_text(re.compile(r"Created a key\s+Zoe"))
    assert tab.complaints(AXE) == []
    log.get_by_label("Action").select_option("model.")
    expect(rows).to_have_count(1)
    log.get_by_label("User", exact=True).select_option("local")
    expect(rows).to_have_count(1)
    with tab.page.expect_download() as download:
        log.get_by_role("link", name="Download CSV").click()
    assert download.value.suggested_filename == "audit.csv"
    assert "model.delete" in Path(download.value.path()).read_text()


def test_without_keys_nobody_has_to_sign_in(tab: Tab) -> None:
    tab.page.goto(f"{tab.url}#/settings/logins")
    expect(tab.page.get_by_text("nobody needs to sign in")).to_be_visible()
