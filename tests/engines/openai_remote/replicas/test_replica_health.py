from duologue.engines.openai_remote.replicas.replica_health import (
    LONGEST_REST,
    REST,
    SILENCES,
    Health,
    answered,
    asked,
    too_busy,
    unreachable,
)


def test_a_refused_connection_is_believed_at_once() -> None:
    assert asked(Health(), "unreachable", "no connection") == Health(down=True, reason="no connection")
    assert unreachable(Health(), "no connection").down


def test_a_server_that_says_it_is_not_ready_is_believed_too() -> None:
    assert asked(Health(), "unready", "503").down


def test_one_that_does_not_answer_in_time_is_asked_again_first() -> None:
    health = Health()
    for _ in range(SILENCES - 1):
        health = asked(health, "silent", "silent")
        assert not health.down
    assert asked(health, "silent", "silent").down


def test_one_that_is_down_stays_down_without_an_answer() -> None:
    assert asked(unreachable(Health(), "gone"), "silent", "silent").down


def test_a_good_answer_brings_it_back() -> None:
    assert asked(unreachable(Health(), "gone"), "good") == Health()
    assert answered(unreachable(Health(), "gone")) == Health()
    assert asked(Health(silences=2), "good") == Health()


def test_a_busy_server_rests_for_as_long_as_it_says() -> None:
    assert too_busy(Health(), 4.0, 100.0).rests_until == 104.0
    assert too_busy(Health(), None, 100.0).rests_until == 100.0 + REST
    assert too_busy(Health(), 9999.0, 100.0).rests_until == 100.0 + LONGEST_REST


def test_a_question_that_is_answered_does_not_end_the_rest_and_a_request_does() -> None:
    assert asked(too_busy(Health(), 4.0, 0.0), "good").rests_until == 4.0
    assert answered(too_busy(Health(), 4.0, 0.0)).rests_until == 0.0
