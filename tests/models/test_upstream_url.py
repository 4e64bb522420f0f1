"""Addresses of model servers, as people write them."""

import pytest

from duologue.models.upstream_url import parse_upstream_url, shown_url


@pytest.mark.parametrize(
    ("written", "base"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("127.0.0.1:8080/", "http://127.0.0.1:8080/v1"),
        ("https://api.example.com/v1/", "https://api.example.com/v1"),
        ("https://example.com/openai/v1", "https://example.com/openai/v1"),
        ("https://example.com/v1beta/openai/", "https://example.com/v1beta/openai"),
        ("https://example.com/api?key=1#there", "https://example.com/api/v1"),
        ("http://[::1]:8000", "http://[::1]:8000/v1"),
        ("http://me:secret@host/v1", "http://host/v1"),
    ],
)
def test_an_address_becomes_the_base_of_the_api(written: str, base: str) -> None:
    parts = parse_upstream_url(written)
    assert parts is not None
    assert shown_url(parts) == base


@pytest.mark.parametrize(
    "written",
    [
        *("", "http://", "ftp://host", "http://host:99999", "http://[::1", "http://host:0"),
        *("\0", "http://ho st"),
    ],
)
def test_what_is_no_address_is_none(written: str) -> None:
    assert parse_upstream_url(written) is None
