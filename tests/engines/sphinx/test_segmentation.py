"""Utterances: what lies between silences, with a little around it, and never too long."""

from array import array

from duologue.engines.contracts import FRAME
from duologue.engines.sphinx.segmentation import LONGEST, MARGIN, utterances
from duologue.values.audio import HEARD_RATE


class Loud:
    def probability(self, frame: bytes) -> float:
        return 0.9 if max(array("h", frame)) > 1000 else 0.1

    def reset(self) -> None: ...


def sound(*seconds: float) -> bytes:
    """Silence and tone in turn."""
    return b"".join(
        array("h", [5000 * (at % 2)] * round(length * HEARD_RATE)).tobytes()
        for at, length in enumerate(seconds)
    )


def test_a_long_silence_is_between_two_utterances():
    (first, second) = utterances(sound(1, 1, 1, 1, 1), Loud())
    assert abs(first[0] - (HEARD_RATE - MARGIN)) < 2 * FRAME
    assert abs(first[1] - (2 * HEARD_RATE + MARGIN)) < 2 * FRAME
    assert abs(second[0] - (3 * HEARD_RATE - MARGIN)) < 2 * FRAME


def test_a_short_silence_is_within_one():
    assert len(list(utterances(sound(1, 1, 0.3, 1, 1), Loud()))) == 1


def test_silence_has_none():
    assert list(utterances(sound(3), Loud())) == []


def test_the_edges_of_the_recording_are_kept():
    assert list(utterances(sound(0, 1), Loud())) == [(0, HEARD_RATE)]


def test_one_that_does_not_end_is_cut_where_it_is_quiet():
    places = list(utterances(sound(0, 10, 0.2, 10), Loud()))
    assert all(end - start <= LONGEST for start, end in places)
    assert [end for _, end in places[:-1]] == [start for start, _ in places[1:]]
    assert abs(places[0][1] - 10.1 * HEARD_RATE) < HEARD_RATE / 5
