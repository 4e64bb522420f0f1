"""Models over cards: memory in, devices out."""

from hypothesis import given
from hypothesis import strategies as st

from duologue.models.placement import AUTO, Card, ModelToPlace, devices_of_copies, place

GB = 1_000_000_000
TWO = (Card(0, "A", 24 * GB), Card(1, "B", 16 * GB))


def devices(*models: ModelToPlace, cards: tuple[Card, ...] = TWO) -> list[str]:
    return [placed.device for placed in place(models, cards)]


def model(size: float, device: str = AUTO) -> ModelToPlace:
    return ModelToPlace("m", int(size * GB), device)


def test_the_largest_goes_first_and_each_to_the_emptiest_card() -> None:
    assert devices(model(5), model(20)) == ["cuda:1", "cuda:0"]
    assert devices(model(10), model(10), model(10)) == ["cuda:0", "cuda:1", "cuda:0"]


def test_a_model_is_not_divided_where_one_card_has_room() -> None:
    assert devices(model(16)) == ["cuda:0"]


def test_one_that_fits_nowhere_is_left_to_the_engine_with_the_reason() -> None:
    [large, small] = place([ModelToPlace("big", 30 * GB), model(8)], TWO)
    assert (large.device, small.device) == (AUTO, "cuda:0")
    assert "big needs 30" in large.reason
    assert "24" in large.reason
    assert "cuda:1" in large.reason
    assert small.reason == ""


def test_what_the_settings_name_is_kept_and_takes_its_room() -> None:
    assert devices(model(20, "cuda:0"), model(10)) == ["cuda:0", "cuda:1"]
    assert devices(model(20, "cpu"), model(10)) == ["cpu", "cuda:0"]
    # Whether it is there at all is the engine's to say.
    assert devices(model(1, "cuda:7")) == ["cuda:7"]


def test_with_one_card_or_none_nothing_is_chosen() -> None:
    assert devices(model(5), model(5), cards=TWO[:1]) == [AUTO, AUTO]
    assert devices(model(5), cards=()) == [AUTO]


@given(st.lists(st.integers(0, 40), max_size=8), st.lists(st.integers(0, 40), min_size=2, max_size=4))
def test_no_card_is_given_more_than_it_has(sizes: list[int], rooms: list[int]) -> None:
    cards = [Card(number, "x", room) for number, room in enumerate(rooms)]
    models = [ModelToPlace(str(size), size) for size in sizes]
    placed = place(models, cards)
    assert [each.name for each in placed] == [each.name for each in models]
    for card in cards:
        used = sum(size for size, each in zip(sizes, placed, strict=True) if each.device == card.device)
        assert used <= card.free
    assert all((each.device == AUTO) == bool(each.reason) for each in placed)


def test_copies() -> None:
    assert devices_of_copies(3, AUTO, ()) == (AUTO, AUTO, AUTO)
    assert devices_of_copies(2, "cuda:1", TWO) == ("cuda:1", "cuda:1")
    assert devices_of_copies("all", AUTO, TWO) == ("cuda:0", "cuda:1")
    assert devices_of_copies("all", AUTO, ()) == (AUTO,)
    assert devices_of_copies("all", "cpu", TWO) == ("cpu",)
