"""What leaves the cache of a long call, and what stays."""

from hypothesis import given
from hypothesis import strategies as st

from duologue.engines.qwen_omni.duplex.unit_window import UnitWindow


def test_nothing_leaves_while_there_is_room() -> None:
    window = UnitWindow(10, 100)
    for _ in range(9):
        window.read(10)
    assert window.leaving(100) == 0


def test_the_oldest_units_leave_first_and_down_to_three_quarters() -> None:
    window = UnitWindow(10, 100)
    for size in (20, 20, 20, 20, 20):
        window.read(size)
    assert window.leaving(110) == 40
    assert window.leaving(110 - 40) == 0


def test_a_reply_leaves_once_the_units_before_it_have_left() -> None:
    window = UnitWindow(10, 100)
    window.read(10)
    window.replied(50)
    window.read(30)
    window.read(10)
    # The unit alone is not enough, so the reply goes with its marks.
    assert window.leaving(110) == 60


def test_the_last_unit_stays_whatever_its_size() -> None:
    window = UnitWindow(10, 100)
    window.read(500)
    assert window.leaving(510) == 0
    window.read(500)
    assert window.leaving(1010) == 500


def test_a_reply_that_is_cut_is_counted_anew() -> None:
    window = UnitWindow(0, 100)
    window.read(10)
    window.replied(90)
    window.unread_reply()
    window.replied(20)
    window.read(80)
    assert window.leaving(110) == 10 + 20
    # A reply that is no longer the last thing said cannot be cut.
    window.read(1)
    window.unread_reply()
    assert window.leaving(200) == 80


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 40)), max_size=60))
def test_what_leaves_is_never_more_than_there_is(steps: list[tuple[bool, int]]) -> None:
    window, length = UnitWindow(10, 100), 10
    for is_unit, size in steps:
        length -= window.leaving(length + size)
        assert length >= 10
        length += size
        if is_unit:
            window.read(size)
        else:
            window.replied(size)
        assert length <= 100 + 2 * 40
