"""The keys of places."""

from __future__ import annotations

from duologue.gateway.machines.place_keys import PlaceKeys


def test_a_key_opens_its_place_and_no_other() -> None:
    keys = PlaceKeys()
    first, second = keys.issue("worker_0"), keys.issue("worker_1")
    assert (keys.place_of(first), keys.place_of(second)) == ("worker_0", "worker_1")
    assert keys.place_of(first + "x") is None
    assert keys.place_of("") is None
    assert keys.place_of("place-\udc80") is None


def test_a_key_is_worth_nothing_once_the_place_has_another_or_is_gone() -> None:
    keys = PlaceKeys()
    before = keys.issue("worker_0")
    after = keys.issue("worker_0")
    assert keys.place_of(before) is None
    assert keys.place_of(after) == "worker_0"
    keys.revoke("worker_0")
    keys.revoke("worker_0")
    assert keys.place_of(after) is None
