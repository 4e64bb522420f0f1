"""Reading the curve of a mouth."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from duologue.values.mouth import REST, MouthKey, mouth_at

CURVE = (MouthKey(100, open=20), MouthKey(200, open=100, wide=-40), MouthKey(300, press=100))


def test_between_two_keys_the_mouth_changes_in_a_straight_line() -> None:
    assert mouth_at(CURVE, 150).open == 0.6
    assert mouth_at(CURVE, 150).wide == -0.2
    assert mouth_at(CURVE, 250).press == 0.5


def test_at_a_key_the_mouth_is_the_keys() -> None:
    assert mouth_at(CURVE, 100).open == 0.2
    assert mouth_at(CURVE, 200).open == 1.0
    assert mouth_at(CURVE, 300).press == 1.0


def test_before_the_first_and_after_the_last_key_the_mouth_rests() -> None:
    assert mouth_at(CURVE, 99) == REST
    assert mouth_at(CURVE, 301) == REST
    assert mouth_at((), 0) == REST


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=20), st.integers(-100, 11_000))
def test_keys_at_one_position_are_no_division_by_nothing(places: list[int], at: int) -> None:
    keys = [MouthKey(place, open=50) for place in sorted(places)]
    assert 0.0 <= mouth_at(keys, at).open <= 0.5
