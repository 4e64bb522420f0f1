"""The caller's sound by its position, and what of it a model is passed again."""

from hypothesis import given
from hypothesis import strategies as st

from duologue.sessions.omni.caller_sound import AGAIN, KEPT, CallerSound
from duologue.values.audio import samples


def sound(count: int, first: int = 0) -> bytes:
    return b"".join((number % 30_000).to_bytes(2, "little") for number in range(first, first + count))


def heard(count: int) -> CallerSound:
    kept = CallerSound()
    kept.add(sound(count))
    return kept


def test_sound_is_found_by_its_position():
    assert heard(1000).between(10, 20) == sound(10, 10)
    assert heard(1000).between(990, 2000) == sound(10, 990)
    assert heard(1000).between(20, 10) == b""


def test_a_minute_is_kept():
    kept = heard(KEPT + 5 * 16_000)
    assert samples(kept.between(0, kept.end)) == KEPT
    assert kept.between(kept.end - 5, kept.end) == sound(5, kept.end - 5)


def test_what_was_missed_is_passed_again_once_in_pieces_that_the_model_takes():
    kept = heard(10_000)
    kept.miss(2000, 5000)
    kept.miss(5000, 9000)
    kept.forget(3000)
    assert kept.again(100, 4000) == [sound(3000, 3000), sound(3000, 6000)]
    assert kept.again(100, 4000) == []


def test_what_does_not_matter_is_not_passed_again():
    kept = heard(10_000)
    kept.miss(2000, 5000)
    kept.forget(5000)
    assert kept.again(100, 4000) == []


def test_a_gap_begins_anew():
    kept = heard(10_000)
    kept.miss(0, 1000)
    kept.miss(6000, 7000)
    assert kept.again(100, 4000) == [sound(1000, 6000)]


def test_a_model_of_one_length_is_passed_the_sound_before_it_too_or_silence():
    kept = heard(10_000)
    kept.miss(9000, 10_000)
    assert kept.again(4000, 4000) == [sound(4000, 6000)]
    kept = heard(100)
    kept.miss(0, 100)
    assert kept.again(300, 300) == [bytes(400) + sound(100)]


@given(st.integers(0, 50_000), st.integers(1, 50_000), st.integers(1, 5000), st.integers(0, 5000))
def test_pieces_are_of_lengths_that_the_model_takes_and_end_where_the_missed_sound_does(
    since, count, fewest, more
):
    kept = heard(since + count)
    kept.miss(since, since + count)
    pieces = kept.again(fewest, fewest + more)
    assert all(fewest <= samples(piece) <= fewest + more for piece in pieces)
    joined = b"".join(pieces)
    assert min(count, AGAIN) <= samples(joined)
    assert joined.endswith(sound(count, since)[-2 * AGAIN :])
