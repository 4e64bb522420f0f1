"""Which models fit a machine, and which is proposed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from duologue.models.fit import Hardware, fit, fit_of, memory_needed, recommend
from duologue.models.recommended import MILLION, RECOMMENDED

GB = 10**9


def machine(cores: int = 8, memory: float = 16, disk: float = 500, card: float = 0) -> Hardware:
    return Hardware(cores, int(memory * GB), int(disk * GB), int(card * GB))


@pytest.mark.parametrize(
    ("hardware", "verdict"),
    [
        (machine(), "good"),
        (machine(cores=2), "slow"),
        (machine(memory=4), "memory"),
        (machine(disk=5.2), "disk"),
        (machine(cores=1, memory=1, card=8), "card"),
        (machine(memory=4, card=4), "slow"),
    ],
    ids=[
        "all is there",
        "few cores",
        "little memory",
        "full disk",
        "on the card",
        "card and memory together",
    ],
)
def test_an_eight_billion_model_of_five_gigabytes(hardware: Hardware, verdict: str) -> None:
    assert fit(5 * GB, 1.0, 8 * GB, hardware) == verdict


def test_a_mixture_of_experts_is_as_quick_as_what_one_token_uses() -> None:
    few_cores = machine(cores=4, memory=32)
    assert fit(18 * GB, 0.1, 30 * GB, few_cores) == "good"
    assert fit(18 * GB, 1.0, 30 * GB, few_cores) == "slow"


@pytest.mark.parametrize(
    ("hardware", "name"),
    [
        (machine(cores=1, memory=2), "qwen3-0.6b"),
        (machine(cores=2, memory=8), "qwen3-1.7b"),
        (machine(cores=4, memory=8), "qwen3-4b"),
        (machine(cores=8, memory=8), "qwen3-8b"),
        (machine(cores=8, memory=32), "qwen3-30b-a3b"),
        (machine(cores=2, memory=4, card=24), "qwen3-32b"),
        (machine(cores=16, memory=64, disk=4), "qwen3-4b"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_proposal_is_the_largest_that_does_well(hardware: Hardware, name: str) -> None:
    proposed = recommend(RECOMMENDED, hardware)
    assert proposed is not None
    assert proposed.name == name


def test_on_a_machine_with_no_room_nothing_is_proposed() -> None:
    assert recommend(RECOMMENDED, machine(memory=0.5)) is None
    assert recommend(RECOMMENDED, machine(disk=0.5)) is None


def test_what_only_runs_slowly_is_better_than_nothing() -> None:
    large = [model for model in RECOMMENDED if model.name in ("qwen3-8b", "qwen3-14b")]
    proposed = recommend(large, machine(cores=1))
    assert proposed is not None
    assert proposed.name == "qwen3-8b"


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.integers(1, 64))
def test_more_memory_never_makes_the_proposal_smaller(memory: int, more: int, cores: int) -> None:
    small = recommend(RECOMMENDED, Hardware(cores, memory, 10**12))
    large = recommend(RECOMMENDED, Hardware(cores, memory + more, 10**12))
    if small is not None and fit_of(small, Hardware(cores, memory, 10**12)) == "good":
        assert large is not None
        assert large.parameters >= small.parameters


def test_the_server_needs_more_than_the_file() -> None:
    assert memory_needed(10 * GB) > 11 * GB


def test_a_projector_counts_in_memory_twice_and_on_the_disk_once() -> None:
    eyes = 400 * MILLION
    assert memory_needed(5 * GB, eyes) == memory_needed(5 * GB) + 2 * eyes
    assert memory_needed(5 * GB, 3 * GB) < memory_needed(5 * GB) + 4 * GB, (
        "what one picture takes has a bound"
    )
    tight = machine(memory=memory_needed(5 * GB) / GB)
    assert fit(5 * GB, 1.0, 8 * GB, tight) == "good"
    assert fit(5 * GB, 1.0, 8 * GB, tight, eyes) == "memory"
    full = machine(disk=5.6)
    assert fit(5 * GB, 1.0, 8 * GB, full) == "good"
    assert fit(5 * GB, 1.0, 8 * GB, full, eyes) == "disk"


def test_a_recommended_model_is_judged_with_its_projector() -> None:
    sees = next(model for model in RECOMMENDED if model.name == "qwen3.5-4b")
    tight = Hardware(cores=8, memory=memory_needed(sees.size), disk=500 * GB)
    assert fit_of(sees, tight) == "memory"
    assert fit_of(replace(sees, projector="", projector_size=0), tight) == "good"
