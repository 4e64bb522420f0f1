"""The program that decodes, as a process, with the other ends of its sockets here."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.synthetic_voices import ADAPTATION

from duologue.engines.message_stream import MessageReader, pack
from duologue.engines.sphinx import decoder_process
from duologue.engines.sphinx.ipc import (
    BeginUtterance,
    DecodeAudio,
    DecoderResponse,
    DecodingFailed,
    EndUtterance,
    FinalWords,
    PartialWords,
    Ready,
    StartupMessage,
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
                stdin=theirs.fileno(),
                stderr=subprocess.PIPE,
            )

    def decoder(self) -> socket.socket:
        """A socket to a decoder of its own."""
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self.control, [b"+"], [theirs.fileno()])
        ours.settimeout(PATIENCE)
        assert receive(ours, DecoderResponse | Ready) == Ready()
        return ours

    def errors(self) -> str:
        """Standard error, until the last process that has it is gone."""
        assert self.process.stderr is not None
        with self.process.stderr as errors:
            return errors.read().decode()


def receive(connection: socket.socket, union: object) -> object:
    """The next message; None at the end."""
    reader: MessageReader[object] = MessageReader(union)
    while (message := reader.take()) is None:
        data = connection.recv(65536)
        if not data:
            return None
        reader.add(data)
    return message


def request(connection: socket.socket, message: BeginUtterance | DecodeAudio | EndUtterance) -> object:
    connection.sendall(pack(message))
    return receive(connection, DecoderResponse)


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    (tmp_path / "files").mkdir()
    program = Program(ADAPTATION, tmp_path / "files")
    assert receive(program.control, StartupMessage) == Ready()
    yield program
    program.control.close()
    program.process.wait(PATIENCE)


def test_each_request_has_one_response(program):
    with program.decoder() as connection:
        assert request(connection, BeginUtterance(-20.0)) == PartialWords("")
        assert request(connection, DecodeAudio(bytes(3200))) == PartialWords("")
        assert isinstance(request(connection, EndUtterance()), FinalWords)


def test_decoders_are_independent(program):
    with program.decoder() as one, program.decoder() as other:
        assert request(one, BeginUtterance(-20.0)) == PartialWords("")
        assert request(other, BeginUtterance(-20.0)) == PartialWords("")
        assert isinstance(request(one, EndUtterance()), FinalWords)
        assert request(other, DecodeAudio(bytes(3200))) == PartialWords("")


def test_a_decoder_outlives_the_process_it_was_forked_from(program):
    with program.decoder() as connection:
        program.process.kill()
        program.process.wait(PATIENCE)
        assert request(connection, BeginUtterance(-20.0)) == PartialWords("")


def test_no_process_and_no_file_is_left_when_the_parent_is_gone(program, tmp_path):
    connection = program.decoder()
    assert request(connection, BeginUtterance(-20.0)) == PartialWords("")
    program.control.close()
    connection.close()
    assert program.errors() == ""
    assert program.process.wait(PATIENCE) == 0
    assert not (tmp_path / "files").exists()


def test_a_parent_that_is_gone_before_the_models_are_loaded_is_no_error(tmp_path):
    (tmp_path / "files").mkdir()
    program = Program(ADAPTATION, tmp_path / "files")
    program.control.close()
    assert program.errors() == ""
    assert program.process.wait(PATIENCE) == 0
    assert not (tmp_path / "files").exists()


def test_what_cannot_be_loaded_is_said(tmp_path):
    (tmp_path / "files").mkdir()
    program = Program(tmp_path / "nowhere", tmp_path / "files")
    with program.control:
        assert receive(program.control, StartupMessage) is None
        assert "nowhere" in program.errors()
    program.process.wait(PATIENCE)


def test_a_decoder_that_does_not_go_on_is_an_answer():
    class Broken:
        def begin(self, level: float, words: tuple[str, ...], *, spot: bool) -> None:
            raise EngineFailed("It broke.")

    broken: Any = Broken()
    assert decoder_process.respond(broken, BeginUtterance(0.0)) == DecodingFailed(
        "It broke.", "engine_failed"
    )
