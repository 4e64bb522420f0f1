"""Every line of arithmetic that the generators write is true."""

from __future__ import annotations

import re
from random import Random

import pytest

from duologue_mini.arithmetic import column_sums, word_problems
from duologue_mini.skills import arithmetic
from duologue_mini.text.numerals import in_words, ordinal

EQUATION = re.compile(r"(-?\d+(?: [-+×] \d+)+) = (-?\d+)")
COLUMN = re.compile(r"^(?:ones|tens|hundreds): .*?= (\d+)", re.M)


def value(text: str) -> int:
    """The value of a row of terms, products first."""
    total, sign = 0, 1
    for part in re.split(r" ([+-]) ", text):
        if part in "+-":
            sign = 1 if part == "+" else -1
            continue
        product = 1
        for factor in part.split(" × "):
            product *= int(factor)
        total += sign * product
    return total


def test_every_equation_holds() -> None:
    random, seen = Random(1), 0
    for _ in range(3000):
        for turn in arithmetic.draw(random).turns:
            for text in (turn.thought, turn.assistant, turn.after_thought or ""):
                lines = re.sub(r"borrow, ", "", re.sub(r", (?:write|carry|owe) \d+", "", text))
                for left, right in EQUATION.findall(lines):
                    seen += 1
                    assert value(left) == int(right), text
    assert seen > 8000


@pytest.mark.parametrize("sign", ["+", "-"])
def test_the_columns_spell_the_result(sign: str) -> None:
    random = Random(2)
    for _ in range(2000):
        a, b = random.randint(0, 999), random.randint(0, 999)
        if sign == "-":
            a, b = max(a, b), min(a, b)
        lines = column_sums.thought(a, sign, b)
        assert lines[-1] == f"{a} {sign} {b} = {column_sums.value(a, sign, b)}"
        written = [re.search(r"write (\d+)|= (\d+)(?:, owe 1)?$", line) for line in lines[1:-1]]
        digits = [match[1] or match[2] for match in written if match]
        if digits:
            assert int("".join(reversed(digits))) == column_sums.value(a, sign, b)


def test_a_written_out_answer_ends_with_the_sum() -> None:
    random = Random(3)
    for _ in range(1000):
        a, b, sign = random.randint(0, 999), random.randint(0, 999), random.choice("+-")
        steps = column_sums.spoken_equations(a, sign, b)
        assert steps[-1] == column_sums.equation(a, sign, b)
        assert len(steps) <= 6
    assert column_sums.sentence(47, "+", 38) == "47 + 38 = 85."


def test_word_problems_never_fall_below_zero_and_name_their_result() -> None:
    random = Random(4)
    for _ in range(1500):
        story = word_problems.problem(random)
        result = story.start
        for sign, other in story.steps:
            result = column_sums.value(result, sign, other)
            assert result >= 2
            assert re.search(rf"\b{other}\b", story.story)
        assert re.search(rf"\b{result}\b", story.answer)


def test_comparisons_name_the_right_number() -> None:
    random = Random(5)
    for _ in range(4000):
        for turn in arithmetic.draw(random).turns:
            if match := re.search(r"(\d+) is (larger|smaller) than (\d+)", turn.assistant):
                first, second = int(match[1]), int(match[3])
                assert (first > second) == (match[2] == "larger")
            if "equal" in turn.assistant:
                assert "the same" in turn.thought


def test_larger_numbers_and_other_operations_are_declined() -> None:
    random, seen = Random(6), 0
    for _ in range(2000):
        scene = arithmetic.draw(random)
        numbers = [int(number) for number in re.findall(r"\d+", scene.turns[0].user.replace(",", ""))]
        if scene.skill == "arithmetic-beyond":
            seen += 1
            assert "`duologue" in scene.turns[0].assistant
            assert not EQUATION.search(scene.turns[0].assistant)
        else:
            assert all(number <= 2100 for number in numbers)
    assert seen > 150


def test_numbers_in_words() -> None:
    assert in_words(0) == "zero"
    assert in_words(347) == "three hundred forty-seven"
    assert in_words(-12) == "minus twelve"
    assert in_words(1_001_020) == "one million one thousand twenty"
    assert [ordinal(number) for number in (1, 12, 21, 30)] == [
        "first",
        "twelfth",
        "twenty-first",
        "thirtieth",
    ]
