"""The Makefile and its scripts, as someone meets them who has just cloned the project.

Nothing is installed here: `make -n` tells what would run, and the scripts meet a PATH without what they look for.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# It is new enough, knows its version, and has no ensurepip: Debian's Python without its venv package.
WITHOUT_VENV = 'case "$2" in *ensurepip*) exit 1;; *print*) echo {};; esac'

# A Python whose venv module copies it, and whose pip writes down what it is to do and fails at what $REFUSED names.
RECORDER = """case "$2" in
venv) mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
pip) echo "$*" >> pip.log; case "$*" in *${REFUSED:-nothing}*) exit 1 ;; esac ;;
*print*) echo "$PWD/.venv" ;;
esac"""

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not on this machine")


def run(
    *command: str, cwd: Path, path: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    # Whoever runs the tests by `make test` hands down make's own variables; they are not part of this question.
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MAKE", "MFLAGS", "DUOLOGUE_"))
    }
    for name in ("PORT", "ARGS", "JOBS"):
        inherited.pop(name, None)
    inherited |= {"PATH": path or os.environ["PATH"], **environment}
    return subprocess.run(
        command, cwd=cwd, env=inherited, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The project's build files, and sources for them to look at, in a folder of their own."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("scripts", "requirements"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in (
        "index.html",
        "package-lock.json",
        "vite.config.ts",
        "svelte.config.js",
        "src/main.ts",
        "public/mark.svg",
    ):
        file = tmp_path / "web" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return tmp_path


def make_built(checkout: Path) -> None:
    """Leave the marks of an environment and a page that are newer than their sources."""
    marks = (".venv/.runtime", ".venv/.development", "src/duologue/gateway/page/index.html")
    newest = max(path.stat().st_mtime for path in checkout.rglob("*"))
    for name in marks:
        mark = checkout / name
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
        os.utime(mark, (newest + 1, newest + 1))


def lines(checkout: Path, *arguments: str, **environment: str) -> list[str]:
    """The commands that make would run."""
    result = run("make", "-n", *arguments, cwd=checkout, **environment)
    assert result.returncode == 0, result.stderr
    return [line.rstrip() for line in result.stdout.splitlines()]


def a_path_with(folder: Path, *programs: str) -> str:
    """A PATH of one folder that holds these programs of the machine, and no others."""
    folder.mkdir()
    for program in programs:
        found = shutil.which(program)
        assert found, f"{program} is not on this machine"
        (folder / program).symlink_to(found)
    return str(folder)


def a_program(folder: str, name: str, script: str) -> None:
    program = Path(folder) / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_make_alone_lists_the_targets(checkout: Path) -> None:
    listed = run("make", cwd=checkout).stdout
    for target in (
        "serve",
        "test",
        "check",
        "format",
        "web",
        "wheel",
        "lock",
        "release",
        "install",
        "clean",
        "bench",
        "chaos",
        "soak",
    ):
        assert f"  {target} " in listed


def test_the_first_start_makes_environment_and_page(checkout: Path) -> None:
    commands = lines(checkout, "serve")
    assert commands[0] == "sh scripts/environment.sh runtime"
    assert commands[1].startswith("sh scripts/web.sh build")
    assert commands[-1] == "exec .venv/bin/duologue serve"


def test_the_second_start_runs_nothing_but_the_server(checkout: Path) -> None:
    make_built(checkout)
    assert lines(checkout, "serve") == ["exec .venv/bin/duologue serve"]


def test_a_changed_page_source_is_built_again(checkout: Path) -> None:
    make_built(checkout)
    later = (checkout / "src/duologue/gateway/page/index.html").stat().st_mtime + 5
    os.utime(checkout / "web/src/main.ts", (later, later))
    commands = lines(checkout, "serve")
    assert len(commands) == 2
    assert commands[0].startswith("sh scripts/web.sh build")


def test_a_port_is_passed_on_only_when_given(checkout: Path) -> None:
    make_built(checkout)
    assert lines(checkout, "serve", "PORT=9000") == ["exec .venv/bin/duologue serve --port 9000"]
    assert lines(checkout, "serve", PORT="9001") == ["exec .venv/bin/duologue serve --port 9001"]


def test_without_python_one_sentence_says_what_to_install(checkout: Path) -> None:
    path = a_path_with(checkout / "bin", "sh", "dirname")
    result = run("sh", "scripts/environment.sh", "runtime", cwd=checkout, path=path)
    assert result.returncode != 0
    assert result.stderr.count("\n") == 1
    assert "Python 3.11 or newer" in result.stderr
    assert "apt install" in result.stderr


def test_a_python_that_is_too_old_is_passed_over(checkout: Path) -> None:
    path = a_path_with(checkout / "bin", "sh", "dirname")
    a_program(path, "python3", "exit 1")
    a_program(path, "python3.12", WITHOUT_VENV.format("3.12"))
    result = run("sh", "scripts/environment.sh", "runtime", cwd=checkout, path=path)
    assert "apt install python3.12-venv" in result.stderr


def test_a_python_without_venv_is_told_the_package(checkout: Path) -> None:
    path = a_path_with(checkout / "bin", "sh", "dirname")
    a_program(path, "python3", WITHOUT_VENV.format("3.11"))
    result = run("sh", "scripts/environment.sh", "runtime", cwd=checkout, path=path)
    assert result.returncode != 0
    assert "apt install python3.11-venv" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_named_python_that_is_none_is_refused(checkout: Path) -> None:
    result = run("sh", "scripts/environment.sh", "runtime", cwd=checkout, DUOLOGUE_PYTHON="/bin/false")
    assert result.returncode != 0
    assert "DUOLOGUE_PYTHON is /bin/false" in result.stderr


def install(checkout: Path, kind: str, **environment: str) -> list[str]:
    """What pip is asked to install by scripts/environment.sh, each without the options that say how."""
    path = a_path_with(checkout / "bin", "sh", "dirname", "mkdir", "cp", "rm", "touch")
    a_program(path, "python3", RECORDER)
    result = run("sh", "scripts/environment.sh", kind, cwd=checkout, path=path, **environment)
    assert result.returncode == 0, result.stderr
    commands = (checkout / "pip.log").read_text().splitlines()
    return [
        command.removeprefix("-m pip install --quiet --disable-pip-version-check ") for command in commands
    ]


LOCKED = "--require-hashes --requirement requirements/runtime.txt"
EDITABLE = "--no-build-isolation --editable ."


def test_the_environment_is_installed_from_the_lock(checkout: Path) -> None:
    assert install(checkout, "runtime") == [f"{LOCKED} --requirement requirements/voice.txt", EDITABLE]
    assert (checkout / ".venv/.runtime").exists()
    assert not (checkout / ".venv/.development").exists()


def test_the_development_environment_has_the_locked_tools_too(checkout: Path) -> None:
    names = ("voice", "postgres", "tracing", "s3", "development")
    files = " ".join(f"--requirement requirements/{name}.txt" for name in names)
    assert install(checkout, "development") == [f"{LOCKED} {files}", EDITABLE]
    assert (checkout / ".venv/.development").exists()


def test_without_a_wheel_of_a_voice_library_the_rest_is_installed(checkout: Path) -> None:
    commands = install(checkout, "runtime", REFUSED="voice.txt")
    assert commands == [f"{LOCKED} --requirement requirements/voice.txt", LOCKED, EDITABLE]
    assert (checkout / ".venv/.runtime").exists()


def test_uv_installs_from_the_same_lock(checkout: Path) -> None:
    path = a_path_with(checkout / "bin", "sh", "dirname", "mkdir", "cp", "rm", "touch")
    a_program(path, "uv", 'echo "$*" >> uv.log; [ "$1" = pip ] || mkdir -p .venv')
    result = run("sh", "scripts/environment.sh", "runtime", cwd=checkout, path=path)
    assert result.returncode == 0, result.stderr
    _, locked, editable = (checkout / "uv.log").read_text().splitlines()
    assert locked.endswith(f"{LOCKED} --requirement requirements/voice.txt")
    assert editable.endswith(EDITABLE)


def test_a_refreshed_lock_is_installed_by_the_next_target(checkout: Path) -> None:
    make_built(checkout)
    later = (checkout / ".venv/.runtime").stat().st_mtime + 5
    os.utime(checkout / "requirements/runtime.txt", (later, later))
    assert lines(checkout, "install") == ["sh scripts/environment.sh runtime"]


def test_a_release_is_the_wheel_just_built_and_tried(checkout: Path) -> None:
    make_built(checkout)
    commands = lines(checkout, "release")
    assert commands[0] == "rm -f dist/*.whl"
    assert any("hatchling build --target wheel" in command for command in commands[1:-2])
    assert "pytest tests/test_packaging.py --wheel dist/*.whl" in commands[-2]


def test_make_lock_passes_its_arguments_on(checkout: Path) -> None:
    assert lines(checkout, "lock", "ARGS=--upgrade") == ["sh scripts/lock.sh --upgrade"]


def test_a_page_that_cannot_be_built_does_not_keep_the_server_from_starting(checkout: Path) -> None:
    make_built(checkout)
    (checkout / "src/duologue/gateway/page/index.html").unlink()
    (checkout / "scripts/web.sh").write_text("exit 69\n")
    server = checkout / ".venv/bin/duologue"
    server.parent.mkdir(exist_ok=True)
    server.write_text('#!/bin/sh\necho "started with $*"\n')
    server.chmod(0o755)
    # The environment's marks must stay the newest: the script just written is a source of the page alone.
    result = run("make", "serve", cwd=checkout)
    assert "Going on without a fresh page." in result.stdout
    assert "started with serve" in result.stdout
    assert result.returncode == 0
    assert run("make", "web", cwd=checkout).returncode != 0


def test_a_page_with_a_mistake_in_it_stops_the_start(checkout: Path) -> None:
    make_built(checkout)
    (checkout / "src/duologue/gateway/page/index.html").unlink()
    (checkout / "scripts/web.sh").write_text("exit 1\n")
    assert run("make", "serve", cwd=checkout).returncode != 0


def test_node_is_unavailable_in_a_sentence_where_it_cannot_be_installed(checkout: Path) -> None:
    path = a_path_with(checkout / "bin", "sh", "dirname")
    result = run("sh", "scripts/web.sh", "build", cwd=checkout, path=path)
    assert result.returncode == 69
    assert "install Node 20.19 or newer" in result.stderr


def test_an_old_node_is_not_used(checkout: Path) -> None:
    path = a_path_with(checkout / "bin", "sh", "dirname")
    a_program(path, "node", "exit 1")
    a_program(path, "npm", "echo old npm was run; exit 1")
    result = run("sh", "scripts/web.sh", "build", cwd=checkout, path=path)
    assert result.returncode == 69
    assert "old npm" not in result.stdout


def test_the_pages_packages_are_installed_without_their_scripts(checkout: Path) -> None:
    path = a_path_with(checkout / "bin", "sh", "dirname")
    a_program(path, "node", "exit 0")
    a_program(path, "npm", 'echo "npm $*"')
    result = run("sh", "scripts/web.sh", "test", cwd=checkout, path=path)
    commands = [line for line in result.stdout.splitlines() if line.startswith("npm ")]
    assert commands[0].startswith("npm ci --ignore-scripts")
    assert commands[1] == "npm run --silent test"
