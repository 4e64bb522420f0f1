"""The bytes of each user that are in flight."""

from duologue.gateway.middleware.byte_ledger import ByteLedger


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
