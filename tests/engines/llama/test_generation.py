"""Completions on a server object that replays chunks: pieces, errors, early ends."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import pytest

from duologue.engines.contracts import GenerationEnded, Piece
from duologue.engines.llama.generation import ReplyReader, complete, complete_text
from duologue.errors import BadRequest, EngineFailed
from duologue.values.events import Progress


def text(piece: str, predicted: int) -> dict[str, Any]:
    return {"choices": [{"text": piece}], "timings": {"predicted_n": predicted}}


def end(reason: str = "stop", tokens: int = 3) -> dict[str, Any]:
    return {"choices": [{"finish_reason": reason}], "usage": {"completion_tokens": tokens}}


class Server:
    """Passes each chunk to the callback until that asks for the end."""

    def __init__(self, *chunks: dict[str, Any], broken: Exception | None = None) -> None:
        self.chunks = chunks
        self.broken = broken
        self.sent = 0

    def handle_completions(self, request: bytes, callback: Any) -> None:
        assert msgspec.json.decode(request) == {"prompt": [1]}
        for chunk in self.chunks:
            self.sent += 1
            if callback(msgspec.json.encode(chunk)):
                return
        if self.broken:
            raise self.broken


def run(server: Server, **how: Any) -> tuple[list[Any], ReplyReader]:
    items: list[Any] = []
    take = how.pop("take", 99)

    def receive(item: Any) -> bool:
        items.append(item)
        return len(items) < take

    reader = ReplyReader(
        receive,
        how.pop("top", None),
        how.pop("silent", False),
        how.pop("constrained", False),
        how.pop("markers", ()),
    )
    complete(server, {"prompt": [1]}, reader.on_chunk)
    return items, reader


def test_chunks_become_pieces_with_their_tokens() -> None:
    reading = {"prompt_progress": {"total": 9, "processed": 9, "cache": 4}}
    items, reader = run(Server(reading, text("a", 1), text("é", 3), end()))
    assert items == [Progress(9, 9, 4), Piece("a", 1), Piece("é", 2), GenerationEnded("stop", 3, 4)]
    assert (reader.began, reader.ended, reader.left) == (True, True, False)


def test_one_token_with_the_text_of_a_marker_is_a_control_token() -> None:
    items, _ = run(Server(text("<think>", 1), text("<think>", 8), text("a", 9), end()), markers={"<think>"})
    assert [item.control for item in items[:3]] == [True, False, False]


def test_no_tokens_are_no_text() -> None:
    items, _ = run(Server(text("a", 1), end()), silent=True)
    assert items == [Piece("", 0), GenerationEnded("length", 0, 0)]


def test_a_consumer_who_leaves_ends_the_completion() -> None:
    server = Server(text("a", 1), text("b", 2), end())
    items, reader = run(server, take=1)
    assert (items, server.sent) == ([Piece("a", 1)], 1)
    assert (reader.left, reader.ended) == (True, False)


def test_an_error_chunk_is_raised_as_a_problem() -> None:
    refusal = {"error": {"message": "Failed to parse grammar", "type": "invalid_request_error"}}
    with pytest.raises(BadRequest, match="grammar"):
        run(Server(refusal))


def test_an_error_in_the_callback_is_not_lost_in_the_library() -> None:
    def fails(chunk: object) -> bool:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        complete(Server(text("a", 1), end()), {"prompt": [1]}, fails)


def test_an_error_of_the_library_is_a_sentence() -> None:
    with pytest.raises(EngineFailed, match="The engine failed: no memory"):
        run(Server(broken=RuntimeError("no memory")))


def test_json_that_is_none_is_an_error_only_where_it_was_constrained() -> None:
    with pytest.raises(EngineFailed, match="too complex"):
        run(Server(text('{"a": ', 1), end()), constrained=True)
    items, _ = run(Server(text('{"a": ', 1), end("length")), constrained=True)
    assert items[-1].finish == "length"
    run(Server(text('{"a": ', 1), end()))


def test_the_text_of_a_completion() -> None:
    server = Server(text("a", 1), text("b", 2), end())
    assert complete_text(partial(complete, server, {"prompt": [1]})) == "ab"
