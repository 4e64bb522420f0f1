"""Measure what a face costs the page: milliseconds of script in each frame of a call, in a real Chromium.

    python bench/bench_face.py [--seconds 6] [--throttle 4] [--faces mira theo rowan orbit picture figure]

Needs a built page (`make web`), the package `playwright` and a Chromium. The other end of the call is played here: sound without end and
a mouth that changes 20 times a second. Measured is the time inside the callbacks of animation frames, with the processor slowed down
`--throttle` times by the browser; beside each face the moving shape that is there without one. The budget is 4 ms. Even
without a face the 95th percentile is 3 ms: the browser probably slows a page down by stopping its thread now and then.
The last column is free of that, and of other work on the machine: what the thread worked at full speed, times `--throttle`.
`picture` and `figure` are a marked picture and a small VRM figure, brought to the server before; WebGL is drawn by the processor here.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import sys
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, Route, WebSocketRoute, sync_playwright

from load import duologue

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "src/duologue/gateway/page/index.html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SWITCHES = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"),
]
WEBGL = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
"""Pictures and figures need it; drawn faces are measured without."""
BROUGHT = ("picture", "figure")
FACES = ("mira", "theo", "rowan", "orbit", *BROUGHT)
NONE = "no face"
BUDGET_MS = 4.0
RATE = 24_000
KEY_SAMPLES = RATE // 20
FRAMES = """window.frames = [];
const asked = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (callback) => asked((now) => {
  const began = performance.now();
  callback(now);
  window.frames.push(performance.now() - began);
});"""


def keys(seconds: float) -> list[list[int]]:
    """A mouth that is never at rest."""
    chance = random.Random(1)
    count = int(seconds * RATE) // KEY_SAMPLES
    return [
        [
            at * KEY_SAMPLES,
            chance.randint(0, 100),
            chance.randint(-100, 100),
            *(chance.randint(0, 60) for _ in range(3)),
        ]
        for at in range(count)
    ]


def other_end(seconds: float) -> Callable[[WebSocketRoute], None]:
    """A call that speaks at once, for so many seconds."""
    tone = array("h", (round(3000 * ((at % 120) / 60 - 1)) for at in range(RATE))).tobytes()

    def answer(socket: WebSocketRoute) -> None:
        def says(kind: str, **fields: object) -> None:
            socket.send(json.dumps({"type": kind, "epoch": 0} | fields))

        def hear(message: str | bytes) -> None:
            if not isinstance(message, str) or json.loads(message)["type"] != "start":
                return
            says("status", state="speaking")
            says("audio_start", reply_id=1, chunk_id=0)
            says("mouth", reply_id=1, keys=keys(seconds))
            for _ in range(int(seconds)):
                socket.send(tone)

        socket.on_message(hear)

    return answer


def with_voice(route: Route) -> None:
    """The server says that it has a voice."""
    answer = route.fetch()
    body = answer.json()
    body["features"]["voice"] = True
    for mode in body["modes"].values():
        mode["cascade"] = True
    route.fulfill(response=answer, json=body)


def bring(url: str, kind: str) -> str:
    """Bring a face of this kind; gives its id."""
    sys.path.insert(0, str(ROOT))
    from tests.support.vrm_file import PORTRAIT_LANDMARKS, portrait, vrm_file

    data = portrait(800) if kind == "picture" else vrm_file()
    sent = httpx.post(
        f"{url}api/avatars", data={"consent": "true", "name": kind}, files={"file": ("a", data)}, timeout=60
    )
    name = str(sent.raise_for_status().json()["id"])
    if kind == "picture":
        marks = {"landmarks": PORTRAIT_LANDMARKS}
        httpx.put(f"{url}api/avatars/{name}", json=marks, timeout=60).raise_for_status()
    return name


def frames(
    browser: Browser, url: str, face: str, seconds: float, throttle: float
) -> tuple[list[float], list[float]]:
    """Milliseconds of script in each frame of a call that speaks: slowed down by the clock, and of its thread at full speed."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.add_init_script(FRAMES)
    page.route("**/api/capabilities", with_voice)
    page.route("**/api/settings", lambda route: preferred(route, face))
    page.route_web_socket("**/ws/voice", other_end(2 * seconds + 30))
    page.goto(url)
    page.get_by_role("button", name="Call", exact=True).click()
    page.locator("dialog canvas" if face == NONE else "dialog canvas.ready").first.wait_for()
    page.get_by_role("heading", name="Speaking").wait_for()
    slowed(page, throttle)
    time.sleep(1)
    page.evaluate("() => { window.frames.length = 0 }")
    time.sleep(seconds)
    found: list[float] = page.evaluate("() => window.frames")
    slowed(page, 1)
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    time.sleep(seconds)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    context.close()
    worked = [
        event["tdur"] / 1000 for event in events if event["name"] == "FireAnimationFrame" and "tdur" in event
    ]
    return found, worked


def preferred(route: Route, face: str) -> None:
    """The settings of somebody who chose this face."""
    if route.request.method != "GET":
        route.abort()
        return
    answer = route.fetch()
    body: dict[str, Any] = answer.json()
    chosen = {"show_face": False} if face == NONE else {"show_face": True, "face": face}
    route.fulfill(response=answer, json=body | {"page": body.get("page", {}) | chosen})


def slowed(page: Page, times: float) -> None:
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": times})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--throttle", type=float, default=4.0)
    parser.add_argument("--faces", nargs="+", default=FACES)
    options = parser.parse_args()
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        raise SystemExit("no Chromium on this machine: install the package `chromium`")
    if not BUILT.exists():
        raise SystemExit("the page is not built: run `make web`")
    print(f"script of a frame in a call that speaks, milliseconds, {options.throttle:g} times slowed down\n")
    print(
        f"{'':<12}{'frames/s':>10}{'median':>9}{'p95':>9}{'most':>9}{'budget':>9}{f'p95 x {options.throttle:g}':>9}"
    )
    with duologue("--engine", "scripted") as port, sync_playwright() as playwright:
        url = f"http://127.0.0.1:{port}/"
        for name in (*options.faces, NONE):
            face = bring(url, name) if name in BROUGHT else name
            switches = SWITCHES + (WEBGL if name in BROUGHT else [])
            browser = playwright.chromium.launch(executable_path=executable, args=switches)
            times, worked = frames(browser, url, face, options.seconds, options.throttle)
            browser.close()
            rate = len(times) / options.seconds
            print(
                f"{name:<12}{rate:>10.0f}{statistics.median(times):>9.2f}{p95(times):>9.2f}{max(times):>9.2f}"
                f"{BUDGET_MS if name != NONE else '':>9}{p95(worked) * options.throttle:>9.2f}"
            )


def p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


if __name__ == "__main__":
    main()
