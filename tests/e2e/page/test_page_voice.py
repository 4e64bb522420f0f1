"""Voice on the page, in a real Chromium with a microphone that is a file: calls, dictation, reading out.

Most tests play the server's side of the line themselves, message by message, so that each state can be looked at. One
speaks with a real server through all of it.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Route, WebSocketRoute, expect

from tabs import Tab

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
MICROPHONE = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
FRAME = 480
"""Samples at 24 kHz in 20 ms."""


@pytest.fixture(scope="module")
def switches() -> list[str]:
    """A microphone that beeps, and a user who allows it."""
    return MICROPHONE


class Line:
    """The server's end of a call, as the test plays it."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.sockets: list[WebSocketRoute] = []
        self.told: list[dict[str, Any]] = []
        self.heard = 0
        tab.page.route_web_socket(re.compile(r"/ws/voice$"), self._answer)

    def _answer(self, socket: WebSocketRoute) -> None:
        self.sockets.append(socket)
        socket.on_message(self._hear)

    def _hear(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            self.heard += len(message) // 2
            return
        self.told.append(json.loads(message))
        if self.told[-1]["type"] == "start":
            self.says("status", state="listening")

    def says(self, kind: str, epoch: int = 0, **fields: Any) -> None:
        self.sockets[-1].send(json.dumps({"type": kind, "epoch": epoch} | fields))

    def speaks(self, reply: int, text: str, *, seconds: float = 3.0, ends: bool = True) -> None:
        """Text, captions and sound of a reply, all at once."""
        self.says("status", state="speaking")
        self.says("response_text", reply_id=reply, text=text, final=True)
        self.says("audio_start", reply_id=reply, chunk_id=0)
        words = text.split()
        each = seconds * 1000 / len(words)
        said = [
            {"text": word, "start_ms": at * each, "end_ms": (at + 1) * each} for at, word in enumerate(words)
        ]
        self.says("caption", reply_id=reply, words=said)
        tone = struct.pack(f"<{FRAME}h", *(8000 if at // 20 % 2 else -8000 for at in range(FRAME)))
        for _ in range(round(seconds * 24_000 / FRAME)):
            self.sockets[-1].send(tone)
        if ends:
            self.says("audio_end", reply_id=reply, samples=round(seconds * 24_000))

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.told if message["type"] == kind]

    def until(self, true: Callable[[], bool]) -> None:
        """Let the page go on until it is so."""
        for _ in range(500):
            if true():
                return
            self.tab.page.wait_for_timeout(20)
        raise AssertionError(f"it never became true: {self.told[-5:]}")


def speaking(tab: Tab) -> Tab:
    """The same page of a server that has a voice."""

    def with_voice(route: Route) -> None:
        answer = route.fetch()
        body = answer.json()
        body["features"]["voice"] = True
        route.fulfill(response=answer, json=body)

    tab.page.route("**/api/capabilities", with_voice)
    return tab


@pytest.fixture
def tab(visit: Callable[..., Tab]) -> Tab:
    return speaking(visit()).open()


@pytest.fixture
def line(tab: Tab) -> Line:
    return Line(tab)


def screen(tab: Tab) -> Locator:
    return tab.page.get_by_role("dialog")


def called(tab: Tab, line: Line) -> None:
    tab.button("Call").click()
    expect(screen(tab).get_by_role("heading", name="Listening")).to_be_visible()
    line.until(lambda: line.heard > 3200)


# A call


def test_a_call_belongs_to_the_chat_and_sends_what_is_heard(tab: Tab, line: Line) -> None:
    called(tab, line)
    start = line.of("start")[0]
    assert start["features"] == ["pause", "played"]
    assert start["mode"] == "open"
    assert tab.page.url.endswith(f"#/c/{start['conversation_id']}")
    before = line.heard
    tab.page.wait_for_timeout(1000)
    assert 12_000 < line.heard - before < 20_000, "the microphone is sent at 16 kHz"


def test_each_state_is_a_text(tab: Tab, line: Line) -> None:
    called(tab, line)
    states = {"hearing": "Hearing you", "thinking": "Thinking", "speaking": "Speaking", "paused": "Paused"}
    for state, words in states.items():
        line.says("status", state=state)
        expect(screen(tab).get_by_role("heading", name=words)).to_be_visible()
    line.says("status", state="waiting")
    line.says("queued", position=2, estimated_wait_s=30)
    expect(screen(tab).get_by_role("heading", name="Place 2 in the queue, about 30 s")).to_be_visible()
    line.says("queue_done")
    line.says("status", state="listening")
    expect(screen(tab).get_by_role("heading", name="Listening")).to_be_visible()


def test_both_sides_are_written_and_the_spoken_word_is_marked(tab: Tab, line: Line) -> None:
    called(tab, line)
    captions = screen(tab).get_by_role("log")
    line.says("transcript", turn=1, text="what is", final=False)
    expect(captions).to_contain_text("what is")
    line.says("transcript", turn=1, text="what is a duologue", final=True)
    captions.evaluate(
        """log => {
            window.marked = []
            new MutationObserver(() => {
                const word = log.querySelector('mark')?.textContent ?? ''
                if (word !== '' && word !== window.marked.at(-1)) window.marked.push(word)
            }).observe(log, { childList: true, subtree: true, characterData: true })
        }"""
    )
    line.speaks(1, "It is a talk of two and nobody else")
    expect(captions).to_contain_text("what is a duologue")
    expect(captions).to_contain_text("It is a talk of two")
    line.until(lambda: any(message["samples"] == 72_000 for message in line.of("played")))
    assert tab.page.evaluate("window.marked") == [
        "It",
        "is",
        "a",
        "talk",
        "of",
        "two",
        "and",
        "nobody",
        "else",
    ]


def test_the_server_is_told_what_was_heard_and_in_the_end_all_of_it(tab: Tab, line: Line) -> None:
    called(tab, line)
    line.speaks(1, "one two three", seconds=1.0)
    line.until(lambda: any(message["samples"] == 24_000 for message in line.of("played")))
    marks = [message["samples"] for message in line.of("played")]
    assert marks == sorted(marks)
    assert len(marks) >= 4


def test_pause_holds_and_resume_goes_on_from_there(tab: Tab, line: Line) -> None:
    called(tab, line)
    line.speaks(1, "one two three four five", seconds=2.0)
    line.until(lambda: len(line.of("played")) >= 2)
    line.says("status", state="paused")
    line.says("pause", reply_id=1)
    tab.page.wait_for_timeout(400)
    held = line.of("played")[-1]["samples"]
    tab.page.wait_for_timeout(400)
    assert line.of("played")[-1]["samples"] == held
    line.says("resume", reply_id=1)
    line.until(lambda: line.of("played")[-1]["samples"] == 48_000)


def test_escape_interrupts_at_once_and_says_how_far_it_was_heard(tab: Tab, line: Line) -> None:
    called(tab, line)
    line.speaks(1, "a long reply that nobody wants to hear to its end", seconds=6.0)
    line.until(lambda: len(line.of("played")) >= 2)
    tab.page.keyboard.press("Escape")
    line.until(lambda: bool(line.of("interrupt")))
    told = line.of("interrupt")[0]
    assert told["reply_id"] == 1
    assert 0 < told["samples"] < 6 * 24_000
    line.says("interrupt", epoch=1, reply_id=1)
    line.says("reply_done", epoch=1, reply_id=1, text="a long", unheard=" reply", ending="interrupted")
    line.says("status", epoch=1, state="listening")
    expect(screen(tab)).to_contain_text("interrupted")
    expect(screen(tab).get_by_role("button", name="Interrupt")).to_be_disabled()
    # What was on its way to the ear was heard, and said so once; nothing after it.
    after = line.told.index(told)
    line.until(lambda: any(message["type"] == "played" for message in line.told[after:]))
    tab.page.wait_for_timeout(400)
    (last,) = [message for message in line.told[after:] if message["type"] == "played"]
    assert 0 <= last["samples"] - told["samples"] < 0.2 * 24_000


def test_hanging_up_gives_the_page_back(tab: Tab, line: Line) -> None:
    called(tab, line)
    line.says("transcript", turn=1, text="hello", final=True)
    expect(screen(tab)).to_contain_text("hello")
    tab.button("Hang up").click()
    expect(screen(tab)).to_have_count(0)
    line.until(lambda: bool(line.of("stop")))
    expect(tab.button("Call")).to_be_enabled()


def test_a_call_in_which_nothing_was_said_leaves_no_chat(tab: Tab, line: Line) -> None:
    called(tab, line)
    conversation = line.of("start")[0]["conversation_id"]
    tab.button("Hang up").click()
    expect(tab.page).not_to_have_url(re.compile(conversation))


def test_one_writes_into_a_call_there_and_in_the_composer(tab: Tab, line: Line) -> None:
    called(tab, line)
    field = screen(tab).get_by_label("Write into the call")
    field.fill("written")
    field.press("Enter")
    line.until(lambda: [message["text"] for message in line.of("text")] == ["written"])
    tab.button("Show the chat").click()
    expect(screen(tab)).to_have_count(0)
    tab.say("from below")
    line.until(lambda: line.of("text")[-1]["text"] == "from below")
    expect(tab.composer).to_have_value("")


def test_a_small_call_stays_in_sight_everywhere_and_comes_back(tab: Tab, line: Line) -> None:
    called(tab, line)
    tab.button("Show the chat").click()
    bar = tab.page.get_by_role("group", name="Call")
    expect(bar).to_contain_text("Listening")
    tab.page.goto(f"{tab.url}#/settings")
    expect(bar).to_be_visible()
    tab.button("Show the call").click()
    expect(screen(tab).get_by_role("heading", name="Listening")).to_be_visible()


def test_muted_is_silence_and_not_nothing(tab: Tab, line: Line) -> None:
    called(tab, line)
    tab.button("Turn the microphone off").click()
    expect(screen(tab)).to_contain_text("Your microphone is off")
    before = line.heard
    line.until(lambda: line.heard > before + 8000)
    tab.button("Turn the microphone on").click()


def test_holding_to_talk_by_the_space_bar(tab: Tab, line: Line) -> None:
    called(tab, line)
    tab.button("Options of the call").click()
    tab.page.get_by_role("menuitemcheckbox", name="Hold to talk").click()
    line.until(lambda: len(line.of("start")) == 2)
    assert line.of("start")[1]["mode"] == "hold"
    assert line.of("start")[1]["conversation_id"] == line.of("start")[0]["conversation_id"]
    expect(screen(tab).get_by_role("heading", name="Listening")).to_be_visible()
    screen(tab).get_by_role("heading", name="Listening").focus()
    tab.page.keyboard.down(" ")
    expect(tab.button("Talking: let go to send")).to_be_visible()
    tab.page.keyboard.up(" ")
    line.until(lambda: [message["down"] for message in line.of("hold")] == [True, False])


def test_a_lost_line_is_dialled_again(tab: Tab, line: Line) -> None:
    called(tab, line)
    line.says("transcript", turn=1, text="before", final=True)
    expect(screen(tab)).to_contain_text("before")
    line.sockets[-1].close(code=1011)
    line.until(lambda: len(line.of("start")) == 2)
    expect(screen(tab).get_by_role("heading", name="Listening")).to_be_visible()
    expect(screen(tab)).to_contain_text("before")


def test_a_call_the_server_ends_says_why(tab: Tab, line: Line) -> None:
    called(tab, line)
    line.says("error", code="call_idle", message="Nobody has said anything for 600 seconds.")
    line.sockets[-1].close(code=1000)
    expect(screen(tab).get_by_role("heading", name="The call is over")).to_be_visible()
    expect(screen(tab)).to_contain_text("Nobody has said anything for 600 seconds.")
    expect(tab.button("Try again")).to_be_visible()
    tab.page.keyboard.press("Escape")
    expect(screen(tab)).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_a_call_is_usable_at_every_width_in_both_themes(
    visit: Callable[..., Tab], width: int, theme: str
) -> None:
    tab = speaking(visit(viewport={"width": width, "height": 640}, color_scheme=theme)).open()
    line = Line(tab)
    called(tab, line)
    line.says("transcript", turn=1, text="what is a duologue", final=True)
    line.speaks(1, "It is a talk of two, and here one of them is a model.", seconds=5.0)
    expect(screen(tab)).to_contain_text("here one of them")
    assert tab.complaints(AXE) == []
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = tab.button("Hang up").bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= width
    assert box["y"] + box["height"] <= 640


def test_the_focus_stays_in_the_call_and_everything_is_reached_by_tab(tab: Tab, line: Line) -> None:
    called(tab, line)
    reached = set()
    for _ in range(12):
        tab.page.keyboard.press("Tab")
        reached.add(
            tab.page.evaluate(
                "document.activeElement.closest('dialog') ? document.activeElement.ariaLabel : 'outside'"
            )
        )
    assert {"Turn the microphone off", "Options of the call", "Hang up", "Write into the call"} <= reached
    assert "Message" not in reached


def test_a_page_on_plain_http_elsewhere_says_why_it_has_no_microphone(visit: Callable[..., Tab]) -> None:
    tab = speaking(visit())
    tab.page.add_init_script(
        "Object.defineProperty(window, 'isSecureContext', { value: false, configurable: true })"
    )
    tab.open()
    tab.button("Call").click()
    expect(screen(tab)).to_contain_text("duologue serve --tls")


def test_without_a_voice_the_button_says_which_command_brings_one(visit: Callable[..., Tab]) -> None:
    tab = visit()
    tab.capabilities(features={"voice": False, "conversations": True})
    tab.open()
    tab.button("Call").click()
    expect(tab.page.get_by_role("status").filter(has_text="pip install")).to_contain_text(
        "pip install 'duologue[voice]'"
    )


# Dictation and reading out


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
    tab.button("Dictate").click()
    expect(tab.page.get_by_role("status").filter(has_text="Listening. What you say")).to_have_count(1)
    tab.page.wait_for_timeout(2500)
    tab.button("Done dictating").click()
    expect(tab.composer).to_have_value(re.compile(r"^before spoken words.* after$"))
    expect(tab.button("Dictate")).to_be_visible()


def test_a_reply_is_read_out_and_stopped(tab: Tab) -> None:
    asked: list[Any] = []

    def speak(route: Route) -> None:
        asked.append(route.request.post_data_json)
        route.fulfill(body=b"\x00\x10" * 24_000 * 4, content_type="audio/pcm")

    tab.page.route("**/v1/audio/speech", speak)
    tab.told("/say **Hello** there.")
    tab.reply.get_by_role("button", name="Read out").click()
    stop = tab.reply.get_by_role("button", name="Stop reading")
    expect(stop).to_be_visible()
    stop.click()
    expect(tab.reply.get_by_role("button", name="Read out")).to_be_visible()
    assert asked[0]["input"] == "Hello there."
    assert asked[0]["response_format"] == "pcm"


def heard(tab: Tab, asked: list[str], texts: list[str]) -> None:
    for _ in range(500):
        if asked == texts:
            return
        tab.page.wait_for_timeout(20)
    raise AssertionError(asked)


def test_replies_are_read_while_they_are_written_where_one_likes_that(tab: Tab) -> None:
    asked: list[str] = []

    def speak(route: Route) -> None:
        asked.append(route.request.post_data_json["input"])
        route.fulfill(body=b"\x00\x10" * 2400, content_type="audio/pcm")

    tab.page.route("**/v1/audio/speech", speak)
    tab.button("Add").click()
    tab.page.get_by_role("menuitemcheckbox", name="Voice response").click()
    tab.say("/say First sentence. And then\n/hang")
    heard(tab, asked, ["First sentence."])
    tab.button("Stop").click()
    heard(tab, asked, ["First sentence.", "And then"])
    tab.button("Add").click()
    tab.page.get_by_role("menuitemcheckbox", name="Voice response").click()


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
    expect(voice.locator("option")).to_have_text(["The server’s choice: Ben", "Ben", "Anna · calm"])
    voice.select_option("anna")
    tab.page.get_by_label("Speed").select_option("1.25")
    tab.button("Hear it").click()
    expect(tab.button("Hear it")).to_be_visible()
    for _ in range(100):
        if asked:
            break
        tab.page.wait_for_timeout(20)
    assert (asked[0]["voice"], asked[0]["speed"]) == ("anna", 1.25)
    assert tab.complaints(AXE) == []
    voice.select_option("")
    tab.page.get_by_label("Speed").select_option("1")
