"""The counts of the duplex benchmark, a few of each: `make bench-duplex` has hundreds."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="the benchmarks count with numpy: pip install 'duologue[voice]'")
pytest.importorskip("av", reason="the benchmarks resample with PyAV: pip install 'duologue[voice]'")
sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from duplex import counts

pytestmark = pytest.mark.anyio


async def test_histories_hold_the_words_that_were_heard():
    count = await counts.histories(4)
    assert (count.right, count.first_wrong) == (count.tried, "") == (4, "")


async def test_nothing_of_a_cancelled_reply_arrives_after_the_cancel():
    count = await counts.cancels(8)
    assert (count.right, count.first_wrong) == (count.tried, "") == (8, "")
