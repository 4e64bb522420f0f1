"""The bytes of each user that are in flight."""

import pytest

from duologue.errors import Busy
from duologue.gateway.middleware.byte_ledger import ByteLedger, count, counted_by, handed_on


def test_a_user_has_so_many_bytes_in_all_entries_together():
    ledger = ByteLedger(100)
    first, second = ledger.open("ada"), ledger.open("ada")
    assert first.add(60)
    assert not second.add(41)
    assert second.add(40)
    assert ledger.held("ada") == 100
    assert ledger.open("ben").add(100)


def test_an_entry_that_closes_makes_room_and_takes_nothing_more():
    ledger = ByteLedger(100)
    first, second = ledger.open("ada"), ledger.open("ada")
    first.add(100)
    first.close()
    first.close()
    assert not first.add(1)
    assert ledger.held("ada") == 0
    assert second.add(100)


def test_what_is_refused_changes_nothing_and_less_is_always_taken():
    ledger = ByteLedger(100)
    entry = ledger.open("ada")
    assert entry.hold(80)
    assert not entry.hold(120)
    assert ledger.held("ada") == 80
    assert entry.hold(0)
    assert ledger.held("ada") == 0


def test_files_that_a_request_names_count_for_it_and_are_refused_beyond_the_limit():
    ledger = ByteLedger(100)
    entry = ledger.open("ada")
    entry.add(30)
    count(1000)  # outside of requests nothing is counted
    with counted_by(entry):
        count(60)
        with pytest.raises(Busy) as refused:
            count(20)
    assert refused.value.code == "too_much_in_flight"
    assert ledger.held("ada") == 90
    entry.close()
    assert ledger.held("ada") == 0


def test_work_that_outlives_its_request_takes_its_bytes_along():
    ledger = ByteLedger(100)
    entry = ledger.open("ada")
    entry.add(30)
    with counted_by(entry):
        kept = handed_on()
        assert kept is not None
        entry.close()
        count(1000)  # the request has ended: its limits are not this work's
        assert handed_on() is None
    assert ledger.held("ada") == 30
    kept.close()
    assert ledger.held("ada") == 0
    assert handed_on() is None
