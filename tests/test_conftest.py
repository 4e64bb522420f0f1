"""Which tests are run again after a failure, and what is said about them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).with_name("conftest.py")
CONFIGURATION = """
[pytest]
addopts = --strict-markers -ra -p rerunfailures
markers =
    browser: as in the project
    system: as in the project
    long: as in the project
"""
ONCE = """
import pathlib
import pytest

{mark}
def test_it():
    first = pathlib.Path("tried")
    if not first.exists():
        first.touch()
        raise AssertionError("the machine was busy")
"""
FIRST_FAILURE = "E*AssertionError: the machine was busy"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """An empty project with the hooks of this one, and of the installed plugins only the one that they need."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini(CONFIGURATION)
    pytester.makeconftest(CONFTEST.read_text())
    return pytester


@pytest.mark.parametrize("marker", ["browser", "system"])
def test_a_marked_test_that_fails_once_passes_and_is_listed_last(
    project: pytest.Pytester, marker: str
) -> None:
    project.makepyfile(ONCE.format(mark=f"@pytest.mark.{marker}"))
    result = project.runpytest()
    result.assert_outcomes(passed=1)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["=* flaky tests =*", FIRST_FAILURE, "FLAKY *::test_it (failed, then passed)"]
    )


def test_a_file_marked_as_a_whole_has_a_second_chance_too(project: pytest.Pytester) -> None:
    project.makepyfile(ONCE.format(mark="pytestmark = pytest.mark.system"))
    result = project.runpytest()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["FLAKY *::test_it*"])


def test_a_fixture_that_only_a_further_attempt_made_ends_with_its_file(project: pytest.Pytester) -> None:
    unready = ONCE.format(mark='@pytest.fixture(scope="module", autouse=True)').replace("test_it", "unready")
    machine = """
@pytest.fixture(scope="module")
def machine():
    yield
    pathlib.Path("ended").touch()

@pytest.mark.system
def test_it(machine):
    pass
"""
    other = """
import pathlib
import pytest

@pytest.mark.system
def test_other():
    assert pathlib.Path("ended").exists()
"""
    project.makepyfile(test_a=unready + machine, test_b=other)
    result = project.runpytest()
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["FLAKY *::test_it*"])


def test_a_fixture_that_fails_once_is_made_again(project: pytest.Pytester) -> None:
    fixture = ONCE.format(mark='@pytest.fixture(scope="session")').replace("test_it", "machine")
    project.makepyfile(fixture + "\n@pytest.mark.system\ndef test_it(machine):\n    pass\n")
    result = project.runpytest()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["FLAKY *::test_it*"])


def test_an_unmarked_test_is_never_run_again(project: pytest.Pytester) -> None:
    project.makepyfile(ONCE.format(mark=""))
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*flaky*")
    result.stdout.no_fnmatch_line("FLAKY*")


def test_a_marked_test_that_fails_twice_fails(project: pytest.Pytester) -> None:
    project.makepyfile("import pytest\n@pytest.mark.system\ndef test_it():\n    assert False\n")
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("FLAKY*")


def test_nothing_is_said_where_nothing_was_run_again(project: pytest.Pytester) -> None:
    project.makepyfile("import pytest\n@pytest.mark.system\ndef test_it():\n    pass\n")
    result = project.runpytest()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*flaky*")


def test_files_with_a_marked_test_run_first_and_stay_together(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_a="def test_quick(): pass",
        test_b="import pytest\ndef test_quick(): pass\n@pytest.mark.system\ndef test_slow(): pass",
    )
    result = project.runpytest("-v")
    result.stdout.fnmatch_lines(["test_b.py::test_quick*", "test_b.py::test_slow*", "test_a.py::test_quick*"])


def test_long_tests_run_only_when_asked_for(project: pytest.Pytester) -> None:
    project.makepyfile("import pytest\n@pytest.mark.long\ndef test_long(): pass\ndef test_quick(): pass")
    project.runpytest().assert_outcomes(passed=1, deselected=1)
    project.runpytest("--long").assert_outcomes(passed=2)
