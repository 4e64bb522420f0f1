"""Voices of one's own in the settings: recorded with a microphone that beeps, uploaded, chosen, shared and deleted."""

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
SCRIPTED = {
    "DUOLOGUE_VOICE__ENABLED": "true",
    "DUOLOGUE_VOICE__DETECTOR__ENGINE": "energy",
    "DUOLOGUE_VOICE__RECOGNISER__ENGINE": "scripted",
    "DUOLOGUE_VOICE__SPEAKER__ENGINE": "scripted",
}


@pytest.fixture(scope="module")
def switches() -> list[str]:
    """A microphone that beeps, and a user who allows it."""
    return ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]


@pytest.fixture
def cloning(serve: Callable[..., Server]) -> Server:
    options = json.dumps({"clones": True})
    server = serve("--engine", "scripted", **SCRIPTED, DUOLOGUE_VOICE__SPEAKER__OPTIONS=options)
    return server.ready()


@pytest.fixture
def plain(serve: Callable[..., Server]) -> Server:
    return serve("--engine", "scripted", **SCRIPTED).ready()


def settings_of(visit: Callable[..., Tab], server: Server, **options: Any) -> Tab:
    tab = visit(on=server, **options).open()
    tab.page.goto(tab.url + "#/settings/voice")
    expect(tab.page.get_by_role("heading", name="Your voices")).to_be_visible(timeout=PATIENCE)
    return tab


def row(tab: Tab, name: str) -> Locator:
    heading = tab.page.get_by_role("heading", name=re.compile(f"^{name}"))
    return tab.page.get_by_role("listitem").filter(has=heading)


def kept(server: Server) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = httpx.get(f"{server.url}/api/assets/ref_audio", timeout=30).json()[
        "ref_audios"
    ]
    return rows


def add(tab: Tab, name: str, file: bytes | None) -> None:
    """Record for two seconds, or upload a file; agree and save."""
    page = tab.page
    page.get_by_role("button", name="Add a voice").click()
    save = page.get_by_role("button", name="Save")
    if file is None:
        page.get_by_role("button", name="Record", exact=True).click()
        expect(page.get_by_text(re.compile(r"Recording, [3-9] s"))).to_be_visible(timeout=PATIENCE)
        page.get_by_role("button", name="Stop recording").click()
        expect(page.get_by_text(re.compile(r"Recorded, \d+ s"))).to_be_visible()
    else:
        page.get_by_label("Choose a file").set_input_files(
            {"name": "me.wav", "mimeType": "audio/wav", "buffer": file}
        )
        expect(page.get_by_text("me.wav")).to_be_visible()
    page.get_by_label("Name").fill(name)
    expect(save).to_be_disabled()
    page.get_by_label(re.compile("This is my voice")).check()
    save.click()


def test_a_voice_is_recorded_played_renamed_chosen_shared_and_deleted(
    cloning: Server, visit: Callable[..., Tab]
) -> None:
    tab = settings_of(visit, cloning)
    page = tab.page
    add(tab, "Anna", None)
    expect(row(tab, "Anna")).to_be_visible(timeout=PATIENCE)
    (voice,) = kept(cloning)
    assert voice["duration_ms"] >= 3000
    assert "This is my voice" in voice["consent"]["statement"]
    expect(page.get_by_text("can’t imitate recordings")).to_have_count(0)

    page.get_by_role("button", name="Play Anna").click()
    expect(page.get_by_role("button", name="Stop Anna")).to_be_visible()
    page.get_by_role("button", name="Stop Anna").click()
    expect(page.get_by_role("button", name="Play Anna")).to_be_visible()

    page.get_by_role("button", name="More about Anna").click()
    page.get_by_role("menuitem", name="Edit").click()
    page.get_by_label("Name").fill("Me")
    page.get_by_label("What is said in it").fill("Beep.")
    page.get_by_role("button", name="Save").click()
    expect(row(tab, "Me")).to_contain_text("Beep.")

    page.get_by_role("combobox", name="Voice", exact=True).select_option(label="Me")
    with page.expect_request("**/v1/audio/speech") as asked:
        page.get_by_role("button", name="Preview").first.click()
    assert json.loads(asked.value.post_data or "{}")["voice"] == voice["id"]
    answer = asked.value.response()
    assert answer is not None
    assert answer.status == 200

    page.get_by_role("button", name="More about Me").click()
    page.get_by_role("menuitem", name="Share with everyone").click()
    expect(row(tab, "Me")).to_contain_text("Shared")
    assert kept(cloning)[0]["shared"] is True

    page.get_by_role("button", name="More about Me").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row(tab, "Me")).to_have_count(0)
    assert kept(cloning) == []
    # The voice that was chosen is gone: the server's own speaks again.
    expect(page.get_by_role("combobox", name="Voice", exact=True)).to_have_value("")


def test_a_speaker_that_cannot_imitate_says_so_and_silence_is_refused(
    plain: Server, visit: Callable[..., Tab]
) -> None:
    tab = settings_of(visit, plain)
    add(tab, "Quiet", wav_file(bytes(64_000)))
    alert = tab.page.get_by_role("dialog").get_by_role("alert")
    expect(alert).to_contain_text("Nothing can be heard", timeout=PATIENCE)
    tab.forgive("400")
    tab.page.get_by_label("Choose a file").set_input_files(
        {"name": "loud.wav", "mimeType": "audio/wav", "buffer": wav_file(tone(16_000, 1.5))}
    )
    tab.page.get_by_role("button", name="Save").click()
    expect(row(tab, "Quiet")).to_contain_text("1.5", timeout=PATIENCE)
    expect(tab.page.get_by_text("can’t imitate recordings")).to_be_visible(timeout=PATIENCE)


def test_it_is_accessible_in_every_theme_and_width(plain: Server, visit: Callable[..., Tab]) -> None:
    httpx.post(
        f"{plain.url}/api/assets/ref_audio",
        data={"consent": "true", "name": "My voice", "text": "The quick brown fox jumps over the lazy dog."},
        files={"file": ("a.wav", wav_file(tone(16_000, 3)))},
    ).raise_for_status()
    tab = settings_of(visit, plain)
    page = tab.page
    page.emulate_media(reduced_motion="reduce")
    page.get_by_role("heading", name="Your voices").scroll_into_view_if_needed()
    expect(row(tab, "My voice")).to_be_visible()
    for step in ("list", "dialog"):
        if step == "dialog":
            page.get_by_role("button", name="Add a voice").click()
            expect(page.get_by_role("dialog")).to_be_visible()
        for width in (1100, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert tab.complaints_in_both_themes(AXE) == [], f"{step}, {width} px"
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
