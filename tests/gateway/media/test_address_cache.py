"""What was fetched is kept for a short while, for one user, and as its server allows."""

import pytest

from duologue.gateway.media.address_cache import SECONDS, AddressCache, seconds_to_keep
from duologue.tools.web_request import WebAnswer

URL = "https://example.org/cat.png"


def answer(body: bytes = b"cat", cache_control: str = "", *, complete: bool = True) -> WebAnswer:
    return WebAnswer(URL, "image/png", body, complete, cache_control)


def test_an_answer_is_kept_for_its_user_until_it_is_old():
    cache = AddressCache()
    cache.put("ada", URL, answer(), 100.0)
    assert cache.get("ada", URL, 100.0 + SECONDS - 1) == b"cat"
    assert cache.get("bob", URL, 100.0) is None
    assert cache.get("ada", URL, 100.0 + SECONDS) is None
    cache.put("ada", URL, answer(b"dog"), 1000.0)
    assert cache.get("ada", URL, 1001.0) == b"dog"


def test_what_was_cut_off_or_may_not_be_stored_is_not_kept():
    cache = AddressCache()
    cache.put("ada", URL, answer(complete=False), 0.0)
    assert cache.get("ada", URL, 0.0) is None
    cache.put("ada", URL, answer(cache_control="no-store"), 0.0)
    assert cache.get("ada", URL, 0.0) is None


def test_bytes_are_bounded_and_the_least_used_go_first():
    cache = AddressCache(most_bytes=3000)
    for name in "abc":
        cache.put("ada", name, answer(bytes(1000)), 0.0)
    assert [cache.get("ada", name, 1.0) is None for name in "abc"] == [True, False, False]
    cache.put("ada", "d", answer(bytes(2000)), 0.0)
    assert cache.get("ada", "d", 1.0) is None, "one alone does not push out all others"


@pytest.mark.parametrize(
    ("directives", "seconds"),
    [
        ("", SECONDS),
        ("private, max-age=31536000, immutable", SECONDS),
        ("public, max-age=60", 60),
        ("No-Store", 0),
        ("no-cache", 0),
        ("max-age=60, no-store", 0),
        ("max-age=0", 0),
        ("max-age=soon", 0),
    ],
)
def test_the_server_says_how_long(directives: str, seconds: float):
    assert seconds_to_keep(directives) == seconds
