"""The program that decodes: `python -m duologue.engines.sphinx.decoder_process HEARING FOLDER`, started by `ears.py`.

It loads the models once and forks for each utterance: a child shares them, adds a few megabytes of its own, and takes any
core without holding anybody's interpreter. Its standard input is a socket: one byte with another socket asks for an ear at
that other socket's end; the end of it is the end of this process. A child ends with the socket it was given. So nothing is
left when the worker is gone, however it went. Knows no event loop, and starts no thread: it could not fork with one.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import socket
import sys
import traceback
from contextlib import suppress
from pathlib import Path

from duologue.engines.sphinx.decoder import Decoder, opened
from duologue.engines.sphinx.ipc import (
    Answer,
    BeginUtterance,
    DecodeAudio,
    DecodingFailed,
    End,
    Incoming,
    Question,
    Ready,
    Understood,
    Words,
    packed,
)
from duologue.errors import Problem

NICE = 5
"""How far decoding stands back: whoever is on the phone is heard first, and written down then."""
CHUNK = 65536
"""Bytes read at a time."""


def answered(ear: Decoder, question: Question) -> Answer:
    """What an ear says to this."""
    try:
        match question:
            case BeginUtterance(level):
                ear.begin(level)
                return Words("")
            case DecodeAudio(pcm):
                return Words(ear.hear(pcm))
            case End():
                return Understood(*ear.end())
    except Problem as problem:
        return DecodingFailed(problem.message, problem.code)


def attend(line: socket.socket, ear: Decoder) -> None:
    """Answer whatever is asked on this line, until it ends."""
    questions = Incoming[Question](Question)
    while data := line.recv(CHUNK):
        questions.add(data)
        while (question := questions.take()) is not None:
            line.sendall(packed(answered(ear, question)))


def serve(control: socket.socket, ear: Decoder) -> None:
    """Lend an ear to every socket that comes, until no more can."""
    while True:
        _, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not descriptors:
            return
        with socket.socket(fileno=descriptors[0]) as line:
            try:
                child = os.fork()
            except OSError:
                traceback.print_exc()
                continue  # whoever holds the other end sees it close
            if not child:
                # Nothing of the parent's may be done again here, not even its cleaning up.
                _be_an_ear(control, line, ear)


def _be_an_ear(control: socket.socket, line: socket.socket, ear: Decoder) -> None:
    """In the child: attend, and end."""
    status = 1
    try:
        control.close()
        line.sendall(packed(Ready()))
        attend(line, ear)
        status = 0
    except OSError:
        status = 0  # nobody listens any more
    except BaseException:  # noqa: BLE001 (the child must not go on as its parent)
        traceback.print_exc()
    finally:
        os._exit(status)


def _bury(signal_number: int, frame: object) -> None:
    """Children that have ended leave their processor time behind, and nothing else."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def main() -> None:
    """Load the models, say so, and lend ears."""
    hearing, folder = Path(sys.argv[1]), Path(sys.argv[2])
    control = socket.socket(fileno=0)
    try:
        loaded = _loaded(hearing, folder)
        with suppress(OSError):  # whoever started this is gone, perhaps before it was loaded
            if isinstance(loaded, DecodingFailed):
                control.sendall(packed(loaded))
                return
            signal.signal(signal.SIGCHLD, _bury)
            # What is collected is written to: children share what is left alone.
            gc.collect()
            gc.freeze()
            os.nice(NICE)
            control.sendall(packed(Ready()))
            serve(control, loaded)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _loaded(hearing: Path, folder: Path) -> Decoder | DecodingFailed:
    try:
        return opened(folder, hearing)
    except Problem as problem:
        return DecodingFailed(problem.message, problem.code)


if __name__ == "__main__":
    main()
