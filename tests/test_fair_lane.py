"""Fair turns: who has a place, who waits, who is next; and the same for tasks."""

from __future__ import annotations

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from duologue.errors import Busy
from duologue.fair_lane import FairLane, FairTurns, Turn
from duologue.threads import Refusal

pytestmark = pytest.mark.anyio

REFUSAL = Refusal("Too many.", "Too slow.", "files_busy")


def entered(turns: FairTurns, user: str, now: float = 0.0) -> Turn:
    turn = turns.enter(user, now)
    assert turn is not None
    return turn


def test_the_first_turns_run_at_once_and_later_ones_wait() -> None:
    turns = FairTurns(2)
    assert entered(turns, "ann").running
    assert entered(turns, "ben").running
    assert not entered(turns, "cem").running


def test_one_user_never_holds_every_place() -> None:
    turns = FairTurns(3)
    flood = [entered(turns, "ann") for _ in range(10)]
    assert [turn.running for turn in flood].count(True) == 2
    assert entered(turns, "ben").running


def test_a_single_place_can_be_held_by_one_user() -> None:
    assert entered(FairTurns(1), "ann").running


def test_another_users_request_is_next_however_many_of_one_user_wait() -> None:
    turns = FairTurns(1)
    first, *flood = [entered(turns, "ann") for _ in range(20)]
    other = entered(turns, "ben")
    assert turns.leave(first, 1.0) == (flood[0],)  # she has waited, and nobody has run more often
    assert turns.leave(flood[0], 2.0) == (other,)
    assert turns.leave(other, 3.0) == (flood[1],)


def test_users_take_turns() -> None:
    turns = FairTurns(1)
    running = entered(turns, "zoe")
    for user in ("ann", "ann", "ann", "ben", "ben", "cem"):
        entered(turns, user)
    order = []
    for _ in range(6):
        (running,) = turns.leave(running, 0.0)
        order.append(running.user)
    assert order == ["ann", "ben", "cem", "ann", "ben", "ann"]


def test_a_user_with_fewer_running_turns_goes_first() -> None:
    turns = FairTurns(3, per_user=2)
    entered(turns, "ann")
    entered(turns, "ben")
    cem = entered(turns, "cem")
    entered(turns, "ann")
    waits = entered(turns, "cem")
    assert turns.leave(cem, 0.0) == (waits,)  # although ann has waited longer


def test_too_many_waiting_turns_of_one_user_are_refused_and_others_still_wait() -> None:
    turns = FairTurns(1, waiting_per_user=2)
    assert [turns.enter("ann", 0.0) is None for _ in range(4)] == [False, False, False, True]
    assert turns.enter("ben", 0.0) is not None


def test_too_many_waiting_turns_in_all_are_refused() -> None:
    turns = FairTurns(1, waiting=2)
    assert [turns.enter(user, 0.0) is None for user in "abcd"] == [False, False, False, True]


def test_a_turn_that_gives_up_waiting_leaves_its_place_in_the_queue() -> None:
    turns = FairTurns(1)
    running, gone, waits = entered(turns, "ann"), entered(turns, "ben"), entered(turns, "cem")
    assert turns.leave(gone, 0.0) == ()
    assert turns.leave(running, 0.0) == (waits,)
    assert turns.waiting == 0


def test_the_wait_follows_how_long_turns_take_and_how_many_wait() -> None:
    turns = FairTurns(1)
    running = entered(turns, "ann")
    before = turns.wait("ann")
    waits = entered(turns, "ann")
    assert turns.wait("ann") == 2 * before
    turns.leave(running, 100.0)
    assert turns.wait("ann") > before
    turns.leave(waits, 200.0)
    assert turns.running == turns.waiting == 0


def test_a_lane_without_a_place_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="at least one place"):
        FairTurns(0)


@given(
    st.integers(1, 4),
    st.integers(1, 4),
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5)), max_size=60),
)
def test_places_are_never_exceeded_and_never_left_free(
    places: int, per_user: int, steps: list[tuple[str, int]]
) -> None:
    turns = FairTurns(places, per_user, waiting=8, waiting_per_user=4)
    alive: list[Turn] = []
    for now, (user, choice) in enumerate(steps):
        if choice < 3:
            turn = turns.enter(user, float(now))
            alive += [] if turn is None else [turn]
        elif alive:
            turns.leave(alive.pop(choice % len(alive)), float(now))
        running = [turn.user for turn in alive if turn.running]
        waiting = [turn.user for turn in alive if not turn.running]
        most = min(per_user, places)
        assert turns.running == len(running) <= places
        assert turns.waiting == len(waiting) <= 8
        assert all(running.count(one) <= most and waiting.count(one) <= 4 for one in "abc")
        # Whoever waits, waits for a reason.
        assert len(running) == places or all(running.count(one) == most for one in waiting)


async def flood(lane: FairLane, user: str, ended: list[str], gate: anyio.Event) -> None:
    async with lane.turn(user):
        await gate.wait()
        ended.append(user)


async def test_tasks_of_another_user_are_served_among_a_flood() -> None:
    lane, ended, gate = FairLane(2), list[str](), anyio.Event()
    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(flood, lane, "ann", ended, gate)
        await until(lambda: lane.waiting == 19)
        async with lane.turn("ben"):
            assert ended == []
        gate.set()
    assert len(ended) == 20
    assert lane.running == lane.waiting == 0


async def test_a_refused_task_is_told_when_to_try_again() -> None:
    lane = FairLane(1, waiting=0, refusal=REFUSAL)
    async with lane.turn("ann"):
        with pytest.raises(Busy, match="Too many") as refused:
            async with lane.turn("ben"):
                pass
    assert refused.value.code == "files_busy"
    assert refused.value.retry_after is not None
    assert refused.value.retry_after > 0


async def test_a_task_waits_no_longer_than_its_patience() -> None:
    lane = FairLane(1, patience=0, refusal=REFUSAL)
    async with lane.turn("ann"):
        with pytest.raises(Busy, match="Too slow"):
            async with lane.turn("ben"):
                pass
        assert lane.waiting == 0


async def test_a_cancelled_task_gives_its_place_back_wherever_it_was() -> None:
    lane, ended, gate = FairLane(1), list[str](), anyio.Event()
    async with anyio.create_task_group() as tasks:
        for user in ("ann", "ben", "cem"):
            tasks.start_soon(flood, lane, user, ended, gate)
        await until(lambda: lane.waiting == 2)
        tasks.cancel_scope.cancel()
    assert lane.running == lane.waiting == 0
    async with lane.turn("dan"):
        pass


async def test_what_the_body_raises_leaves_the_lane() -> None:
    lane = FairLane(1)
    with pytest.raises(KeyError):
        async with lane.turn("ann"):
            raise KeyError
    assert lane.running == 0


async def until(condition: object) -> None:
    assert callable(condition)
    with anyio.fail_after(60):
        while not condition():
            await checkpoint()
