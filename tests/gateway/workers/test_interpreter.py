"""Workers that are run by the Python of another environment: a real one, made here without the network."""

import json
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import anyio
import pytest
from packaging.requirements import Requirement
from tests.support.ports import free_port
from websockets.asyncio.client import connect

from duologue.errors import StartFailed
from duologue.gateway.workers import interpreter, process
from duologue.gateway.workers.interpreter import WORKER_PACKAGES, check_interpreter, environment
from duologue.wire import worker_protocol
from duologue.wire.worker_protocol import LoadSpec

ROOT = Path(__file__).parents[3]
PATIENCE = 60.0


def make_environment(folder: Path, *, with_packages: bool) -> str:
    """An environment with nothing in it, or with the packages of this one. Gives its interpreter."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    if with_packages:
        site = subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        ours = sysconfig.get_path("purelib")
        (Path(site) / "others.pth").write_text(f"{ours}\n{ROOT / 'src'}\n")
    return str(python)


def stand_in(path: Path, answer: str) -> str:
    """A program that answers the probe so."""
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{answer}\nEND\n")
    path.chmod(0o755)
    return str(path)


def refusal(python: str) -> str:
    with pytest.raises(StartFailed) as caught:
        check_interpreter("omni", python)
    assert (caught.value.code, caught.value.param) == ("interpreter_unusable", "python")
    assert "omni" in caught.value.message
    assert python in caught.value.message
    return caught.value.message


def test_an_interpreter_that_is_not_there_is_told_with_the_commands_that_make_it(tmp_path):
    message = refusal(str(tmp_path / "env" / "bin" / "python"))
    assert "cannot be started (No such file or directory)" in message
    assert f"-m venv {tmp_path / 'env'} && " in message
    assert "pip install --no-deps" in message


def test_an_older_python_is_told_with_its_version(tmp_path):
    message = refusal(stand_in(tmp_path / "python", json.dumps({"python": [3, 10]})))
    assert "is Python 3.10, and Duologue needs 3.11 or newer" in message


def test_an_environment_without_duologue_is_told_what_to_install(tmp_path):
    python = make_environment(tmp_path / "env", with_packages=False)
    message = refusal(python)
    assert "lacks the duologue package" in message
    assert f"{python} -m pip install --no-deps {ROOT}" in message


def test_a_package_that_a_worker_imports_may_be_missing_too(tmp_path):
    message = refusal(
        stand_in(tmp_path / "python", json.dumps({"python": [3, 12], "missing": "msgspec._core"}))
    )
    assert "lacks the package msgspec, which a worker imports" in message


def test_another_version_of_duologue_is_refused(tmp_path):
    message = refusal(stand_in(tmp_path / "python", json.dumps({"python": [3, 12], "protocol": 1})))
    assert "has another version of Duologue" in message


@pytest.mark.parametrize("said", ["", "not json", "[1]", "{}"])
def test_a_program_that_is_no_python_is_refused(tmp_path, said):
    assert "cannot run Python code" in refusal(stand_in(tmp_path / "python", said))


def test_one_that_never_answers_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(interpreter, "PATIENCE", 0.2)
    path = tmp_path / "python"
    path.write_text("#!/bin/sh\nexec sleep 60\n")
    path.chmod(0o755)
    assert "did not answer" in refusal(str(path))


def test_what_libraries_print_when_they_are_imported_does_no_harm(tmp_path):
    answer = json.dumps({"python": [3, 12], "protocol": worker_protocol.PROTOCOL})
    check_interpreter("omni", stand_in(tmp_path / "python", f"A warning of some library.\n{answer}"))


def test_our_own_paths_are_not_passed_to_another_interpreter(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/ours")
    monkeypatch.setenv("DUOLOGUE_KEY", "secret")
    assert environment("")["PYTHONPATH"] == "/ours"
    assert "PYTHONPATH" not in environment("/env/bin/python")
    assert "DUOLOGUE_KEY" not in environment("/env/bin/python")


def test_the_packages_of_a_worker_are_those_that_it_imports():
    """All that its program, its socket and an engine with an environment of its own import; what is not in the list would be missing in an environment made by it."""
    code = (
        "import sys, duologue.worker.app, duologue.engines.minicpmo.engine, uvicorn.protocols.websockets.websockets_sansio_impl\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    ours = {Requirement(line).name.replace("-", "_"): line for line in project["dependencies"]}
    imported = set(loaded.stdout.split()) & (ours.keys() | {"starlette"}) - {"python_multipart"}
    listed = {Requirement(line).name: line for line in WORKER_PACKAGES}
    assert imported == set(listed)
    for name in imported - {"starlette"}:
        assert listed[name] == ours[name]


@pytest.mark.system
@pytest.mark.anyio
async def test_a_worker_runs_in_the_other_environment(tmp_path):
    python = make_environment(tmp_path / "env", with_packages=True)
    check_interpreter("omni", python)
    spec = LoadSpec("omni", "scripted", "m", python=python)
    answers: list[worker_protocol.Up] = []
    async with process.started(spec, "secret", free_port()) as running:
        command = await anyio.run_process(["ps", "-ww", "-o", "command=", "-p", str(running.process.pid)])
        headers = {"Authorization": "Bearer secret"}
        with anyio.fail_after(PATIENCE):
            async with connect(f"ws://{running.address}/live", additional_headers=headers) as socket:
                while not any(getattr(answer, "state", "") == "ready" for answer in answers):
                    answers += worker_protocol.decode_up(await socket.recv(decode=False))
    assert command.stdout.decode().startswith(python)


@pytest.mark.anyio
async def test_an_interpreter_that_has_gone_since_the_start_is_a_sentence():
    spec = LoadSpec("omni", "scripted", "m", python="/nowhere/bin/python")
    with pytest.raises(StartFailed, match="omni cannot be started by /nowhere/bin/python: No such file"):
        async with process.started(spec, "secret", free_port()):
            pass
