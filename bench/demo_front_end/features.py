"""What is tried on each page of the demo: one function a feature, which raises where it does not work."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

Feature = Callable[[Page, str], str]
"""Tries a feature on the page of an address; gives a remark."""
WAIT = 60_000
"""Milliseconds for a reply on a slow machine."""


def home(page: Page, url: str) -> str:
    page.goto(url + "/")
    links = page.locator(".nav-links a")
    expect(links.nth(2)).to_be_visible(timeout=WAIT)
    return ", ".join(links.all_inner_texts())


def admin(page: Page, url: str) -> str:
    page.goto(url + "/admin")
    rows = page.locator("#appList .app-row")
    expect(rows).to_have_count(3, timeout=WAIT)
    row = rows.filter(has_text="/omni")
    switch = row.locator("label.toggle")
    switch.click()
    expect(row.locator(".app-status")).to_have_text("Disabled", timeout=WAIT)
    switch.click()
    expect(row.locator(".app-status")).to_have_text("Enabled", timeout=WAIT)
    return "omni off and on"


def presets(page: Page, url: str) -> str:
    page.goto(url + "/turnbased")
    buttons = page.locator("#presetSelectorInit .preset-btn")
    expect(buttons.first).to_be_visible(timeout=WAIT)
    expect(page.locator("#presetSelectorInit .preset-loading-overlay")).to_be_hidden(timeout=WAIT)
    return f"{buttons.count()} presets"


def _ask(page: Page, text: str) -> None:
    field = (
        page.locator("#composeEditorInit textarea, #composeEditorChat textarea").locator("visible=true").first
    )
    field.fill(text)
    page.locator("#sendBtnInit, #sendBtn").locator("visible=true").first.click()


def _reply(page: Page, number: int) -> str:
    bubble = page.locator(".message.assistant").nth(number)
    expect(page.locator("#btnCancelStop")).to_be_hidden(timeout=WAIT)
    expect(bubble).not_to_contain_text("Error", timeout=1000)
    text = bubble.inner_text()
    assert len(text.strip()) > 3, f"the reply is {text!r}"
    return text


def _turnbased(page: Page, url: str, *, streaming: bool, spoken: bool) -> None:
    page.goto(url + "/turnbased")
    page.evaluate("localStorage.clear()")
    page.reload()
    expect(page.locator("#presetSelectorInit .preset-btn").first).to_be_visible(timeout=WAIT)
    expect(page.locator("#presetSelectorInit .preset-loading-overlay")).to_be_hidden(timeout=WAIT)
    for id, on in (("enableStreamingInit", streaming), ("enableTtsInit", spoken)):
        page.locator(f"#{id}").evaluate(f"box => {{ if (box.checked !== {str(on).lower()}) box.click(); }}")
    _ask(page, "What can you do?")
    expect(page.locator(".message.assistant")).to_have_count(1, timeout=WAIT)


def streamed(page: Page, url: str) -> str:
    _turnbased(page, url, streaming=True, spoken=False)
    first = _reply(page, 0)
    _ask(page, "And what else?")
    expect(page.locator(".message.assistant")).to_have_count(2, timeout=WAIT)
    _reply(page, 1)
    return f"two turns, {len(first)} characters"


def whole(page: Page, url: str) -> str:
    _turnbased(page, url, streaming=False, spoken=False)
    return f"{len(_reply(page, 0))} characters"


def spoken(page: Page, url: str) -> str:
    _turnbased(page, url, streaming=True, spoken=True)
    _reply(page, 0)
    expect(
        page.locator(
            ".message.assistant .msg-ci-audio, .message.assistant audio, .message.assistant canvas"
        ).first
    ).to_be_attached(timeout=WAIT)
    return "text and sound"


def _talk(page: Page, log: str) -> str:
    page.locator("#btnStart").click()
    expect(page.locator("#btnStop")).to_be_enabled(timeout=WAIT)
    entries = page.locator(f"{log} .ai, {log} .conv-entry.speak")
    expect(entries.first).to_be_visible(timeout=WAIT)
    return entries.first.inner_text()[:60]


def _controls(page: Page) -> None:
    page.locator("#btnPause").click()
    expect(page.locator("#btnPause")).to_contain_text("Resume", timeout=WAIT)
    page.locator("#btnPause").click()
    expect(page.locator("#btnPause")).to_contain_text("Pause", timeout=WAIT)
    page.locator("#btnForceListen").click()
    page.locator("#btnForceListen").click()
    page.locator("#btnStop").click()
    expect(page.locator("#btnStart")).to_be_enabled(timeout=WAIT)


def audio_duplex(page: Page, url: str) -> str:
    page.goto(url + "/audio_duplex")
    said = _talk(page, "#chatLog")
    _controls(page)
    return f"talk, pause, force listen, stop: {said!r}"


def omni(page: Page, url: str) -> str:
    page.goto(url + "/omni")
    said = _talk(page, "#conversationLog")
    _controls(page)
    return f"camera and microphone: {said!r}"


def mobile_omni(page: Page, url: str) -> str:
    page.goto(url + "/mobile-omni/")
    page.locator("#fsBtnStart").click(force=True)
    expect(page.locator("#fsBtnStop")).to_be_enabled(timeout=WAIT)
    page.wait_for_timeout(3000)
    page.locator("#fsBtnStop").click(force=True)
    expect(page.locator("#fsBtnStart")).to_be_enabled(timeout=WAIT)
    return "start and stop"


def _open_mobile(page: Page, url: str) -> None:
    answer = page.goto(url + "/mobile/")
    assert answer is not None
    assert answer.status == 200, "its build is not there: npm run build:static in frontend/mobile"
    expect(page.get_by_text("Backend ready")).to_be_visible(timeout=WAIT)


def mobile(page: Page, url: str) -> str:
    _open_mobile(page, url)
    page.get_by_label("Switch to keyboard").click()
    page.locator("textarea, input[type=text]").locator("visible=true").first.fill("What can you do?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Regenerate")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("button", name="Stop playback")).to_be_visible(timeout=WAIT)
    return "a spoken reply"


def mobile_call(page: Page, url: str) -> str:
    _open_mobile(page, url)
    page.get_by_label("Audio duplex").click()
    expect(page.get_by_text("IN CALL")).to_be_visible(timeout=WAIT)
    expect(page.get_by_text("speaking ·")).to_be_visible(timeout=WAIT)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible(timeout=WAIT)
    page.get_by_role("button", name="End").click()
    return "answered, paused, ended"


FEATURES: tuple[tuple[str, str, Feature], ...] = (
    ("/", "modes from /api/apps", home),
    ("/admin", "switches", admin),
    ("/turnbased", "presets with their sound", presets),
    ("/turnbased", "streamed, two turns", streamed),
    ("/turnbased", "whole", whole),
    ("/turnbased", "spoken", spoken),
    ("/audio_duplex", "a call", audio_duplex),
    ("/omni", "a call with a camera", omni),
    ("/mobile-omni/", "a call", mobile_omni),
    ("/mobile/", "a chat", mobile),
    ("/mobile/", "a call", mobile_call),
)
