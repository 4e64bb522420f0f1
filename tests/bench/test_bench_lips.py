"""The lip error: its arithmetic, and that exact phones keep the budget, which is samples and no time of this machine."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

import bench_lips
from duologue.turns.mouth.curve import MS
from duologue.values.mouth import MouthKey, Phone


def test_the_offset_is_from_the_onset_to_the_moment_at_which_most_of_the_shape_is_there():
    keys = [MouthKey(0), MouthKey(1000 * MS), MouthKey(1100 * MS, press=100), MouthKey(1200 * MS)]
    onset = bench_lips.Onset("closure", 1080 * MS, "p", 100)
    assert bench_lips.offset(keys, onset) == -10
    assert bench_lips.offset([MouthKey(0)], onset) is None


def test_a_sound_that_begins_in_the_shape_of_the_one_before_is_no_onset():
    phones = [Phone(symbol, number * 2400, (number + 1) * 2400) for number, symbol in enumerate("mpau")]
    assert [(onset.kind, onset.symbol) for onset in bench_lips.onsets(phones)] == [
        ("closure", "m"),
        ("open", "a"),
        ("rounded", "u"),
    ]


@pytest.mark.anyio
async def test_lips_of_exact_phones_keep_the_budget():
    pytest.importorskip("espeakng_loader", reason="needs espeak-ng: pip install 'duologue[voice]'")
    pytest.importorskip("av", reason="needs PyAV: pip install 'duologue[voice]'")
    assert await bench_lips.measure(["en-us", "de"]) < bench_lips.BUDGET
