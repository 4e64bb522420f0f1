"""The lip error of a page: the scene that is played to it, and how drawn mouths are matched with sounds."""

from __future__ import annotations

import sys
from array import array
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

page_lips = pytest.importorskip("page_lips", reason="needs playwright")


def test_a_mouth_is_halfway_open_exactly_where_a_tone_begins() -> None:
    pcm, keys = page_lips.scene(3.0)
    sound = array("h")
    sound.frombytes(pcm)
    assert len(sound) >= 3 * page_lips.RATE
    opening, closing = keys[1:3], keys[3:5]
    begin, end = ((before[0] + after[0]) // 2 for before, after in (opening, closing))
    assert [key[1] for key in (*opening, *closing)] == [0, 90, 90, 0]
    assert not any(sound[:begin])
    assert any(sound[begin : begin + 24])
    assert not any(sound[end : end + page_lips.RATE // 10])


def test_a_sound_is_matched_with_the_nearest_mouth_of_its_kind() -> None:
    sounds = [(True, 1000.0), (False, 1200.0), (True, 1400.0)]
    mouths = [(True, 990.0), (False, 1010.0), (True, 1030.0), (False, 1225.0), (True, 1700.0)]
    assert page_lips.offsets(sounds, mouths, True) == [-10.0, None]
    assert page_lips.offsets(sounds, mouths, False) == [25.0]


def test_without_mouths_nothing_is_found() -> None:
    assert page_lips.offsets([(True, 1.0)], [], True) == [None]
