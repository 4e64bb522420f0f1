"""Count the clicks and measure the seconds from `duologue serve` to the reply of a better model, in a real browser.

    python bench/bench_first_contact.py [--rounds 3] [--size 64]

The hub is a stand-in on loopback whose file is a tiny model padded to `--size` megabytes, so the download's seconds are those of our
own code, not those of a network, and the load's are those of a tiny model. Then the same with every process of the server killed at
each stage and started again, with the page open all the time: the seconds are those from the start of the server to the model
that answers. Needs Chromium, the built page and the development dependencies.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Locator, Page, expect, sync_playwright

from load import free_port, root, wait_ready

sys.path.insert(0, str(root()))

from tests.support.hub_stand_in import Hub, serving
from tests.support.tiny_model import TinyModel, write_tiny_model

from duologue.models.recommended import RECOMMENDED

PATIENCE_MS = 120_000
COUNT_CLICKS = "window.clicks = 0; addEventListener('pointerdown', () => { window.clicks += 1; }, true);"
KILLED_AT = ("downloading", "checking", "loading", "answering")


class Contact:
    """A server on a port and a data folder of its own, and what it says of its downloads."""

    def __init__(self, folder: Path, hub: Hub) -> None:
        self.folder, self.hub, self.port = folder, hub, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> float:
        """Seconds until it is ready."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith("DUOLOGUE_")}
        command = [sys.executable, "-m", "duologue", "serve", "--port", str(self.port)]
        self.process = subprocess.Popen(
            [*command, "--data", str(self.folder / "data"), "--no-supervise", "--log-level", "warning"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            env=clean | {"HF_ENDPOINT": self.hub.url},
        )
        return wait_ready(f"{self.url}/ready", self.process)

    def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(30)

    def until(self, true: Callable[[dict[str, Any]], bool]) -> None:
        end = time.monotonic() + PATIENCE_MS / 1000
        while time.monotonic() < end:
            if any(map(true, httpx.get(f"{self.url}/api/models", timeout=30).json()["downloads"])):
                return
        raise SystemExit("the stage never came")


@contextmanager
def contact_with(file: bytes) -> Iterator[Contact]:
    files = {model.repository: {model.file: file} for model in RECOMMENDED if model.first_choice}
    with tempfile.TemporaryDirectory() as folder, serving(Hub(files)) as hub:
        contact = Contact(Path(folder), hub)
        try:
            yield contact
        finally:
            contact.end(signal.SIGTERM)


def open_page(page: Page, contact: Contact) -> tuple[Locator, str]:
    """The one button, and the title of the model that it names."""
    page.goto(contact.url)
    button = page.get_by_role("button", name=re.compile("^Get a better model"))
    button.wait_for(timeout=PATIENCE_MS)
    return button, button.locator("small").inner_text().split(" · ")[0]


def wait_until_it_answers(page: Page, title: str) -> None:
    page.get_by_role("main").get_by_text(f"{title} answers.").wait_for(timeout=PATIENCE_MS)


def reply(page: Page) -> None:
    page.keyboard.type("Hello")
    page.keyboard.press("Enter")
    expect(page.locator("article[aria-busy]").last).to_have_attribute(
        "aria-busy", "false", timeout=PATIENCE_MS
    )


def undisturbed(page: Page, file: bytes) -> dict[str, float]:
    """Seconds of each stage."""
    with contact_with(file) as contact:
        marks = {"`duologue serve` to ready": contact.start()}
        began = time.perf_counter()
        button, title = open_page(page, contact)
        marks["page opened, to the button that names the model"] = time.perf_counter() - began
        began = time.perf_counter()
        button.click()
        contact.until(lambda row: row["state"] in ("loading", "done"))
        marks["click, to downloaded and checked"] = time.perf_counter() - began
        began = time.perf_counter()
        wait_until_it_answers(page, title)
        marks["loaded, the page says that it answers"] = time.perf_counter() - began
        began = time.perf_counter()
        reply(page)
        marks["sent, to the end of the reply"] = time.perf_counter() - began
        marks["clicks"] = page.evaluate("window.clicks")
    return marks


def killed(page: Page, file: bytes, stage: str) -> tuple[float, int]:
    """Seconds from the new start to the model that answers, and clicks."""
    with contact_with(file) as contact:
        contact.hub.stalls = stage in ("downloading", "checking")
        contact.start()
        button, title = open_page(page, contact)
        button.click()
        if stage == "answering":
            wait_until_it_answers(page, title)
        elif stage == "loading":
            contact.until(lambda row: row["state"] in ("loading", "done"))
        else:
            contact.until(lambda row: row["done"] > 0)
        contact.end()
        contact.hub.stalls = False
        if stage == "checking":  # all bytes are there, and nobody has checked them yet
            (part,) = contact.folder.rglob("*.gguf.part")
            part.write_bytes(file)
        began = time.perf_counter()
        contact.start()
        wait_until_it_answers(page, title)
        took = time.perf_counter() - began
        reply(page)
        return took, page.evaluate("window.clicks")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", type=int, default=64, help="megabytes of the model's file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = write_tiny_model(Path(folder, "tiny.gguf"), TinyModel()).read_bytes()
        file += bytes(max(0, options.size * 1_000_000 - len(file)))
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )

        def page() -> Page:
            opened = browser.new_context(service_workers="block").new_page()
            opened.add_init_script(COUNT_CLICKS)
            return opened

        rounds = [undisturbed(page(), file) for _ in range(options.rounds)]
        print("| stage | median | all |\n|---|---|---|")
        for stage in rounds[0]:
            figures = [round(each[stage], 2) for each in rounds]
            print(f"| {stage} | {statistics.median(figures):g} | {figures} |")
        print("\n| killed while | seconds from the new start | clicks in all |\n|---|---|---|")
        for stage in KILLED_AT:
            took, clicks = zip(*(killed(page(), file, stage) for _ in range(options.rounds)), strict=True)
            print(f"| {stage} | {statistics.median(took):.2f} | {max(clicks)} |")
        browser.close()


if __name__ == "__main__":
    main()
