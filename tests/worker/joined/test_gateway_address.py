"""Addresses of gateways."""

import pytest

from duologue.errors import StartFailed
from duologue.worker.joined.gateway_address import parse_gateway


@pytest.mark.parametrize(
    ("text", "live"),
    [
        ("https://gateway:8006", "wss://gateway:8006/join/live"),
        ("https://gateway/talk/", "wss://gateway/talk/join/live"),
        ("http://127.0.0.2:8006", "ws://127.0.0.2:8006/join/live"),
        ("https://[::1]:8006/a/b", "wss://[::1]:8006/a/b/join/live"),
    ],
)
def test_the_sockets_are_below_the_address(text, live):
    assert parse_gateway(text).socket("live") == live


def test_an_address_is_written_in_one_way():
    assert str(parse_gateway(" https://Gateway:443/talk/ ")) == "https://gateway/talk"
    assert parse_gateway("https://gateway/talk").url("/ca.crt") == "https://gateway/talk/ca.crt"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gateway:8006",
        "ftp://gateway",
        "https://",
        "https://h:port",
        "https://name:key@h",
        "https://h/?k=1",
    ],
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(StartFailed):
        parse_gateway(text)


def test_plain_http_over_a_network_has_to_be_allowed():
    with pytest.raises(StartFailed, match="--insecure-http"):
        parse_gateway("http://gateway:8006")
    assert parse_gateway("http://gateway:8006", insecure_http=True).port == 8006
    assert parse_gateway("http://localhost:8006").host == "localhost"
