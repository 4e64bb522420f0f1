"""The program that decodes: `python -m duologue.engines.sphinx.decoder_process DATA FOLDER`, started by `decoder_pool`.

It loads the models once and forks for each utterance: a child shares them, adds a few megabytes of its own, and has an
interpreter's lock of its own. Standard input is a socket: one byte with another socket on it starts a decoder for that
other socket; its end is the end of this process. A child ends with its socket. So no process is left behind when the worker
ends, however it ended. There is no event loop and no thread: a process with threads cannot fork safely.
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

from duologue.engines.sphinx.decoder import Decoder, load_decoder
from duologue.engines.sphinx.ipc import (
    BeginUtterance,
    DecodeAudio,
    DecoderRequest,
    DecoderResponse,
    DecodingFailed,
    EndUtterance,
    FinalWords,
    MessageReader,
    PartialWords,
    Ready,
    pack,
)
from duologue.errors import Problem

NICE = 5
"""Decoding runs at a lower priority than the worker: the sound of calls comes before their transcripts."""
CHUNK = 65536
"""Bytes read at a time."""


def respond(decoder: Decoder, request: DecoderRequest) -> DecoderResponse:
    """The response to one request."""
    try:
        match request:
            case BeginUtterance(level):
                decoder.begin(level)
                return PartialWords("")
            case DecodeAudio(pcm):
                return PartialWords(decoder.decode(pcm))
            case EndUtterance():
                return FinalWords(*decoder.end())
    except Problem as problem:
        return DecodingFailed(problem.message, problem.code)


def handle_requests(connection: socket.socket, decoder: Decoder) -> None:
    """Answer the requests on this socket, until its other end is closed."""
    reader = MessageReader[DecoderRequest](DecoderRequest)
    while data := connection.recv(CHUNK):
        reader.add(data)
        while (request := reader.take()) is not None:
            connection.sendall(pack(respond(decoder, request)))


def serve(control: socket.socket, decoder: Decoder) -> None:
    """Fork a decoder for every socket that arrives, until the other end of `control` is closed."""
    while True:
        _, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not descriptors:
            return
        with socket.socket(fileno=descriptors[0]) as connection:
            try:
                child = os.fork()
            except OSError:
                traceback.print_exc()
                continue  # the other end sees the socket close
            if not child:
                # Never returns: the child must not run any of the parent's code after this, such as its cleanup.
                _run_child(control, connection, decoder)


def _run_child(control: socket.socket, connection: socket.socket, decoder: Decoder) -> None:
    """In the child: handle the requests, and exit."""
    status = 1
    try:
        control.close()
        connection.sendall(pack(Ready()))
        handle_requests(connection, decoder)
        status = 0
    except OSError:
        status = 0  # the other end is gone
    except BaseException:  # noqa: BLE001 (the child must not continue as its parent)
        traceback.print_exc()
    finally:
        os._exit(status)


def _reap_children(signal_number: int, frame: object) -> None:
    """On SIGCHLD: collect the children that have ended, so that none stays a zombie. (SIG_IGN would lose their processor
    time, which the benchmarks read.)"""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def main() -> None:
    """Load the models, report it, and serve."""
    data, folder = Path(sys.argv[1]), Path(sys.argv[2])
    control = socket.socket(fileno=0)
    try:
        result = _load(data, folder)
        with suppress(OSError):  # the parent may be gone already
            if isinstance(result, DecodingFailed):
                control.sendall(pack(result))
                return
            signal.signal(signal.SIGCHLD, _reap_children)
            # A collection writes to every object, which would copy the pages that children share.
            gc.collect()
            gc.freeze()
            os.nice(NICE)
            control.sendall(pack(Ready()))
            serve(control, result)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _load(data: Path, folder: Path) -> Decoder | DecodingFailed:
    try:
        return load_decoder(folder, data)
    except Problem as problem:
        return DecodingFailed(problem.message, problem.code)


if __name__ == "__main__":
    main()
