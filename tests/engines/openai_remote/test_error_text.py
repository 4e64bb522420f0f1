"""What another server says went wrong, in its own words."""

import httpx
import pytest

from duologue.engines.openai_remote.error_text import (
    LARGEST,
    SHOWN,
    error_in,
    error_message,
    mask,
    read_beginning,
)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"error": {"message": "No such model."}}, "No such model."),
        ({"error": {"type": "overloaded"}}, "overloaded"),
        ({"object": "error", "message": "Old shape."}, "Old shape."),
        ({"error": "plain"}, "plain"),
        ({"choices": []}, None),
    ],
)
def test_an_answer_that_says_it_failed_says_why(answer, words):
    assert error_in(answer) == words


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error": {"message": "Too\\n  long."}}', "Too long."),
        (b'{"detail": "Not here."}', "Not here."),
        (b"<h1>Bad gateway</h1>", "<h1>Bad gateway</h1>"),
        (b"\xff", "\ufffd"),
        (b'{"error": "caf\xe9"}', '{"error": "caf\ufffd"}'),
        (b"[" * 100_000, "[" * SHOWN + " ..."),
        (b"", "no reason given"),
    ],
)
def test_words_are_found_whatever_the_shape(body, words):
    assert error_message(body) == words


def test_long_words_are_cut_after_secrets_are_taken_out():
    said = error_message(b"x" * (SHOWN - 3) + b"secret-key", ["secret-key"])
    assert said == "x" * (SHOWN - 3) + "***"
    assert error_message(b"y" * 1000).endswith("y ...")
    assert mask("a secret-key b", ["secret-key"]) == "a *** b"


@pytest.mark.anyio
async def test_of_an_endless_body_only_the_beginning_is_read():
    asked = []

    async def endless():
        while True:
            asked.append(1)
            yield b"z" * 10_000

    assert len(await read_beginning(httpx.Response(500, content=endless()))) == LARGEST
    assert len(asked) <= LARGEST // 10_000 + 2
