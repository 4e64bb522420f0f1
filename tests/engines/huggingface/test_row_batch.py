"""Sequences read alone and written together, on a network whose logits are sums of what it sees."""

from typing import Any

import pytest
from tests.support.array_cache import TORCH, DynamicLayer, SumModel, library

from duologue.engines.huggingface.growing_cache import CacheMaker
from duologue.engines.huggingface.row_batch import RowBatch
from duologue.errors import EngineFailed


def batch() -> RowBatch:
    return RowBatch(TORCH, SumModel(), CacheMaker(library(DynamicLayer), TORCH, None), "cpu")


def expected(*tokens: int) -> list[int]:
    return [sum(token * (at + 1) for at, token in enumerate(tokens)), len(tokens) - 1]


def test_parts_of_a_prompt_are_read_behind_each_other() -> None:
    rows = batch()
    one = rows.sequence()
    assert rows.read(one, [3, 1]).tolist() == expected(3, 1)
    assert rows.read(one, [4]).tolist() == expected(3, 1, 4)
    assert one.numbers == [3, 1, 4]


def test_rows_of_different_lengths_are_written_together() -> None:
    rows = batch()
    long, short = rows.sequence(), rows.sequence()
    rows.read(long, [3, 1, 4])
    rows.read(short, [2])
    found = rows.write([long, short], [1, 7])
    assert [each.tolist() for each in found] == [expected(3, 1, 4, 1), expected(2, 7)]
    found = rows.write([long, short], [5, 8])
    assert [each.tolist() for each in found] == [expected(3, 1, 4, 1, 5), expected(2, 7, 8)]


def test_rows_join_and_leave_with_what_they_have() -> None:
    rows = batch()
    first, second, third = (rows.sequence() for _ in range(3))
    for sequence, token in ((first, 1), (second, 2), (third, 3)):
        rows.read(sequence, [token] * token)
    rows.write([first, second], [4, 4])
    rows.write([second, third], [5, 5])
    assert rows.write([first], [6])[0].tolist() == expected(1, 4, 6)
    found = rows.write([third, first, second], [7, 7, 7])
    assert [each.tolist() for each in found] == [
        expected(3, 3, 3, 5, 7),
        expected(1, 4, 6, 7),
        expected(2, 2, 4, 5, 7),
    ]
    assert rows.read(second, [8, 9]).tolist() == expected(2, 2, 4, 5, 7, 8, 9)


def test_a_sequence_is_cut_while_it_is_in_the_batch() -> None:
    rows = batch()
    one, other = rows.sequence(), rows.sequence()
    rows.read(one, [1, 2, 3])
    rows.read(other, [4])
    rows.write([one, other], [5, 5])
    rows.crop(one, 2)
    assert rows.read(one, [9]).tolist() == expected(1, 2, 9)
    rows.crop(one, 0)
    assert rows.read(one, [6]).tolist() == expected(6)
    assert rows.write([other], [7])[0].tolist() == expected(4, 5, 7)


def test_a_model_that_can_do_everything_passes_its_trial() -> None:
    rows = batch()
    assert rows.check() == ()
    assert (rows.whole, rows.together) == (False, True)


def test_a_model_that_forgets_is_read_as_a_whole_and_written_alone() -> None:
    class Forgets(SumModel):
        def __call__(self, **arguments: Any) -> Any:
            cache = arguments["past_key_values"]
            if arguments["input_ids"].shape[1] > 1:
                cache.layers = batch().sequence().cache.layers
            if "attention_mask" in arguments:
                arguments["attention_mask"] = arguments["attention_mask"] * 0
            return self.forward(**arguments)

    rows = RowBatch(TORCH, Forgets(), CacheMaker(library(DynamicLayer), TORCH, None), "cpu")
    assert [warning.split()[2] for warning in rows.check()] == ["reads", "writes"]
    assert (rows.whole, rows.together) == (True, False)
    one = rows.sequence()
    rows.read(one, [1, 2])
    assert rows.read(one, [3, 4]).tolist() == expected(1, 2, 3, 4)


def test_what_was_in_a_step_that_failed_is_not_written_on() -> None:
    rows = batch()
    one, other = rows.sequence(), rows.sequence()
    rows.read(one, [1])
    rows.read(other, [2])
    rows.write([one, other], [3, 3])
    rows.forget(one)
    assert (one.lost, other.lost) == (True, True)
    with pytest.raises(EngineFailed, match="try again"):
        rows.write([other], [4])
