"""A browser's tab on the page, with a person's verbs, for the tests that drive a real Chromium.

Every tab also fails its test on a request to another origin, an error on the console or a violated content policy.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request, Route, expect

RICH = (
    r"## Tea\n\nIt needs **three things** and *patience*, see [the guide](https://example.org/tea).\n\n"
    r"1. water\n2. leaves\n   - green\n   - black\n\n| Tea | Minutes |\n|---|--:|\n| Sencha | 1.5 |\n\n"
    r"```python\ndef brew():\n    return 'tea'  # a comment that is long enough to scroll sideways, even on a desk's wide screen\n```"
    r"\n\n- [x] warm the pot\n\n> Wait.\n\nThat is all."
)


class Tab:
    """A tab on the page, with a person's verbs. `errors` is what the console complained about."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.url = url
        self.context = context
        self.page: Page = context.new_page()
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _console(self, message: ConsoleMessage) -> None:
        if "registration blocked by Playwright" in message.text:
            return
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def open(self) -> Tab:
        self.page.goto(self.url)
        expect(self.composer).to_be_visible()
        return self

    def forgive(self, pattern: str) -> None:
        """Complaints the test provoked on purpose."""
        self.errors = [error for error in self.errors if not re.search(pattern, error)]

    @property
    def composer(self) -> Locator:
        return self.page.get_by_label("Message", exact=True)

    @property
    def replies(self) -> Locator:
        return self.page.locator("article[aria-busy]")

    @property
    def reply(self) -> Locator:
        return self.replies.last

    @property
    def said(self) -> Locator:
        return self.page.locator("article:not([aria-busy])")

    @property
    def chats(self) -> Locator:
        """The links of the list."""
        return self.page.get_by_role("navigation", name="Chats").get_by_role("link")

    def chat(self, title: str) -> Locator:
        """Its line in the list."""
        return (
            self.page.get_by_role("navigation", name="Chats").get_by_role("listitem").filter(has_text=title)
        )

    def does(self, line: Locator, what: str) -> None:
        """What the menu of a line in the list offers."""
        line.hover()
        line.get_by_role("button", name=re.compile("^Options for ")).click()
        self.page.get_by_role("menuitem", name=what, exact=True).click()

    def add(self, *path: str) -> None:
        """What the menu of the composer offers, through its further menus."""
        self.button("Add").click()
        for what in path:
            self.page.locator("[role^=menuitem]").filter(has_text=re.compile(rf"^\s*{what}")).last.click()

    def more(self, message: Locator, what: str | re.Pattern[str]) -> None:
        """What the menu of a message offers."""
        message.hover()
        message.get_by_role("button", name="More", exact=True).click()
        self.page.locator("[role^=menuitem]").filter(has_text=what).first.click()

    def button(self, name: str | re.Pattern[str]) -> Locator:
        return self.page.get_by_role("button", name=name, exact=isinstance(name, str))

    def call_with_camera(self) -> None:
        """Begin a call with the camera, from the menu beside the call button."""
        self.button("Ways to call").click()
        self.page.get_by_role("menuitem", name="Call with camera").click()

    def say(self, text: str) -> None:
        self.composer.fill(text)
        self.button("Send").click()

    def told(self, text: str) -> None:
        """Say something and wait for the end of the reply."""
        before = self.replies.count()
        self.say(text)
        # Until there is one, the last reply is the one before, which has ended long ago.
        expect(self.replies.nth(before)).to_be_attached()
        self.ended()

    def told_instead(self, text: str) -> None:
        """The same where the last message has no answer yet, or one that failed: the new message takes its place."""
        self.say(text)
        expect(self.said.last).to_contain_text(text)
        self.ended()

    def ended(self) -> None:
        expect(self.reply).to_have_attribute("aria-busy", "false", timeout=30_000)

    def capabilities(self, **changes: Any) -> None:
        """From now on the server says this of itself."""
        model = {
            "name": "duologue-mini",
            "engine": "llama",
            "context": 4096,
            "parameters": 5_200_000,
            "description": "",
            "bundled": True,
            "verbs": ["prefill", "thinking"],
        }
        body = {
            "version": "0.1.0",
            "build": None,
            "state": "ready",
            "detail": "",
            "default_model": "duologue-mini",
            "models": [model],
        }
        self.fulfil("**/api/capabilities", body | changes)

    def with_voice(self, *, sees: bool = False) -> Tab:
        """From now on the server says that it has a voice, and if it `sees` that its model takes pictures."""

        def say_so(route: Route) -> None:
            answer = route.fetch()
            body = answer.json()
            body["features"] |= {"voice": True, "speech": True, "transcription": True}
            for model in body["models"] if sees else ():
                model["modalities"] = ["text", "image"]
            route.fulfill(response=answer, json=body)

        self.page.route("**/api/capabilities", say_so)
        return self

    def asked(self, method: str, ending: str) -> list[Any]:
        """From now on: the bodies of the requests to addresses with this end."""
        bodies: list[Any] = []

        def note(request: Request) -> None:
            if request.method == method and request.url.split("?")[0].endswith(ending):
                bodies.append(request.post_data_json)

        self.page.on("request", note)
        return bodies

    def hears(self, *events: dict[str, Any]) -> None:
        """From now on every run says this, and breaks off."""
        lines = "".join(
            f"id: {number}\ndata: {json.dumps(event)}\n\n" for number, event in enumerate(events, 1)
        )
        self.page.unroute("**/api/runs/*/events")
        self.page.route(
            "**/api/runs/*/events",
            lambda route: route.fulfill(status=200, content_type="text/event-stream", body=lines),
        )

    def complaints(self, axe: Path) -> list[Any]:
        """What axe-core finds on the page as it stands. Skips the test where that is not installed."""
        if not axe.exists():
            pytest.skip("axe-core is not installed: run `npm ci` in web/ to run the accessibility checks")
        return self._found(axe, {})

    def complaints_in_both_themes(self, axe: Path) -> list[Any]:
        """The same in the light theme, and what the dark one changes about it: the contrasts."""
        self.page.emulate_media(color_scheme="light")
        found = self.complaints(axe)
        self.page.emulate_media(color_scheme="dark")
        found += self._found(axe, {"runOnly": ["color-contrast", "link-in-text-block"]})
        self.page.emulate_media(color_scheme="light")
        return found

    def _found(self, axe: Path, options: dict[str, Any]) -> list[Any]:
        # What is told of a new size, such as a table that scrolls now, comes with the next frames.
        self.page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        if not self.page.evaluate("() => 'axe' in window"):
            self.page.evaluate(axe.read_text())
        found = self.page.evaluate("options => axe.run(options)", options)
        assert options or len(found["passes"]) > 10
        return [
            (violation["id"], node["html"], node["failureSummary"])
            for violation in found["violations"]
            for node in violation["nodes"]
        ]

    def fulfil(self, address: str, body: object, status: int = 200) -> None:
        self.page.unroute(address)
        self.page.route(
            address,
            lambda route: route.fulfill(
                status=status, content_type="application/json", body=json.dumps(body)
            ),
        )


def operation(page: Page, path: str) -> Locator:
    """The block of an operation in the description of the APIs, which draws what is scrolled to."""
    expect(page.locator(".opblock").first).to_be_visible(timeout=60_000)
    block = page.locator(".opblock", has=page.locator(".opblock-summary", has_text=path)).first
    for _ in range(600):
        if block.count():
            break
        page.evaluate("() => scrollBy(0, innerHeight)")
        page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn, 50)))")
    return block
