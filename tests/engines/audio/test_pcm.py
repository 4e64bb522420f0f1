from array import array

import pytest

from duologue.engines.audio.pcm import (
    CHUNK,
    MARGIN,
    crossfade,
    leading_silence,
    shift_words,
    split_chunks,
    to_pcm,
)
from duologue.engines.contracts import SpokenWord

NEEDED = "these tests need numpy: pip install 'duologue[voice]'"


def test_numbers_become_samples_and_never_wrap_around():
    numpy = pytest.importorskip("numpy", reason=NEEDED)
    sound = numpy.array([[0.0, 0.5, -0.5, 1.5, -1.5, numpy.nan]], dtype=numpy.float32)
    assert list(array("h", to_pcm(sound))) == [0, 16384, -16384, 32767, -32767, 0]


def test_silence_before_a_sound_is_found_and_a_little_of_it_kept():
    pytest.importorskip("numpy", reason=NEEDED)
    sound = array("h", [10] * 5000 + [5000] * 100).tobytes()
    assert leading_silence(sound) == 5000 - MARGIN
    assert leading_silence(array("h", [5000] * 10).tobytes()) == 0
    assert leading_silence(bytes(100)) == 0


def test_words_go_with_the_piece_they_begin_in():
    words = [SpokenWord("a", 0, 10, 0, 1), SpokenWord("b", CHUNK, CHUNK + 5, 2, 3)]
    words.append(SpokenWord("late", 10 * CHUNK, 10 * CHUNK, 4, 8))
    pieces = list(split_chunks(bytes(5 * CHUNK), words))
    assert [len(piece.pcm) // 2 for piece in pieces] == [CHUNK, CHUNK, CHUNK // 2]
    assert [[word.text for word in piece.words] for piece in pieces] == [["a"], ["b"], ["late"]]
    assert list(split_chunks(b"", words)) == []


def test_a_second_part_goes_on_where_the_first_ended():
    words = shift_words([SpokenWord("b", 5, 9, 0, 1)], 1000, 20)
    assert words == (SpokenWord("b", 1005, 1009, 20, 21),)
    assert next(iter(split_chunks(bytes(40), words, 1000))).words == words


def test_a_crossfade_goes_evenly_from_one_sound_to_the_other() -> None:
    numpy = pytest.importorskip("numpy", reason=NEEDED)
    old, new = numpy.zeros(3, numpy.float32), numpy.ones(3, numpy.float32)
    assert crossfade(old, new).tolist() == [0.25, 0.5, 0.75]
    assert crossfade(old[:0], new[:0]).tolist() == []
