"""Measure the page in a real Chromium: script time while a reply arrives, and how fast a long chat opens.

    python bench/bench_web.py [--rounds 5] [--seconds 20]

Needs a built page (`make web`), the package `playwright` and a Chromium. A server with the scripted engine writes the replies;
the page is the production build. Prints three tables, each figure beside its budget:

* a Markdown reply of 20,000 characters, a word at a time: the script of the tasks that change the reply, from the
  browser's own trace; beside it the floor measured in the same run, a page that only appends text nodes;
* opening a chat of 1,000 messages: until its end is painted, and until all of its text is there, from another chat and
  from its address in a new tab; its elements; the longest frame while it is scrolled through; beside them the floor
  measured in the same run, a page that only appends the texts as paragraphs;
* a stream of 300 tokens a second: how many tasks were longer than 50 ms, and the longest.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import urllib.request
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from load import duologue

BUILT = Path(__file__).parents[1] / "src/duologue/gateway/page/index.html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
SIZE, PACE = 20_000, 4
MESSAGES, CHAT = 1000, "bench"
UPDATE_MS, OPEN_MS, LONG_MS = 2, 500, 50
EDGE = 150
SCROLL_PIXELS = 700
WINDOW: ViewportSize = {"width": 1280, "height": 800}
CATEGORIES = ["toplevel", "devtools.timeline", "blink.user_timing"]
SCRIPT = {
    "FunctionCall",
    "EvaluateScript",
    "RunMicrotasks",
    "FireAnimationFrame",
    "TimerFire",
    "v8.callFunction",
}
MARK = "changed"
MARKS = f"""addEventListener('DOMContentLoaded', () =>
  new MutationObserver((records) => {{
    const inReply = ({{ target }}) => (target instanceof Element ? target : target.parentElement)?.closest('.prose');
    if (records.some(inReply)) performance.mark('{MARK}');
  }}).observe(document, {{ childList: true, characterData: true, subtree: true }}));"""
FLOOR = f"""(words) => new Promise((done) => {{
  const line = document.body.appendChild(document.createElement('p'));
  line.className = 'prose';
  const next = () => {{
    if (words.length === 0) return done();
    line.append(words.shift());
    performance.mark('{MARK}');
    setTimeout(next, {PACE});
  }};
  next();
}})"""
LOOK = """const began = performance.now();
  let painted = 0;
  const painting = () => requestAnimationFrame(() => setTimeout(look));
  const look = () => {
    const shown = document.querySelectorAll('article').length;
    if (shown > 0 && painted === 0) painted = performance.now() - began;
    if (shown >= messages) done([painted, performance.now() - began]);
    else painting();
  };"""
OPENED = f"""([address, messages]) => new Promise((done) => {{
  {LOOK}
  location.hash = address;
  painting();
}})"""
COLD = f"""window.opened = new Promise((done) => {{
  const messages = {MESSAGES};
  {LOOK}
  painting();
}});"""
PARAGRAPHS = f"""([texts, messages]) => new Promise((done) => {{
  {LOOK}
  for (const text of texts) document.body.appendChild(document.createElement('article')).append(text);
  document.body.style.whiteSpace = 'pre-wrap';
  scrollTo(0, document.body.scrollHeight);
  painting();
}})"""
SCROLLED = """(step) => new Promise((done) => {
  const scroller = document.querySelector('.scroller');
  let [longest, at, frames] = [0, performance.now(), 0];
  const frame = () => {
    const now = performance.now();
    longest = Math.max(longest, now - at);
    at = now;
    scroller.scrollTop -= step;
    if (scroller.scrollTop <= 0 || ++frames >= 300) done(longest);
    else requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})"""


def sections() -> Iterator[str]:
    """Markdown as models write it, without end."""
    for number in count(1):
        yield (
            f"## Part {number}\n\nThe harbour was *quiet* when the **{number} first boats** came in, and nobody had "
            f"swept `step_{number}` yet; see [the guide](https://example.org/{number}).\n\n"
            f"- nets over the rail\n- a boy who counted baskets\n  - {number} of herring\n  - the rest of eel\n\n"
            f"| Boat | Baskets |\n|---|--:|\n| Ann | {number} |\n| Bea | {number + 7} |\n\n"
            f"```python\ndef catch_{number}(boats):\n    return sum(boat.baskets for boat in boats)  # all of it\n```\n\n"
            f"The sum is \\(a_{{{number}}} + b^2\\), and it costs $5:\n\n$$\nx_{{{number}}}\n= \\frac{{a}}{{b}}\n$$\n\n"
        )


def markdown(size: int) -> str:
    parts = islice(sections(), size // 400 + 1)
    return "".join(parts)[:size]


def script(text: str, pace: float) -> str:
    return f"/pace {pace}\n/say " + text.replace("\n", "\\n")


def ask(page: Page, text: str, seconds: float) -> None:
    """Say something and wait for the end of the reply."""
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_role("button", name="Send", exact=True).click()
    page.locator("article[aria-busy='true']").wait_for(timeout=30_000)
    page.locator("article[aria-busy='false']").wait_for(timeout=seconds * 1000 + 60_000)


def opened(browser: Browser, url: str) -> Page:
    page = browser.new_context(viewport=WINDOW).new_page()
    page.add_init_script(MARKS)
    page.goto(url)
    page.get_by_label("Message", exact=True).wait_for()
    return page


def update_times(trace: dict[str, Any]) -> list[float]:
    """Milliseconds of script in each task that changed the reply, in order."""
    events = trace["traceEvents"]
    marks = [event for event in events if event["name"] == MARK and event["ph"] in "RI"]
    if not marks:
        raise SystemExit("the trace holds no mark of a change")
    thread = (marks[0]["pid"], marks[0]["tid"])
    own = [event for event in events if (event["pid"], event["tid"]) == thread and event["ph"] == "X"]
    tasks = spans(event for event in own if event["name"].endswith("RunTask"))
    scripts = spans(event for event in own if event["name"] in SCRIPT)
    changing = {holder(tasks, event["ts"]) for event in marks}
    cost = dict.fromkeys(sorted(index for index in changing if index is not None), 0.0)
    for begin, end in scripts:
        index = holder(tasks, begin)
        if index in cost:
            cost[index] += (end - begin) / 1000
    return list(cost.values())


def spans(events: Iterator[dict[str, Any]]) -> list[tuple[float, float]]:
    """Begin and end of the outermost of some events."""
    found: list[tuple[float, float]] = []
    for event in sorted(events, key=lambda event: (event["ts"], -event.get("dur", 0))):
        begin, end = event["ts"], event["ts"] + event.get("dur", 0)
        if not found or begin >= found[-1][1]:
            found.append((begin, end))
    return found


def holder(tasks: list[tuple[float, float]], at: float) -> int | None:
    index = bisect_right(tasks, (at, float("inf"))) - 1
    return index if index >= 0 and at <= tasks[index][1] else None


def updates(browser: Browser, url: str) -> None:
    text = markdown(SIZE)
    words = text.split(" ")
    page = opened(browser, url)
    browser.start_tracing(page=page, categories=CATEGORIES)
    ask(page, script(text, PACE), len(words) * PACE / 1000)
    ours = update_times(json.loads(browser.stop_tracing()))
    page.goto("about:blank")
    browser.start_tracing(page=page, categories=CATEGORIES)
    page.evaluate(FLOOR, [f"{word} " for word in words])
    floor = update_times(json.loads(browser.stop_tracing()))
    page.context.close()
    print(f"{SIZE:,} characters in {len(ours):,} updates: script of an update, milliseconds\n")
    print(f"{'':<12}{'median':>9}{'p95':>9}{f'first {EDGE}':>12}{f'last {EDGE}':>12}{'budget':>9}")
    for name, times, budget in (("the page", ours, f"{UPDATE_MS}"), ("floor", floor, "")):
        first, last = statistics.median(times[:EDGE]), statistics.median(times[-EDGE:])
        p95 = statistics.quantiles(times, n=20)[-1]
        print(f"{name:<12}{statistics.median(times):>9.2f}{p95:>9.2f}{first:>12.2f}{last:>12.2f}{budget:>9}")


def chat() -> str:
    """A conversation of many messages, as a file to import."""
    parts = sections()
    conversation = {"id": CHAT, "title": "Long", "created": 1, "updated": 1, "leaf": f"m{MESSAGES - 1}"}
    lines: list[dict[str, object]] = [{"type": "conversation", "duologue": 1, "conversation": conversation}]
    for number in range(MESSAGES):
        asked = number % 2 == 0
        message = {
            "id": f"m{number}",
            "conversation": CHAT,
            "parent": f"m{number - 1}" if number else None,
            "created": number,
            "role": "user" if asked else "assistant",
            "content": [{"type": "text", "text": f"And part {number}?" if asked else next(parts)}],
            "status": "done",
        }
        lines.append({"type": "message", "message": message})
    return "".join(json.dumps(line) + "\n" for line in lines)


def opening(browser: Browser, url: str, rounds: int) -> None:
    file = chat()
    request = urllib.request.Request(f"{url}api/import?name=long.jsonl", file.encode(), method="POST")
    with urllib.request.urlopen(request) as answer:
        if json.load(answer)["imported"] != 1:
            raise SystemExit("the long chat was not imported")
    texts = [json.loads(line)["message"]["content"][0]["text"] for line in file.splitlines()[1:]]
    figures: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        page = opened(browser, url)
        end, whole = page.evaluate(OPENED, [f"#/c/{CHAT}", MESSAGES])
        figures["its end on the page"].append(end)
        figures["all of its text"].append(whole)
        figures["elements"].append(page.evaluate("() => document.querySelectorAll('*').length"))
        figures["longest frame, scrolled"].append(page.evaluate(SCROLLED, SCROLL_PIXELS))
        figures["elements, scrolled"].append(page.evaluate("() => document.querySelectorAll('*').length"))
        page.context.close()
        page = browser.new_context(viewport=WINDOW).new_page()
        page.add_init_script(COLD)
        page.goto(f"{url}#/c/{CHAT}")
        figures["its end, by its address"].append(page.evaluate("() => window.opened")[0])
        page.goto("about:blank")
        figures["floor: paragraphs"].append(page.evaluate(PARAGRAPHS, [texts, MESSAGES])[1])
        page.context.close()
    budgets = {"its end on the page": OPEN_MS, "its end, by its address": OPEN_MS}
    print(f"\n{MESSAGES:,} messages opened, milliseconds (or a number), median of {rounds}\n")
    print(f"{'':<26}{'median':>9}{'most':>9}{'budget':>9}")
    for name, values in figures.items():
        print(f"{name:<26}{statistics.median(values):>9.0f}{max(values):>9.0f}{budgets.get(name, ''):>9}")


def long_tasks(browser: Browser, url: str, seconds: float) -> None:
    rate = 300
    words = markdown(int(rate * seconds) * 12).split(" ")[: int(rate * seconds)]
    page = opened(browser, url)
    page.evaluate(
        "() => { window.long = []; new PerformanceObserver((list) => long.push(...list.getEntries()"
        ".map(({ duration }) => duration))).observe({ type: 'longtask' }); }"
    )
    text = script(" ".join(words), 1000 / rate)
    # The question is as long as the answer: drawing it, and what ends the reply, are no part of the stream.
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_role("button", name="Send", exact=True).click()
    page.locator("article[aria-busy='true'] .prose").wait_for(timeout=30_000)
    page.evaluate("() => { window.long.length = 0 }")
    page.locator("article[aria-busy='false']").wait_for(timeout=seconds * 1000 + 60_000)
    found: list[float] = page.evaluate("() => window.long")
    page.context.close()
    print(f"\n{rate} tokens a second for {seconds:g} s\n")
    print(f"{'':<24}{'tasks':>9}{'longest':>9}{'budget':>9}")
    print(f"{f'over {LONG_MS} ms':<24}{len(found):>9}{max(found, default=0):>6.0f} ms{0:>9}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        raise SystemExit("no Chromium on this machine: install the package `chromium`")
    if not BUILT.exists():
        raise SystemExit("the page is not built: run `make web`")
    with duologue("--engine", "scripted") as port, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=QUIET)
        url = f"http://127.0.0.1:{port}/"
        updates(browser, url)
        opening(browser, url, options.rounds)
        long_tasks(browser, url, options.seconds)
        browser.close()


if __name__ == "__main__":
    main()
