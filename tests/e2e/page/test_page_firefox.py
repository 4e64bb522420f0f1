"""The page in Firefox: what the other tests of the page try in Chromium, once each and shortly. Needs `firefox-esr`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.page.conftest import BUILT
from tests.support.firefox import Firefox

pytestmark = pytest.mark.browser

COMPOSER = "document.querySelector('#composer textarea, textarea')"
LAST = "[...document.querySelectorAll('article[aria-busy]')].at(-1)"
OPEN_MENU = "[...document.querySelectorAll('[role=menu]')].some(menu => menu.checkVisibility())"
KEPT = """caches.keys().then(async ([name]) => name !== undefined
    && (await (await caches.open(name)).keys()).some(({ url }) => url.endsWith("/index.html"))
    && (await navigator.serviceWorker.getRegistration()).active?.state === "activated")"""
ESCAPE, CONTROL = "\ue00c", "\ue009"
ENDED = f"{LAST}?.getAttribute('aria-busy') === 'false'"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """One Firefox for the file."""
    executable = shutil.which("firefox-esr") or shutil.which("firefox")
    if executable is None:
        pytest.skip("no Firefox on this machine: install the package `firefox-esr` to run these tests")
    if not BUILT.exists():
        pytest.skip("the page is not built: run `make web` to run the browser tests")
    firefox = Firefox(executable, tmp_path_factory.mktemp("firefox"))
    yield firefox
    firefox.close()


@pytest.fixture
def firefox(browser: Firefox, server: Any) -> Iterator[Firefox]:
    """On a new chat. Fails its test on an error in the console."""
    browser.open("about:blank")
    browser.open(f"{server.url}/")
    browser.until(COMPOSER)
    browser.errors.clear()
    yield browser
    assert browser.errors == [], "errors in the console"


def ask(firefox: Firefox, text: str) -> None:
    firefox.click_on(COMPOSER)
    firefox.type(f"{text}\n")


def test_the_first_screen_has_one_field_with_the_focus(firefox: Firefox) -> None:
    firefox.until_text("What can I help with?")
    firefox.until(f"document.activeElement === {COMPOSER}")
    assert firefox.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_reply_streams_and_is_stopped(firefox: Firefox) -> None:
    ask(firefox, "/say one two three four")
    firefox.until(f"{LAST}?.textContent.includes('four')")
    firefox.until(ENDED)
    ask(firefox, "/hang")
    firefox.click("Stop")
    firefox.until(ENDED)


def test_markdown_is_drawn_with_a_table_and_coloured_code(firefox: Firefox) -> None:
    ask(
        firefox,
        r"/say ## Tea\n\n**Three** things:\n\n| Tea | Minutes |\n|---|--:|\n| Sencha | 2 |\n\n```python\ndef brew():\n    return 1\n```",
    )
    firefox.until(ENDED)
    firefox.until(f"{LAST}.querySelector('table td')")
    firefox.until(f"{LAST}.querySelector('pre code span')")
    assert firefox.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_another_reply_is_a_branch_to_go_back_from(firefox: Firefox) -> None:
    ask(firefox, "/say a reply")
    firefox.until(ENDED)
    firefox.click("Regenerate")
    firefox.until_text("2 / 2")
    firefox.until(ENDED)


def test_a_file_is_attached(firefox: Firefox, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("Go south.")
    firefox.choose_files("document.querySelector('input[type=file]')", tmp_path / "note.txt")
    firefox.until_text("Go south.")


def test_settings_open_and_the_theme_changes(firefox: Firefox) -> None:
    before = firefox.evaluate("getComputedStyle(document.body).backgroundColor")
    firefox.click("Theme")
    firefox.click("Theme")
    firefox.until(
        f"getComputedStyle(document.body).backgroundColor !== {before!r} || document.documentElement.dataset.theme"
    )
    firefox.click("Settings")
    firefox.until("location.hash.startsWith('#/settings')")
    firefox.until("document.querySelectorAll('main h2, main h3, #screen h2').length > 0")


def test_menus_open_and_close_with_escape(firefox: Firefox) -> None:
    firefox.click("Model:")
    firefox.until(OPEN_MENU)
    firefox.type(ESCAPE)
    firefox.until(f"!{OPEN_MENU}")
    firefox.until(f"({COMPOSER}).checkVisibility()")


DIALOG = "document.querySelector('dialog[open]')"
FOCUS_INSIDE = f"{DIALOG}?.contains(document.activeElement)"


def test_a_dialog_takes_the_focus_and_the_keys(firefox: Firefox) -> None:
    firefox.click("List options")
    firefox.click("New folder")
    firefox.until(f"{FOCUS_INSIDE} && document.activeElement.matches('input')")
    firefox.type("Hot drinks")
    firefox.until("document.activeElement.value === 'Hot drinks'")
    firefox.type("\n")
    firefox.until(f"!{DIALOG}")
    firefox.until_text("Hot drinks")


def test_a_dialog_closes_with_escape_and_gives_the_focus_back(firefox: Firefox) -> None:
    firefox.click("Settings")
    firefox.open_hash("#/settings/data")
    # The storage arrives last, and moves what is below it away from under the pointer.
    firefox.until_text("20 GB used")
    firefox.click("Delete all chats")
    firefox.until(FOCUS_INSIDE)
    firefox.type(ESCAPE)
    firefox.until(f"!{DIALOG}")
    firefox.until("document.activeElement?.textContent.includes('Delete all chats')")


def test_the_palette_opens_by_its_keys_and_finds_a_screen(firefox: Firefox) -> None:
    firefox.until(f"document.activeElement === {COMPOSER}")
    firefox.press_together(CONTROL, "k")
    firefox.until(f"{FOCUS_INSIDE} && document.activeElement.matches('input')")
    firefox.type("keyboard shortcuts\n")
    firefox.until(f"{DIALOG}?.innerText.includes('Keyboard shortcuts')")
    firefox.type(ESCAPE)
    firefox.until(f"!{DIALOG}")


def test_the_voice_settings_offer_voices_and_packs_and_fit_the_window(firefox: Firefox) -> None:
    firefox.open_hash("#/settings/voice")
    firefox.until("document.querySelectorAll('main select, #screen select').length > 0")
    firefox.until_text("Speed")
    firefox.until_text("Microphone")
    assert firefox.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_page_opens_while_the_server_is_away_and_says_so(browser: Firefox, serve: Any) -> None:
    server = serve("--engine", "scripted").ready()
    browser.open(f"{server.url}/")
    browser.until(COMPOSER)
    assert browser.evaluate("navigator.serviceWorker.ready.then(() => true)")
    browser.until(KEPT)
    server.stop()
    browser.reload()
    browser.until(COMPOSER)
    browser.until_text("Can’t reach the server. Retrying")
    # Requests that nobody answers are errors in the console.
    browser.open("about:blank")
    browser.errors.clear()
