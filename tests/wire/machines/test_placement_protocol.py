"""What a gateway and its placement process say to each other."""

from __future__ import annotations

import msgspec
import pytest

from duologue.wire.machines.placement_protocol import (
    ClusterNews,
    Connected,
    DrainNode,
    Node,
    Place,
    PlaceNews,
    Remove,
    Resources,
    Trouble,
    Wanted,
    decode_news,
    decode_order,
    encode_line,
)


@pytest.mark.parametrize(
    "order",
    [
        Place("worker_0", Resources(1, 0.5, 12 * 2**30), {"A": "line\nbreak"}),
        Remove("worker_0"),
        DrainNode("abc", 25.0),
    ],
)
def test_an_order_is_one_line_and_comes_back(order: Place | Remove | DrainNode) -> None:
    line = encode_line(order)
    assert line.count(b"\n") == 1
    assert decode_order(line) == order


@pytest.mark.parametrize(
    "news",
    [
        Connected("10.0.0.5:6379", "2.60.0"),
        PlaceNews("worker_0", "ended", "abc", code=-9, last_line="it was too large"),
        ClusterNews(
            (Node("abc", "10.0.0.6", Resources(4), Resources(1), draining=True),), (Wanted(Resources(1, 1)),)
        ),
        Trouble("ray_unreachable", "There is no cluster."),
    ],
)
def test_news_is_one_line_and_comes_back(news: Connected | PlaceNews | ClusterNews | Trouble) -> None:
    line = encode_line(news)
    assert line.count(b"\n") == 1
    assert decode_news(line) == news


def test_what_is_neither_is_refused() -> None:
    for line in (b"", b"{}\n", b'{"type": "shout"}\n', encode_line(Remove("worker_0"))):
        with pytest.raises(msgspec.DecodeError):
            decode_news(line)
