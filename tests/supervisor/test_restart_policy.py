"""What becomes of a process that ended."""

import pytest

from duologue.supervisor.restart_policy import STEADY, End, Restart, RestartPolicy, backoff, ending


def served(at: float = 0.0) -> RestartPolicy:
    policy = RestartPolicy()
    policy.launched()
    policy.ready(at)
    return policy


@pytest.mark.parametrize("code", [-11, -9, -6, 1, 3])
def test_a_gateway_that_was_ready_is_started_again_at_once_however_it_ended(code):
    policy = served()
    assert policy.ended(code, 1.0, stopping=False) == Restart(0.0)
    assert policy.restarts == 1


@pytest.mark.parametrize("code", [-11, 1, 2])
def test_a_gateway_that_was_never_ready_is_given_up_with_its_own_code(code):
    policy = RestartPolicy()
    policy.launched()
    assert policy.ended(code, 5.0, stopping=False) == End(code)
    assert policy.restarts == 0


def test_an_end_that_was_asked_for_is_the_end():
    assert served().ended(0, 1.0, stopping=True) == End(0)
    assert served().ended(-15, 1.0, stopping=True) == End(-15)


def test_who_stops_the_gateway_itself_has_stopped_the_server():
    assert served().ended(0, 1.0, stopping=False) == End(0)


def test_a_gateway_that_is_not_to_be_watched_is_not_started_again():
    assert served().ended(-11, 1.0, stopping=False, watched=False) == End(-11)


def test_the_pauses_grow_while_it_dies_quickly_and_end_at_half_a_minute():
    policy, at, pauses = served(), 0.0, []
    for _ in range(9):
        decision = policy.ended(-11, at + 1.0, stopping=False)
        assert isinstance(decision, Restart)
        pauses.append(decision.pause)
        at += 1.0 + decision.pause
        policy.launched()
        policy.ready(at)
    assert pauses == [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_a_restart_that_fails_before_it_is_ready_counts_as_quick_and_is_tried_for_ever():
    policy = served()
    policy.ended(-11, 100.0, stopping=False)
    for number in range(200):
        policy.launched()
        decision = policy.ended(1, 200.0 + number, stopping=False)
        assert isinstance(decision, Restart)
    assert decision == Restart(30.0)
    assert policy.restarts == 201


def test_a_steady_time_makes_the_next_restart_immediate_again():
    policy = served()
    for _ in range(4):
        policy.ended(-11, 1.0, stopping=False)
    policy.launched()
    policy.ready(10.0)
    assert policy.ended(-11, 10.0 + STEADY, stopping=False) == Restart(0.0)
    policy.launched()
    policy.ready(50.0)
    assert policy.ended(-11, 50.0 + STEADY - 0.1, stopping=False) == Restart(0.5)


def test_the_first_restart_is_immediate_and_later_ones_slow_down_to_half_a_minute():
    assert [backoff(failures) for failures in (0, 1, 2, 3, 4)] == [0.0, 0.0, 0.5, 1.0, 2.0]
    assert backoff(50) == backoff(1_000_000) == 30.0


def test_the_end_of_a_process_is_told_in_words():
    assert ending(70) == "exit code 70"
    assert ending(-9) == "signal 9, Killed"
    assert ending(-64).startswith("signal 64, ")
    assert ending(None) == "it was still running"
