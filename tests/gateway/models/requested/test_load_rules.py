"""Who may have a model loaded, and what makes room for it."""

import pytest

from duologue.gateway.models.requested.load_rules import RemovableModel, Room, make_room, may_load


@pytest.mark.parametrize(
    ("allowed", "is_admin", "may"),
    [
        (("off",), True, False),
        (("admins",), True, True),
        (("admins",), False, False),
        (("everyone",), False, True),
        (("anna",), False, True),
        (("u_1",), False, True),
        (("bob",), True, False),
        (("admins", "anna"), False, True),
        (("off", "everyone"), True, False),
        ((), True, False),
    ],
)
def test_who_may_load(allowed: tuple[str, ...], is_admin: bool, may: bool) -> None:
    assert may_load(allowed, user="u_1", name="anna", is_admin=is_admin) is may


@pytest.mark.parametrize("word", ["admins", "everyone", "off"])
def test_the_name_of_a_user_is_no_word_of_the_setting(word: str) -> None:
    assert not may_load(("admins", "anna"), user="u_1", name=word, is_admin=False)


def loaded(name: str, used: float, *, size: int = 10, busy: bool = False) -> RemovableModel:
    return RemovableModel(name, size, busy, used)


def test_with_memory_enough_nothing_is_unloaded() -> None:
    assert make_room(0, [loaded("a", 1.0)]) == Room(enough=True)
    assert make_room(-5, []) == Room(enough=True)


def test_the_least_recently_used_makes_room_and_no_more_than_needed() -> None:
    models = [loaded("new", 9.0), loaded("old", 1.0), loaded("middle", 5.0)]
    assert make_room(7, models) == Room(("old",), enough=True)
    assert make_room(11, models) == Room(("old", "middle"), enough=True)


def test_a_model_that_is_used_stays() -> None:
    models = [loaded("old", 1.0, busy=True), loaded("new", 9.0)]
    assert make_room(10, models) == Room(("new",), enough=True)


def test_it_waits_where_an_end_would_be_enough_and_unloads_nothing_meanwhile() -> None:
    models = [loaded("old", 1.0, busy=True), loaded("new", 9.0)]
    assert make_room(15, models) == Room(wait=True)


def test_what_can_never_be_enough_unloads_nothing() -> None:
    assert make_room(50, [loaded("a", 1.0), loaded("b", 2.0, busy=True)]) == Room()
    assert make_room(1, []) == Room()
