"""How a placed worker's end is told. What its keeper does is in test_ray_places.py, with the process that places."""

from __future__ import annotations

import pytest

from duologue.gateway.machines.placed_keeper import _in_words
from duologue.wire.machines.placement_protocol import PlaceNews


@pytest.mark.parametrize(
    ("news", "words"),
    [
        (PlaceNews("worker_0", "ended", code=7), "exit code 7"),
        (PlaceNews("worker_0", "ended", code=-9), "signal 9, Killed"),
        (PlaceNews("worker_0", "ended", reason="its node was lost"), "its node was lost"),
    ],
)
def test_an_end_in_words(news: PlaceNews, words: str) -> None:
    assert _in_words(news) == words
