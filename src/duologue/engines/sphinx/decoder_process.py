"""The program that decodes: `python -m duologue.engines.sphinx.decoder_process DATA FOLDER`, started by `decoder_pool`.

It loads the models once and forks for each utterance: a child shares them, adds some megabytes of its own, and has an
interpreter's lock of its own (`fork_server`). Standard input is the socket that asks for decoders.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

from duologue.engines.fork_server import serve
from duologue.engines.message_stream import CHUNK, MessageReader, pack
from duologue.engines.sphinx.decoder import Decoder, load_decoder
from duologue.engines.sphinx.ipc import (
    BeginUtterance,
    DecodeAudio,
    DecoderRequest,
    DecoderResponse,
    DecodingFailed,
    EndUtterance,
    FinalWords,
    PartialWords,
    Ready,
)
from duologue.errors import Problem

NICE = 5
"""Decoding runs at a lower priority than the worker: the sound of calls comes before their transcripts."""


def respond(decoder: Decoder, request: DecoderRequest) -> DecoderResponse:
    """The response to one request."""
    try:
        match request:
            case BeginUtterance(level, words, spot):
                decoder.begin(level, words, spot=spot)
                return PartialWords("")
            case DecodeAudio(pcm):
                return PartialWords(decoder.decode(pcm))
            case EndUtterance():
                return FinalWords(*decoder.end())
    except Problem as problem:
        return DecodingFailed(problem.message, problem.code)


def handle_requests(connection: socket.socket, decoder: Decoder) -> None:
    """Answer the requests on this socket, until its other end is closed."""
    connection.sendall(pack(Ready()))
    reader = MessageReader[DecoderRequest](DecoderRequest)
    while data := connection.recv(CHUNK):
        reader.add(data)
        while (request := reader.take()) is not None:
            connection.sendall(pack(respond(decoder, request)))


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
            os.nice(NICE)
            control.sendall(pack(Ready()))
            serve(control, partial(handle_requests, decoder=result))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _load(data: Path, folder: Path) -> Decoder | DecodingFailed:
    try:
        return load_decoder(folder, data)
    except Problem as problem:
        return DecodingFailed(problem.message, problem.code)


if __name__ == "__main__":
    main()
