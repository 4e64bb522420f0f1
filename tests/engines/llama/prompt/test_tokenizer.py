"""Tokenizing in pieces: small texts pass, long ones take turns, and what is far too long ends early."""

from __future__ import annotations

import threading
from typing import Any, cast

import anyio
import pytest

from duologue.engines.llama.http_client import LlamaHttpClient
from duologue.engines.llama.prompt.tokenizer import FAR_TOO_LONG, SHORT, LlamaTokenizer
from duologue.errors import ContextExceeded
from duologue.threads import ThreadLane

pytestmark = pytest.mark.anyio
MARKER = "<|im_start|>"


class Client:
    """A connection whose engine makes a token of each character; one call can be held."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.closed = False
        self.open = threading.Event()
        self.open.set()

    def tokenize(self, text: str) -> tuple[int, ...]:
        self.asked.append(text)
        assert self.open.wait(60)
        return tuple(map(ord, text))

    def close(self) -> None:
        self.closed = True


def tokenizer(context: int = 1_000_000, bos: tuple[int, ...] = ()) -> tuple[LlamaTokenizer, Client, Client]:
    short, long = Client(), Client()
    as_client: Any = lambda client: cast(LlamaHttpClient, client)  # noqa: E731
    return (
        LlamaTokenizer(as_client(short), as_client(long), ThreadLane(1), (MARKER,), bos, context),
        short,
        long,
    )


async def test_a_long_text_goes_over_in_pieces_on_the_second_connection() -> None:
    made, short, long = tokenizer()
    text = f"{MARKER}user says something " * 5000
    assert await made.tokens(text, start=True) == tuple(map(ord, text))
    assert len(long.asked) > 3
    assert short.asked == []


async def test_a_short_text_does_not_wait_for_a_long_one() -> None:
    made, _, long = tokenizer()
    long.open.clear()
    async with anyio.create_task_group() as group:

        async def tokenize_long() -> None:
            await made.tokens("word " * SHORT, start=True)

        group.start_soon(tokenize_long)
        assert await made.tokens("hi", start=True) == (ord("h"), ord("i"))
        long.open.set()


async def test_a_text_far_beyond_the_context_ends_early() -> None:
    for text in ("x" * 900_000, f"{MARKER}abc" * 60_000):
        made, _, long = tokenizer(context=1000)
        with pytest.raises(ContextExceeded, match=f"more than {FAR_TOO_LONG * 1000} tokens"):
            await made.tokens(text, start=True)
        assert len(long.asked) == 1


async def test_endings_are_asked_for_once_and_bos_stands_in_front_once() -> None:
    made, short, _ = tokenizer(bos=(ord("^"),))
    assert await made.tokens("ab", start=False) == await made.tokens("ab", start=False) == (97, 98)
    assert short.asked == ["ab"]
    assert await made.tokens("ab", start=True) == (94, 97, 98)
    assert await made.tokens("^ab", start=True) == (94, 97, 98)


async def test_closing_closes_both_connections() -> None:
    made, short, long = tokenizer()
    made.close()
    assert short.closed
    assert long.closed
