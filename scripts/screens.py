"""Take screenshots of every screen of the page, at three widths in both themes, for review: `make screens`.

Starts its own server with the scripted engine in a temporary folder, fills it with conversations, and writes
`build/screens/*.png`. It checks nothing by itself.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, Route, WebSocketRoute, sync_playwright

ROOT = Path(__file__).parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    # A camera that shows a pattern, a microphone that beeps, and a user who allows them.
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
]
WIDTHS = {360: 740, 768: 1024, 1280: 800}
THEMES = ("light", "dark")
FULL = 60
"""Letters of a screen that has its content: more than a heading."""

TEA = (
    r"/say <think>The person asks about tea, so I should say how it is made.</think>## Green tea\n\nIt needs **three things** "
    r"and *patience*.\n\n1. water at 75 °C\n2. leaves, $3\,\mathrm{g}$ a cup\n3. a minute and a half\n\n"
    r"| Tea | Minutes | Water |\n|---|--:|--:|\n| Sencha | 1.5 | 75 °C |\n| Assam | 4 | 95 °C |\n\n"
    r"```python\ndef brew(leaves: int) -> str:\n    # Never boil it.\n    return f'{leaves} g, 90 seconds'\n```\n\n"
    r"$$\frac{dT}{dt} = -k\,(T - T_0)$$\n\n> Wait for the leaves to open.\n\nThat is all."
)
CHATS = (
    "/say The capital of Portugal is Lisbon, on the Tagus.",
    "/say Here is a plan for the garden in spring.",
    "/say Seventeen times twenty-three is 391.",
    "/say A longer answer about trains between Vienna and Trieste.",
    TEA,
)


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Run a server with `folder` as its data folder; yields its address."""
    command = [sys.executable, "-m", "duologue", "serve", "--engine", "scripted", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--data", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if "ready at " in line:
                yield line.split("ready at ")[1].split()[0]
                return
        raise SystemExit("The server did not start.")
    finally:
        process.terminate()
        process.wait()


def call(url: str, method: str, address: str, body: object = None) -> object:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/{address}", data, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read() or b"null")


def fill(url: str) -> None:
    """Conversations to look at; the last one is `chat4`."""
    call(url, "PUT", "api/folders/garden", {"name": "Garden"})
    for number, text in enumerate(CHATS):
        id = f"chat{number}"
        call(url, "POST", "api/conversations", {"id": id})
        message = {"id": f"said{number}", "content": [{"type": "text", "text": text}]}
        call(
            url,
            "POST",
            f"api/conversations/{id}/runs",
            {"verb": "send", "run": f"run{number}", "message": message},
        )
        with urllib.request.urlopen(f"{url}/api/runs/run{number}/events") as events:
            events.read()
    titles = (
        "Lisbon",
        "The garden in spring",
        "A sum",
        "Trains from Vienna to Trieste by the old line",
        "How to make tea",
    )
    for number, title in enumerate(titles):
        call(url, "PATCH", f"api/conversations/chat{number}", {"title": title})
    call(url, "PATCH", "api/conversations/chat0", {"pinned": True})
    call(url, "PATCH", "api/conversations/chat1", {"folder": "garden"})


def pressed(keys: str) -> Callable[[Page], None]:
    return lambda page: page.keyboard.press(keys)


def opened_list(page: Page) -> None:
    button = page.locator("header button").first
    if page.viewport_size and page.viewport_size["width"] < 992:
        button.click()


def connecting(page: Page) -> None:
    page.locator("#screen section button").first.click()


KINDS = ("voice", "camera", "screen")
"""Kinds of calls, in the order of the menu."""
SPOKEN = "That is a green circle on a grey wall. Shall I read the numbers below it too?"


def with_eyes_and_voice(page: Page) -> None:
    """The server says that it has a voice and a model that sees; the other end of a call is played here."""

    def say_so(route: Route) -> None:
        answer = route.fetch()
        body = answer.json()
        body["features"]["voice"] = True
        for mode in body["modes"].values():
            mode["cascade"] = True
        for model in body["models"]:
            model["modalities"] = ["text", "image"]
        route.fulfill(response=answer, json=body)

    def answer(socket: WebSocketRoute) -> None:
        def says(kind: str, **fields: object) -> None:
            socket.send(json.dumps({"type": kind, "epoch": 0} | fields))

        def hear(message: str | bytes) -> None:
            if isinstance(message, str) and json.loads(message)["type"] == "start":
                says("status", state="listening")
                says("transcript", turn=1, text="What do you see?", final=True)
                says("response_text", reply_id=1, text=SPOKEN, final=True)
                says("reply_done", reply_id=1, text=SPOKEN, unheard="", ending="spoken")

        socket.on_message(hear)

    def keep(route: Route) -> None:
        """What one screen sets is not for the others. The page is told that it was saved: what failed it would try again later,
        from another screen."""
        if route.request.method == "PATCH":
            route.fulfill(json=route.request.post_data_json)
        else:
            route.continue_()

    page.route("**/api/settings", keep)
    page.route("**/api/capabilities", say_so)
    page.route_web_socket("**/ws/voice", answer)


def calling(mode: str) -> Callable[[Page], None]:
    """In a call, for as long as a few frames take."""

    def call_up(page: Page) -> None:
        # One button starts the kind of the last call; the menu beside it has all kinds.
        page.locator("#composer .ways-open").click()
        page.get_by_role("menuitem").nth(KINDS.index(mode)).click()
        page.locator("dialog .captions p").last.wait_for()
        page.wait_for_timeout(3000)

    return call_up


def refused(page: Page) -> None:
    page.evaluate(
        "() => { const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);"
        " navigator.mediaDevices.getUserMedia = async (asked) => {"
        " if (asked.video) throw new DOMException('', 'NotAllowedError'); return open(asked); }; }"
    )
    calling("camera")(page)


def then_pressed(selector: str, mode: str = "camera") -> Callable[[Page], None]:
    """In a call, and then this button."""

    def press(page: Page) -> None:
        calling(mode)(page)
        page.locator(selector).last.click()

    return press


CALLS: dict[str, Callable[[Page], None]] = {
    "call": calling("voice"),
    "call-faces": then_pressed("dialog .portrait", "voice"),
    "call-without-face": then_pressed("dialog header [aria-pressed]", "voice"),
    "call-camera": calling("camera"),
    "call-camera-sent": then_pressed("dialog .sent"),
    "call-camera-frozen": then_pressed("dialog .glass[aria-pressed]"),
    "call-camera-options": then_pressed("dialog .glass[aria-haspopup]"),
    "call-camera-refused": refused,
}
"""Screens of a call, whose other end is played."""

SCREENS: dict[str, tuple[str, Callable[[Page], None] | None]] = {
    "welcome": ("#/", None),
    "chat": ("#/c/chat4", None),
    "list": ("#/c/chat4", opened_list),
    "palette": ("#/c/chat4", pressed("Control+K")),
    "shortcuts": ("#/c/chat4", pressed("Control+/")),
    "settings": ("#/settings", None),
    "settings-advanced": ("#/settings/advanced", None),
    "settings-appearance": ("#/settings/appearance", None),
    "settings-shortcuts": ("#/settings/shortcuts", None),
    "settings-voice": ("#/settings/voice", None),
    "settings-recordings": ("#/settings/recordings", None),
    "settings-tools": ("#/settings/tools", None),
    "settings-data": ("#/settings/data", None),
    "settings-keys": ("#/settings/keys", None),
    "settings-about": ("#/settings/about", None),
    "models": ("#/models", None),
    "connect": ("#/models", connecting),
    "help": ("#/help", None),
    "admin": ("#/admin", None),
    **{name: ("#/c/chat4", prepare) for name, prepare in CALLS.items()},
}


def photograph(context: BrowserContext, url: str, name: str, folder: Path, label: str) -> None:
    address, prepare = SCREENS[name]
    page = context.new_page()
    page.on(
        "console",
        lambda said: print(f"{name} {label}: {said.text}") if said.type in ("error", "warning") else None,
    )
    page.on("pageerror", lambda error: print(f"{name} {label}: {error}"))
    if name in CALLS:
        with_eyes_and_voice(page)
    page.goto(f"{url}/{address}")
    # A screen of which only the heading is there waits for the server.
    page.wait_for_function(
        f"() => (document.querySelector('main')?.innerText ?? '').trim().length > {FULL}", timeout=30_000
    )
    page.wait_for_timeout(700)
    if prepare:
        prepare(page)
        page.wait_for_timeout(500)
    overflow = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    if overflow > 0:
        print(f"{name} {label}: {overflow} px wider than the window")
    page.screenshot(path=folder / f"{name}-{label}.png")
    page.close()


def shoot(browser: Browser, url: str, folder: Path, names: list[str], language: str) -> None:
    for theme in THEMES:
        for width, height in WIDTHS.items():
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=theme,
                locale=language,
                has_touch=width < 500,
            )
            for name in names:
                photograph(context, url, name, folder, f"{width}-{theme}")
            context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which screens: {', '.join(SCREENS)}; none: all")
    parser.add_argument("--language", default="en", help="the browser's language")
    parser.add_argument("--out", type=Path, default=ROOT / "build/screens")
    asked = parser.parse_args()
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        raise SystemExit("There is no Chromium on this machine: install the package `chromium`.")
    asked.out.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder)) as url,
        sync_playwright() as playwright,
    ):
        fill(url)
        browser = playwright.chromium.launch(executable_path=executable, args=QUIET)
        shoot(browser, url, asked.out, asked.names or list(SCREENS), asked.language)
        browser.close()
    print(f"The pictures are in {asked.out}.")


if __name__ == "__main__":
    main()
