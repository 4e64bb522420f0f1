"""langchain-openai against a server, by LangChain's own standard suite for chat models."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from importlib.metadata import version
from pathlib import Path

import pytest
from features import feature, run

SUITE = Path(__file__).with_name("langchain_suite.py")

WITS = ("test_tool_calling", "test_unicode_tool_call_integration")
"""Tests that want the right arguments in a call, which the bundled model is too small to find. Calls themselves are tried by the
others."""


class _Outcomes:
    def __init__(self) -> None:
        self.passed: list[str] = []
        self.failed: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.rpartition("::")[2]
        if report.failed:
            self.failed[name] = str(report.longrepr)[-300:]
        elif report.when == "call" and report.passed:
            self.passed.append(name)


outcomes = _Outcomes()
# Its own configuration: that of the tests around it needs packages that are not here.
alone = ["--noconftest", "-c", os.devnull, f"--rootdir={SUITE.parent}", "-o", "asyncio_mode=auto"]
# The library keeps its connections for all loops, so all tests have one.
alone += ["-o", "asyncio_default_test_loop_scope=session"]
with redirect_stdout(sys.stderr):
    wits = [f"--deselect={SUITE.name}::TestServer::{name}" for name in WITS]
    pytest.main(["-q", *wits, "-p", "no:cacheprovider", *alone, str(SUITE)], plugins=[outcomes])


def _failed(sentence: str) -> None:
    raise AssertionError(sentence)


for name in outcomes.passed:
    feature(name)(lambda: None)
for name, sentence in outcomes.failed.items():
    feature(name)(lambda sentence=sentence: _failed(sentence))

if __name__ == "__main__":
    run("langchain-openai", version("langchain-openai"))
