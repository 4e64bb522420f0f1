"""Completions over the library's HTTP server: its chunks, its refusals, and its end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from duologue.engines.llama.http_client import LlamaHttpClient
from duologue.engines.llama.http_completion import complete_over_http
from duologue.engines.llama.request import CompletionChunk
from duologue.errors import BadRequest, ContextExceeded, EngineFailed

REQUEST = {"prompt": [1], "id_slot": 1}


@contextmanager
def engine(lines: list[str], status: int = 200, busy: int = 0) -> Iterator[tuple[LlamaHttpClient, list[str]]]:
    """A server that answers a completion with these lines, and says so many times that the slot is busy."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["Authorization"] == "Bearer secret"
            body = "".join(f"{line}\n\n" for line in lines).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            asked.append(self.path)
            slots = [
                {"id": 0, "is_processing": True},
                {"id": 1, "is_processing": asked.count("/slots") <= busy},
            ]
            body = json.dumps(slots).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield LlamaHttpClient(f"http://127.0.0.1:{server.server_port}", "secret"), asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def data(**fields: Any) -> str:
    return f"data: {json.dumps(fields)}"


WHOLE = [
    data(prompt_progress={"total": 9, "cache": 2, "processed": 9}, content="", tokens=[0]),
    data(
        content="a",
        timings={"predicted_n": 1},
        completion_probabilities=[
            {
                "id": 1,
                "token": "a",
                "bytes": [97],
                "logprob": -0.5,
                "top_logprobs": [{"token": "a", "logprob": -0.5}],
            }
        ],
    ),
    data(content="", stop=True, stop_type="limit", tokens_predicted=1, tokens_evaluated=9),
]


def test_its_chunks_are_those_of_every_other_completion() -> None:
    chunks: list[CompletionChunk] = []
    with engine(WHOLE) as (client, asked):
        complete_over_http(client, REQUEST, lambda chunk: chunks.append(chunk) or True)  # type: ignore[func-returns-value]
    progress, piece, end = chunks
    assert progress.prompt_progress is not None
    assert (progress.prompt_progress.total, progress.prompt_progress.cache) == (9, 2)
    (choice,) = piece.choices
    assert (choice.text, choice.finish_reason, piece.timings.predicted_n) == ("a", None, 1)
    assert choice.logprobs is not None
    assert choice.logprobs.content[0].top_logprobs[0].logprob == -0.5
    assert (end.choices[0].finish_reason, end.usage and end.usage.completion_tokens) == ("length", 1)
    assert asked == ["/completion"]


@pytest.mark.parametrize("kind", ["eos", "word", "none"])
def test_every_other_end_is_the_models_own(kind: str) -> None:
    chunks: list[CompletionChunk] = []
    with engine([data(stop=True, stop_type=kind)]) as (client, _):
        complete_over_http(client, REQUEST, lambda chunk: chunks.append(chunk) or True)  # type: ignore[func-returns-value]
    assert chunks[0].choices[0].finish_reason == "stop"


def test_who_wants_no_more_waits_until_the_slot_is_free() -> None:
    with engine(WHOLE, busy=3) as (client, asked):
        complete_over_http(client, REQUEST, lambda chunk: False)
    assert asked == ["/completion", *["/slots"] * 4]


def test_refusals_are_problems() -> None:
    body = {
        "error": {
            "code": 400,
            "message": "too long",
            "type": "exceed_context_size_error",
            "n_prompt_tokens": 9,
            "n_ctx": 5,
        }
    }
    with (
        engine([json.dumps(body)], status=400) as (client, _),
        pytest.raises(ContextExceeded, match="9 tokens"),
    ):
        complete_over_http(client, REQUEST, lambda chunk: True)
    body = {"error": {"message": "failed to parse grammar", "type": "invalid_request_error"}}
    with engine([f"data: {json.dumps(body)}"]) as (client, _), pytest.raises(BadRequest, match="grammar"):
        complete_over_http(client, REQUEST, lambda chunk: True)
    with engine(['error: {"message": "lost"}']) as (client, _), pytest.raises(EngineFailed, match="lost"):
        complete_over_http(client, REQUEST, lambda chunk: True)
    with engine(["<html>"], status=500) as (client, _), pytest.raises(EngineFailed, match="no reason given"):
        complete_over_http(client, REQUEST, lambda chunk: True)


def test_an_engine_that_is_gone_is_said_to_be() -> None:
    with engine([]) as (client, _):
        pass
    with pytest.raises(EngineFailed, match="must be restarted"):
        complete_over_http(client, REQUEST, lambda chunk: True)


def test_what_the_caller_raises_comes_through() -> None:
    def fail(chunk: CompletionChunk) -> bool:
        raise BadRequest("mine")

    with engine(WHOLE) as (client, _), pytest.raises(BadRequest, match="mine"):
        complete_over_http(client, REQUEST, fail)
