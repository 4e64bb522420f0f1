"""A call that is recorded: switched on in the call, shown while it lasts, then listed, played and deleted in the settings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.conftest import Server
from tests.support.sample_files import tone, wav_file
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser
AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
PATIENCE = 60_000
"""Milliseconds."""
ASKED = "Tell me how green tea is made, please."
SCRIPTED = {
    "DUOLOGUE_VOICE__ENABLED": "true",
    "DUOLOGUE_VOICE__DETECTOR__ENGINE": "energy",
    "DUOLOGUE_VOICE__RECOGNISER__ENGINE": "scripted",
    "DUOLOGUE_VOICE__RECOGNISER__OPTIONS": json.dumps({"default": ASKED, "word_ms": 150}),
    "DUOLOGUE_VOICE__SPEAKER__ENGINE": "scripted",
}


@pytest.fixture(scope="module")
def switches(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A microphone that hears a question every twenty seconds, and a user who allows it."""
    path = tmp_path_factory.mktemp("microphone") / "asked.wav"
    path.write_bytes(wav_file(bytes(2 * 16_000 * 5) + tone(16_000, 1.5, 300) + bytes(2 * 16_000 * 14)))
    return [
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        f"--use-file-for-fake-audio-capture={path}",
    ]


@pytest.fixture
def speaking(serve: Callable[..., Server]) -> Server:
    return serve("--engine", "scripted", **SCRIPTED).ready()


def called(visit: Callable[..., Tab], server: Server, **options: Any) -> tuple[Tab, Locator]:
    """A tab in a call, and the call."""
    tab = visit(on=server, **options)
    # The browser's cleaning takes a tone for noise.
    tab.page.add_init_script("""localStorage.setItem('duologue.microphone', '{"cleaned":false}')""")
    tab.open()
    # The voice is loaded after the model, and until it is there the button says so.
    expect(tab.button("Call")).to_have_attribute("title", "Call", timeout=PATIENCE)
    tab.button("Call").click()
    call = tab.page.get_by_role("dialog")
    expect(call.get_by_role("heading", name="Listening")).to_be_visible(timeout=PATIENCE)
    return tab, call


def switch_recording(tab: Tab) -> None:
    tab.button("Call options").click()
    tab.page.get_by_role("menuitemcheckbox", name="Record this call").click()


def record_a_turn(tab: Tab, call: Locator) -> None:
    """Record a question and its answer, and hang up."""
    switch_recording(tab)
    expect(sign(call)).to_be_visible(timeout=PATIENCE)
    # If a reply was running already, the next one is recorded from its question on.
    for state in ("Listening", "Speaking", "Listening"):
        expect(call.get_by_role("heading", name=state)).to_be_visible(timeout=PATIENCE)
    tab.button("Hang up").click()
    expect(call).to_have_count(0)


def sign(place: Locator) -> Locator:
    return place.get_by_role("status").filter(has_text=re.compile("^Recording$"))


def recordings(server: Server) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = httpx.get(f"{server.url}/api/recordings", timeout=30).json()["recordings"]
    return rows


def shown(tab: Tab) -> Locator:
    """The one recording in the settings, opened."""
    tab.page.goto(tab.url + "#/settings/recordings")
    row = tab.page.get_by_role("article")
    row.get_by_role("button", name=re.compile("^Show ")).click(timeout=PATIENCE)
    expect(row.get_by_role("list", name="What was said")).to_be_visible(timeout=PATIENCE)
    return row


def test_a_call_is_recorded_with_a_sign_and_played_and_deleted(
    speaking: Server, visit: Callable[..., Tab]
) -> None:
    tab, call = called(visit, speaking)
    page = tab.page
    expect(sign(call)).to_have_count(0)
    assert recordings(speaking) == []
    record_a_turn(tab, call)
    (kept,) = recordings(speaking)
    assert kept["kind"] == "call"

    row = shown(tab)
    page.wait_for_function("() => document.querySelector('article audio').duration > 1", timeout=PATIENCE)
    length = page.evaluate("() => document.querySelector('article audio').duration")
    assert length * 1000 == pytest.approx(recordings(speaking)[0]["duration"], abs=250)
    lines = row.get_by_role("list", name="What was said").get_by_role("listitem")
    mine, answer = lines.filter(has_text="You").first, lines.filter(has_text="Assistant").first
    expect(mine).to_contain_text(ASKED)
    expect(answer).to_contain_text(f"You said: {ASKED}")

    mine.get_by_role("button", name=re.compile("^Play from ")).click()
    expect(mine).to_have_attribute("aria-current", "true")
    # The captions follow by themselves.
    expect(answer).to_have_attribute("aria-current", "true", timeout=PATIENCE)
    expect(mine).not_to_have_attribute("aria-current", "true")

    row.get_by_text("Response times").click()
    expect(row.get_by_role("columnheader", name="Heard")).to_be_visible()
    with page.expect_download() as sound:
        row.get_by_role("link", name="Download sound").click()
    assert sound.value.path().read_bytes().startswith(b"\x1a\x45\xdf\xa3"), "not a WebM file"
    with page.expect_download() as timeline:
        row.get_by_role("link", name="Download timeline").click()
    assert json.loads(timeline.value.path().read_text())["id"] == kept["id"]

    row.get_by_role("button", name=re.compile("^Delete ")).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    expect(page.get_by_text("No recordings yet")).to_be_visible()
    assert recordings(speaking) == []


def test_a_recording_is_stopped_in_the_call_and_the_sign_goes(
    speaking: Server, visit: Callable[..., Tab]
) -> None:
    tab, call = called(visit, speaking)
    switch_recording(tab)
    expect(sign(call)).to_be_visible(timeout=PATIENCE)
    tab.button("Show chat").click()
    bar = tab.page.get_by_role("region", name="Call")
    expect(sign(bar)).to_be_visible()
    tab.button("Show call").click()
    switch_recording(tab)
    expect(sign(call)).to_have_count(0)
    tab.button("Hang up").click()
    tab.page.goto(tab.url + "#/settings/recordings")
    expect(tab.page.get_by_role("article")).to_contain_text("Stopped", timeout=PATIENCE)


def test_it_is_accessible_in_every_theme_and_width(speaking: Server, visit: Callable[..., Tab]) -> None:
    tab, call = called(visit, speaking)
    page = tab.page

    def looked_at(what: str) -> None:
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert tab.complaints_in_both_themes(AXE) == [], f"{what}, {width} px"
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    switch_recording(tab)
    expect(sign(call)).to_be_visible(timeout=PATIENCE)
    looked_at("call")
    tab.button("Show chat").click()
    page.set_viewport_size({"width": 390, "height": 900})
    tab.button("Show call").click()
    for state in ("Listening", "Speaking", "Listening"):
        expect(call.get_by_role("heading", name=state)).to_be_visible(timeout=PATIENCE)
    tab.button("Hang up").click()
    page.goto(tab.url + "#/settings/recordings")
    expect(page.get_by_role("article")).to_be_visible(timeout=PATIENCE)
    looked_at("list")
    row = shown(tab)
    row.get_by_text("Response times").click()
    page.wait_for_function("() => document.querySelector('article audio').duration > 1", timeout=PATIENCE)
    looked_at("player")
    page.set_viewport_size({"width": 390, "height": 900})
    edge = "() => document.querySelector('article audio').getBoundingClientRect().right"
    assert page.evaluate(edge) <= 390, "the table widens the player"
