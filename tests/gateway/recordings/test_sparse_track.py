"""One side's sound: pieces where they belong, silence between, nothing twice."""

from hypothesis import given
from hypothesis import strategies as st

from duologue.gateway.recordings.sparse_track import SparseTrack

ONE, TWO = b"\1\0" * 4, b"\2\0" * 4


def test_silence_stands_between_pieces():
    track = SparseTrack()
    track.place(2, ONE)
    track.place(8, TWO)
    assert track.take(14) == bytes(4) + ONE + bytes(4) + TWO + bytes(4)


def test_what_would_overlap_comes_after_what_is_there():
    track = SparseTrack()
    track.place(0, ONE)
    assert track.place(2, TWO) == 4
    assert track.take(8) == ONE + TWO


def test_what_was_taken_does_not_change():
    track = SparseTrack()
    assert track.take(10) == bytes(20)
    assert track.place(3, ONE) == 10


def test_a_piece_may_be_taken_in_two():
    track = SparseTrack()
    track.place(0, ONE + TWO)
    assert track.take(6) + track.take(8) == ONE + TWO


def test_trimming_removes_the_end():
    track = SparseTrack()
    track.place(0, ONE)
    track.place(6, TWO)
    track.trim(8)
    assert (track.end, track.pending) == (8, 12)
    assert track.take(10) == ONE + bytes(4) + TWO[:4] + bytes(4)


def test_trimming_leaves_what_was_taken():
    track = SparseTrack()
    track.place(0, ONE)
    track.take(3)
    track.trim(0)
    assert track.end == 3


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(0, 15)), max_size=20))
def test_where_it_is_cut_changes_nothing(steps: list[tuple[int, int, int]]):
    whole, cut = SparseTrack(), SparseTrack()
    taken = b""
    for number, (gap, count, take) in enumerate(steps, 1):
        pcm = number.to_bytes(2, "little") * count
        # What was taken is out of reach, so the piece stands where both have room.
        start = max(cut.taken, cut.end) + gap
        assert whole.place(start, pcm) == cut.place(start, pcm) == start
        taken += cut.take(cut.taken + take)
    end = max(whole.end, cut.taken)
    assert taken + cut.take(end) == whole.take(end)
    assert whole.pending == cut.pending == 0
