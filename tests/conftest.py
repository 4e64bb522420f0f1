"""What every test may use, and how tests that depend on the machine's speed are run again.

Async tests run on asyncio through AnyIO's plugin.
"""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# A test machine may be ten times slower than this one: how long an example takes is not what these tests are about.
settings.register_profile("any_machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any_machine")

RERUN_MARKERS = ("browser", "system")
"""Tests with real processes or a real browser: they take nearly all of the time, and a slow moment can fail them."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the tests marked long, too")
    parser.addoption("--wheel", help="let tests/test_packaging.py try this wheel instead of one it builds")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let the garbage collector leave alone what lasts to the end: twenty thousand tests and all that they import. Looking through
    it again and again was a third of the collection, and half a second of each full collection after it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def takes_long(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in RERUN_MARKERS)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long, unless it is asked for. Run tests with real processes or a real browser first, and give them
    further chances: one slow moment of a busy machine can fail them. Unit tests depend on no such thing, so they get
    none; run last, they fill the processes evenly."""
    if not config.getoption("long"):
        left_out = [item for item in items if item.get_closest_marker("long")]
        items[:] = [item for item in items if not item.get_closest_marker("long")]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
    slow = {item.path for item in items if takes_long(item)}
    items.sort(key=lambda item: item.path not in slow)
    # Without the plugin the marker is unknown; a debugger is for the first failure.
    if not config.pluginmanager.hasplugin("rerunfailures") or config.getoption("usepdb"):
        return
    for item in items:
        if takes_long(item):
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """End what only a further attempt made: where the first one failed before a file's fixture was made, the plugin forgets to end
    that fixture, as it puts back what was to be ended after the first attempt."""
    if not item.config.pluginmanager.hasplugin("rerunfailures"):
        return
    from pytest_rerunfailures import suspended_finalizers

    # By node, as in pytest's own state: the finalizers, and the exception of its setup.
    stack = item.session._setupstate.stack
    for node, (finalizers, _) in suspended_finalizers.items():
        made_since, _ = stack.get(node, ([], None))
        finalizers.extend(finalizer for finalizer in made_since if finalizer not in finalizers)


# The outermost wrapper writes last, below the short summary.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None, object, object]:
    """List the tests that passed only when they were run again, each with its first failure."""
    result = yield
    stats = terminalreporter.stats
    failures = {report.nodeid for outcome in ("failed", "error") for report in stats.get(outcome, [])}
    flaky = {report.nodeid: report for report in stats.get("rerun", []) if report.nodeid not in failures}
    if flaky:
        terminalreporter.section("flaky tests", yellow=True, bold=True)
        for nodeid, report in flaky.items():
            terminalreporter.write_sep("_", nodeid)
            terminalreporter.write_line(report.longreprtext)
        terminalreporter.write_line("")
        for nodeid in flaky:
            terminalreporter.write_line(f"FLAKY {nodeid} (failed, then passed)", yellow=True)
    return result


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
