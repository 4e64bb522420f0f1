"""Faces that people bring, in the settings: a picture that is marked by hand, and a figure; both speak in the page."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from PIL import Image
from playwright.sync_api import Locator, expect
from tests.e2e.conftest import Server
from tests.support.tabs import Tab
from tests.support.vrm_file import PORTRAIT_LANDMARKS, png, portrait, vrm_file

pytestmark = pytest.mark.browser
AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
PATIENCE = 60_000
"""Milliseconds."""


@pytest.fixture(scope="module")
def switches() -> list[str]:
    """WebGL without a graphics card."""
    return ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]


def settings_of(visit: Callable[..., Tab]) -> Tab:
    tab = visit().open()
    tab.page.goto(tab.url + "#/settings/voice")
    expect(tab.page.get_by_role("heading", name="Your faces", exact=True)).to_be_visible(timeout=PATIENCE)
    return tab


def bring(server: Server, name: str, data: bytes) -> str:
    sent = httpx.post(
        f"{server.url}/api/avatars",
        data={"consent": "true", "name": name},
        files={"file": ("a", data)},
        timeout=60,
    )
    return str(sent.raise_for_status().json()["id"])


def seen(canvas: Locator) -> Image.Image:
    return Image.open(io.BytesIO(canvas.screenshot())).convert("RGB")


def wait_until_it_moves(tab: Tab, canvas: Locator) -> None:
    """Until the canvas has many colours, and others than a moment before."""
    before = seen(canvas)
    for _ in range(200):
        tab.page.evaluate("() => new Promise(requestAnimationFrame)")
        now = seen(canvas)
        if len(now.resize((64, 64)).getcolors(4096) or ()) > 20 and now.tobytes() != before.tobytes():
            return
    raise AssertionError("the face does not move")


def leave(tab: Tab) -> None:
    """Close what draws. Without a graphics card the browser complains that it copies what it drew."""
    tab.page.keyboard.press("Escape")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    tab.forgive("GPU stall due to ReadPixels|no longer be output to the console")


def test_a_picture_is_brought_marked_by_keyboard_and_pointer_and_speaks(
    visit: Callable[..., Tab], server: Server
) -> None:
    tab = settings_of(visit)
    page = tab.page
    page.get_by_role("button", name="Add a face").click()
    page.get_by_label("Choose a file").last.set_input_files(
        {"name": "me.png", "mimeType": "image/png", "buffer": portrait(240)}
    )
    page.get_by_label("Name").fill("Anna")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_label("the person in it agreed").check()
    page.get_by_role("button", name="Save").click()

    dialog = page.get_by_role("dialog", name="Mark the face")
    chin = dialog.get_by_role("button", name="Chin")
    expect(chin).to_be_visible(timeout=PATIENCE)
    canvas = dialog.locator("canvas")
    wait_until_it_moves(tab, canvas)
    chin.focus()
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("ArrowRight")
    corner = dialog.get_by_role("button", name="Left corner of the mouth")
    box = corner.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] - 10, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    assert tab.complaints_in_both_themes(AXE) == []
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0, timeout=PATIENCE)

    (row,) = [
        each for each in httpx.get(f"{server.url}/api/avatars", timeout=30).json()["avatars"] if each["own"]
    ]
    marks = row["landmarks"]
    assert marks["chin"][0] == pytest.approx(0.502, abs=0.0005)
    assert marks["chin"][1] == pytest.approx(0.82, abs=0.002)
    assert marks["mouth_left"][0] < 0.41
    expect(page.get_by_role("button", name="Try it: Anna")).to_be_visible()
    # At once, without a reload.
    expect(page.get_by_role("radio", name="Anna")).to_be_attached()
    assert tab.complaints_in_both_themes(AXE) == []
    leave(tab)


@pytest.mark.parametrize("version", [0, 1])
def test_a_figure_of_either_version_is_drawn_and_speaks(
    visit: Callable[..., Tab], server: Server, version: int
) -> None:
    bring(server, f"Figure {version}", vrm_file(version, textures=[png(64, 64)]))
    tab = settings_of(visit)
    tab.page.get_by_role("button", name=f"Try it: Figure {version}").click()
    canvas = tab.page.get_by_role("dialog").locator("canvas")
    expect(canvas).to_be_visible(timeout=PATIENCE)
    wait_until_it_moves(tab, canvas)
    leave(tab)
    assert all(url.startswith((server.url, "blob:", "data:", "ws")) for url in tab.requests)


def test_a_marked_picture_opens_its_mouth_and_closes_its_eyes(
    visit: Callable[..., Tab], server: Server
) -> None:
    id = bring(server, "Marked", portrait(480))
    httpx.put(
        f"{server.url}/api/avatars/{id}", json={"landmarks": PORTRAIT_LANDMARKS}, timeout=30
    ).raise_for_status()
    tab = settings_of(visit)
    tab.page.get_by_role("button", name="Try it: Marked").click()
    wait_until_it_moves(tab, tab.page.get_by_role("dialog").locator("canvas"))
    leave(tab)
    tab.page.get_by_role("button", name="More about Marked").click()
    tab.page.get_by_role("menuitem", name="Rename").click()
    field = tab.page.get_by_role("dialog").get_by_label("Name")
    expect(field).to_be_focused()
    field.fill("Ada")
    field.press("Enter")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    expect(tab.page.get_by_role("button", name="Try it: Ada")).to_be_visible()
