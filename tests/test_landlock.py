"""A process that has given up files and TCP. Each test tries something in a process of its own."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from duologue import landlock

needs_landlock = pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
needs_network_rules = pytest.mark.skipif(
    landlock.version() < landlock.NETWORK_VERSION, reason="this kernel's Landlock does not restrict TCP"
)


def restricted(program: str, *readable: Path) -> str:
    """What `program` prints after the restriction, or the class of the exception that ends it."""
    places = f"[*landlock.library_places(), *{list(map(str, readable))!r}]"
    code = f"import os, socket\nfrom duologue import landlock\nlandlock.restrict({places})\n{program}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return done.stdout.strip() if not done.returncode else done.stderr.splitlines()[-1].partition(":")[0]


@needs_landlock
def test_no_file_is_opened() -> None:
    assert restricted("open('/etc/passwd')") == "PermissionError"


@needs_landlock
def test_no_folder_is_listed() -> None:
    assert restricted("os.listdir('/etc')") == "PermissionError"


@needs_landlock
def test_a_place_that_was_named_is_read_and_not_written(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    file = tmp_path / "inside" / "file"
    file.write_text("text")
    assert restricted(f"print(open({str(file)!r}).read())", tmp_path) == "text"
    assert restricted(f"print(open({str(file)!r}).read())", file) == "text"
    assert restricted(f"open({str(file)!r}, 'w')", tmp_path) == "PermissionError"
    assert restricted(f"os.remove({str(file)!r})", tmp_path) == "PermissionError"
    assert file.read_text() == "text"


@needs_landlock
def test_no_program_is_run() -> None:
    assert restricted("import sys; os.execv(sys.executable, ['python', '-c', ''])") == "PermissionError"


@needs_landlock
def test_what_was_open_before_stays_open(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("text")
    code = f"""
import socket
from duologue import landlock
ours, theirs = socket.socketpair()
with open({str(file)!r}) as file:
    landlock.restrict([])
    ours.sendall(file.read().encode())
print(theirs.recv(10))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "b'text'\n"


@needs_landlock
def test_a_child_is_restricted_too() -> None:
    program = """
if not (child := os.fork()):
    try:
        open('/etc/passwd')
    except PermissionError:
        os._exit(3)
    os._exit(4)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert restricted(program) == "3"


@needs_landlock
def test_python_still_finds_what_it_imports_late() -> None:
    assert restricted("import tomllib, sqlite3, lxml.etree; print('found')") == "found"


@needs_network_rules
def test_no_tcp_connection_is_made() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert restricted(f"socket.create_connection(('127.0.0.1', {port}))") == "PermissionError"


@needs_network_rules
def test_no_tcp_port_is_opened() -> None:
    assert restricted("socket.socket().bind(('127.0.0.1', 0))") == "PermissionError"


def test_a_kernel_without_landlock_restricts_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    landlock.restrict([])
    (tmp_path / "file").write_text("still possible")
    assert (tmp_path / "file").read_text() == "still possible"


def test_a_refused_call_is_no_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container whose filter of system calls does not know it."""
    monkeypatch.setattr(landlock, "_CREATE_RULESET", -1)
    assert landlock.version() == 0
