"""Calls on the page, in a real Chromium with a microphone that beeps.

The tests play the server's side of the line themselves, message by message, so that each state can be looked at.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.conftest import Server
from tests.support.call_line import Line
from tests.support.held_workers import HeldWorkers
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
MICROPHONE = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]


@pytest.fixture(scope="module")
def switches() -> list[str]:
    """A microphone that beeps, and a user who allows it."""
    return MICROPHONE


@pytest.fixture
def tab(visit: Callable[..., Tab]) -> Tab:
    return visit().with_voice().open()


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
    assert start["features"] == ["pause", "played", "units", "mouth"]
    assert tab.page.url.endswith(f"#/c/{start['conversation_id']}")
    before, begun = line.heard, time.monotonic()
    tab.page.wait_for_timeout(1000)
    # The microphone is sent at 16 kHz. A busy machine may send it late, which matters less from second to second.
    line.until(lambda: 12_000 < (line.heard - before) / (time.monotonic() - begun) < 20_000)


def test_each_state_is_a_text(tab: Tab, line: Line) -> None:
    called(tab, line)
    states = {"hearing": "Hearing you", "thinking": "Thinking", "speaking": "Speaking", "paused": "Paused"}
    for state, words in states.items():
        line.says("status", state=state)
        expect(screen(tab).get_by_role("heading", name=words)).to_be_visible()
    line.says("status", state="waiting")
    line.says("queued", position=2, estimated_wait_s=30)
    expect(screen(tab).get_by_role("heading", name="Number 2 in the queue, about 30 s")).to_be_visible()
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
    held = stands_still(tab, line)
    assert held < 48_000
    line.says("resume", reply_id=1)
    line.until(lambda: line.of("played")[-1]["samples"] == 48_000)


def stands_still(tab: Tab, line: Line) -> int:
    """How far the reply was heard, once nothing more is."""
    before = -1
    while (heard := line.of("played")[-1]["samples"]) != before:
        before = heard
        tab.page.wait_for_timeout(400)
    return int(heard)


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
    # What was on its way to the ear was heard, and said so; nothing after it.
    after = line.told.index(told)
    line.until(lambda: any(message["type"] == "played" for message in line.told[after:]))
    assert 0 <= stands_still(tab, line) - told["samples"] < 0.2 * 24_000


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
    field = screen(tab).get_by_label("Type a message")
    field.fill("written")
    field.press("Enter")
    line.until(lambda: [message["text"] for message in line.of("text")] == ["written"])
    tab.button("Show chat").click()
    expect(screen(tab)).to_have_count(0)
    tab.say("from below")
    line.until(lambda: line.of("text")[-1]["text"] == "from below")
    expect(tab.composer).to_have_value("")


def test_a_small_call_stays_in_sight_everywhere_and_comes_back(tab: Tab, line: Line) -> None:
    called(tab, line)
    tab.button("Show chat").click()
    bar = tab.page.get_by_role("region", name="Call")
    expect(bar).to_contain_text("Listening")
    tab.page.goto(f"{tab.url}#/settings")
    expect(bar).to_be_visible()
    tab.button("Show call").click()
    expect(screen(tab).get_by_role("heading", name="Listening")).to_be_visible()


def test_a_chat_shown_during_a_call_offers_no_answer_to_what_is_being_answered(tab: Tab, line: Line) -> None:
    tab.told("/say one")
    tab.more(tab.said.last, "New chat from here")
    expect(tab.button("Get a reply")).to_be_visible()
    called(tab, line)
    tab.button("Show chat").click()
    expect(tab.said.last).to_be_visible()
    expect(tab.button("Get a reply")).to_have_count(0)
    tab.button("Hang up").click()
    expect(tab.button("Get a reply")).to_be_visible()


def test_muted_is_silence_and_not_nothing(tab: Tab, line: Line) -> None:
    called(tab, line)
    tab.button("Mute").click()
    expect(screen(tab)).to_contain_text("You’re muted")
    before = line.heard
    line.until(lambda: line.heard > before + 8000)
    tab.button("Unmute").click()


def test_holding_to_talk_by_the_space_bar_without_another_call(tab: Tab, line: Line) -> None:
    called(tab, line)
    tab.button("Call options").click()
    tab.page.get_by_role("menuitemcheckbox", name="Hold to talk").click()
    screen(tab).get_by_role("heading", name="Listening").focus()
    tab.page.keyboard.down(" ")
    expect(tab.button("Release to send")).to_be_visible()
    tab.page.keyboard.up(" ")
    line.until(lambda: [message["down"] for message in line.of("hold")] == [True, False])
    assert len(line.of("start")) == 1


QUESTION = {
    "id": "a1",
    "run": "",
    "conversation": "c1",
    "server": "files",
    "tool": "delete_note",
    "arguments": '{"name": "shopping"}',
}


def test_a_question_of_a_tool_is_answered_in_the_call_by_key_and_by_button(tab: Tab, line: Line) -> None:
    called(tab, line)
    line.says("tool", reply_id=1, call_id="t1", tool="delete_note", server="files", state="asked")
    line.says("status", state="waiting")
    line.says("approval_asked", reply_id=1, question="May I?", approval=QUESTION)
    card = screen(tab).get_by_role("group", name="Allow files to run delete_note?")
    expect(card).to_be_focused()
    expect(screen(tab).get_by_role("heading", name="Your approval is needed")).to_be_visible()
    expect(screen(tab).get_by_role("log")).to_contain_text("delete_note: Needs approval")
    assert tab.complaints(AXE) == []
    tab.page.keyboard.press("n")
    expect(card).to_have_count(0)
    line.says("approval_asked", reply_id=1, question="May I?", approval=QUESTION | {"id": "a2"})
    tab.button("Always allow").click()
    lasting = tab.page.get_by_role("menuitem", name="Always allow delete_note")
    expect(lasting).to_be_focused()
    tab.page.keyboard.press("n")
    expect(card).to_be_visible()
    lasting.click()
    expect(card).to_have_count(0)
    line.until(
        lambda: (
            [(one["id"], one["decision"]) for one in line.of("approval")] == [("a1", "deny"), ("a2", "tool")]
        )
    )
    line.says("approval_asked", reply_id=1, question="May I?", approval=QUESTION | {"id": "a3"})
    expect(card).to_be_visible()
    line.says("approval_answered", reply_id=1, id="a3", decision="once")
    expect(card).to_have_count(0)


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
    expect(screen(tab).get_by_role("heading", name="Call ended")).to_be_visible()
    expect(screen(tab)).to_contain_text("Nobody has said anything for 600 seconds.")
    expect(tab.button("Try again")).to_be_visible()
    tab.page.keyboard.press("Escape")
    expect(screen(tab)).to_have_count(0)


@pytest.mark.parametrize("width", [320, pytest.param(1280, marks=pytest.mark.long)])
def test_a_call_is_usable_at_every_width_in_both_themes(visit: Callable[..., Tab], width: int) -> None:
    tab = visit(viewport={"width": width, "height": 640}, reduced_motion="reduce").with_voice().open()
    line = Line(tab)
    called(tab, line)
    line.says("transcript", turn=1, text="what is a duologue", final=True)
    line.speaks(1, "It is a talk of two, and here one of them is a model.", seconds=5.0)
    expect(screen(tab)).to_contain_text("here one of them")
    assert tab.complaints_in_both_themes(AXE) == []
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = tab.button("Hang up").bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= width
    assert box["y"] + box["height"] <= 640
    tab.button("Show chat").click()
    expect(tab.button("Show call")).to_be_visible()
    assert tab.complaints_in_both_themes(AXE) == [], "nor does the small call have faults"
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


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
    assert {"Mute", "Call options", "Hang up", "Type a message"} <= reached
    assert "Message" not in reached


def test_a_page_on_plain_http_elsewhere_says_why_it_has_no_microphone(visit: Callable[..., Tab]) -> None:
    tab = visit().with_voice()
    tab.page.add_init_script(
        "Object.defineProperty(window, 'isSecureContext', { value: false, configurable: true })"
    )
    tab.open()
    tab.button("Call").click()
    expect(screen(tab)).to_contain_text("duologue serve --tls")


def test_a_page_opened_while_the_voice_loads_offers_calls_once_it_is_there(
    serve: Callable[..., Server], visit: Callable[..., Tab], tmp_path: Path
) -> None:
    held = HeldWorkers(tmp_path, "voice")
    held.hold()
    engines = {
        f"DUOLOGUE_VOICE__{part}__ENGINE": engine
        for part, engine in (("DETECTOR", "energy"), ("RECOGNISER", "scripted"), ("SPEAKER", "scripted"))
    }
    server = serve("--engine", "scripted", DUOLOGUE_VOICE__ENABLED="true", **engines, **held.environment)
    tab = visit(on=server.ready()).open()
    call = tab.button("Call")
    expect(call).to_have_attribute("title", "The voice is loading.")
    held.release()
    expect(call).to_have_attribute("title", "Call", timeout=60_000)


def test_without_a_voice_the_button_says_which_command_brings_one(visit: Callable[..., Tab]) -> None:
    tab = visit()
    tab.capabilities(features={"voice": False, "conversations": True})
    tab.open()
    tab.button("Call").click()
    expect(tab.page.get_by_role("status").filter(has_text="pip install")).to_contain_text(
        "pip install 'duologue[voice]'"
    )
