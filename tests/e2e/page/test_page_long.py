"""A long conversation in a real Chromium: it opens at its end, is drawn where one reads, and nothing jumps."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import expect
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

DRAWN_IN_VIEW = """() => {
  const { top, bottom } = document.querySelector('.scroller').getBoundingClientRect();
  return [...document.querySelectorAll('article')].every((article) => {
    const box = article.getBoundingClientRect();
    return box.bottom < top || box.top > bottom || !article.classList.contains('distant');
  });
}"""
SCROLL_TOP = "() => document.querySelector('.scroller').scrollTop"
READ = """() => {
  const { top, height } = document.querySelector('.scroller').getBoundingClientRect();
  const read = [...document.querySelectorAll('article')].find((article) => article.getBoundingClientRect().top > top + height / 3);
  return [read.dataset.message, read.getBoundingClientRect().top];
}"""


def row(name: str, number: int, parent: str | None, key: str = "") -> dict[str, Any]:
    text = f"Message {number}\n\n- **one**\n- two\n\n`three`" if number % 2 else f"Question {number}"
    return {
        "id": key or f"{name}-{number}",
        "conversation": name,
        "parent": parent,
        "role": "assistant" if number % 2 else "user",
        "created": 1_700_000_000_000 + number,
        "content": [{"type": "text", "text": text}],
    }


def long_chat(url: str, count: int, others: int = 0) -> str:
    """A conversation of so many messages, brought in as a file, with so many others after its third. Its id."""
    name = f"long{uuid4().hex[:12]}"
    rows = [row(name, n, f"{name}-{n - 1}" if n else None) for n in range(count)]
    parents = [f"{name}-2", *(f"{name}-other-{n}" for n in range(3, 3 + others))]
    other = [row(name, n, parents[n - 3], f"{name}-other-{n}") for n in range(3, 3 + others)]
    head = {"id": name, "title": "A long one", "created": 1, "updated": 1, "leaf": rows[-1]["id"]}
    lines: list[Any] = [{"type": "conversation", "duologue": 1, "conversation": head}]
    lines += [{"type": "message", "message": message} for message in [*rows, *other]]
    body = "".join(json.dumps(line) + "\n" for line in lines)
    answer = httpx.post(f"{url}/api/import?name=long.jsonl", content=body, timeout=60).json()
    id: str = answer["conversations"][0]
    return id


def scrolled(tab: Tab, share: float) -> None:
    tab.page.evaluate(
        "(share) => { const it = document.querySelector('.scroller'); it.scrollTop = it.scrollHeight * share; }",
        share,
    )


def frames(tab: Tab, count: int) -> None:
    """So many frames have been painted."""
    for _ in range(count):
        tab.page.evaluate("() => new Promise(requestAnimationFrame)")


def test_a_chat_of_a_thousand_messages_opens_at_its_end_and_is_there_whole(
    server: Any, visit: Callable[..., Tab]
) -> None:
    tab = visit()
    tab.page.goto(f"{tab.url}#/c/{long_chat(server.url, 1000)}")
    expect(tab.page.get_by_text("Message 999")).to_be_in_viewport()
    expect(tab.page.locator("article")).to_have_count(1000)
    expect(tab.page.get_by_text("Message 999")).to_be_in_viewport()
    # Nothing of it is taken out of the page: a search of the browser, and a screen reader, find it all.
    expect(tab.page.get_by_text("Question 0", exact=True)).to_have_count(1)
    # Most of it is words alone.
    assert tab.page.locator("article.distant").count() > 900
    tab.told("/say and on")
    expect(tab.reply).to_be_in_viewport()


def test_what_one_scrolls_to_is_drawn_and_the_page_does_not_jump(
    server: Any, visit: Callable[..., Tab]
) -> None:
    tab = visit()
    tab.page.goto(f"{tab.url}#/c/{long_chat(server.url, 300)}")
    expect(tab.page.locator("article")).to_have_count(300)
    scrolled(tab, 0.5)
    tab.page.wait_for_function(DRAWN_IN_VIEW)
    tab.page.mouse.move(640, 400)
    for _ in range(5):
        before = tab.page.evaluate(SCROLL_TOP)
        tab.page.mouse.wheel(0, -300)
        tab.page.wait_for_function(f"(before) => ({SCROLL_TOP})() !== before", arg=before)
        tab.page.wait_for_function(DRAWN_IN_VIEW)
    frames(tab, 3)
    message, top = tab.page.evaluate(READ)
    # What is drawn above and below later leaves it where it is.
    tab.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    expect(tab.page.locator("article.distant")).to_have_count(0)
    frames(tab, 2)
    now = tab.page.locator(f"article[data-message='{message}']").bounding_box()
    assert now is not None
    assert abs(now["y"] - top) < 4


def test_a_link_into_the_middle_of_a_long_chat_leads_there_drawn(
    server: Any, visit: Callable[..., Tab]
) -> None:
    tab = visit()
    chat = long_chat(server.url, 400)
    tab.page.goto(f"{tab.url}#/c/{chat}/{chat}-201")
    there = tab.page.locator(f"article[data-message='{chat}-201']")
    expect(there).to_be_in_viewport()
    expect(there.locator("li").first).to_have_text("one")
    expect(tab.page.locator("article")).to_have_count(400)
    expect(there).to_be_in_viewport()


def test_the_other_version_of_an_early_message_comes_under_the_same_button(
    server: Any, visit: Callable[..., Tab]
) -> None:
    tab = visit()
    chat = long_chat(server.url, 200, 147)
    tab.page.goto(f"{tab.url}#/c/{chat}")
    expect(tab.page.locator("article")).to_have_count(200)
    scrolled(tab, 0)
    tab.page.wait_for_function(DRAWN_IN_VIEW)
    tab.button("Later version").click()
    expect(tab.page.locator(f"article[data-message='{chat}-other-3'] li").first).to_have_text("one")
    expect(tab.button("Earlier version")).to_be_focused()
    expect(tab.button("Earlier version")).to_be_in_viewport()
    assert tab.page.evaluate(DRAWN_IN_VIEW) is True


def test_a_search_of_the_browser_keeps_its_mark(server: Any, visit: Callable[..., Tab]) -> None:
    tab = visit()
    tab.page.goto(f"{tab.url}#/c/{long_chat(server.url, 300)}")
    expect(tab.page.locator("article")).to_have_count(300)
    # The field of the browser's search has the focus, so the page has none.
    tab.page.evaluate("() => { document.hasFocus = () => false; dispatchEvent(new Event('blur')); }")
    scrolled(tab, 0.5)
    frames(tab, 5)
    assert tab.page.evaluate(DRAWN_IN_VIEW) is False
    # A turn of the wheel is somebody who reads.
    tab.page.mouse.move(640, 400)
    tab.page.mouse.wheel(0, -10)
    tab.page.wait_for_function(DRAWN_IN_VIEW)
