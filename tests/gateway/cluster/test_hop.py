"""Nobody but a gateway of the same database can say where a request comes from."""

from hypothesis import given
from hypothesis import strategies as st

from duologue.gateway.cluster.hop import Hop, signed, verified

SECRET = b"s" * 32
HOP = Hop("0a1b2c3d", "2001:db8::1")
NOW = 1_800_000_000.0


def test_what_a_gateway_signs_another_one_takes():
    value = signed(SECRET, HOP, "POST", "/api/x?y=1", NOW)
    assert verified(SECRET, value, "POST", "/api/x?y=1", NOW + 5) == HOP


def test_not_for_another_request_nor_later_nor_with_another_secret():
    value = signed(SECRET, HOP, "POST", "/api/x", NOW)
    assert verified(SECRET, value, "POST", "/api/y", NOW) is None
    assert verified(SECRET, value, "GET", "/api/x", NOW) is None
    assert verified(SECRET, value, "POST", "/api/x", NOW + 61) is None
    assert verified(b"t" * 32, value, "POST", "/api/x", NOW) is None
    assert verified(b"", value, "POST", "/api/x", NOW) is None


@given(st.binary(max_size=600))
def test_anything_else_is_refused(value):
    assert verified(SECRET, value, "GET", "/", NOW) is None
