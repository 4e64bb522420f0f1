"""Keys get equal parts of slots that several gateways share, also when those hear of each other late."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from bench_gateways import LOADS, simulate
from queue_replay import jain


@pytest.mark.parametrize("load", LOADS[:3], ids=lambda load: load.name)
def test_a_key_at_several_gateways_gets_no_more_than_one_at_one(load):
    alone = jain(list(simulate(load, 8, 300.0, delay=None).values()))
    told = jain(list(simulate(load, 8, 300.0, delay=2.0).values()))
    assert told > 0.98 > alone
