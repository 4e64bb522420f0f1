"""The models page against a real server: loading, unloading, and a refusal that says why."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.support.tabs import Tab
from tests.support.tiny_model import write_tiny_model

pytestmark = pytest.mark.browser


def test_a_model_is_loaded_answers_and_is_unloaded(visit: Callable[..., Tab], server: Any) -> None:
    folder = Path(server.data) / "models"
    folder.mkdir(parents=True, exist_ok=True)
    write_tiny_model(folder / "tiny.gguf")
    tab = visit().open()
    tab.page.goto(tab.url + "#/models")
    local = tab.page.get_by_role("region", name="On this machine")
    loaded = tab.page.get_by_role("region", name="Loaded")
    expect(loaded.get_by_role("listitem")).to_have_count(1)
    tab.button("Load tiny").click()
    expect(loaded.get_by_role("listitem").filter(has_text="tiny")).to_contain_text("Ready")
    expect(local.get_by_role("listitem").filter(has_text="tiny")).to_contain_text("Loaded")
    tab.page.get_by_role("link", name="Back to the chat").click()
    tab.button(re.compile("^Model")).click()
    tab.page.get_by_role("menuitemradio", name=re.compile("^tiny")).click()
    expect(tab.button(re.compile("^Model"))).to_contain_text("tiny")
    tab.page.goto(tab.url + "#/models")
    tab.button("Unload tiny").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Unload").click()
    expect(loaded.get_by_role("listitem")).to_have_count(1)


def test_a_file_that_is_none_says_so_and_can_be_deleted(visit: Callable[..., Tab], server: Any) -> None:
    broken = Path(server.data) / "models" / "broken.gguf"
    broken.parent.mkdir(parents=True, exist_ok=True)
    broken.write_bytes(b"GGUF" + bytes(8))
    tab = visit().open()
    tab.page.goto(tab.url + "#/models")
    line = (
        tab.page.get_by_role("region", name="On this machine")
        .get_by_role("listitem")
        .filter(has_text="broken")
    )
    expect(line.get_by_role("alert")).to_be_visible()
    line.get_by_role("button", name="More about broken").click()
    tab.page.get_by_role("menuitem", name="Delete the file").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Delete the file").click()
    expect(line).to_have_count(0)
    assert not broken.exists()


def test_a_download_that_cannot_begin_says_why(tab: Tab) -> None:
    tab.page.goto(tab.url + "#/models")
    tab.page.get_by_label("Model", exact=True).fill("../../etc/passwd")
    form = tab.page.locator("form").filter(has=tab.page.get_by_label("Model", exact=True))
    form.get_by_role("button", name="Download").click()
    expect(form.get_by_role("alert")).to_be_visible()
    tab.forgive("400|404|422")
