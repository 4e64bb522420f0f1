"""Headers of raw ASGI messages."""

from duologue.gateway.middleware.headers import header_values, with_headers


def test_every_value_of_a_header_is_given_in_order():
    scope = {"headers": [(b"host", b"a"), (b"origin", b"x"), (b"host", b"\xe4")]}
    assert header_values(scope, b"host") == ["a", "ä"]
    assert header_values(scope, b"accept") == []


def test_headers_are_added_to_a_copy():
    message = {"type": "http.response.start", "headers": [(b"vary", b"Origin")]}
    added = with_headers(message, [(b"x-a", b"1")])
    assert added == {"type": "http.response.start", "headers": [(b"vary", b"Origin"), (b"x-a", b"1")]}
    assert message["headers"] == [(b"vary", b"Origin")]
