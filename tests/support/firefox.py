"""A Firefox for tests, driven over WebDriver BiDi: what it takes to open the page, click, type and read the console.

Playwright drives only a Firefox of its own, and Debian has no geckodriver; the browser speaks BiDi itself.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

SECONDS = 30.0
PREFERENCES = """
user_pref("app.normandy.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("services.settings.server", "data:,");
"""
FIND = """name => [...document.querySelectorAll("button, a[href], [role=menuitem], [role=menuitemradio], summary")].find(element =>
    element.checkVisibility() && !element.disabled && (element.ariaLabel || element.textContent).replace(/\\s+/g, " ").trim().startsWith(name))"""


class Firefox:
    """A headless Firefox with a profile of its own in `folder`, and one tab. `errors`: of scripts and of the console."""

    def __init__(self, executable: str, folder: Path) -> None:
        (folder / "user.js").write_text(PREFERENCES)
        self._log = (folder / "log").open("w")
        command = [
            executable,
            "--headless",
            "--no-remote",
            "--profile",
            str(folder),
            "--remote-debugging-port",
            "0",
        ]
        self._process = subprocess.Popen([*command, "about:blank"], stdout=self._log, stderr=self._log)
        self.errors: list[str] = []
        self._number = 0
        self._ending = ExitStack()
        address = f"{self._address(folder / 'log')}/session"
        self._socket: ClientConnection = self._ending.enter_context(connect(address, max_size=None))
        self.call("session.new", capabilities={})
        self._tab: str = self.call("browsingContext.getTree")["contexts"][0]["context"]
        self.call("session.subscribe", events=["log.entryAdded"])

    def _address(self, log: Path) -> str:
        end = time.monotonic() + 2 * SECONDS
        while not (found := re.search(r"BiDi listening on (ws://\S+)", log.read_text())):
            assert time.monotonic() < end, f"Firefox did not start:\n{log.read_text()}"
            assert self._process.poll() is None, f"Firefox ended:\n{log.read_text()}"
            time.sleep(0.05)
        return found[1]

    def close(self) -> None:
        self._ending.close()
        self._process.terminate()
        self._process.wait(SECONDS)
        self._log.close()

    def call(self, method: str, **parameters: Any) -> Any:
        """The result of a command; events that come before it are gathered."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=SECONDS))
            if message.get("method") == "log.entryAdded":
                entry = message["params"]
                if entry["level"] == "error":
                    self.errors.append(entry["text"])
            elif message.get("id") == self._number:
                assert message["type"] == "success", message
                return message["result"]

    def open(self, url: str) -> None:
        self.call("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    def open_hash(self, fragment: str) -> None:
        """Another screen of the page that is open."""
        self.evaluate(f"void (location.hash = {json.dumps(fragment)})")

    def reload(self) -> None:
        self.call("browsingContext.reload", context=self._tab, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """Its value, a promise's too: text, a number or a truth value."""
        answer = self._evaluate(expression)
        return answer.get("value")

    def _evaluate(self, expression: str) -> Any:
        answer = self.call(
            "script.evaluate", expression=expression, target={"context": self._tab}, awaitPromise=True
        )
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        return answer["result"]

    def until(self, expression: str, seconds: float = SECONDS) -> None:
        """Look again until the expression, or what it promises, is true."""
        end = time.monotonic() + seconds
        while not self.evaluate(f"Promise.resolve({expression}).then(Boolean)"):
            assert time.monotonic() < end, (
                f"never true: {expression}\n{self.evaluate('document.body.innerText')}"
            )
            time.sleep(0.05)

    def until_text(self, text: str) -> None:
        self.until(f"document.body.innerText.includes({json.dumps(text)})")

    def click(self, name: str) -> None:
        """A real click on the middle of what has a name that begins so."""
        self.click_on(f"({FIND})({json.dumps(name)})")

    def click_on(self, element: str) -> None:
        self.until(element)
        place = self.evaluate(
            f"(() => {{ const it = {element}; it.scrollIntoView({{block: 'nearest'}}); const at = it.getBoundingClientRect();"
            " return `${Math.round(at.x + at.width / 2)},${Math.round(at.y + at.height / 2)}` })()"
        )
        x, y = map(int, place.split(","))
        actions = [
            {"type": "pointerMove", "x": x, "y": y},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        pointer = {"type": "pointer", "id": "mouse", "actions": actions}
        self.call("input.performActions", context=self._tab, actions=[pointer])

    def type(self, text: str) -> None:
        """Real key presses; a line's end is the Enter key, "\ue00c" is Escape."""
        self._keys(
            {"type": kind, "value": key}
            for key in text.replace("\n", "\ue007")
            for kind in ("keyDown", "keyUp")
        )

    def press_together(self, modifier: str, key: str) -> None:
        """A shortcut."""
        presses = (("keyDown", modifier), ("keyDown", key), ("keyUp", key), ("keyUp", modifier))
        self._keys({"type": kind, "value": value} for kind, value in presses)

    def _keys(self, actions: Iterable[dict[str, str]]) -> None:
        self.call(
            "input.performActions",
            context=self._tab,
            actions=[{"type": "key", "id": "keys", "actions": list(actions)}],
        )

    def choose_files(self, field: str, *paths: Path) -> None:
        element = {"sharedId": self._evaluate(field)["sharedId"]}
        self.call("input.setFiles", context=self._tab, element=element, files=[str(path) for path in paths])

    def screenshot(self) -> str:
        """A PNG in base64."""
        data: str = self.call("browsingContext.captureScreenshot", context=self._tab)["data"]
        return data
