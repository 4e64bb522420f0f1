from collections.abc import Sequence

from duologue.gateway.scheduling.queueing.wait_forecast import SlotForecast, WorkerForecast, told


def waits(remaining: Sequence[float], durations: Sequence[float]) -> list[float]:
    forecast = SlotForecast(remaining)
    return [forecast.wait(duration) for duration in durations]


def waits_whole(
    workers: Sequence[Sequence[float]], durations: Sequence[float], whole: Sequence[bool]
) -> list[float]:
    forecast = WorkerForecast(workers)
    return [forecast.wait(duration, takes_all) for duration, takes_all in zip(durations, whole, strict=True)]


def test_each_waiting_request_takes_the_slot_that_frees_first():
    assert waits([5.0, 2.0], [10.0, 10.0, 10.0]) == [2.0, 5.0, 12.0]


def test_without_a_slot_the_line_itself_is_the_wait():
    assert waits([], [10.0, 10.0]) == [0.0, 10.0]


def test_a_request_for_a_whole_worker_waits_for_its_last_slot_and_the_next_for_its_end():
    assert waits_whole([[0.0, 10.0]], [90.0, 15.0], [True, False]) == [10.0, 100.0]
    assert waits_whole([[0.0, 10.0], [20.0]], [90.0, 15.0, 15.0], [True, False, False]) == [10.0, 20.0, 35.0]


def test_without_any_worker_the_wait_is_what_those_before_will_take():
    assert waits_whole([], [90.0, 15.0], [True, False]) == [0.0, 90.0]


def test_nobody_who_waits_is_told_0():
    assert (told(0.0), told(0.04), told(7.84)) == (0.1, 0.1, 7.8)
