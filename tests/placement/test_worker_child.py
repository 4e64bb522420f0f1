"""The process of a placed worker, as a child of its actor."""

from __future__ import annotations

import os
import signal

import pytest

from duologue.placement.worker_child import WorkerChild

WAITS = "import sys; sys.stderr.write('one\\ntwo\\n\\n'); sys.stderr.flush(); sys.stdin.read()"


def child(code: str, **environment: str) -> WorkerChild:
    return WorkerChild(environment, command=("-c", code))


def test_it_is_started_once_and_watched_to_its_end() -> None:
    one = child(
        "import sys; print('working', file=sys.stderr); print('no memory', file=sys.stderr); sys.exit(7)"
    )
    assert one.start() == one.start()
    assert one.watch() == (7, "no memory")
    assert one.has_ended


def test_a_killed_child_gives_its_signal(capfd: pytest.CaptureFixture[str]) -> None:
    one = child(WAITS)
    os.kill(one.start(), signal.SIGKILL)
    assert one.watch()[0] == -signal.SIGKILL


def test_stop_ends_it_and_its_log_is_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    one = child(WAITS)
    one.start()
    one.stop()
    assert one.watch()[0] == -signal.SIGTERM
    child(WAITS).stop()  # it was never started


def test_a_grandchild_that_holds_the_log_does_not_hold_the_end() -> None:
    code = "import subprocess, sys; subprocess.Popen(['sleep', '20'], stdin=subprocess.DEVNULL); sys.exit(5)"
    one = child(code)
    one.start()
    assert one.watch() == (5, "")


def test_it_has_its_own_variables_and_not_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    monkeypatch.setenv("OF_THE_NODE", "kept")
    names = "('RAY_AUTH_TOKEN', 'OF_THE_NODE', 'OF_THE_PLACE')"
    one = child(
        f"import os, sys; print([os.environ.get(name) for name in {names}], file=sys.stderr)",
        OF_THE_PLACE="new",
    )
    one.start()
    assert one.watch() == (0, "[None, 'kept', 'new']")
