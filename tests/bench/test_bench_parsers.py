"""The short form of `bench_parsers.py`: its replies are what they say they are, read by our machine alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import bench_parsers as bench


@pytest.mark.parametrize("case", bench.cases(), ids=lambda case: case.name)
def test_a_reply_reads_as_it_was_written(case: bench.Case) -> None:
    text, written = case.reply(1_000)
    _, read = bench.measured(case.ours, bench.cut(text, case.markers), 1)
    assert bench.right(read, written)


def test_a_reply_cut_short_is_not_taken_for_the_whole() -> None:
    case = bench.cases()[0]
    text, written = case.reply(1_000)
    _, read = bench.measured(case.ours, bench.cut(text[:-8], case.markers), 1)
    assert not bench.right(read, written)


def test_a_marker_is_one_piece_and_text_goes_in_fours() -> None:
    assert bench.cut("abcdef<x>g", ("<x>",)) == [("abcd", 0), ("ef", 0), ("<x>", 1), ("g", 0)]
