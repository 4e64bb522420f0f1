"""The program that decodes, as a process, with the other ends of its sockets here."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from duologue.engines.sphinx import decoder_process
from duologue.engines.sphinx.engine import HEARING
from duologue.engines.sphinx.ipc import (
    Answer,
    BeginUtterance,
    DecodeAudio,
    DecodingFailed,
    End,
    Incoming,
    Ready,
    Started,
    Understood,
    Words,
    packed,
)
from duologue.errors import EngineFailed

pytest.importorskip("pocketsphinx", reason="the recogniser needs: pip install 'duologue[voice]'")

pytestmark = pytest.mark.system

PATIENCE = 60.0


class Program:
    """The process, and the other end of its standard input."""

    def __init__(self, hearing: Path, folder: Path) -> None:
        self.control, theirs = socket.socketpair()
        self.control.settimeout(PATIENCE)
        with theirs:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "duologue.engines.sphinx.decoder_process",
                    str(hearing),
                    str(folder),
                ],
                stdin=theirs,
                stderr=subprocess.PIPE,
            )

    def ear(self) -> socket.socket:
        """A line to an ear of one's own."""
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self.control, [b"+"], [theirs.fileno()])
        ours.settimeout(PATIENCE)
        assert told(ours, Answer | Ready) == Ready()
        return ours

    def trouble(self) -> str:
        """What was said on standard error until nobody was left who could say something."""
        assert self.process.stderr is not None
        with self.process.stderr as said:
            return said.read().decode()


def told(line: socket.socket, union: object) -> object:
    """The next message; None at the end."""
    incoming: Incoming[object] = Incoming(union)
    while (message := incoming.take()) is None:
        data = line.recv(65536)
        if not data:
            return None
        incoming.add(data)
    return message


def asked(line: socket.socket, question: BeginUtterance | DecodeAudio | End) -> object:
    line.sendall(packed(question))
    return told(line, Answer)


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    (tmp_path / "files").mkdir()
    program = Program(HEARING, tmp_path / "files")
    assert told(program.control, Started) == Ready()
    yield program
    program.control.close()
    program.process.wait(PATIENCE)


def test_an_ear_answers_each_question_once(program):
    with program.ear() as line:
        assert asked(line, BeginUtterance(-20.0)) == Words("")
        assert asked(line, DecodeAudio(bytes(3200))) == Words("")
        assert isinstance(asked(line, End()), Understood)


def test_several_ears_know_nothing_of_each_other(program):
    with program.ear() as one, program.ear() as other:
        assert asked(one, BeginUtterance(-20.0)) == Words("")
        assert asked(other, BeginUtterance(-20.0)) == Words("")
        assert isinstance(asked(one, End()), Understood)
        assert asked(other, DecodeAudio(bytes(3200))) == Words("")


def test_an_ear_outlives_the_process_it_came_from(program):
    with program.ear() as line:
        program.process.kill()
        program.process.wait(PATIENCE)
        assert asked(line, BeginUtterance(-20.0)) == Words("")


def test_when_whoever_started_it_is_gone_nobody_and_nothing_is_left(program, tmp_path):
    line = program.ear()
    assert asked(line, BeginUtterance(-20.0)) == Words("")
    program.control.close()
    line.close()
    assert program.trouble() == ""
    assert program.process.wait(PATIENCE) == 0
    assert not (tmp_path / "files").exists()


def test_whoever_is_gone_before_it_was_loaded_leaves_no_trouble(tmp_path):
    (tmp_path / "files").mkdir()
    program = Program(HEARING, tmp_path / "files")
    program.control.close()
    assert program.trouble() == ""
    assert program.process.wait(PATIENCE) == 0
    assert not (tmp_path / "files").exists()


def test_what_cannot_be_loaded_is_said(tmp_path):
    (tmp_path / "files").mkdir()
    program = Program(tmp_path / "nowhere", tmp_path / "files")
    with program.control:
        assert told(program.control, Started) is None
        assert "nowhere" in program.trouble()
    program.process.wait(PATIENCE)


def test_a_decoder_that_does_not_go_on_is_an_answer():
    class Broken:
        def begin(self, level: float) -> None:
            raise EngineFailed("It broke.")

    assert decoder_process.answered(Broken(), BeginUtterance(0.0)) == DecodingFailed(
        "It broke.", "engine_failed"
    )
