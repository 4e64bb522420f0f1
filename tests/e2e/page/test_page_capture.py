"""Photos, clips, sound and the screen, taken on the page in a real Chromium whose camera shows a pattern and whose microphone beeps."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
NOTE_TRACKS = """
    window.tracks = [];
    for (const name of ["getUserMedia", "getDisplayMedia"]) {
      const open = navigator.mediaDevices[name].bind(navigator.mediaDevices);
      navigator.mediaDevices[name] = async (asked) => {
        const stream = await open(asked);
        window.tracks.push(...stream.getTracks());
        return stream;
      };
    }
"""


@pytest.fixture(scope="module")
def switches() -> list[str]:
    """Two cameras, a microphone and a screen, and a user who allows them."""
    return ["--use-fake-device-for-media-stream=device-count=2", "--use-fake-ui-for-media-stream"]


@pytest.fixture
def tab(visit: Callable[..., Tab]) -> Tab:
    return opened(visit())


def opened(tab: Tab) -> Tab:
    """On the page, with a record of every camera and microphone that was opened."""
    tab.page.add_init_script(NOTE_TRACKS)
    return tab.open()


def lights(tab: Tab) -> list[str]:
    """The cameras, microphones and screens that are on."""
    kinds: list[str] = tab.page.evaluate(
        "() => window.tracks.filter(({ readyState }) => readyState === 'live').map(({ kind }) => kind).sort()"
    )
    return kinds


def dialog(tab: Tab) -> Locator:
    return tab.page.get_by_role("dialog")


def press(tab: Tab, name: str) -> None:
    dialog(tab).get_by_role("button", name=name, exact=True).click()


def files(tab: Tab) -> Locator:
    return tab.page.get_by_role("list", name="Attached files").get_by_role("listitem")


def refuse(tab: Tab, name: str) -> None:
    """From now on the browser answers so when it is asked for a camera or a microphone."""
    tab.page.evaluate(
        "(name) => { navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('', name); }; }",
        name,
    )


def runs(tab: Tab, most: str) -> None:
    """It has recorded for a second, or more on a slow machine."""
    expect(dialog(tab).get_by_role("timer")).to_have_text(re.compile(rf"^(?!0:00)\d+:\d\d of {most}$"))


def live(tab: Tab) -> None:
    """The preview shows a picture."""
    preview = dialog(tab).get_by_label("Camera preview")
    expect(preview).to_be_visible()
    until(tab, preview, "videoWidth > 0")


def until(tab: Tab, medium: Locator, true: str) -> None:
    tab.page.wait_for_function(f"(medium) => medium.{true}", arg=medium.element_handle())


# Photos


def test_a_photo_is_looked_at_taken_again_and_attached(tab: Tab) -> None:
    tab.add("Capture", "Camera")
    live(tab)
    assert lights(tab) == ["video"], "a photo needs no microphone"
    press(tab, "Take photo")
    expect(dialog(tab).get_by_alt_text("Your photo")).to_be_visible()
    assert lights(tab) == [], "the camera is off while the photo is looked at"
    press(tab, "Take again")
    live(tab)
    press(tab, "Take photo")
    press(tab, "Use photo")
    expect(dialog(tab)).to_have_count(0)
    expect(files(tab)).to_contain_text(["Photo.jpg"])
    expect(tab.composer).to_be_focused()
    assert lights(tab) == []


@pytest.mark.long
def test_the_camera_goes_off_when_it_is_left(tab: Tab) -> None:
    tab.add("Capture", "Camera")
    live(tab)
    tab.page.keyboard.press("Escape")
    expect(dialog(tab)).to_have_count(0)
    assert lights(tab) == []
    tab.add("Capture", "Camera")
    live(tab)
    tab.page.evaluate("() => (location.hash = '#/settings')")
    expect(dialog(tab)).to_have_count(0)
    assert lights(tab) == []


def test_everything_is_done_with_the_keyboard(tab: Tab) -> None:
    tab.button("Add").press("Enter")
    # The menu opens after the key: a letter that came before it would go to the button.
    expect(tab.page.locator("[role^=menuitem]:focus")).to_be_visible()
    tab.page.keyboard.press("c")
    expect(tab.page.get_by_role("menuitem", name="Capture")).to_be_focused()
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("menuitem", name="Camera")).to_be_focused()
    tab.page.keyboard.press("Enter")
    live(tab)
    expect(dialog(tab).get_by_role("button", name="Take photo")).to_be_focused()
    tab.page.keyboard.press("Enter")
    expect(dialog(tab).get_by_role("button", name="Use photo")).to_be_focused()
    tab.page.keyboard.press("Enter")
    expect(files(tab)).to_contain_text(["Photo.jpg"])
    expect(tab.composer).to_be_focused()


def test_another_camera_is_chosen_by_name_and_remembered(tab: Tab) -> None:
    tab.add("Capture", "Camera")
    live(tab)
    choice = dialog(tab).get_by_label("Which camera")
    expect(choice.get_by_role("option")).to_have_count(2)
    choice.select_option("fake_device_1")
    live(tab)
    assert lights(tab) == ["video"], "the first camera is off"
    chosen = choice.input_value()
    tab.page.keyboard.press("Escape")
    tab.add("Capture", "Camera")
    live(tab)
    expect(choice).to_have_value(chosen)


# Clips


def test_a_clip_has_sound_a_time_and_is_watched_before_it_is_attached(tab: Tab) -> None:
    tab.add("Capture", "Camera")
    dialog(tab).get_by_role("radio", name="Video").check()
    live(tab)
    assert lights(tab) == ["audio", "video"]
    press(tab, "Start recording")
    runs(tab, "3:00")
    press(tab, "Stop recording")
    clip = dialog(tab).get_by_label("Your video")
    expect(clip).to_be_visible()
    assert lights(tab) == []
    until(tab, clip, "duration > 0")
    assert clip.evaluate("(video) => video.paused"), "nothing plays by itself"
    press(tab, "Use video")
    expect(files(tab)).to_contain_text([re.compile(r"Video\.(webm|mp4)")])


@pytest.mark.long
def test_escape_ends_a_recording_before_it_closes_the_dialog(tab: Tab) -> None:
    tab.add("Capture", "Camera")
    dialog(tab).get_by_role("radio", name="Video").check()
    live(tab)
    press(tab, "Start recording")
    runs(tab, "3:00")
    tab.page.keyboard.press("Escape")
    expect(dialog(tab).get_by_label("Your video")).to_be_visible()
    assert lights(tab) == []
    tab.page.keyboard.press("Escape")
    expect(dialog(tab)).to_have_count(0)
    expect(files(tab)).to_have_count(0)


@pytest.mark.long
def test_a_clip_ends_by_itself_when_it_would_be_too_large(visit: Callable[..., Tab]) -> None:
    tab = visit()
    tab.capabilities(limits={"attachments": 4, "blob_bytes": 700_000})
    opened(tab)
    tab.add("Capture", "Camera")
    dialog(tab).get_by_role("radio", name="Video").check()
    live(tab)
    press(tab, "Start recording")
    expect(dialog(tab).get_by_role("timer")).to_contain_text("of 0:02")
    expect(dialog(tab).get_by_label("Your video")).to_be_visible()
    assert lights(tab) == []


# Sound and the screen


def test_sound_is_recorded_listened_to_and_attached(tab: Tab) -> None:
    tab.add("Capture", "Record sound")
    assert lights(tab) == [], "the microphone is off until recording starts"
    press(tab, "Start recording")
    runs(tab, "10:00")
    assert lights(tab) == ["audio"]
    press(tab, "Stop recording")
    sound = dialog(tab).get_by_label("Your recording")
    expect(sound).to_be_visible()
    assert lights(tab) == []
    until(tab, sound, "duration > 0")
    press(tab, "Use recording")
    expect(files(tab)).to_contain_text(["Recording.wav"])
    expect(tab.composer).to_be_focused()


def test_a_picture_of_the_screen_is_attached_at_once(tab: Tab) -> None:
    tab.add("Capture", "Screenshot")
    expect(files(tab)).to_contain_text(["Screenshot.png"])
    assert lights(tab) == []
    tab.add("Capture", "Screenshot")
    expect(files(tab)).to_contain_text(["Screenshot.png", "Screenshot 2.png"])


@pytest.mark.long
def test_a_screen_that_is_not_chosen_after_all_is_no_mistake(tab: Tab) -> None:
    tab.page.evaluate(
        "() => { navigator.mediaDevices.getDisplayMedia = async () => { throw new DOMException('by user', 'NotAllowedError'); }; }"
    )
    tab.add("Capture", "Screenshot")
    expect(tab.button("Add")).to_be_focused()
    expect(tab.page.get_by_role("alert")).to_have_count(0)
    expect(files(tab)).to_have_count(0)


# What is not there


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("NotAllowedError", "Camera access is blocked."),
        ("NotFoundError", "No camera found."),
        ("NotReadableError", "Another program is using the camera."),
    ],
)
def test_a_camera_that_cannot_be_had_says_why_and_can_be_tried_again(
    tab: Tab, name: str, sentence: str
) -> None:
    tab.page.evaluate("() => { window.real = navigator.mediaDevices.getUserMedia; }")
    refuse(tab, name)
    tab.add("Capture", "Camera")
    expect(dialog(tab).get_by_role("alert")).to_contain_text(sentence)
    assert tab.complaints(AXE) == []
    tab.page.evaluate("() => { navigator.mediaDevices.getUserMedia = window.real; }")
    press(tab, "Try again")
    live(tab)


@pytest.mark.long
def test_a_blocked_microphone_leaves_clips_without_sound_and_says_so(tab: Tab) -> None:
    tab.page.evaluate(
        """() => {
          const open = navigator.mediaDevices.getUserMedia;
          navigator.mediaDevices.getUserMedia = (asked) =>
            asked.audio ? Promise.reject(new DOMException('', 'NotAllowedError')) : open(asked);
        }"""
    )
    tab.add("Capture", "Camera")
    dialog(tab).get_by_role("radio", name="Video").check()
    live(tab)
    expect(dialog(tab)).to_contain_text("No microphone, so the video has no sound.")
    press(tab, "Start recording")
    runs(tab, "3:00")
    press(tab, "Stop recording")
    press(tab, "Use video")
    expect(files(tab)).to_contain_text([re.compile(r"Video\.(webm|mp4)")])


def test_a_blocked_microphone_says_so_when_sound_is_recorded(tab: Tab) -> None:
    refuse(tab, "NotAllowedError")
    tab.add("Capture", "Record sound")
    press(tab, "Start recording")
    expect(dialog(tab).get_by_role("alert")).to_contain_text("Microphone access is blocked.")


def test_nothing_is_offered_that_the_browser_cannot_do(visit: Callable[..., Tab]) -> None:
    tab = visit()
    tab.page.add_init_script(
        "Object.defineProperty(Navigator.prototype, 'mediaDevices', { get: () => undefined });"
    )
    tab.open()
    tab.button("Add").click()
    expect(tab.page.get_by_role("menuitem").filter(has_text="Files")).to_be_visible()
    for name in ("Capture", "Camera", "Screenshot", "Record sound"):
        expect(tab.page.get_by_role("menuitem").filter(has_text=name)).to_have_count(0)


# Looks


@pytest.mark.parametrize("width", [320, pytest.param(1280, marks=pytest.mark.long)])
def test_the_dialogs_fit_the_screen_and_are_accessible(visit: Callable[..., Tab], width: int) -> None:
    tab = opened(visit(viewport={"width": width, "height": 640}, reduced_motion="reduce"))
    tab.add("Capture", "Camera")
    dialog(tab).get_by_role("radio", name="Video").check()
    live(tab)
    fits(tab, ["Start recording", "Close"], width)
    press(tab, "Start recording")
    runs(tab, "3:00")
    assert tab.complaints(AXE) == []
    press(tab, "Stop recording")
    fits(tab, ["Use video", "Record again"], width)
    tab.page.keyboard.press("Escape")
    tab.add("Capture", "Record sound")
    fits(tab, ["Start recording"], width)
    press(tab, "Start recording")
    runs(tab, "10:00")
    press(tab, "Stop recording")
    fits(tab, ["Use recording", "Record again"], width)


def fits(tab: Tab, buttons: list[str], width: int) -> None:
    assert tab.complaints_in_both_themes(AXE) == []
    for name in buttons:
        box = dialog(tab).get_by_role("button", name=name, exact=True).bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= 640
    assert tab.page.evaluate("() => document.scrollingElement.scrollWidth") <= width
