"""The lines about bounds."""

from typing import get_args

from duologue.gateway.connections.bound_log import SENTENCES, BoundLog
from duologue.gateway.connections.bounds import Bound


def test_every_bound_has_a_line():
    assert set(SENTENCES) == set(get_args(Bound))


def test_a_line_a_minute_for_each_bound_and_a_count_of_the_rest():
    log = BoundLog()
    first = log.line("headers", "203.0.113.1", 0.0)
    assert first is not None
    assert first.endswith("from 203.0.113.1")
    assert [log.line("headers", "203.0.113.1", float(now)) for now in range(1, 60)] == [None] * 59
    assert log.line("invalid", "", 30.0) is not None
    later = log.line("headers", "203.0.113.2", 60.0)
    assert later is not None
    assert later.endswith("from 203.0.113.2, and 59 more since the last such line")
