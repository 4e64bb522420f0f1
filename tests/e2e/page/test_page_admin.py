"""The admin page against a real server: figures that come, workers, the queue, and a restart."""

import re

import pytest
from playwright.sync_api import expect
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser


def test_the_figures_come_while_one_looks(tab: Tab) -> None:
    # Long enough for its speed to be measured.
    tab.told("/pace 10\n/say one two three four five six")
    tab.page.goto(tab.url + "#/admin")
    charts = tab.page.get_by_role("figure")
    expect(charts).to_have_count(4)
    expect(charts.filter(has_text="First token").get_by_role("listitem").first).to_contain_text(
        re.compile(r"median: \d")
    )
    # The speed is that of a reply while it is written: as it says itself, and not spread over idle seconds.
    expect(charts.filter(has_text="Tokens per second").get_by_role("listitem").first).to_contain_text(
        re.compile(r"while writing, median: \d")
    )
    workers = tab.page.get_by_role("region", name="Workers")
    expect(workers.get_by_role("listitem").filter(has_text="worker_0")).to_contain_text(
        re.compile(r"\d served")
    )


def test_what_runs_is_shown(tab: Tab) -> None:
    tab.say("/say word\n/hang")
    expect(tab.button("Stop")).to_be_visible()
    tab.page.goto(tab.url + "#/admin")
    expect(tab.page.get_by_role("region", name="Running", exact=True)).to_contain_text("worker_0")
    expect(tab.page.get_by_text("The queue is empty.")).to_be_visible()


def test_a_worker_is_restarted_after_a_question(tab: Tab) -> None:
    tab.page.goto(tab.url + "#/admin")
    workers = tab.page.get_by_role("region", name="Workers")
    worker = workers.get_by_role("listitem").filter(has_text="worker_0")
    expect(worker).to_contain_text(re.compile("Idle|Answering"))
    tab.button("Restart worker_0").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Restart").click()
    expect(worker).to_contain_text("restarted once")
    expect(worker).to_contain_text("Idle")


def test_a_worker_drains_and_works_again(tab: Tab) -> None:
    tab.page.goto(tab.url + "#/admin")
    workers = tab.page.get_by_role("region", name="Workers")
    worker = workers.get_by_role("listitem").filter(has_text="worker_0")
    tab.button("Drain worker_0").click()
    expect(worker).to_contain_text("Draining")
    tab.button("Resume worker_0").click()
    expect(worker).to_contain_text("Idle")


def test_the_server_drains_after_a_question_and_takes_requests_again(tab: Tab) -> None:
    tab.page.goto(tab.url + "#/admin")
    tab.button("Drain server").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Drain").click()
    workers = tab.page.get_by_role("region", name="Workers")
    expect(workers.get_by_role("status")).to_contain_text("takes no new requests, and nothing is running")
    tab.button("Take requests again").click()
    expect(workers.get_by_role("status")).to_have_count(0)
    expect(tab.button("Drain server")).to_be_visible()


def test_calls_that_are_switched_off_have_no_button(tab: Tab) -> None:
    call = tab.page.get_by_role("button", name="Call", exact=True)
    expect(call).to_be_visible()
    tab.page.goto(tab.url + "#/admin")
    modes = tab.page.get_by_role("region", name="Modes")
    calls = modes.get_by_role("switch", name=re.compile(r"^Calls\s+Voice calls"))
    # The switch moves at once; leaving before the server has answered would take the request back.
    with tab.page.expect_response(lambda answer: "/api/admin/apps/" in answer.url):
        calls.uncheck()
    expect(calls).not_to_be_checked()
    tab.page.goto(tab.url)
    expect(tab.page.get_by_role("textbox").first).to_be_visible()
    expect(call).to_have_count(0)
    tab.page.goto(tab.url + "#/admin")
    with tab.page.expect_response(lambda answer: "/api/admin/apps/" in answer.url):
        calls.check()
    tab.page.goto(tab.url)
    expect(call).to_be_visible()


def test_workers_are_replaced_one_by_one_after_a_question(tab: Tab) -> None:
    # The last test here: afterwards the worker has another name.
    tab.page.goto(tab.url + "#/admin")
    workers = tab.page.get_by_role("region", name="Workers")
    old = workers.get_by_text(re.compile(r"process \d+")).first.inner_text()
    tab.button("Restart one by one").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Restart").click()
    expect(workers.get_by_role("listitem").first).to_contain_text("Idle")
    expect(workers.get_by_text(old, exact=True)).to_have_count(0, timeout=30_000)
    expect(tab.button("Restart one by one")).to_be_enabled(timeout=30_000)
