"""Calls with a camera or the screen, in a real Chromium whose camera shows a pattern. The tests play the server's end of the call."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Locator, expect
from tests.support.call_line import Line
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
NOTE_TRACKS = """
    window.tracks = [];
    for (const name of ["getUserMedia", "getDisplayMedia"]) {
      const open = navigator.mediaDevices[name].bind(navigator.mediaDevices);
      navigator.mediaDevices[name] = async (asked) => {
        const stream = await open(asked);
        window.tracks.push(...stream.getVideoTracks());
        return stream;
      };
    }
"""
REFUSE = """(name) => {
    const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async (asked) => {
      if (asked.video) throw new DOMException('', name);
      return open(asked);
    };
}"""
"""There is a microphone, and this answer about the camera."""


@pytest.fixture(scope="module")
def switches() -> list[str]:
    """Two cameras, a microphone and a screen, and a user who allows them."""
    return ["--use-fake-device-for-media-stream=device-count=2", "--use-fake-ui-for-media-stream"]


@pytest.fixture
def tab(visit: Callable[..., Tab]) -> Tab:
    return opened(visit())


@pytest.fixture
def line(tab: Tab) -> Line:
    return Line(tab)


def opened(tab: Tab) -> Tab:
    """A page that may call a model that sees, with a record of every camera and screen that was opened."""
    tab.page.add_init_script(NOTE_TRACKS)
    return tab.with_voice(sees=True).open()


def screen(tab: Tab) -> Locator:
    return tab.page.get_by_role("dialog").first


def press(tab: Tab, name: str | re.Pattern[str]) -> None:
    screen(tab).get_by_role("button", name=name, exact=isinstance(name, str)).click()


def on(tab: Tab) -> int:
    """How many cameras and screens are on."""
    count: int = tab.page.evaluate(
        "() => window.tracks.filter(({ readyState }) => readyState === 'live').length"
    )
    return count


def frames(line: Line) -> list[dict[str, Any]]:
    return line.of("frame")


def picture(frame: dict[str, Any]) -> Image.Image:
    head, _, data = frame["image"].partition(",")
    assert head == "data:image/jpeg;base64"
    return Image.open(BytesIO(base64.b64decode(data)))


def called(tab: Tab, line: Line) -> None:
    """In a call with a camera, of which frames arrive."""
    tab.call_with_camera()
    expect(screen(tab).get_by_label("Your camera").first).to_be_visible()
    line.until(lambda: len(frames(line)) > 0)


def test_a_call_with_a_camera_shows_it_and_sends_small_frames(tab: Tab, line: Line) -> None:
    called(tab, line)
    line.until(lambda: len(frames(line)) >= 3 and line.heard > 3200)
    assert {frame["source"] for frame in frames(line)} == {"camera"}
    sizes = {picture(frame).size for frame in frames(line)}
    assert all(max(size) <= 1024 for size in sizes)
    assert frames(line)[0]["image"] != frames(line)[-1]["image"], "the pattern moves"
    view = screen(tab).locator("video")
    tab.page.wait_for_function("(video) => video.videoWidth > 0 && !video.paused", arg=view.element_handle())
    expect(screen(tab).get_by_role("heading", name="Listening")).to_be_visible()


@pytest.mark.long
def test_a_higher_rate_sends_more_and_is_kept(tab: Tab, line: Line) -> None:
    called(tab, line)
    press(tab, "Picture options")
    choice = tab.page.get_by_role("menuitemradio")
    expect(choice.filter(has_text="1 per second")).to_have_attribute("aria-checked", "true")
    choice.filter(has_text="4 per second").click()
    before = len(frames(line))
    line.until(lambda: len(frames(line)) >= before + 8)
    press(tab, "Hang up")
    tab.page.reload()
    called(tab, line)
    press(tab, "Picture options")
    expect(choice.filter(has_text="4 per second")).to_have_attribute("aria-checked", "true")


def test_a_frozen_picture_is_shown_and_sent_again_until_it_moves(tab: Tab, line: Line) -> None:
    called(tab, line)
    press(tab, "Freeze picture")
    expect(screen(tab).get_by_text("Frozen", exact=True)).to_be_visible()
    still = screen(tab).get_by_role("img", name="Frozen").get_attribute("src")
    line.until(lambda: sum(frame["image"] == still for frame in frames(line)) >= 2)
    press(tab, "Unfreeze picture")
    line.until(lambda: frames(line)[-1]["image"] != still)
    expect(screen(tab).get_by_text("Frozen", exact=True)).to_have_count(0)


def test_what_was_sent_is_shown(tab: Tab, line: Line) -> None:
    called(tab, line)
    press(tab, re.compile("^What was sent: "))
    details = tab.page.get_by_role("dialog", name="What was sent")
    shown = details.get_by_alt_text("Last frame that was sent")
    assert shown.get_attribute("src") in [frame["image"] for frame in frames(line)]
    width, height = picture(frames(line)[0]).size
    expect(details).to_contain_text(f"{width} × {height}")
    expect(details).to_contain_text(re.compile(r"\d+ frames?, 1 per second"))
    tab.page.keyboard.press("Escape")
    expect(details).to_have_count(0)
    expect(screen(tab).get_by_role("heading", name="Listening")).to_be_visible()


def test_the_camera_goes_off_and_on_during_a_call(tab: Tab, line: Line) -> None:
    called(tab, line)
    press(tab, "Turn camera off")
    expect(screen(tab).get_by_label("Your camera")).to_have_count(0)
    assert on(tab) == 0
    before = len(frames(line))
    heard = line.heard
    line.until(lambda: line.heard > heard + 40_000)
    assert len(frames(line)) == before, "nothing is sent while it is off"
    press(tab, "Turn camera on")
    line.until(lambda: len(frames(line)) > before)


@pytest.mark.long
def test_a_call_begun_without_a_camera_sends_no_frames(tab: Tab, line: Line) -> None:
    tab.button(
        "Call",
    ).click()
    line.until(lambda: line.heard > 40_000)
    assert (frames(line), on(tab)) == ([], 0)


def test_the_screen_takes_the_place_of_the_camera(tab: Tab, line: Line) -> None:
    called(tab, line)
    press(tab, "Share screen")
    expect(screen(tab).get_by_label("Your screen").first).to_be_visible()
    line.until(lambda: frames(line)[-1]["source"] == "screen")
    assert on(tab) == 1, "the camera is off"
    press(tab, "Stop sharing screen")
    assert on(tab) == 0
    expect(screen(tab).get_by_label("Your screen")).to_have_count(0)


@pytest.mark.long
def test_another_camera_is_chosen_by_name(tab: Tab, line: Line) -> None:
    called(tab, line)
    press(tab, "Picture options")
    names = tab.page.get_by_role("menuitemradio").filter(has_text=re.compile("fake_device"))
    expect(names).to_have_count(2)
    other = names.and_(tab.page.locator("[aria-checked=false]"))
    name = other.text_content() or ""
    other.click()
    expect(screen(tab).get_by_label("Your camera").first).to_be_visible()
    assert on(tab) == 1
    press(tab, "Picture options")
    chosen = tab.page.get_by_role("menuitemradio").filter(has_text=name)
    expect(chosen).to_have_attribute("aria-checked", "true")


@pytest.mark.long
def test_only_the_callers_own_view_is_mirrored(tab: Tab, line: Line) -> None:
    called(tab, line)
    view = screen(tab).locator("video")
    expect(view).to_have_css("scale", "-1 1")
    press(tab, "Picture options")
    tab.page.get_by_role("menuitemcheckbox", name=re.compile("^Mirror my view")).click()
    expect(view).to_have_css("scale", "none")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("NotAllowedError", "Camera access is blocked."), ("NotFoundError", "No camera found.")],
)
@pytest.mark.long
def test_a_camera_that_is_refused_or_missing_is_told_and_the_call_goes_on(
    tab: Tab, line: Line, name: str, sentence: str
) -> None:
    tab.page.evaluate(REFUSE, name)
    tab.call_with_camera()
    expect(screen(tab).get_by_role("alert")).to_contain_text(sentence)
    line.until(lambda: line.heard > 3200)
    press(tab, "Try again")
    expect(screen(tab).get_by_role("alert")).to_contain_text(sentence)
    press(tab, "Go on without")
    expect(screen(tab).get_by_role("alert")).to_have_count(0)
    expect(screen(tab).get_by_role("heading", name="Listening")).to_be_visible()
    assert frames(line) == []


def test_what_the_server_says_of_frames_takes_the_place_of_the_picture(tab: Tab, line: Line) -> None:
    called(tab, line)
    line.says("error", code="modality_unsupported", message="The model does not take pictures.")
    expect(screen(tab).get_by_role("alert")).to_contain_text(re.compile("pictures"))
    assert on(tab) == 0
    line.says("status", state="hearing")
    expect(screen(tab).get_by_role("heading", name="Hearing you")).to_be_visible()


def test_a_reply_is_interrupted_and_captioned_beside_the_picture(tab: Tab, line: Line) -> None:
    called(tab, line)
    line.says("transcript", turn=1, text="What is that?", final=True)
    line.speaks(1, "That is a green circle on a wall of another green", ends=False)
    expect(screen(tab).get_by_role("heading", name="Speaking")).to_be_visible()
    captions = screen(tab).get_by_role("log")
    expect(captions).to_contain_text("What is that?")
    expect(captions).to_contain_text("That is a green circle")
    tab.page.keyboard.press("Escape")
    line.until(lambda: line.of("interrupt") != [])
    assert line.of("interrupt")[0]["reply_id"] == 1


@pytest.mark.long
def test_the_camera_of_a_minimised_call_is_seen_and_turned_off_in_its_bar(tab: Tab, line: Line) -> None:
    called(tab, line)
    press(tab, "Show chat")
    bar = tab.page.get_by_role("region", name="Call")
    before = len(frames(line))
    line.until(lambda: len(frames(line)) > before + 1)
    bar.get_by_role("button", name="Turn camera off").click()
    assert on(tab) == 0
    expect(bar.get_by_role("button", name="Turn camera off")).to_have_count(0)
    expect(bar.get_by_role("button", name="Hang up")).to_be_visible()


def test_frames_are_sent_from_a_tab_in_the_background(tab: Tab, line: Line) -> None:
    called(tab, line)
    tab.page.evaluate(
        "() => { Object.defineProperty(document, 'hidden', { get: () => true });"
        " Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });"
        " document.dispatchEvent(new Event('visibilitychange')); }"
    )
    before = len(frames(line))
    line.until(lambda: len(frames(line)) > before + 2)
    assert frames(line)[-1]["image"] != frames(line)[before]["image"], "they are new ones"


@pytest.mark.long
def test_hanging_up_turns_the_camera_off(tab: Tab, line: Line) -> None:
    called(tab, line)
    press(tab, "Hang up")
    expect(screen(tab)).to_have_count(0)
    assert on(tab) == 0


def test_a_model_that_sees_nothing_greys_the_camera_and_says_why(visit: Callable[..., Tab]) -> None:
    tab = visit().with_voice().open()
    line = Line(tab)
    tab.button("Ways to call").click()
    for kind in ("Call with camera", "Call and share the screen"):
        item = tab.page.get_by_role("menuitem", name=kind)
        expect(item).to_be_disabled()
        expect(item).to_contain_text("can’t see pictures. Load a model that can.")
    tab.page.keyboard.press("Escape")
    expect(screen(tab)).to_have_count(0)
    tab.button("Call").click()
    line.until(lambda: line.heard > 3200)
    press(tab, "Turn camera on")
    expect(screen(tab).get_by_role("status").filter(has_text="can’t see pictures")).to_be_visible()
    assert frames(line) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_picture_is_accessible_and_fits(visit: Callable[..., Tab], width: int) -> None:
    tab = opened(visit(viewport={"width": width, "height": 740}, reduced_motion="reduce"))
    line = Line(tab)
    called(tab, line)
    line.says("transcript", turn=1, text="What is that?", final=True)
    assert tab.complaints_in_both_themes(AXE) == []
    assert tab.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    for name in ("Freeze picture", "Hang up", "Picture options"):
        expect(screen(tab).get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    press(tab, re.compile("^What was sent: "))
    assert tab.complaints_in_both_themes(AXE) == []
    tab.page.keyboard.press("Escape")
    tab.page.evaluate(REFUSE, "NotFoundError")
    press(tab, "Turn camera off")
    press(tab, "Turn camera on")
    expect(screen(tab).get_by_role("alert")).to_be_visible()
    assert tab.complaints_in_both_themes(AXE) == []


@pytest.mark.long
def test_everything_is_done_with_the_keyboard(tab: Tab, line: Line) -> None:
    tab.button("Ways to call").press("Enter")
    tab.page.keyboard.press("ArrowDown")
    expect(tab.page.get_by_role("menuitem", name="Call with camera")).to_be_focused()
    tab.page.keyboard.press("Enter")
    line.until(lambda: len(frames(line)) > 0)
    screen(tab).get_by_role("button", name="Freeze picture").press("Enter")
    expect(screen(tab).get_by_role("button", name="Unfreeze picture")).to_be_focused()
    tab.page.keyboard.press("Tab")
    expect(screen(tab).get_by_role("button", name="Picture options")).to_be_focused()
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("menuitemradio").first).to_be_focused()
    tab.page.keyboard.press("Escape")
    tab.page.keyboard.press("Tab")
    expect(screen(tab).get_by_role("button", name=re.compile("^What was sent"))).to_be_focused()
