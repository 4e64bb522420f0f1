"""The parts of the benchmark of machines that judge: budgets, what was lost, who was answered. Starts nothing, and judges no time of its own."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import bench_life
import bench_machines
import machine_failover as failover
import machine_forms as forms

WORD = "word "
KILLED = 100.0


@pytest.fixture(autouse=True)
def failures() -> Iterator[list[str]]:
    """What was judged bad; the benchmark keeps one list for its whole run."""
    bench_life.failures.clear()
    yield bench_life.failures
    bench_life.failures.clear()


def viewer(words: int, *, until: float = KILLED, pace: float = 0.02, ends: tuple[str, ...] = ()) -> Any:
    """Somebody who has read so many words, the last one `until`."""
    read = failover.Viewer("r0")
    read.lengths = [len(WORD) * number for number in range(1, words + 1)]
    read.times = [until - pace * (words - number) for number in range(1, words + 1)]
    read.ends = [(end, KILLED + 6.0) for end in ends]
    return read


def kept(words: int, status: str = "interrupted") -> list[dict[str, Any]]:
    """The messages of a conversation whose reply has so many words."""
    return [
        {"role": "user", "status": "complete", "content": [{"text": "ask"}]},
        {"role": "assistant", "status": status, "content": [{"text": WORD * words}]},
    ]


def test_a_good_result_is_no_failure_and_a_bad_one_is_told(failures: list[str], capsys: Any) -> None:
    bench_life.judge(True, "all were answered")
    assert failures == []
    bench_life.judge(False, "one was cut")
    assert failures == ["one was cut"]
    assert capsys.readouterr().out.split("\n")[:2] == ["  ok   all were answered", "  BAD  one was cut"]


def test_a_length_was_read_when_the_first_piece_that_reached_it_came() -> None:
    read = viewer(3, pace=1.0)
    assert read.read_at(0) == read.read_at(len(WORD)) == KILLED - 2
    assert read.read_at(len(WORD) + 1) == KILLED - 1
    assert read.read_at(3 * len(WORD)) == KILLED
    assert read.read_at(3 * len(WORD) + 1) == float("inf")


def test_the_text_lost_is_the_time_since_the_last_word_that_was_kept(
    failures: list[str], capsys: Any
) -> None:
    own = [viewer(200), viewer(200)]
    failover._judge_text(own, [kept(200), kept(180)], KILLED)
    assert failures == []
    assert "400 ms at most, 200 ms in the median" in capsys.readouterr().out


def test_more_lost_text_than_the_budget_is_a_failure(failures: list[str]) -> None:
    words = failover.LOST_BUDGET_MS // 20 + 5
    failover._judge_text([viewer(200)], [kept(200 - words)], KILLED)
    assert len(failures) == 1
    assert f"{words} of its words" in failures[0]


def test_text_that_was_kept_and_never_seen_by_the_viewer_is_not_lost(failures: list[str]) -> None:
    failover._judge_text([viewer(100)], [kept(103)], KILLED)
    assert failures == []


@pytest.mark.parametrize(
    ("ends", "status", "bad"),
    [
        (("interrupted",), "interrupted", 0),
        (("interrupted", "interrupted"), "interrupted", 1),
        (("complete",), "interrupted", 1),
        (("interrupted",), "complete", 1),
        (("error",), "streaming", 2),
    ],
)
def test_each_reply_ends_as_interrupted_exactly_once_for_its_viewer_and_in_the_store(
    failures: list[str], ends: tuple[str, ...], status: str, bad: int
) -> None:
    failover._judge_ends([viewer(10, ends=ends)], [kept(10, status)], KILLED)
    assert len(failures) == bad


def test_a_form_asks_for_its_model_with_its_key_by_its_scheme() -> None:
    plain = forms.Form("one machine", 8080, 1.0, 1)
    assert plain.url == "http://127.0.0.1:8080"
    assert plain.headers == {}
    assert "model" not in plain.body("hello")
    joined = plain._replace(tls=forms._trusting(), model="far", key="duo_1")
    assert joined.url == "https://127.0.0.1:8080"
    assert joined.headers == {"Authorization": "Bearer duo_1"}
    assert joined.body("hello") == {
        "model": "far",
        "stream": True,
        "messages": [{"role": "user", "content": "hello"}],
    }


def test_a_server_is_started_without_the_settings_of_this_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DUOLOGUE_SLOTS", "9")
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.5:6379")
    monkeypatch.setenv("OTHER", "1")
    kept_names = forms._clean()
    assert "OTHER" in kept_names
    assert not {"DUOLOGUE_SLOTS", "RAY_ADDRESS"} & kept_names.keys()


def test_processes_and_their_memory_are_those_of_a_whole_tree() -> None:
    own = os.getpid()
    assert own in forms.processes_below(os.getppid())
    assert forms.shared_memory_of([own]) > 0
    assert forms.shared_memory_of([2**30]) == 0  # it is gone


def test_processes_of_joined_workers_are_looked_for_only_where_a_form_has_some() -> None:
    assert bench_machines.placed_workers(joined_only=False) == []
    assert os.getpid() not in bench_machines.placed_workers()


@pytest.mark.parametrize("with_ray", [True, False])
def test_what_needs_ray_is_left_out_where_it_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, with_ray: bool
) -> None:
    monkeypatch.setattr(bench_machines, "find_spec", lambda name: object() if with_ray else None)
    made = bench_machines.makers(4)
    assert list(made)[:4] == ["one machine", "one machine, TLS", "joined", "joined, TLS"]
    assert ("Ray" in made) is with_ray
    assert ("left out" in capsys.readouterr().out) is not with_ray


@pytest.mark.anyio
@pytest.mark.parametrize(("part", "bad"), [(0.61, 0), (0.59, 1)])
async def test_a_joined_worker_over_tls_has_a_part_of_the_bare_relay_as_its_budget(
    monkeypatch: pytest.MonkeyPatch, failures: list[str], part: float, bad: int
) -> None:
    """The other forms are compared and not judged, however slow."""

    class Made:
        def __init__(self, name: str) -> None:
            self.name = name

        def __enter__(self) -> Made:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    async def relayed(form: Made, streams: int, chunks: int) -> float:
        return 1000.0 * (part if form.name == "joined, TLS" else 0.1)

    async def first_tokens(form: Made, requests: int) -> list[float]:
        return [3.0]

    names = ("one machine", "joined, TLS")
    monkeypatch.setattr(bench_machines, "floor", lambda streams, chunks: 1000.0)
    monkeypatch.setattr(
        bench_machines, "makers", lambda slots: {name: lambda name=name: Made(name) for name in names}
    )
    monkeypatch.setattr(bench_machines, "relayed", relayed)
    monkeypatch.setattr(bench_machines, "first_tokens", first_tokens)
    await bench_machines.relay(argparse.Namespace(streams=2, chunks=10, rounds=3, requests=1))
    assert len(failures) == bad


def test_a_missed_budget_is_the_exit_code(monkeypatch: pytest.MonkeyPatch, failures: list[str]) -> None:
    async def part(options: argparse.Namespace) -> None:
        bench_life.judge(options.kills == 3, "three kills")

    monkeypatch.setattr(bench_machines, "PARTS", {"kills": part})
    monkeypatch.setattr(sys, "argv", ["bench_machines.py", "kills", "--kills", "3"])
    bench_machines.main()
    monkeypatch.setattr(sys, "argv", ["bench_machines.py", "--kills", "4"])
    with pytest.raises(SystemExit, match="1 budgets were missed"):
        bench_machines.main()
