"""Texts that go round in circles, and those that only look like it."""

from __future__ import annotations

import random

import pytest

from duologue.text.stream.repetition import LONGEST, STRETCH, RepetitionDetector


def circles(text: str, size: int = 7) -> bool:
    repetition = RepetitionDetector()
    return any(repetition.feed(text[at : at + size]) for at in range(0, len(text), size))


@pytest.mark.parametrize("piece", ["a", " \n", "basketils ", "ab" * (LONGEST // 2)])
@pytest.mark.parametrize("size", [1, 7, 5000])
def test_a_piece_that_comes_again_and_again_is_told(piece: str, size: int) -> None:
    rounds = 2 * STRETCH // len(piece)
    assert circles("Once upon a time: " + piece * rounds, size)


def test_not_before_it_has_gone_on_for_long() -> None:
    assert not circles("Once upon a time: " + "ha" * (STRETCH // 4))
    assert not circles("-" * (STRETCH - 1))


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"| row {number} | value |\n" for number in range(500)),
        ("x" * (LONGEST + 1) + "y") * 100,
        "".join(random.Random(1).choices("ACGT", k=9000)),
        ("-" * (STRETCH - 10) + "\nand then\n") * 4,
    ],
    ids=["a table", "a long piece", "a code", "lines"],
)
def test_what_changes_is_no_circle(text: str) -> None:
    assert not circles(text)


def test_it_is_told_also_when_it_begins_late() -> None:
    repetition = RepetitionDetector()
    assert not repetition.feed("Sense. " * 3 + "".join(map(str, range(5000))))
    assert repetition.feed("la " * 2000)
