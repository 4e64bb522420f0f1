"""A Chromium for the tests of the page, and tabs in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.e2e.conftest import Server
from tests.support.tabs import Tab

ROOT = Path(__file__).parents[3]
BUILT = ROOT / "src/duologue/gateway/page/index.html"
BROWSERS = (
    # The same engine without a browser's frame, which nobody sees here: a quarter less work for each tab.
    "chromium-headless-shell",
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
)
FEATURES = (
    # Those that the library itself switches off: of two lists Chromium takes the last one.
    *("AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync"),
    *("DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay"),
    *("MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch"),
    *("TcpPortRandomizationWin", "ThirdPartyStoragePartitioning"),
    # A renderer for the browser's own frame, which nobody sees: two fifths of what opening a tab costs.
    *("InitialWebUI", "PreloadTopChromeWebUI", "WebUIOmniboxPopup", "WebUIReloadButton", "WebUIToolbar"),
    *("OmniboxAimPopup", "WebUIOmniboxAimPopup", "WebUILocationBar"),
)
QUIET = [
    "--no-sandbox",
    # What a whole Chromium does by itself, and its headless shell does not: a hostile preview has a process of its own.
    "--site-per-process",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(FEATURES)}",
]
DESK = {"width": 1280, "height": 800}

# Five seconds, the library's own, are short on a machine that runs other tests beside this one.
expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def switches() -> list[str]:
    """Further switches of a file's Chromium."""
    return []


class FileBrowser:
    """The Chromium that runs now, for the tests of one file."""

    def __init__(self) -> None:
        self._closing = ExitStack()
        self._key: tuple[object, ...] = ()
        self._browser: Browser

    def running(self, file: Path, executable: str, switches: list[str]) -> Browser:
        """That of this file, started if there is none."""
        key = (file, executable, *switches)
        if self._key != key:
            self.close()
            with ExitStack() as opening:
                playwright = opening.enter_context(sync_playwright())
                # A machine that runs other tests beside this one starts it slowly.
                self._browser = playwright.chromium.launch(
                    executable_path=executable, args=[*QUIET, *switches], timeout=60_000
                )
                opening.callback(self._browser.close)
                self._closing = opening.pop_all()
            self._key = key
        return self._browser

    def close(self) -> None:
        self._key = ()
        self._closing.close()


file_browser = FileBrowser()
FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[FAILED] = report.failed or (call.when != "setup" and item.stash[FAILED])
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """End Chromium with its file: its event loop would be in the way of asynchronous tests. It ends after a failure as well, so
    that the next attempt has a new one. This is no fixture's: one that was not ended failed 2,000 tests."""
    try:
        return (yield)
    finally:
        if item.stash[FAILED] or nextitem is None or nextitem.path != item.path:
            file_browser.close()


@pytest.fixture
def chromium(request: pytest.FixtureRequest, switches: list[str]) -> Browser:
    """The Chromium of the test's file."""
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        pytest.skip("no Chromium on this machine: install the package `chromium` to run the browser tests")
    if not BUILT.exists():
        pytest.skip("the page is not built: run `make web` to run the browser tests")
    return file_browser.running(request.path, executable, switches)


@pytest.fixture(scope="module", autouse=True)
def without_chats(shared_server: Server) -> None:
    """A list of chats without those of other files, whose names and number a test would meet."""
    shared_server.delete_chats()


@pytest.fixture
def visit(chromium: Browser, server: Any) -> Iterator[Callable[..., Tab]]:
    """Opens tabs, each in a profile of its own unless `beside` names another; `on` is another server. A page that is kept
    for later would answer some of what tests intercept, so it is only with `service_workers="allow"`."""
    tabs: list[Tab] = []
    # What another test began to write in a new chat, or preferred, is on the server, and would be this one's.
    with suppress(httpx.HTTPError):
        httpx.delete(f"{server.url}/api/drafts/new", timeout=30)
        httpx.patch(f"{server.url}/api/settings", json={"options": None, "page": None}, timeout=30)

    def make(*, beside: Tab | None = None, on: Any = None, **options: Any) -> Tab:
        context = (
            beside.context
            if beside
            else chromium.new_context(**({"viewport": DESK, "service_workers": "block"} | options))
        )
        context.set_default_timeout(30_000)
        url = beside.url if beside else (on or server).url.rstrip("/") + "/"
        tabs.append(Tab(context, url))
        return tabs[-1]

    yield make
    # All of them, before any is judged: one that is left open would be in the next test's way.
    with ExitStack() as closing:
        for context in {id(tab.context): tab.context for tab in tabs}.values():
            closing.callback(context.close)
    for tab in tabs:
        home = urlsplit(tab.url).netloc
        foreign = [url for url in tab.requests if urlsplit(url).netloc not in (home, "")]
        assert foreign == [], "requests to another origin"
        assert tab.errors == [], "complaints on the console"


@pytest.fixture
def tab(visit: Callable[..., Tab]) -> Tab:
    return visit().open()
