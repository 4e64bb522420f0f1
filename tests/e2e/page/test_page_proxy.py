"""The page behind a reverse proxy, under a path that the proxy keeps or takes away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.support.reverse_proxy import ReverseProxy
from tests.support.tabs import Tab, operation

pytestmark = [pytest.mark.browser, pytest.mark.system]


# The page asks for the same addresses in both: tests/e2e/test_proxy.py tries what differs, at the server.
@pytest.fixture(
    scope="module",
    params=[pytest.param(True, id="kept", marks=pytest.mark.long), pytest.param(False, id="taken-away")],
)
def proxy(request: Any, lasting: Any) -> Iterator[ReverseProxy]:
    flags = ("--base-path", "/talk") if request.param else ()
    running = lasting("--engine", "scripted", *flags).ready()
    with ReverseProxy(running.port, "/talk", keeps=request.param, tells=False) as made:
        yield made


def test_a_conversation_is_held_and_found_again(visit: Callable[..., Tab], proxy: ReverseProxy) -> None:
    tab = visit(on=proxy).open()
    tab.told("hello")
    expect(tab.reply).to_contain_text("You said: hello")
    tab.page.reload()
    expect(tab.reply).to_contain_text("You said: hello")
    asked = [url for url in tab.requests if url.startswith("http")]
    assert asked
    assert all(url.startswith(f"{proxy.url}/") for url in asked), (
        "the page asks for nothing outside of its path"
    )


def test_a_reply_is_shown_while_it_is_written(visit: Callable[..., Tab], proxy: ReverseProxy) -> None:
    tab = visit(on=proxy).open()
    tab.say("/say one two\n/hang")
    expect(tab.reply).to_contain_text("one two")
    expect(tab.reply).to_have_attribute("aria-busy", "true")
    tab.button("Stop").click()
    tab.ended()


def test_the_description_of_the_apis_tries_them_out(visit: Callable[..., Tab], proxy: ReverseProxy) -> None:
    tab = visit(on=proxy)
    tab.page.goto(f"{proxy.url}/docs")
    block = operation(tab.page, "/health")
    block.locator(".opblock-summary").click()
    block.get_by_role("button", name="Try it out").click()
    with tab.page.expect_response("**/health") as asked:
        block.get_by_role("button", name="Execute").click()
    assert (asked.value.url, asked.value.status) == (f"{proxy.url}/health", 200)
