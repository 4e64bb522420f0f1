"""The Makefile of the workshop: `make -n` tells what would run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not on this machine")


def dry_run(folder: Path, *arguments: str) -> str:
    # A surrounding `make` passes its own variables down, PYTHON among them.
    environment = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHON" and not name.startswith(("MAKE", "MFLAGS"))
    }
    command = ["make", "-n", "-C", str(folder), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile in a folder without an environment."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(FOLDER / name, tmp_path)
    return tmp_path


def test_the_first_use_makes_an_environment_with_the_server_and_the_workshop(checkout: Path) -> None:
    commands = dry_run(checkout, "test")
    assert "-m venv .venv" in commands
    assert "--editable .. --editable '.[dev]'" in commands
    assert ".venv/bin/python -m pytest" in commands


def test_a_given_interpreter_is_used_and_nothing_is_installed(checkout: Path) -> None:
    commands = dry_run(checkout, "check", "test", "eval", "PYTHON=../.venv/bin/python")
    assert "venv .venv" not in commands
    assert "../.venv/bin/python -m pytest" in commands
    assert "../.venv/bin/python -m mypy" in commands
    assert "../.venv/bin/python -m duologue_mini.evaluation.evaluate" in commands


def test_every_command_is_valid_shell(checkout: Path) -> None:
    for target in ("eval", "train", "large", "check", "test", "clean"):
        lines = dry_run(checkout, target).splitlines()
        script = "\n".join(line for line in lines if not line.startswith("make"))
        subprocess.run(["sh", "-n"], input=script, text=True, check=True)


def test_every_module_that_is_run_exists() -> None:
    text = (FOLDER / "Makefile").read_text(encoding="utf-8") + (FOLDER / "large.sh").read_text(
        encoding="utf-8"
    )
    modules = {word for word in text.split() if word.startswith("duologue_mini.")}
    assert len(modules) > 3
    for module in modules:
        assert (FOLDER / module.replace(".", "/")).with_suffix(".py").is_file(), module
