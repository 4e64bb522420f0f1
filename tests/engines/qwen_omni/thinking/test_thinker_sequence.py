"""A sequence over a cache of numpy arrays."""

from types import SimpleNamespace

import pytest

from duologue.engines.qwen_omni.thinking.thinker_sequence import ThinkerSequence

numpy = pytest.importorskip("numpy", reason="these tests need numpy: pip install 'duologue[voice]'")


class Cache:
    """One layer; the key of each token is its number."""

    def __init__(self) -> None:
        self.layers = [SimpleNamespace(keys=numpy.zeros((1, 1, 0, 1)), values=numpy.zeros((1, 1, 0, 1)))]

    def put(self, numbers) -> None:
        for name in ("keys", "values"):
            new = numpy.array(numbers, dtype=float).reshape(1, 1, -1, 1)
            layer = self.layers[0]
            setattr(layer, name, numpy.concatenate([getattr(layer, name), new], -2))

    def get_seq_length(self) -> int:
        return self.layers[0].keys.shape[-2]

    def crop(self, count: int) -> None:
        assert count < 0
        layer = self.layers[0]
        layer.keys, layer.values = layer.keys[..., :count, :], layer.values[..., :count, :]

    def reset(self) -> None:
        self.__init__()  # type: ignore[misc]


def sequence_of(*numbers: int) -> ThinkerSequence:
    sequence = ThinkerSequence(Cache(), traced=False)
    add(sequence, numbers, [number + 1 for number in range(len(numbers))])
    return sequence


def add(sequence: ThinkerSequence, numbers, nexts) -> None:
    sequence.cache.put(numbers)
    sequence.added(numbers, nexts)


def keys(sequence: ThinkerSequence) -> list[float]:
    return sequence.cache.layers[0].keys.ravel().tolist()


def test_positions_are_those_behind_the_last_token() -> None:
    sequence = sequence_of(5, 6, 7)
    assert (len(sequence), sequence.next_position) == (3, 3)
    sequence.crop(2)
    assert (sequence.numbers, sequence.next_position, keys(sequence)) == ([5, 6], 2, [5, 6])
    sequence.crop(9)
    assert len(sequence) == 2


def test_behind_a_picture_positions_go_back_with_it() -> None:
    sequence = sequence_of(5, 6)
    add(sequence, [-1] * 6, [5] * 6)
    assert sequence.next_position == 5
    sequence.crop(2)
    assert sequence.next_position == 2


def test_cropped_to_nothing_the_cache_is_empty() -> None:
    sequence = sequence_of(1, 2)
    sequence.crop(0)
    assert (len(sequence), sequence.next_position, keys(sequence)) == (0, 0, [])


def test_tokens_taken_out_leave_the_positions_of_the_others() -> None:
    sequence = sequence_of(1, 2, 3, 4, 5)
    sequence.remove(1, 3, numpy.concatenate)
    assert (sequence.numbers, keys(sequence)) == ([1, 4, 5], [1, 4, 5])
    assert sequence.next_position == 5
