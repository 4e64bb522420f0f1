from duologue.gateway.scheduling.eta import FALLBACK, OVERDUE, Estimator, waits, waits_whole


def test_the_base_holds_until_enough_was_seen():
    estimator = Estimator({"chat": 15.0}, minimum_samples=3)
    estimator.observe("chat", 1.0)
    estimator.observe("chat", 1.0)
    assert estimator.expected("chat") == 15.0
    estimator.observe("chat", 1.0)
    assert estimator.expected("chat") == 1.0


def test_the_average_moves_towards_the_newest_by_alpha():
    estimator = Estimator(alpha=0.5, minimum_samples=1)
    estimator.observe("chat", 10.0)
    estimator.observe("chat", 20.0)
    assert estimator.expected("chat") == 15.0


def test_a_kind_nobody_configured_has_a_fallback():
    assert Estimator().expected("painting") == FALLBACK


def test_whatever_takes_a_seat_of_the_voice_has_a_base_and_a_call_the_longest():
    seats = ("speech", "transcription", "audio_duplex", "omni_duplex", "call")
    expected = [Estimator().expected(kind) for kind in seats]
    assert FALLBACK not in expected
    assert max(expected) == expected[-1]


def test_work_past_its_estimate_is_expected_to_take_a_little_more():
    estimator = Estimator({"chat": 15.0})
    assert estimator.remaining("chat", 5.0) == 10.0
    assert estimator.remaining("chat", 99.0) == OVERDUE


def test_each_waiting_request_takes_the_slot_that_frees_first():
    assert waits([5.0, 2.0], [10.0, 10.0, 10.0]) == [2.0, 5.0, 12.0]


def test_without_a_slot_the_line_itself_is_the_wait():
    assert waits([], [10.0, 10.0]) == [0.0, 10.0]


def test_a_request_for_a_whole_worker_waits_for_its_last_slot_and_the_next_for_its_end():
    assert waits_whole([[0.0, 10.0]], [90.0, 15.0], [True, False]) == [10.0, 100.0]
    assert waits_whole([[0.0, 10.0], [20.0]], [90.0, 15.0, 15.0], [True, False, False]) == [10.0, 20.0, 35.0]


def test_without_any_worker_the_wait_is_what_those_before_will_take():
    assert waits_whole([], [90.0, 15.0], [True, False]) == [0.0, 90.0]
