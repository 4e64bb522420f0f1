"""Running completions over the library's own HTTP server, for models with a projector: the library's function takes neither
tokens nor media then, only text.

Called by `engine` in a lane's thread: it blocks. The chunks are those of `/completion`, turned into those of `request`, so that
nobody behind them knows the difference.
"""

from __future__ import annotations

import http.client
import socket
import struct
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from duologue.engines.llama.generation import OnChunk
from duologue.engines.llama.http_client import LlamaHttpClient
from duologue.engines.llama.request import (
    Choice,
    CompletionChunk,
    EngineError,
    EngineTimings,
    Logprobs,
    PromptProgress,
    Token,
    TokenCounts,
    problem_of,
)
from duologue.errors import EngineFailed

TIMEOUT = 600.0
"""Seconds of silence: a large picture takes a slow processor minutes, and no word comes meanwhile."""
FREE_TIMEOUT = 120.0
"""Seconds in which a slot must be free after its completion was given up: a batch, or a picture."""
POLL = 0.01
LONGEST_LINE = 16 * 1024 * 1024


class NativeChunk(Struct, frozen=True):
    """One message of `/completion`."""

    content: str = ""
    stop: bool = False
    stop_type: str = ""
    tokens_predicted: int = 0
    tokens_evaluated: int = 0
    timings: EngineTimings = EngineTimings()
    prompt_progress: PromptProgress | None = None
    completion_probabilities: tuple[Token, ...] = ()
    error: EngineError | None = None


_decode = msgspec.json.Decoder(NativeChunk)


def complete_over_http(client: LlamaHttpClient, request: dict[str, Any], on_chunk: OnChunk) -> None:
    """As `generation.complete`: run one completion, passing each chunk to `on_chunk` until that returns False; then the slot is
    free. Raises the engine's refusals as Problems. `client` says where the engine is; the connection is a new one."""
    parts = urlsplit(client.address)
    connection = http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port, timeout=TIMEOUT)
    headers = {"Authorization": f"Bearer {client.key}", "Content-Type": "application/json"}
    response: http.client.HTTPResponse | None = None
    ended = False
    try:
        connection.request("POST", "/completion", msgspec.json.encode(request), headers)
        response = connection.getresponse()
        if response.status != http.client.OK:
            raise problem_of(_refusal(response.read(LONGEST_LINE)))
        for chunk in _chunks(response):
            if chunk.error is not None:
                raise problem_of(chunk.error)
            if not on_chunk(_completion_chunk(chunk)):
                break
        else:
            ended = True
    except (http.client.HTTPException, OSError, msgspec.MsgspecError) as error:
        raise EngineFailed(
            f"The engine does not answer ({error or type(error).__name__}); its worker must be restarted."
        ) from error
    finally:
        if not ended:
            _reset(connection)
        connection.close()
        if response is not None:
            response.close()
        if not ended:
            _wait_until_free(parts.hostname, parts.port, headers, request["id_slot"])


def _chunks(response: http.client.HTTPResponse) -> Iterator[NativeChunk]:
    while line := response.readline(LONGEST_LINE):
        kind, _, data = line.partition(b": ")
        if kind == b"data" and not data.startswith(b"[DONE]"):
            yield _decode.decode(data)
        elif kind == b"error":
            yield NativeChunk(error=msgspec.json.decode(data, type=EngineError))


def _refusal(body: bytes) -> EngineError:
    try:
        return _decode.decode(body).error or EngineError()
    except msgspec.MsgspecError:
        return EngineError()


def _completion_chunk(chunk: NativeChunk) -> CompletionChunk:
    progress = chunk.prompt_progress
    if progress is not None:
        return CompletionChunk(prompt_progress=progress)
    logprobs = Logprobs(chunk.completion_probabilities) if chunk.completion_probabilities else None
    if not chunk.stop:
        return CompletionChunk((Choice(chunk.content, logprobs),), timings=chunk.timings)
    finish = "length" if chunk.stop_type == "limit" else "stop"
    counts = TokenCounts(chunk.tokens_predicted, chunk.tokens_evaluated)
    return CompletionChunk((Choice("", None, finish),), timings=chunk.timings, usage=counts)


def _reset(connection: http.client.HTTPConnection) -> None:
    """Have the connection end at once: the engine then fails to write its next chunk, and gives the completion up. A polite end
    would be noticed a chunk later."""
    if isinstance(connection.sock, socket.socket):
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _wait_until_free(host: str | None, port: int | None, headers: dict[str, str], slot: int) -> None:
    """Wait until the engine has given the slot up."""
    connection = http.client.HTTPConnection(host or "127.0.0.1", port, timeout=TIMEOUT)
    until = time.monotonic() + FREE_TIMEOUT
    try:
        while time.monotonic() < until:
            connection.request("GET", "/slots", headers=headers)
            slots = msgspec.json.decode(connection.getresponse().read())
            if not any(each["id"] == slot and each["is_processing"] for each in slots):
                return
            time.sleep(POLL)
    except (http.client.HTTPException, OSError, msgspec.MsgspecError, TypeError, KeyError):
        return  # the engine is ending, or does not answer: the next request says so
    finally:
        connection.close()
