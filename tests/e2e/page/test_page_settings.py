"""The settings: what is chosen is kept at once, said where it is wrong, and holds on every device."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.conftest import Server
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
NOTES = Path(__file__).parent / "notes_server.py"
SECTIONS = ["general", "appearance", "tools", "data", "keys", "logins", "about"]
PHONE = {"width": 360, "height": 760}


def at(tab: Tab, section: str) -> Tab:
    """The tab, on a section of the settings."""
    tab.page.goto(f"{tab.url}#/settings/{section}".rstrip("/"))
    expect(tab.page.locator("#settings-section")).to_be_attached()
    expect(tab.page.get_by_text("Loading…")).to_have_count(0)
    expect(tab.page.locator(".settings [aria-busy=true]")).to_have_count(0)
    return tab


def saved(tab: Tab) -> None:
    expect(tab.page.get_by_role("status").filter(has_text="Saved")).to_be_visible()


def kept(server: Any) -> dict[str, Any]:
    """What the server has of this person's settings."""
    settings: dict[str, Any] = httpx.get(f"{server.url}/api/settings").json()
    return settings


@pytest.fixture(scope="module")
def changed(lasting: Callable[..., Server]) -> Server:
    """A server whose settings and chats are changed."""
    return lasting("--engine", "scripted").ready()


@pytest.fixture
def fresh(changed: Server) -> Server:
    """The same server, on which nothing is changed any more."""
    changed.forget()
    return changed


# Where one is


def test_every_section_has_an_address_and_the_way_back_leads_through_them(tab: Tab) -> None:
    at(tab, "")
    heading = tab.page.get_by_role("heading", level=3)
    expect(heading).to_have_text("General")
    tab.page.get_by_role("link", name="Tools", exact=True).click()
    expect(heading).to_have_text("Tools")
    expect(tab.page.get_by_role("link", name="Tools", exact=True)).to_have_attribute("aria-current", "page")
    tab.page.go_back()
    expect(heading).to_have_text("General")
    tab.page.go_forward()
    expect(heading).to_have_text("Tools")
    tab.page.reload()
    expect(heading).to_have_text("Tools")
    tab.page.get_by_role("link", name="Back to the chat").click()
    expect(tab.composer).to_be_visible()


def test_a_phone_chooses_the_section_from_a_list(visit: Callable[..., Tab]) -> None:
    tab = at(visit(viewport=PHONE).open(), "")
    tab.page.get_by_label("Section").select_option(label="Data")
    expect(tab.page).to_have_url(re.compile("#/settings/data$"))
    expect(tab.page.get_by_role("link", name="Export all chats")).to_be_visible()


def test_every_section_is_for_everybody(visit: Callable[..., Tab]) -> None:
    tab = visit(reduced_motion="reduce").open()
    for section in SECTIONS:
        tab.page.set_viewport_size({"width": 1280, "height": 800})
        at(tab, section)
        link = tab.page.locator(f".settings nav a[aria-current=page][href$='/{section}']")
        expect(link, section).to_be_visible()
        assert tab.complaints(AXE) == [], section
        tab.page.set_viewport_size({"width": 320, "height": 700})
        expect(link, section).to_be_hidden()
        assert tab.page.evaluate("() => document.querySelector('.screen').scrollWidth <= innerWidth"), section
        assert tab.complaints_in_both_themes(AXE) == [], section


# General


def test_the_settings_open_on_what_people_change_with_the_rest_folded(
    fresh: Any, visit: Callable[..., Tab]
) -> None:
    tab = at(visit(on=fresh).open(), "")
    for group in ("New chats", "Display"):
        expect(tab.page.get_by_role("region", name=group)).to_be_visible()
    for name in ("System prompt", "Language"):
        expect(tab.page.get_by_label(name)).to_be_visible()
    expect(tab.page.get_by_role("switch", name="Press Enter to send")).to_be_visible()
    advanced = tab.button("Advanced")
    expect(advanced).to_have_attribute("aria-expanded", "false")
    expect(tab.page.get_by_role("textbox", name="Stop words")).to_have_count(0)
    advanced.click()
    tab.page.get_by_role("textbox", name="Stop words").fill("END")
    advanced.click()
    expect(tab.page.get_by_role("textbox", name="Stop words")).to_have_count(0)
    expect(tab.page.get_by_text("1 changed")).to_be_visible()
    saved(tab)
    tab.page.get_by_role("link", name="Voice settings").click()
    expect(tab.page.get_by_role("heading", level=3)).to_have_text("Voice")


def test_a_parameter_is_kept_at_once_used_and_taken_back(fresh: Any, visit: Callable[..., Tab]) -> None:
    tab = at(visit(on=fresh).open(), "advanced")
    field = tab.page.get_by_role("textbox", name="Maximum reply length")
    expect(field).to_have_attribute("placeholder", "No limit")
    field.fill("3")
    saved(tab)
    assert kept(fresh)["options"] == {"sampling": {"max_tokens": 3}}
    expect(tab.page.get_by_text("changed", exact=True)).to_be_visible()
    tab.page.get_by_role("link", name="Back to the chat").click()
    tab.told("/say one two three four five six seven eight nine")
    expect(tab.reply).not_to_contain_text("nine")
    at(tab, "advanced")
    tab.button("Reset Maximum reply length").click()
    expect(field).to_have_value("")
    expect(field).to_be_focused()
    saved(tab)
    assert kept(fresh)["options"]["sampling"] == {}


def test_what_is_out_of_range_is_said_at_its_field_and_not_kept(
    fresh: Any, visit: Callable[..., Tab]
) -> None:
    tab = at(visit(on=fresh).open(), "advanced")
    field = tab.page.get_by_role("textbox", name="Maximum reply length")
    field.fill("5")
    saved(tab)
    field.blur()
    field.select_text()
    # Its beginning would do, and is not kept.
    field.press_sequentially("3000000")
    expect(field).to_have_attribute("aria-invalid", "false")
    field.press("Tab")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(tab.page.get_by_role("alert")).to_have_text("Enter a value from 1 to 1,000,000.")
    saved(tab)
    assert kept(fresh)["options"] == {"sampling": {"max_tokens": 5}}
    field.fill("20")
    expect(tab.page.get_by_role("alert")).to_have_count(0)
    saved(tab)


def test_the_server_s_own_refusal_stands_at_the_field_too(fresh: Any, visit: Callable[..., Tab]) -> None:
    tab = at(visit(on=fresh).open(), "advanced")
    sentence = "options.max_turns must be at most 10."
    error = {"error": {"code": "bad_request", "message": sentence, "param": "options.max_turns"}}
    tab.page.route(
        "**/api/settings",
        lambda route: (
            route.fulfill(status=400, content_type="application/json", body=json.dumps(error))
            if route.request.method == "PATCH" and "max_turns" in (route.request.post_data or "")
            else route.continue_()
        ),
    )
    field = tab.page.get_by_role("textbox", name="Tool steps per reply")
    field.fill("20")
    expect(tab.page.get_by_role("alert").filter(has_text=sentence)).to_be_visible()
    expect(field).to_have_attribute("aria-invalid", "true")
    tab.forgive("400")


def test_parameters_the_model_does_not_apply_are_folded_away(tab: Tab) -> None:
    at(tab, "advanced")
    expect(tab.page.get_by_label("Temperature", exact=True)).to_have_count(0)
    tab.button(re.compile("^Not supported by scripted")).click()
    field = tab.page.get_by_label("Temperature", exact=True)
    expect(field).to_be_visible()
    expect(tab.page.get_by_text("Model default").first).to_be_visible()


def test_everything_can_be_reset_at_once(fresh: Any, visit: Callable[..., Tab]) -> None:
    tab = at(visit(on=fresh).open(), "advanced")
    tab.page.get_by_role("textbox", name="Maximum reply length").fill("30")
    tab.page.get_by_role("textbox", name="Stop words").fill("END\n\\n\\n")
    saved(tab)
    assert kept(fresh)["options"]["stop"] == ["END", "\n\n"]
    tab.button("Reset all").click()
    expect(tab.page.get_by_role("textbox", name="Stop words")).to_have_value("")
    expect(tab.button("Reset all")).to_be_disabled()
    saved(tab)
    assert kept(fresh)["options"] == {"sampling": {}}


def test_a_system_prompt_is_what_new_chats_begin_with(fresh: Any, visit: Callable[..., Tab]) -> None:
    tab = at(visit(on=fresh).open(), "general")
    tab.page.get_by_role("textbox", name="System prompt").fill("Answer in verse.")
    expect(tab.page.get_by_text("16 characters")).to_be_visible()
    saved(tab)
    asked = tab.asked("POST", "/api/conversations")
    tab.page.get_by_role("link", name="Back to the chat").click()
    tab.told("/say done")
    assert asked[0]["system"] == "Answer in verse."


def test_an_operator_s_first_values_are_named_and_can_be_left(fresh: Any, visit: Callable[..., Tab]) -> None:
    tab = visit(on=fresh)
    ui = {"defaults": {"options": {"sampling": {"temperature": 0.6}}, "system": "Be kind."}}
    model = {
        "name": "mini",
        "engine": "llama",
        "context": 4096,
        "parameters": 1,
        "description": "",
        "bundled": False,
        "verbs": [],
        "sampling": ["temperature", "top_p"],
        "defaults": {"temperature": 0.8, "top_p": 0.95},
    }
    tab.capabilities(ui=ui, models=[model], default_model="mini")
    at(tab.open(), "advanced")
    expect(tab.page.get_by_text("Set by the operator: 0.6")).to_be_visible()
    expect(tab.page.get_by_text("Default: 0.95")).to_be_visible()
    system = tab.page.get_by_role("textbox", name="System prompt")
    expect(system).to_have_value("Be kind.")
    system.fill("")
    saved(tab)
    assert kept(fresh)["system"] == ""
    tab.button("Reset System prompt").click()
    expect(system).to_have_value("Be kind.")


def test_what_is_changed_while_the_server_is_away_is_sent_when_it_is_back(
    fresh: Any, visit: Callable[..., Tab]
) -> None:
    tab = at(visit(on=fresh).open(), "appearance")
    tab.page.route("**/api/settings", lambda route: route.abort())
    tab.page.get_by_role("switch", name="Wrap long code lines").check()
    expect(tab.page.get_by_role("status").filter(has_text="Saved on this device; will sync")).to_be_visible()
    tab.page.unroute("**/api/settings")
    tab.page.reload()
    expect(tab.page.get_by_role("switch", name="Wrap long code lines")).to_be_checked()
    fresh.until(lambda: kept(fresh).get("page") == {"wrap_code": True})
    tab.forgive("Failed to load|ERR_FAILED")


# Appearance


def test_text_can_be_larger_and_wider(fresh: Any, visit: Callable[..., Tab]) -> None:
    tab = at(visit(on=fresh).open(), "appearance")
    size = "() => parseFloat(getComputedStyle(document.documentElement).fontSize)"
    measure = "() => getComputedStyle(document.documentElement).getPropertyValue('--measure')"
    normal = tab.page.evaluate(size)
    tab.page.get_by_role("radio", name="Large").check(force=True)
    tab.page.get_by_role("radio", name="Wide").check(force=True)
    assert tab.page.evaluate(size) > normal
    assert tab.page.evaluate(measure) == "60rem"
    saved(tab)
    tab.page.reload()
    expect(tab.page.get_by_role("radio", name="Large")).to_be_checked()
    assert tab.page.evaluate(size) > normal
    tab.button("Reset all").click()
    assert tab.page.evaluate(size) == normal


def test_the_page_speaks_another_language_at_once(fresh: Any, visit: Callable[..., Tab]) -> None:
    tab = at(visit(on=fresh).open(), "general")
    tab.page.get_by_label("Language").select_option("de")
    expect(tab.page.get_by_role("heading", level=2)).to_have_text("Einstellungen")
    expect(tab.page.locator("html")).to_have_attribute("lang", "de")
    at(tab, "advanced")
    expect(tab.page.get_by_label("Maximale Antwortlänge")).to_be_visible()


# Tools


@pytest.fixture
def equipped(serve: Callable[..., Any], tmp_path: Path) -> Any:
    """A server with one tool server that works and one that cannot."""
    servers = {
        "notes": {"command": sys.executable, "args": [str(NOTES)]},
        "broken": {"command": str(tmp_path / "nothing")},
    }
    config = tmp_path / "duologue.yaml"
    config.write_text(json.dumps({"mcp": {"servers": servers}}))
    server = serve("--engine", "scripted", "--config", str(config)).ready()

    def there() -> bool:
        rows = httpx.get(f"{server.url}/api/mcp").json()["servers"]
        return any(row["name"] == "notes" and row["phase"] == "ready" for row in rows)

    server.until(there, seconds=30)
    return server


def card(tab: Tab, name: str) -> Locator:
    return tab.page.get_by_role("article", name=re.compile(f"^{name}"))


def test_tool_servers_say_how_they_are_and_what_they_offer(equipped: Any, visit: Callable[..., Tab]) -> None:
    tab = at(visit(on=equipped).open(), "tools")
    notes = card(tab, "notes")
    expect(notes).to_contain_text("Ready")
    expect(card(tab, "broken")).to_contain_text(re.compile("Failed|Unreachable"))
    built_in = card(tab, "Built-in tools")
    built_in.get_by_role("button", name="4 tools").click()
    expect(built_in.get_by_role("listitem").filter(has_text="Calculator")).to_contain_text("read-only")
    notes.get_by_role("switch", name="notes in my chats").uncheck()
    saved(tab)
    assert kept(equipped)["options"]["servers"] == {"notes": False}


def test_a_tool_server_s_log_and_what_cannot_be_done_with_it(
    equipped: Any, visit: Callable[..., Tab]
) -> None:
    tab = at(visit(on=equipped).open(), "tools")
    menu = card(tab, "notes").get_by_role("button", name="Options for notes")
    menu.click()
    removal = tab.page.get_by_role("menuitem", name="Remove")
    expect(removal).to_have_attribute("aria-disabled", "true")
    expect(removal).to_contain_text("Defined in the server’s configuration")
    tab.page.get_by_role("menuitem", name="Show log").click()
    dialog = tab.page.get_by_role("dialog", name="Log of notes")
    expect(dialog.get_by_role("log")).to_contain_text("ready")
    assert tab.complaints(AXE) == []
    tab.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_servers_are_added_from_pasted_json_and_removed(
    serve: Callable[..., Any], visit: Callable[..., Tab]
) -> None:
    tab = at(visit(on=serve("--engine", "scripted").ready()).open(), "tools")
    tab.button("Add server").click()
    dialog = tab.page.get_by_role("dialog", name="Add server")
    dialog.get_by_role("radio", name="JSON").check(force=True)
    field = dialog.get_by_label("JSON", exact=True).and_(tab.page.locator("textarea"))
    field.fill("npx notes")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.get_by_role("alert")).to_have_text("This is not valid JSON.")
    expect(field).to_be_focused()
    assert tab.complaints(AXE) == []
    servers = {
        "far": {"url": "http://203.0.113.1:9/mcp", "disabled": True},
        "run": {"command": "notes"},
    }
    field.fill(json.dumps({"mcpServers": servers}))
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("only be added by an admin who used a key")
    tab.forgive("403")
    tab.page.keyboard.press("Escape")
    far = card(tab, "far")
    expect(far).to_contain_text("Off")
    far.get_by_role("button", name="Options for far").click()
    tab.page.get_by_role("menuitem", name="Remove").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(far).to_have_count(0)


def test_who_is_no_admin_sees_why_nothing_can_be_added(tab: Tab) -> None:
    auth = {"required": True, "user": "u", "name": "Max", "role": "user", "keyed": True}
    tab.capabilities(auth=auth)
    at(tab, "tools")
    tab.page.reload()
    expect(tab.button("Add server")).to_be_disabled()
    expect(tab.page.get_by_text("Only admins can add tool servers.")).to_be_visible()
    at(tab, "keys")
    expect(tab.page.get_by_text("Only admins can manage keys.")).to_be_visible()


# Data


def test_chats_go_out_and_come_in_again(fresh: Any, visit: Callable[..., Tab], tmp_path: Path) -> None:
    tab = visit(on=fresh).open()
    tab.told("/say a chat to take along")
    at(tab, "data")
    with tab.page.expect_download() as began:
        tab.page.get_by_role("link", name="Export all chats").click()
    archive = tmp_path / "chats.zip"
    began.value.save_as(archive)
    damaged = tmp_path / "damaged.json"
    damaged.write_text("{}")
    tab.page.locator("input[type=file]").set_input_files([archive, damaged])
    rows = tab.page.get_by_role("listitem")
    expect(rows.filter(has_text="chats.zip")).to_contain_text("0 chats imported, 1 already here.")
    expect(rows.filter(has_text="damaged.json").get_by_role("alert")).not_to_have_text("")
    tab.button("Remove chats.zip from the list").click()
    expect(rows.filter(has_text="chats.zip")).to_have_count(0)
    tab.forgive("400")


def test_all_chats_are_deleted_only_when_meant_and_brought_back(
    fresh: Any, visit: Callable[..., Tab]
) -> None:
    tab = visit(on=fresh).open()
    tab.told("/say one")
    at(tab, "data")
    tab.button("Delete all chats").click()
    dialog = tab.page.get_by_role("dialog", name="Delete all chats")
    expect(dialog).to_contain_text("This deletes 1 chat")
    delete = dialog.get_by_role("button", name="Delete all chats")
    expect(delete).to_be_disabled()
    dialog.get_by_label("Type delete to confirm").fill("delete")
    delete.click()
    expect(tab.page.get_by_text("Deleted 1 chat.")).to_be_visible()
    assert httpx.get(f"{fresh.url}/api/conversations").json()["conversations"] == []
    tab.button("Restore").first.click()
    expect(tab.page.get_by_text("Chats restored.")).to_be_visible()
    assert len(httpx.get(f"{fresh.url}/api/conversations").json()["conversations"]) == 1


def test_a_browser_forgets_what_it_kept(fresh: Any, visit: Callable[..., Tab]) -> None:
    tab = visit(on=fresh).open()
    tab.page.evaluate("() => localStorage.setItem('duologue.trace', 'x')")
    at(tab, "data")
    tab.button("Clear this browser").click()
    with tab.page.expect_navigation():
        tab.page.get_by_role("dialog").get_by_role("button", name="Clear this browser").click()
    expect(tab.page.get_by_role("heading", level=2)).to_be_visible()
    assert tab.page.evaluate("() => localStorage.getItem('duologue.trace')") is None


# Keys


def test_keys_are_made_shown_once_and_revoked(serve: Callable[..., Any], visit: Callable[..., Tab]) -> None:
    server = serve("--engine", "scripted", DUOLOGUE_KEY="the-key-of-the-settings").ready()
    tab = visit(on=server)
    tab.page.goto(f"{tab.url}#/settings/keys")
    tab.page.get_by_label("Key").fill("the-key-of-the-settings")
    tab.page.keyboard.press("Enter")
    tab.button("Create key").click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label("User name").fill("Max")
    dialog.get_by_role("button", name="Create", exact=True).click()
    value = tab.page.get_by_role("textbox", name="Key for Max").input_value()
    assert value.startswith("duo_")
    assert httpx.get(f"{server.url}/status", headers={"Authorization": f"Bearer {value}"}).status_code == 200
    assert tab.complaints(AXE) == []
    tab.button("Done").click()
    row = tab.page.get_by_role("article", name="Max")
    expect(row).to_contain_text(value[:10])
    expect(tab.page.get_by_text(value)).to_have_count(0)
    assert tab.complaints(AXE) == []
    row.get_by_role("button", name=re.compile("^Revoke")).click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("No active keys")
    refused = httpx.get(f"{server.url}/api/settings", headers={"Authorization": f"Bearer {value}"})
    assert refused.status_code == 401
    tab.forgive("401")


def test_without_keys_the_page_says_how_the_first_is_made(tab: Tab) -> None:
    at(tab, "keys")
    expect(tab.button("Create key")).to_be_disabled()
    expect(tab.page.get_by_text("duologue key add NAME --admin")).to_be_visible()


def test_a_person_s_role_is_changed_and_one_is_shut_out(
    serve: Callable[..., Any], visit: Callable[..., Tab]
) -> None:
    server = serve("--engine", "scripted", DUOLOGUE_KEY="the-key-of-the-settings").ready()
    admin = {"Authorization": "Bearer the-key-of-the-settings"}
    made = httpx.post(f"{server.url}/api/keys", json={"name": "Max"}, headers=admin).json()
    tab = visit(on=server)
    tab.page.goto(f"{tab.url}#/settings/keys")
    tab.page.get_by_label("Key").fill("the-key-of-the-settings")
    tab.page.keyboard.press("Enter")
    row = tab.page.get_by_role("article", name="Max")
    row.get_by_label("Role of Max").select_option("admin")
    expect(row.get_by_label("Role of Max")).to_be_enabled()
    users = httpx.get(f"{server.url}/api/keys", headers=admin).json()["users"]
    assert next(user["role"] for user in users if user["name"] == "Max") == "admin"
    row.get_by_role("button", name="Disable Max").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Disable").click()
    expect(row.get_by_role("button", name="Enable Max")).to_be_visible()
    theirs = {"Authorization": f"Bearer {made['key']}"}
    assert httpx.get(f"{server.url}/api/settings", headers=theirs).status_code == 401
    tab.forgive("401")


# Keyboard


def test_the_keyboard_alone_is_enough(fresh: Any, visit: Callable[..., Tab]) -> None:
    tab = at(visit(on=fresh).open(), "data")
    keyboard = tab.page.keyboard
    clear = tab.button("Clear this browser")
    clear.focus()
    keyboard.press("Enter")
    expect(tab.page.get_by_role("dialog")).to_be_visible()
    keyboard.press("Escape")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    expect(clear).to_be_focused()
    keyboard.press("Enter")
    tab.page.get_by_role("dialog").get_by_role("button", name="Cancel").focus()
    keyboard.press("Enter")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    expect(clear).to_be_focused()
    at(tab, "general")
    tab.page.get_by_role("radio", name="System").focus()
    keyboard.press("ArrowRight")
    expect(tab.page.locator("html")).to_have_attribute("data-theme", "light")


# About


def test_about_names_the_version_the_model_and_where_more_is_told(tab: Tab) -> None:
    at(tab, "about")
    expect(tab.page.get_by_text("1,000,000-token context")).to_be_visible()
    for name in ("API documentation", "Open-source licenses"):
        address = tab.page.get_by_role("link", name=name).evaluate("link => link.href")
        assert httpx.get(address).status_code == 200
