"""The steps in which a prompt is read: as long as a pause may be, and never shorter than what is cached."""

from __future__ import annotations

import random

import pytest

from duologue.engines.llama.prompt.prompt_steps import (
    BLOCK,
    FIRST,
    LEAST,
    REMEMBERED,
    SHARED_STEP_SECONDS,
    STEP_SECONDS,
    PromptMemory,
    PromptPace,
    common_prefix,
)


def paced(tokens_a_second: float, batch: int = 512) -> PromptPace:
    """A pace after some steps at this speed."""
    pace = PromptPace(batch)
    for _ in range(20):
        pace.took(pace.step(), pace.step() / tokens_a_second)
    return pace


def test_the_first_step_is_a_guess_within_the_batch() -> None:
    assert PromptPace(512).step() == FIRST
    assert PromptPace(100).step() == 100


@pytest.mark.parametrize("speed", [400.0, 800.0, 2000.0])
def test_a_step_takes_the_time_a_pause_may_take(speed: float) -> None:
    assert paced(speed).step() / speed == pytest.approx(STEP_SECONDS, rel=0.05)


def test_beside_other_slots_a_step_is_short() -> None:
    assert paced(2000.0).step(is_shared=True) / 2000.0 == pytest.approx(SHARED_STEP_SECONDS, rel=0.05)
    assert paced(3.0).step(is_shared=True) == LEAST


def test_steps_become_short_when_another_slot_becomes_busy() -> None:
    busy = iter([False, True, True, True])
    pace = paced(2000.0)
    one, other = pace.step(), pace.step(is_shared=True)
    ends = pace.ends(0, 10_000, lambda: next(busy))
    assert [next(ends) for _ in range(4)] == [one, one + other, one + 2 * other, one + 3 * other]


def test_a_step_is_never_larger_than_the_batch_nor_tiny() -> None:
    assert paced(1e6).step() == 512
    assert paced(3.0).step() == LEAST
    assert paced(3.0, batch=8).step() == 8


def test_the_operators_batch_is_the_step_whatever_the_speed() -> None:
    pace = PromptPace(300, fixed=True)
    pace.took(300, 100.0)
    assert pace.step() == 300


def test_short_steps_and_broken_clocks_change_nothing() -> None:
    pace = PromptPace(512)
    pace.took(LEAST - 1, 100.0)
    pace.took(100, 0.0)
    pace.took(100, -1.0)
    assert pace.step() == FIRST


def test_the_pace_follows_a_model_that_becomes_slower() -> None:
    pace = paced(2000.0)
    before = pace.step()
    for _ in range(10):
        pace.took(100, 0.5)
    assert pace.step() < before / 5


def test_a_prompt_is_cut_into_steps_that_end_with_it() -> None:
    pace = PromptPace(100, fixed=True)
    assert list(pace.ends(0, 350)) == [100, 200, 300, 350]
    assert list(pace.ends(0, 100)) == [100]


def test_a_small_rest_is_read_with_the_last_step() -> None:
    assert list(PromptPace(100, fixed=True).ends(0, 100 + LEAST // 2)) == [100 + LEAST // 2]


def test_the_first_step_goes_beyond_what_is_known() -> None:
    pace = PromptPace(100, fixed=True)
    assert list(pace.ends(220, 500)) == [320, 420, 500]
    assert list(pace.ends(500, 500)) == [500]


def test_the_size_of_a_step_is_asked_for_each_step() -> None:
    pace = PromptPace(512)
    ends = pace.ends(0, 2000)
    assert next(ends) == FIRST
    pace.took(FIRST, FIRST / 400)
    assert next(ends) == FIRST + 400 * STEP_SECONDS


def test_the_common_prefix_is_found_at_every_length() -> None:
    chance = random.Random(3)
    for _ in range(200):
        shared = tuple(chance.choices(range(9), k=chance.choice((0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 700))))
        one, other = (10, *shared, 11, 5), (10, *shared, 12)
        assert common_prefix(one, other) == common_prefix(other, one) == 1 + len(shared)
        assert common_prefix(shared, (*shared, 1)) == len(shared)


def test_a_prompt_that_continues_a_known_one_is_known_with_its_reply() -> None:
    memory = PromptMemory(1000)
    memory.add((1, 2, 3), generated=4)
    assert memory.known((1, 2, 3, *range(10, 30))) == 7
    assert memory.known((1, 2, 3, 10)) == 4
    assert memory.known((1, 2, 9, 10)) == 2
    assert memory.known((9,)) == 0


def test_prompts_beyond_the_room_are_forgotten_oldest_first() -> None:
    memory = PromptMemory(100)
    for number in range(4):
        memory.add((number,) * 40)
    assert [memory.known((number,) * 40) for number in range(4)] == [0, 0, 40, 40]


def test_a_prompt_larger_than_the_room_is_known_while_it_is_the_last() -> None:
    memory = PromptMemory(10)
    memory.add((1,) * 40)
    assert memory.known((1,) * 40) == 40
    memory.add((2,) * 40)
    assert memory.known((1,) * 40) == 0


def test_a_conversation_that_grows_takes_one_place() -> None:
    memory = PromptMemory(100_000)
    memory.add((7, 7))
    for turn in range(2 * REMEMBERED):
        memory.add(tuple(range(10 + turn)))
    assert memory.known((7, 7)) == 2
