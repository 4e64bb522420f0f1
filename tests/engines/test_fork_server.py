"""A process that forks itself for every socket it is sent."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

pytestmark = pytest.mark.system

PATIENCE = 60.0
PROGRAM = """
import os, socket
from duologue.engines.fork_server import serve

def handle(connection):
    while data := connection.recv(100):
        if data == b"break":
            raise ValueError("as it was told")
        connection.sendall(b"%d " % os.getpid() + data)

with socket.socket(fileno=0) as control:
    control.sendall(b"r")
    serve(control, handle)
"""


class Program:
    """The process, and the other end of its standard input."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair()
        self.control.settimeout(PATIENCE)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM], stdin=theirs.fileno(), stderr=subprocess.PIPE
            )
        assert self.control.recv(1) == b"r"

    def child(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self.control, [b"+"], [theirs.fileno()])
        ours.settimeout(PATIENCE)
        return ours

    def errors(self) -> str:
        """Standard error, until the last process that has it is gone."""
        assert self.process.stderr is not None
        with self.process.stderr as errors:
            return errors.read().decode()


def ask(connection: socket.socket, data: bytes) -> tuple[int, bytes]:
    """The child's process id and what it sent back."""
    connection.sendall(data)
    pid, _, same = connection.recv(100).partition(b" ")
    return int(pid), same


@pytest.fixture
def program() -> Iterator[Program]:
    program = Program()
    yield program
    program.control.close()
    program.process.wait(PATIENCE)


def test_every_socket_has_a_child_of_its_own(program: Program) -> None:
    with program.child() as one, program.child() as other:
        first, second = ask(one, b"a"), ask(other, b"b")
        assert (first[1], second[1]) == (b"a", b"b")
        assert len({first[0], second[0], program.process.pid}) == 3


def test_a_child_that_breaks_says_so_and_takes_no_other_along(program: Program) -> None:
    with program.child() as one, program.child() as other:
        one.sendall(b"break")
        assert one.recv(1) == b""
        assert ask(other, b"b")[1] == b"b"
    program.control.close()
    assert "as it was told" in program.errors()


def test_a_child_outlives_the_process_it_was_forked_from_and_ends_with_its_socket(program: Program) -> None:
    connection = program.child()
    pid, _ = ask(connection, b"a")
    program.process.kill()
    program.process.wait(PATIENCE)
    assert ask(connection, b"b") == (pid, b"b")
    connection.close()
    assert program.errors() == ""  # and so it is gone: standard error has no writer any more


def test_the_end_of_the_control_socket_is_the_end(program: Program) -> None:
    program.control.close()
    assert program.errors() == ""
    assert program.process.wait(PATIENCE) == 0
