"""The short form of `make bench-neighbours`: each hostile request once among two chats, and everybody is answered.

Judges no time.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import bench_neighbours as bench

HEAVY = {"full_context", "far_too_long"}
"""Kinds that say nothing on the scripted engine, or take seconds."""


@pytest.fixture(scope="module")
def server() -> Iterator[bench.Server]:
    with bench.started("scripted", 4) as server:
        yield server


@pytest.mark.system
def test_everybody_is_answered_and_the_hostile_request_is_refused_or_served(server: bench.Server) -> None:
    kinds = [kind for kind in bench.KINDS if kind.__name__ not in HEAVY]
    assert asyncio.run(bench.measure(server, 2, kinds, brief=True)) == []
    assert server.process.poll() is None


def test_a_failure_of_the_server_and_of_the_others_is_told() -> None:
    seen = bench.Seen(failures=["a chat failed"])
    assert bench.judge_brief("kind", 200, "{}", seen) == ["kind: a chat failed"]
    assert bench.judge_brief("kind", 500, '{"error": {"code": "internal_error"}}', bench.Seen()) == [
        "kind: its sender was told 500 internal_error"
    ]
    assert bench.judge_brief("kind", 0, "no answer", bench.Seen()) == ["kind: its sender was told no answer"]
    assert bench.judge_brief("kind", 400, "{}", bench.Seen()) == []


def test_each_kind_is_a_request_with_a_name_and_a_sentence() -> None:
    names = [kind.__name__ for kind in bench.KINDS]
    assert len(names) == len(set(names))
    assert all(kind.__doc__ for kind in bench.KINDS)
