"""Ranges of numbers: what is in them can be written, what is not cannot."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as draw
from tests.support.gbnf import admits

from duologue.text.grammars.number_grammar import integer_range, number_range

BOUND = draw.none() | draw.integers(-1200, 1200)
DECIMAL = draw.builds(
    lambda number, places: Decimal(number).scaleb(-places), draw.integers(-3000, 3000), draw.integers(0, 3)
)


@given(BOUND, BOUND, draw.lists(draw.integers(-1300, 1300), max_size=8))
def test_whole_numbers(low: int | None, high: int | None, numbers: list[int]) -> None:
    rule = integer_range(low, high)
    for number in {
        *numbers,
        *((bound + step) for bound in (low, high) if bound is not None for step in (-1, 0, 1)),
    }:
        inside = (low is None or low <= number) and (high is None or number <= high)
        assert (admits(f"root ::= {rule}\n", str(number)) if rule else False) is inside, number


@given(
    draw.none() | DECIMAL,
    draw.none() | DECIMAL,
    draw.booleans(),
    draw.booleans(),
    draw.lists(DECIMAL, max_size=8),
)
def test_numbers(
    low: Decimal | None, high: Decimal | None, above: bool, below: bool, numbers: list[Decimal]
) -> None:
    rule = number_range(low, high, above=above, below=below)
    bounds = [bound for bound in (low, high) if bound is not None]
    for number in {
        *numbers,
        *bounds,
        *(bound + Decimal(step) / 1000 for bound in bounds for step in (-1, 1)),
    }:
        inside = (low is None or low < number or (low == number and not above)) and (
            high is None or number < high or (high == number and not below)
        )
        text = f"{number.normalize():f}" if number else "0"
        assert (admits(f"root ::= {rule}\n", text) if rule else False) is inside, text


@given(DECIMAL, DECIMAL, draw.integers(0, 3), draw.integers(-3000, 3000))
def test_zeros_at_the_end_change_nothing_for_what_is_outside(
    low: Decimal, high: Decimal, places: int, number: int
) -> None:
    rule = number_range(low, high)
    value = Decimal(number).scaleb(-places)
    for text in (f"{value:f}", f"{value:f}0" if places else f"{value:f}.0"):
        if rule and admits(f"root ::= {rule}\n", text):
            assert low <= value <= high


def test_a_number_has_no_zeros_before_it_and_no_end_that_is_missing() -> None:
    rule = number_range(Decimal("0.5"), Decimal(20))
    for text in ("01", "1.", ".5", "1e1", "-1", "+1", "", "00.5", "20.5", "20.01"):
        assert not admits(f"root ::= {rule}\n", text), text
    for text in ("0.5", "0.55", "1", "1.0", "19.99", "20", "20.0"):
        assert admits(f"root ::= {rule}\n", text), text
