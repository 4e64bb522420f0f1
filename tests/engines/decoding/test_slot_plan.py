"""Weights and caches against the memory that is free."""

import pytest

from duologue.engines.decoding.slot_plan import ModelSize, plan_memory, thread_count
from duologue.errors import StartFailed

GIGABYTE = 1_000_000_000
SIZE = ModelSize(weights=10 * GIGABYTE, token=60_000, trained=32_768)


def plan(free: float, *, slots: int | None = None, context: int | None = None, size: ModelSize = SIZE):
    return plan_memory(
        "omni", size, int(free * GIGABYTE), slots=slots, context=context, place="cuda:0", others=1
    )


def test_with_room_every_chat_and_a_call_have_the_usual_context() -> None:
    assert plan(40).context == 16_384
    assert plan(40).slots == 2
    assert plan(40).warnings == ()
    assert plan(40, slots=3, context=20_000).context == 20_000


def test_weights_that_do_not_fit_are_refused_before_they_are_loaded() -> None:
    with pytest.raises(StartFailed, match=r"needs about 11\.0 GB, but cuda:0 has 10\.5 GB free") as caught:
        plan(10.5)
    assert caught.value.code == "not_enough_memory"


def test_short_memory_shortens_the_context_and_says_so() -> None:
    short = plan(13)
    assert short.context == 8192
    assert "instead of 16384" in short.warnings[0]


def test_too_little_for_any_conversation_is_refused() -> None:
    with pytest.raises(StartFailed, match="fewer slots"):
        plan(11.1)


def test_a_context_beyond_the_models_is_said_to_be() -> None:
    beyond = plan(80, context=99_999)
    assert beyond.context == 32_768
    assert "made for 32768" in beyond.warnings[0]


def test_a_small_model_serves_more_chats() -> None:
    tiny = ModelSize(weights=1_000_000, token=1_000, trained=4096)
    assert plan(1, size=tiny).slots == 4
    assert plan(1, size=tiny).context == 4096


def test_small_models_have_one_thread_and_large_ones_leave_a_core() -> None:
    assert thread_count(4_000_000, 8, None) == 1
    assert thread_count(10 * GIGABYTE, 8, None) == 7
    assert thread_count(10 * GIGABYTE, 1, None) == 1
    assert thread_count(4_000_000, 8, 3) == 3
