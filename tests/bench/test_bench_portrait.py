"""The bench of the portrait engine, in its short form: it makes whole clips, and memory stays."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("av", reason="video needs: pip install 'duologue[voice]'")
sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

import bench_portrait

pytestmark = pytest.mark.anyio


async def test_it_measures_clips_and_memory_stays_flat():
    figures = await bench_portrait.measure(bench_portrait.drawn("orbit"), 1.0, 6, 64)
    assert figures["frames_per_second_clip"] > 0
    assert figures["cores"] > 0
    assert figures["ratio_to_encoder_alone"] > 0
    grown = figures["memory_mb_after_6_clips"] - figures["memory_mb_before"]
    assert grown < 48, "six clips of a small face"


def test_a_talking_mouth_has_keys_in_order():
    keys = bench_portrait.talking(2.0)
    assert [key.at for key in keys] == sorted({key.at for key in keys})
