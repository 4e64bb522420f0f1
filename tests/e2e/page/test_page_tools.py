"""Tools on the page: calls with their states and results, and what a person is asked before and while they run."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, expect
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
NOTES = Path(__file__).parent / "notes_server.py"


@pytest.fixture(scope="module")
def notes(lasting: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server with an MCP server of ours; a reply takes one turn with calls, as a script knows no results."""
    config = tmp_path_factory.mktemp("notes") / "duologue.yaml"
    config.write_text(
        json.dumps(
            {
                "runs": {"max_turns": 1},
                "mcp": {"servers": {"notes": {"command": sys.executable, "args": [str(NOTES)]}}},
            }
        )
    )
    server = lasting("--engine", "scripted", "--config", str(config)).ready()

    def there() -> bool:
        rows = httpx.get(f"{server.url}/api/mcp").json()["servers"]
        return any(row["name"] == "notes" and row["phase"] == "ready" for row in rows)

    server.until(there, seconds=30)
    return server


@pytest.fixture
def tab(notes: Any, visit: Callable[..., Tab]) -> Tab:
    httpx.delete(f"{notes.url}/api/permissions")
    return visit(on=notes).open()


def call(name: str, **arguments: object) -> str:
    written = json.dumps({"name": name, "arguments": arguments})
    return f"/say Let me see. <tool_call>{written}</tool_call>"


def question(tab: Tab) -> Locator:
    return tab.reply.get_by_role("group", name=re.compile("^Allow|asks"))


def values(box: Locator) -> Locator:
    """The arguments of a call: names and values in turn."""
    return box.locator("dt, dd")


def lasting(tab: Tab, choice: str) -> Locator:
    """An answer to the question that holds for later calls too."""
    question(tab).get_by_role("button", name="Always allow", exact=True).click()
    return tab.page.get_by_role("menuitem", name=choice)


def test_a_tool_that_only_reads_runs_at_once_and_shows_what_it_gave(tab: Tab) -> None:
    tab.told(call("calculator", expression="6 * 7"))
    expect(tab.reply).to_contain_text("Let me see.")
    line = tab.reply.get_by_role("button", name="calculator")
    expect(line).to_have_attribute("aria-expanded", "false")
    line.click()
    expect(values(tab.reply)).to_have_text(["expression", "6 * 7"])
    expect(tab.reply.locator("pre").last).to_contain_text("42")
    expect(tab.reply).to_contain_text("Reached the tool step limit")
    tab.page.reload()
    expect(tab.reply.get_by_role("button", name="calculator")).to_be_visible()
    expect(tab.reply.get_by_role("button", name="Continue")).to_be_visible()


def test_the_clock_is_read_where_the_browser_is(notes: Any, visit: Callable[..., Tab]) -> None:
    tab = visit(on=notes, timezone_id="Australia/Eucla").open()
    notes.until(lambda: httpx.get(f"{notes.url}/api/settings").json().get("zone") == "Australia/Eucla")
    tab.told(call("clock"))
    tab.reply.get_by_role("button", name="clock").click()
    expect(tab.reply.locator("pre").last).to_contain_text(
        re.compile(r"^The time is .*, Australia/Eucla, \+08:45$")
    )


def test_a_tool_that_fails_says_so(tab: Tab) -> None:
    tab.told(call("calculator", expression="six times seven"))
    expect(tab.reply.get_by_role("button", name="calculator")).to_contain_text("Failed")


@pytest.fixture
def two_turns(notes: Any) -> Iterator[None]:
    """Replies in new chats go on once after a tool."""
    address = f"{notes.url}/api/settings"
    httpx.patch(address, json={"options": {"max_turns": 2}}).raise_for_status()
    yield
    httpx.patch(address, json={"options": None}).raise_for_status()


def test_what_is_said_meanwhile_waits_for_its_turn(two_turns: None, tab: Tab) -> None:
    """The reply ends only after its question is answered, so the message surely comes before its end."""
    tab.say(call("write_note", text="Tea is out") + "\n/then\n/say one")
    expect(question(tab)).to_be_visible()
    tab.composer.fill("/say two")
    tab.composer.press("Enter")
    waiting = tab.page.get_by_role("group", name="Queued message")
    expect(waiting).to_contain_text("/say two")
    expect(tab.composer).to_have_value("")
    question(tab).get_by_role("button", name="Allow once").click()
    expect(tab.replies).to_have_count(2)
    expect(tab.reply).to_contain_text("two")
    expect(waiting).to_have_count(0)


def test_a_tool_that_writes_asks_first_and_the_answer_can_come_from_elsewhere(
    tab: Tab, visit: Callable[..., Tab]
) -> None:
    tab.say(call("write_note", text="Tea is out"))
    card = question(tab)
    expect(card).to_contain_text("Allow notes to run write_note?")
    expect(values(card)).to_have_text(["text", "Tea is out"])
    expect(tab.composer).to_be_focused()
    expect(tab.page.locator("[aria-live=polite]:not([role=log])").last).to_contain_text(
        "write_note needs your approval"
    )
    expect(tab.page.get_by_role("navigation", name="Chats")).to_contain_text("Waiting for your approval")
    other = visit(beside=tab)
    other.page.goto(tab.page.url)
    question(other).get_by_role("button", name="Allow once").click()
    for each in (tab, other):
        each.ended()
        expect(question(each)).to_have_count(0)
        each.reply.get_by_role("button", name="write_note").click()
        expect(each.reply.locator("pre").last).to_contain_text("Written: Tea is out")


def test_what_is_allowed_for_good_is_not_asked_again(tab: Tab) -> None:
    tab.say(call("write_note", text="one"))
    lasting(tab, "Always allow write_note").click()
    tab.ended()
    tab.told(call("write_note", text="two"))
    tab.reply.get_by_role("button", name="write_note").click()
    expect(tab.reply.locator("pre").last).to_contain_text("Written: two")


def test_a_whole_server_is_allowed_from_the_menu_and_by_keys(tab: Tab) -> None:
    tab.say(call("write_note", text="one"))
    expect(lasting(tab, "Always allow everything from notes")).to_contain_text("including new ones")
    tab.page.keyboard.press("Escape")
    menu = question(tab).get_by_role("button", name="Always allow", exact=True)
    expect(menu).to_be_focused()
    expect(question(tab)).to_be_visible()
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("menuitem", name="Always allow write_note")).to_be_focused()
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("Enter")
    tab.ended()
    expect(tab.composer).to_be_focused()
    tab.say(call("choose_cover"))
    expect(question(tab)).to_contain_text("Which cover")
    tab.page.keyboard.press("Escape")


def test_one_answer_stands_out_and_two_are_beside_it(tab: Tab) -> None:
    tab.say(call("write_note", text="one"))
    answers = question(tab).get_by_role("button")
    expect(answers).to_have_text(["Allow once", "Deny", "Always allow"])
    expect(question(tab).locator(".strong")).to_have_text(["Allow once"])


def test_what_will_run_is_read_as_labelled_values_with_long_ones_folded(tab: Tab) -> None:
    long = "All work and no play. " * 40
    tab.say(call("write_note", text=long, tags=["a", "b"], title="", **{f"more_{n}": n for n in range(6)}))
    card = question(tab)
    expect(values(card)).to_have_count(16)
    expect(card.locator("dd").nth(1)).to_have_text('["a","b"]')
    expect(card.locator("dd").nth(2)).to_have_text("empty")
    expect(card.locator("dd").first).not_to_contain_text(long)
    card.get_by_role("button", name="Show all of text (880 characters)").click()
    expect(card.locator("dd").first).to_contain_text(long)
    card.get_by_role("button", name="Show 1 more").click()
    expect(values(card)).to_have_count(18)
    expect(card.get_by_role("button", name="Allow once")).to_be_visible()


def test_a_denied_call_is_not_made(tab: Tab) -> None:
    tab.say(call("write_note", text="never"))
    question(tab).get_by_role("button", name="Deny").click()
    tab.ended()
    expect(tab.reply.get_by_role("button", name="write_note")).to_contain_text("Not allowed")


def test_stopping_takes_the_question_back(tab: Tab) -> None:
    tab.say(call("write_note", text="never"))
    expect(question(tab)).to_be_visible()
    tab.page.keyboard.press("Escape")
    tab.ended()
    expect(question(tab)).to_have_count(0)
    expect(tab.reply.get_by_role("button", name="write_note")).to_contain_text("Not run")


def test_a_question_outlives_a_reload(tab: Tab) -> None:
    tab.say(call("write_note", text="later"))
    expect(question(tab)).to_be_visible()
    tab.page.reload()
    question(tab).get_by_role("button", name="Allow once").click()
    tab.ended()
    expect(tab.reply.get_by_role("button", name="write_note")).not_to_contain_text("Not")


def test_a_server_s_own_question_is_a_form(tab: Tab) -> None:
    tab.say(call("choose_cover"))
    question(tab).get_by_role("button", name="Allow once").click()
    form = tab.reply.get_by_role("group", name="notes asks")
    expect(form).to_contain_text("Which cover shall it be?")
    form.get_by_label("Colour").fill("green")
    form.get_by_label("Lined").uncheck()
    form.get_by_role("button", name="Send").click()
    tab.ended()
    tab.reply.get_by_role("button", name="choose_cover").click()
    expect(tab.reply.locator("pre").last).to_contain_text("A green cover, plain")


def test_a_picture_a_tool_drew_is_shown(tab: Tab) -> None:
    tab.told(call("draw"))
    picture = tab.reply.get_by_role("img").first
    expect(picture).to_be_visible()
    tab.page.wait_for_function("() => document.querySelector('article img').naturalWidth > 0")


def test_a_tool_says_how_far_it_is(tab: Tab) -> None:
    tab.say(call("count_pages"))
    expect(tab.reply).to_contain_text(re.compile("Page [123] of 4"))
    expect(tab.reply.get_by_role("progressbar")).to_be_visible()
    tab.ended()
    expect(tab.reply.get_by_role("progressbar")).to_have_count(0)


def test_what_cannot_wait_goes_in_before_the_call_that_is_asked_about(tab: Tab) -> None:
    tab.say(call("write_note", text="wrong"))
    expect(question(tab)).to_be_visible()
    tab.composer.fill("/say never mind")
    tab.composer.press("Enter")
    tab.page.get_by_role("group", name="Queued message").get_by_role("button", name="Send now").click()
    expect(tab.said).to_have_count(2)
    expect(tab.replies.first.get_by_role("button", name="write_note")).to_contain_text("Not run")


def test_what_is_asked_can_be_read_by_everybody(notes: Any, visit: Callable[..., Tab]) -> None:
    tab = visit(on=notes, reduced_motion="reduce", viewport={"width": 320, "height": 640})
    tab.open().say(call("choose_cover"))
    expect(question(tab)).to_be_visible()
    assert tab.complaints_in_both_themes(AXE) == []
    question(tab).get_by_role("button", name="Allow once").click()
    expect(tab.reply.get_by_label("Colour")).to_be_visible()
    assert tab.complaints_in_both_themes(AXE) == []
    tab.reply.get_by_label("Colour").fill("green")
    tab.reply.get_by_role("button", name="Send").click()
    tab.ended()
    tab.reply.get_by_role("button", name="choose_cover").click()
    assert tab.complaints_in_both_themes(AXE) == []
    assert tab.page.evaluate("() => document.querySelector('.scroller').scrollWidth <= innerWidth")
