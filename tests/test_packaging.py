"""The wheel: built, looked into, installed in an empty environment, and started from another folder."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from duologue.gateway.help.search import PAGES, shipped

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "src/duologue/gateway/page/index.html"

READY_SECONDS = 60
STOP_SECONDS = 60
# No proxy of the machine has a say in what goes to loopback.
LOOPBACK = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@pytest.fixture(scope="module")
def wheel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, or the one that `--wheel` names (make release)."""
    if path := request.config.getoption("--wheel"):
        return Path(path).resolve()
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def contents(wheel: Path) -> frozenset[str]:
    with zipfile.ZipFile(wheel) as archive:
        return frozenset(archive.namelist())


@pytest.fixture(scope="module")
def installed(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that holds the wheel, its dependencies and nothing else."""
    environment = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", environment], check=True, timeout=120)
    # The locked versions as constraints. Their hashes would demand one of the wheel too.
    constraints = environment / "constraints.txt"
    lock = (ROOT / "requirements/runtime.txt").read_text()
    constraints.write_text(re.sub(r" *\\\n +--hash=\S+", "", lock))
    programs = environment / "bin"
    command = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--retries", "1"]
    command += ["--constraint", str(constraints), str(wheel)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    offline = re.search(r"No matching distribution|connection|resolve host", result.stderr, re.I)
    if result.returncode != 0 and offline and not request.config.getoption("--wheel"):
        pytest.skip("the package index cannot be reached, so the wheel's dependencies cannot be installed")
    assert result.returncode == 0, result.stderr
    return programs


def test_the_wheel_carries_the_bundled_model(contents: frozenset[str]) -> None:
    assert "duologue/models/duologue-mini.gguf" in contents


@pytest.mark.skipif(not PAGE.is_file(), reason="the page is not built here (make web)")
def test_the_wheel_carries_the_built_page(contents: frozenset[str]) -> None:
    assert "duologue/gateway/page/index.html" in contents
    assert any(re.fullmatch(r"duologue/gateway/page/assets/.+\.js", name) for name in contents)


def test_the_wheel_carries_nothing_but_the_package(contents: frozenset[str]) -> None:
    assert {name.partition("/")[0].partition("-")[0] for name in contents} == {"duologue"}
    assert not [name for name in contents if name.endswith((".ts", ".svelte", ".pyc", ".map"))]


def test_the_wheel_carries_every_page_that_the_help_searches(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for page in PAGES:
            source = ROOT / page if page == "README.md" else ROOT / "docs" / page
            assert archive.read(f"duologue/gateway/help/pages/{page}") == source.read_bytes()


def test_the_help_reads_the_pages_of_the_wheel_and_nothing_else(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    asks = "from duologue.gateway.help import search; print(search.__file__, len(search.shipped()))"
    # The packages are those of this environment, but Duologue is the wheel's.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DUOLOGUE_")}
    environment["PYTHONPATH"] = str(tmp_path)
    found = subprocess.run(
        [sys.executable, "-c", asks],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    file, sections = found.stdout.split() or [found.stderr, "0"]
    assert file.startswith(str(tmp_path)), file
    assert int(sections) == len(shipped())


def test_the_wheel_says_that_it_is_typed(contents: frozenset[str]) -> None:
    assert "duologue/py.typed" in contents


def get(url: str, body: dict[str, Any] | None = None) -> Any:
    """The JSON that a URL answers with. Raises URLError."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with LOOPBACK.open(request, timeout=30) as response:
        return json.load(response)


def first_line(process: subprocess.Popen[str]) -> str:
    """The friendly line, said when the model can be talked to; "" when the server ended without one, or said none."""
    assert process.stdout is not None
    said, _, _ = select.select([process.stdout], [], [], READY_SECONDS)
    return process.stdout.readline() if said else ""


@contextmanager
def serving(programs: Path, folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server started in `folder` as someone would who only installed the wheel; its process and its address."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("DUOLOGUE_", "PYTHON"))
    }
    command = [str(programs / "duologue"), "serve", "--port", "0", "--data", str(folder / "data")]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            line = first_line(process)
            address = re.search(r"http://\S+?:\d+", line)
            assert address, f"the server said {line!r}; its log:\n{(folder / 'log').read_text()}"
            yield process, address[0]
        finally:
            process.kill()


@pytest.mark.system
def test_the_installed_wheel_answers_from_any_folder(installed: Path, tmp_path: Path) -> None:
    with serving(installed, tmp_path) as (process, address):
        assert get(f"{address}/health")["status"] == "healthy"
        assert get(f"{address}/ready")["status"] == "ready"
        body = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 32}
        answer = get(f"{address}/v1/chat/completions", body)
        assert answer["choices"][0]["message"]["content"].strip()
        assert answer["usage"]["completion_tokens"] > 0
        found = get(f"{address}/api/help?q=how+do+I+use+another+model")["sections"]
        assert "Models" in {section["page"] for section in found}
        command = [str(installed / "duologue"), "say", "--server", address, "Hello"]
        reply = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
        assert reply.returncode == 0, reply.stderr
        assert reply.stdout.strip()
        if PAGE.is_file():
            with LOOPBACK.open(address, timeout=60) as page:
                assert b"<!doctype html" in page.read().lower()
        process.send_signal(signal.SIGTERM)
        # Either it says that all is well, or it dies of the signal once everything has ended, as servers often do.
        assert process.wait(timeout=STOP_SECONDS) == 0
        assert "Traceback" not in (tmp_path / "log").read_text()
    assert (tmp_path / "data").is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "log"]


@pytest.mark.system
def test_the_installed_wheel_passes_its_own_doctor(installed: Path, tmp_path: Path) -> None:
    command = [str(installed / "duologue"), "doctor"]
    environment = {**os.environ, "DUOLOGUE_DATA": str(tmp_path / "data"), "DUOLOGUE_PORT": "0"}
    result = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert result.returncode == 0, result.stdout + result.stderr
