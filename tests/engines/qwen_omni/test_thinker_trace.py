"""The trace over arrays of numpy that have the one method of a tensor which it calls."""

from typing import Any

import pytest

from duologue.engines.qwen_omni.thinker_trace import ROOM, ThinkerTrace

numpy = pytest.importorskip("numpy", reason="these tests need numpy: pip install 'duologue[voice]'")


class Values(numpy.ndarray):  # type: ignore[name-defined]
    """An array that makes others of its kind, as a tensor does."""

    def new_empty(self, shape):
        return numpy.full(shape, -9, dtype=self.dtype).view(Values)


def tokens(*numbers: int) -> tuple[Any, Any, Any, Any]:
    """Tokens of these ids; what goes in is ten times as much, the hidden state a hundred times."""
    ids = numpy.array(numbers).view(Values)
    wide = numpy.stack([ids, ids], axis=1).view(Values)
    return ids, wide * 10, wide * 100, (ids > 5).view(Values)


def trace_of(*numbers: int) -> ThinkerTrace:
    trace = ThinkerTrace()
    trace.append(*tokens(*numbers))
    return trace


def test_it_has_all_tokens_in_order() -> None:
    trace = trace_of(1, 2)
    trace.append(*tokens(7))
    assert len(trace) == 3
    assert trace.ids.tolist() == [1, 2, 7]
    assert trace.embeddings.tolist() == [[10, 10], [20, 20], [70, 70]]
    assert trace.hidden[:, 0].tolist() == [100, 200, 700]
    assert trace.media.tolist() == [False, False, True]


def test_what_is_appended_is_copied() -> None:
    one = tokens(1, 2)
    trace = ThinkerTrace()
    trace.append(*one)
    one[0][0] = 99
    assert trace.ids.tolist() == [1, 2]


def test_tokens_after_a_crop_replace_those_before() -> None:
    trace = trace_of(1, 2, 3, 4)
    trace.crop(9)
    assert len(trace) == 4
    trace.crop(2)
    trace.append(*tokens(8))
    assert trace.ids.tolist() == [1, 2, 8]
    assert trace.hidden[:, 1].tolist() == [100, 200, 800]


def test_tokens_taken_out_of_the_middle_leave_the_others_in_order() -> None:
    trace = trace_of(*range(10))
    trace.remove(2, 4)
    assert trace.ids.tolist() == [0, 1, 4, 5, 6, 7, 8, 9]
    assert trace.embeddings[:, 0].tolist() == [0, 10, 40, 50, 60, 70, 80, 90]
    assert trace.media.tolist() == [False, False, False, False, True, True, True, True]
    trace.remove(6, 8)
    assert trace.ids.tolist() == [0, 1, 4, 5, 6, 7]


def test_it_has_the_positions_of_its_tokens_where_all_came_with_them() -> None:
    trace = ThinkerTrace()
    trace.append(*tokens(1, 2), positions=numpy.array([[0, 0, 0], [1, 1, 1]]).view(Values))
    trace.append(*tokens(3), positions=numpy.array([[2, 3, 4]]).view(Values))
    assert trace.positions.tolist() == [[0, 0, 0], [1, 1, 1], [2, 3, 4]]
    trace.remove(0, 1)
    assert trace.positions.tolist() == [[1, 1, 1], [2, 3, 4]]
    trace.append(*tokens(4))
    assert trace.positions is None
    trace.append(*tokens(5), positions=numpy.array([[9, 9, 9]]).view(Values))
    assert trace.positions is None
    assert trace.ids.tolist() == [2, 3, 4, 5]


def test_it_grows_far_beyond_its_first_room() -> None:
    trace = ThinkerTrace()
    for number in range(3 * ROOM):
        trace.append(*tokens(number))
    assert trace.ids.tolist() == list(range(3 * ROOM))


def test_an_empty_one_has_no_tensors() -> None:
    assert len(ThinkerTrace()) == 0
    assert ThinkerTrace().ids is None
