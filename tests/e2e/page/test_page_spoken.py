"""Speaking to the composer, in a real Chromium with a microphone that beeps: dictation, spoken messages, and replies that
are read out. What the beeps are taken for is the tests' to say."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Route, expect
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"


@pytest.fixture(scope="module")
def switches() -> list[str]:
    """A microphone that beeps, and a user who allows it."""
    return ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]


@pytest.fixture
def tab(visit: Callable[..., Tab]) -> Tab:
    return visit().with_voice().open()


def test_what_is_dictated_stands_where_the_caret_is(tab: Tab) -> None:
    sent: list[int] = []

    def write(route: Route) -> None:
        body = route.request.post_data_buffer or b""
        assert b"RIFF" in body
        sent.append(len(body))
        route.fulfill(json={"text": "spoken words"})

    tab.page.route("**/v1/audio/transcriptions", write)
    tab.composer.fill("before after")
    tab.composer.press("Home")
    for _ in range(len("before")):
        tab.composer.press("ArrowRight")
    tab.add("Dictate")
    expect(tab.page.get_by_role("status").filter(has_text="Listening. Your words")).to_have_count(1)
    tab.page.wait_for_timeout(2500)
    tab.button("Finish dictation").click()
    expect(tab.composer).to_have_value(re.compile(r"^before spoken words.* after$"))
    expect(tab.button("Finish dictation")).to_have_count(0)


def recorded(tab: Tab, text: str) -> list[bytes]:
    """From now on the server understands this in whatever it is sent: the recordings."""
    sent: list[bytes] = []

    def write(route: Route) -> None:
        sent.append(route.request.post_data_buffer or b"")
        route.fulfill(json={"text": text})

    tab.page.route("**/v1/audio/transcriptions", write)
    return sent


def test_a_spoken_message_escaped_from_is_not_sent_and_nothing_under_the_hand_changes(tab: Tab) -> None:
    recorded(tab, "spoken words")
    call = tab.button("Call").bounding_box()
    send = tab.button("Send").bounding_box()
    tab.add("Voice message")
    expect(tab.page.get_by_role("timer")).to_have_text("0:01")
    expect(tab.button("Send voice message")).to_be_focused()
    assert tab.button("Call").bounding_box() == call
    assert tab.button("Send voice message").bounding_box() == send
    assert tab.complaints(AXE) == []
    tab.page.keyboard.press("Escape")
    expect(tab.page.get_by_role("timer")).to_have_count(0)
    expect(tab.composer).to_be_focused()
    expect(tab.said).to_have_count(0)


def test_a_message_is_spoken_hands_free_and_a_press_sends_it_aloud_where_one_likes_that(tab: Tab) -> None:
    spoken: list[str] = []

    def speak(route: Route) -> None:
        body = route.request.post_data_json
        assert body is not None
        spoken.append(body["input"])
        route.fulfill(body=b"\x00\x10" * 2400, content_type="audio/pcm")

    tab.page.route("**/v1/audio/speech", speak)
    recorded(tab, "/say It is heard.")
    tab.add("Voice replies")
    tab.add("Voice message")
    expect(tab.page.get_by_role("status").filter(has_text="sends when you pause")).to_be_visible()
    expect(tab.page.get_by_role("timer")).to_have_text("0:01")
    tab.button("Send voice message").click()
    expect(tab.reply).to_contain_text("It is heard.")
    heard(tab, spoken, ["It is heard."])


def test_a_spoken_message_the_server_cannot_write_down_is_kept_and_tried_again(tab: Tab) -> None:
    problem = {"error": {"code": "voice_unavailable", "message": "The voice is being started again."}}
    tab.page.route("**/v1/audio/transcriptions", lambda route: route.fulfill(status=503, json=problem))
    tab.add("Voice message")
    expect(tab.page.get_by_role("timer")).to_have_text("0:01")
    tab.button("Send voice message").click()
    expect(tab.page.get_by_role("alert")).to_have_text("The voice is being started again.")
    recorded(tab, "/say after all")
    tab.button("Try again").click()
    expect(tab.reply).to_contain_text("after all")
    tab.forgive("503")


def test_a_reply_is_read_out_and_stopped(tab: Tab) -> None:
    asked: list[Any] = []

    def speak(route: Route) -> None:
        asked.append(route.request.post_data_json)
        route.fulfill(body=b"\x00\x10" * 24_000 * 4, content_type="audio/pcm")

    tab.page.route("**/v1/audio/speech", speak)
    tab.told("/say **Hello** there.")
    tab.more(tab.reply, "Read aloud")
    stop = tab.reply.get_by_role("button", name="Stop reading")
    expect(stop).to_be_visible()
    expect(tab.reply.locator("canvas.ready")).to_be_visible()
    stop.click()
    expect(stop).to_have_count(0)
    expect(tab.reply.locator("canvas")).to_have_count(0)
    assert asked[0]["input"] == "Hello there."
    assert asked[0]["response_format"] == "pcm"
    assert asked[0]["mouth"] is True


def heard(tab: Tab, asked: list[str], texts: list[str]) -> None:
    for _ in range(3000):
        if asked == texts:
            return
        tab.page.wait_for_timeout(20)
    raise AssertionError(asked)


def test_replies_are_read_while_they_are_written_where_one_likes_that(tab: Tab) -> None:
    asked: list[str] = []

    def speak(route: Route) -> None:
        body = route.request.post_data_json
        assert body is not None
        asked.append(body["input"])
        route.fulfill(body=b"\x00\x10" * 2400, content_type="audio/pcm")

    tab.page.route("**/v1/audio/speech", speak)
    tab.add("Voice replies")
    tab.say("/say First sentence. And then\n/hang")
    heard(tab, asked, ["First sentence."])
    tab.button("Stop").click()
    heard(tab, asked, ["First sentence.", "And then"])


def test_a_voice_is_chosen_and_tried_in_the_settings(tab: Tab) -> None:
    voices = [
        {"id": "anna", "name": "Anna", "language": "de-DE", "description": "calm"},
        {"id": "ben", "name": "Ben", "language": "en-GB", "description": ""},
    ]
    tab.fulfil("**/v1/audio/voices", {"voices": voices, "default": "ben"})
    asked: list[Any] = []

    def speak(route: Route) -> None:
        asked.append(route.request.post_data_json)
        route.fulfill(body=b"\x00\x10" * 2400, content_type="audio/pcm")

    tab.page.route("**/v1/audio/speech", speak)
    tab.page.goto(f"{tab.url}#/settings/voice")
    voice = tab.page.get_by_role("combobox", name="Voice", exact=True)
    expect(voice.locator("option")).to_have_text(["Server default: Ben", "Ben", "Anna · calm"])
    voice.select_option("anna")
    tab.page.get_by_label("Speed").select_option("1.25")
    tab.button("Preview").click()
    expect(tab.button("Preview")).to_be_visible()
    for _ in range(3000):
        if asked:
            break
        tab.page.wait_for_timeout(20)
    assert (asked[0]["voice"], asked[0]["speed"]) == ("anna", 1.25)
    assert tab.complaints(AXE) == []
    voice.select_option("")
    tab.page.get_by_label("Speed").select_option("1")
