"""The models page against a real server: one row for each model, where it is loaded, used and downloaded."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect
from tests.support.tabs import Tab
from tests.support.tiny_model import write_tiny_model

pytestmark = pytest.mark.browser


def row(tab: Tab, name: str) -> Locator:
    """The one row of a model."""
    return tab.page.get_by_role("listitem").filter(
        has=tab.page.get_by_role("heading", name=re.compile(f"^{name}"))
    )


def test_a_model_is_loaded_answers_and_is_unloaded_in_its_row(visit: Callable[..., Tab], server: Any) -> None:
    folder = Path(server.data) / "models"
    folder.mkdir(parents=True, exist_ok=True)
    write_tiny_model(folder / "tiny.gguf")
    tab = visit().open()
    tab.page.goto(tab.url + "#/models")
    tab.button("Load tiny").click()
    expect(row(tab, "tiny")).to_have_count(1)
    expect(row(tab, "tiny")).to_contain_text("Loaded", timeout=60_000)
    tab.page.get_by_role("link", name="Back to the chat").click()
    tab.button(re.compile("^Model")).click()
    tab.page.get_by_role("menuitemradio", name=re.compile("^tiny")).click()
    expect(tab.button(re.compile("^Model"))).to_contain_text("tiny")
    tab.page.goto(tab.url + "#/models")
    tab.button("Unload tiny").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Unload").click()
    expect(tab.button("Load tiny")).to_be_visible()


def test_a_model_has_one_name_in_the_menu_the_chat_and_the_settings(visit: Callable[..., Tab]) -> None:
    tab = visit()
    plain = {
        "engine": "x",
        "context": 1000,
        "parameters": 0,
        "description": "",
        "bundled": False,
        "verbs": [],
    }
    named = [
        plain | {"name": "scripted", "title": "Scripted 4B"},
        plain | {"name": "box/other-file", "title": "Other 8B"},
        plain | {"name": "other-file", "title": "Other 8B"},
    ]
    tab.capabilities(models=named, default_model="scripted")
    tab.open().told("/say one")
    expect(tab.replies.get_by_role("heading")).to_have_text(["Scripted 4B said"])
    expect(tab.button(re.compile("^Model"))).to_contain_text("Scripted 4B")
    tab.button(re.compile("^Model")).click()
    items = tab.page.get_by_role("menuitemradio")
    expect(items).to_contain_text(["Scripted 4B", "Other 8B (box/other-file)", "Other 8B (other-file)"])
    tab.page.keyboard.press("Escape")
    tab.page.goto(tab.url + "#/settings/replies")
    expect(tab.page.get_by_role("option", name="Scripted 4B", exact=True)).to_have_count(1)
    expect(tab.page.get_by_role("option", name="Other 8B (other-file)")).to_have_count(1)
    tab.forgive("404")


def test_on_a_phone_a_screen_has_one_header(visit: Callable[..., Tab]) -> None:
    tab = visit(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True).open()
    expect(tab.page.get_by_role("banner")).to_be_visible()
    tab.page.goto(tab.url + "#/models")
    expect(tab.page.get_by_role("heading", name="Models", exact=True)).to_be_in_viewport()
    expect(tab.page.get_by_role("banner")).to_have_count(0)
    top = tab.page.get_by_role("heading", name="Models", exact=True).bounding_box()
    assert top is not None
    assert top["y"] < 60
    tab.page.get_by_role("link", name="Back to the chat").tap()
    expect(tab.page.get_by_role("banner")).to_be_visible()


def test_models_are_grouped_by_how_they_run_and_can_be_filtered(tab: Tab) -> None:
    tab.page.goto(tab.url + "#/models")
    well = tab.page.get_by_role("region", name="Runs well here")
    expect(well.get_by_role("heading", name=re.compile("^scripted"))).to_be_visible()
    expect(tab.page.get_by_role("region", name="Does not fit right now")).to_be_visible()
    expect(tab.page.get_by_text("`")).to_have_count(0)
    tab.page.get_by_role("searchbox", name="Filter models").fill("gemma 31b")
    expect(tab.page.get_by_role("listitem").filter(has_text="Gemma 4 31B")).to_have_count(1)
    expect(tab.page.get_by_role("heading", name="Qwen3 4B")).to_have_count(0)
    tab.page.get_by_role("searchbox", name="Filter models").fill("no such model")
    expect(tab.page.get_by_text("No model matches.")).to_be_visible()


def test_a_refused_download_says_so_in_the_row_that_was_clicked(visit: Callable[..., Tab]) -> None:
    tab = visit().open()
    refusal = {"error": {"code": "too_many_downloads", "message": "8 downloads are already waiting."}}
    tab.page.route("**/api/models/downloads", lambda route: route.fulfill(status=429, json=refusal))
    tab.page.goto(tab.url + "#/models")
    tab.button("Download and use Gemma 4 31B").click()
    expect(row(tab, "Gemma 4 31B").get_by_role("alert")).to_have_text("8 downloads are already waiting.")
    tab.forgive("429")


def test_a_file_that_is_none_says_so_and_can_be_deleted(visit: Callable[..., Tab], server: Any) -> None:
    broken = Path(server.data) / "models" / "broken.gguf"
    broken.parent.mkdir(parents=True, exist_ok=True)
    broken.write_bytes(b"GGUF" + bytes(8))
    tab = visit().open()
    tab.page.goto(tab.url + "#/models")
    line = row(tab, "broken")
    expect(line.get_by_role("alert")).to_be_visible()
    line.get_by_role("button", name="Options for broken").click()
    tab.page.get_by_role("menuitem", name="Delete file").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Delete file").click()
    expect(line).to_have_count(0)
    assert not broken.exists()


def test_a_download_that_cannot_begin_says_why(tab: Tab) -> None:
    tab.page.goto(tab.url + "#/models")
    tab.page.get_by_label("Model", exact=True).fill("../../etc/passwd")
    form = tab.page.locator("form").filter(has=tab.page.get_by_label("Model", exact=True))
    form.get_by_role("button", name="Download").click()
    expect(form.get_by_role("alert")).to_be_visible()
    tab.forgive("400|404|422")
