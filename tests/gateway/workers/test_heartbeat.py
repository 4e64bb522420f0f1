"""Who lives and who hangs."""

import pytest

from duologue.gateway.workers.heartbeat import (
    CANCEL_SECONDS,
    DISK_PATIENCE,
    LOADING_PATIENCE,
    PATIENCE,
    Heartbeat,
    RunningWork,
    judge_engine,
)

LIMIT = 300.0


@pytest.mark.parametrize(
    ("state", "beats"),
    [
        ({"loading": False}, PATIENCE),
        ({"loading": True}, LOADING_PATIENCE),
        ({"loading": False, "waits_for_disk": True}, DISK_PATIENCE),
    ],
)
def test_a_worker_hangs_after_so_many_beats_in_a_row(state, beats):
    heartbeat = Heartbeat()
    verdicts = [heartbeat.missed(**state) for _ in range(beats)]
    assert verdicts == [False] * (beats - 1) + [True]


def test_an_answer_begins_the_count_anew():
    heartbeat = Heartbeat()
    for _ in range(100):
        assert not heartbeat.missed(loading=False)
        heartbeat.answered()


def test_a_worker_that_hangs_is_replaced_within_ten_seconds():
    # One beat until the ping that is not answered, and a second for its process to end.
    assert PATIENCE + 1 + 1 <= 10


def test_an_engine_at_work_on_a_long_prompt_is_left_alone():
    work = RunningWork(began=0.0)
    assert all(judge_engine([work], at - 1.0, float(at), LIMIT) == "" for at in range(1, 7200))


def test_a_reply_that_waits_for_the_prompt_of_another_one_is_left_alone():
    long_prompt, behind_it = RunningWork(0.0), RunningWork(10.0)
    assert judge_engine([long_prompt, behind_it], 1990.0, 2000.0, LIMIT) == ""


def test_a_reply_that_has_just_begun_is_not_late_because_nothing_ran_before():
    assert judge_engine([RunningWork(990.0)], 0.0, 1000.0, LIMIT) == ""


def test_a_reader_that_takes_nothing_is_no_fault_of_the_engine():
    assert judge_engine([RunningWork(0.0, blocked=True)], 0.0, 10_000.0, LIMIT) == ""


def test_a_silent_engine_is_first_cancelled_and_then_replaced():
    work = RunningWork(0.0)
    assert judge_engine([work], 0.0, LIMIT - 1, LIMIT) == ""
    assert judge_engine([work], 0.0, LIMIT, LIMIT) == "stalled"
    work = work._replace(cancelled=LIMIT)
    assert judge_engine([work], 0.0, LIMIT + CANCEL_SECONDS - 1, LIMIT) == ""
    assert judge_engine([work], 0.0, LIMIT + CANCEL_SECONDS, LIMIT) == "hung"


def test_a_reply_whose_client_left_holds_a_silent_engine_to_account_too():
    assert judge_engine([RunningWork(0.0, cancelled=5.0)], 4.0, LIMIT, LIMIT) == ""
    assert judge_engine([RunningWork(0.0, cancelled=5.0)], 4.0, LIMIT + 5.0, LIMIT) == "hung"


def test_without_a_limit_nobody_judges():
    assert judge_engine([RunningWork(0.0)], 0.0, 1e9, None) == ""
