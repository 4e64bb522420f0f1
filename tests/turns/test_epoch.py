from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from duologue.turns.epoch import Epoch


def test_what_belongs_to_an_earlier_epoch_is_stale_and_stays_so() -> None:
    epoch = Epoch()
    before = epoch.value
    assert not epoch.is_stale(before)
    assert epoch.rise() == epoch.value
    assert epoch.is_stale(before)
    assert not epoch.is_stale(epoch.value)


@given(st.integers(0, 50))
def test_it_only_rises(times: int) -> None:
    epoch = Epoch()
    seen = [epoch.value, *(epoch.rise() for _ in range(times))]
    assert seen == sorted(set(seen))
    assert all(epoch.is_stale(old) for old in seen[:-1])
