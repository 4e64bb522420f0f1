"""Places for connections, by address and in all."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from duologue.gateway.connections.admission import Admission, ConnectionTable
from duologue.gateway.middleware.address_group import address_group

PEERS = ("203.0.113.1", "203.0.113.2", "2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "127.0.0.1", "", "x")


@given(st.lists(st.tuples(st.sampled_from(PEERS), st.booleans()), max_size=60))
def test_no_address_and_no_sum_exceeds_its_bound(steps):
    table = ConnectionTable(per_address=3, total=7, is_shared=lambda peer: peer.startswith("127."))
    held: list[tuple[str, Admission]] = []
    for peer, leaves in steps:
        if leaves and held:
            _, place = held.pop(0)
            place.release()
            place.release()
            continue
        counts = Counter(address_group(one) for one, _ in held)
        group = "" if peer.startswith("127.") else address_group(peer)
        place_or_full = table.admit(peer)
        if group and counts[group] >= 3:
            assert place_or_full == "per_address"
        elif len(held) >= 7:
            assert place_or_full == "total"
        else:
            assert isinstance(place_or_full, Admission)
            held.append((peer, place_or_full))
    assert table.count == len(held)
    for _, place in held:
        place.release()
    assert (table.count, table._groups) == (0, Counter())
