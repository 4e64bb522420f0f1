"""The time limits and secrets of a connection. Its replies, failures and tries are in `test_engine`, over real sockets."""

import pytest

from duologue.engines.openai_remote.upstream_connection import OVERFLOWS, Upstream
from duologue.errors import ContextExceeded, EngineFailed, StartFailed

pytestmark = pytest.mark.anyio


async def test_a_prompt_that_is_too_long_is_known_by_what_servers_say() -> None:
    upstream = Upstream("http://box", "sk-secret", 1)
    for words in OVERFLOWS:
        assert isinstance(upstream.problem_of(f"Error: {words.upper()}"), ContextExceeded)
    assert isinstance(upstream.problem_of("out of memory"), EngineFailed)
    await upstream.close()


async def test_a_secret_is_never_repeated() -> None:
    upstream = Upstream("http://user:pass-word@box", "sk-secret", 1)
    message = upstream.problem_of("the key sk-secret and the word pass-word are wrong").message
    assert "the key *** and the word *** are wrong" in message
    assert upstream.shown == "http://box/v1"
    await upstream.close()


def test_what_is_no_address_is_a_sentence() -> None:
    with pytest.raises(StartFailed, match="not the URL of a server"):
        Upstream("ftp://box", "", 1)
