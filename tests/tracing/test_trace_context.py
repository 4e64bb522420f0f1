"""The header that names a place in a trace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.tracing.trace_context import TraceContext, parsed

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def test_a_header_is_read_as_the_standard_says():
    context = parsed(f"00-{TRACE}-{SPAN}-01")
    assert context == TraceContext(int(TRACE, 16), int(SPAN, 16), sampled=True)
    assert not parsed(f"00-{TRACE}-{SPAN}-00").sampled
    assert parsed(f"00-{TRACE}-{SPAN}-03").sampled, "other flags are of later times"


def test_of_a_later_version_the_known_part_counts():
    assert parsed(f"cc-{TRACE}-{SPAN}-01-more-of-it") == parsed(f"00-{TRACE}-{SPAN}-01")


@pytest.mark.parametrize(
    "header",
    [
        "",
        "00",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-01-more",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-1",
        f" 00-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01\n",
    ],
)
def test_what_is_not_well_formed_names_no_place(header):
    assert parsed(header) is None


@given(st.integers(1, 2**128 - 1), st.integers(1, 2**64 - 1), st.booleans())
def test_what_is_written_is_what_is_read(trace, span, sampled):
    context = TraceContext(trace, span, sampled)
    assert parsed(context.traceparent) == context
