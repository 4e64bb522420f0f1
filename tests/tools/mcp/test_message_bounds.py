import pytest

from duologue.tools.mcp.message_bounds import (
    BURST,
    MESSAGE,
    MESSAGE_COST,
    PARTS,
    RATE,
    BodyMeter,
    MessageTooLarge,
    Pace,
    count_parts,
)


def test_a_body_is_bounded_in_bytes_whatever_its_pieces():
    meter = BodyMeter(10)
    meter.add(b"x" * 10)
    with pytest.raises(MessageTooLarge):
        meter.add(b"x")


def test_a_body_is_bounded_in_parts():
    assert count_parts(b'{"a": [1, 2]}') == 3
    meter = BodyMeter()
    meter.add(b"," * PARTS)
    with pytest.raises(MessageTooLarge):
        meter.add(b"[")


@pytest.mark.parametrize("blank", [b"\n\n", b"\r\n\r\n", b"\r\r"])
def test_of_a_stream_each_event_is_bounded_and_not_their_sum(blank):
    meter = BodyMeter(10, events=True)
    assert [meter.add(b"data: x" + blank) for _ in range(100)] == [1] * 100
    assert meter.add(blank.join([b"a"] * 4)) == 3
    with pytest.raises(MessageTooLarge):
        meter.add(b"x" * 11)


def test_lines_of_an_event_count_too():
    with pytest.raises(MessageTooLarge):
        BodyMeter(events=True).add(b"a\n" * (PARTS + 1))


def test_a_server_is_read_at_once_and_then_at_its_pace():
    pace = Pace()
    assert pace.wait(BURST, 1, 0.0) == 0
    assert pace.wait(RATE, 1, 0.0) == 1.0
    assert pace.wait(0, 0, 2.0) == 0
    assert pace.wait(MESSAGE, 0, 1000.0) == 0


def test_a_pace_has_a_burst_and_a_rate_of_its_own():
    pace = Pace(10, 2)
    assert pace.wait(10, 0, 0.0) == 0
    assert pace.wait(6, 0, 0.0) == 3.0


def test_a_small_message_counts_for_more_than_its_bytes():
    pace = Pace()
    assert pace.wait(0, BURST // MESSAGE_COST, 0.0) == 0
    assert pace.wait(0, RATE // MESSAGE_COST, 0.0) == 1.0


def test_a_clock_that_goes_back_costs_nothing():
    pace = Pace()
    pace.wait(BURST, 0, 100.0)
    assert pace.wait(0, 0, 50.0) == 0
