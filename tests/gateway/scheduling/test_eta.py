"""How long work takes and how much of it is left, by what was learned of its model and kind."""

from itertools import pairwise

import pytest

from duologue.gateway.scheduling.eta import BASES, FALLBACK, START, Estimator, Job, SlotProgress

CHAT = Job("m", "chat")


def learned(*tokens: int, speed: float = 10.0, job: Job = CHAT) -> Estimator:
    """An estimator that has seen replies of so many tokens, written at this speed after a tenth of a second for each character."""
    estimator = Estimator()
    for length in tokens:
        estimator.replied(job, length, 0.1 * job.prompt, length / speed)
        estimator.observe(job, 0.1 * job.prompt + length / speed)
    return estimator


def test_nothing_is_known_and_the_base_is_told():
    assert Estimator({"chat": 15.0}).expected(CHAT) == pytest.approx(15.0)
    assert Estimator().expected(Job("m", "painting")) == pytest.approx(FALLBACK)


def test_whatever_takes_a_seat_of_the_voice_has_a_base_and_a_call_the_longest():
    seats = ("speech", "transcription", "audio_duplex", "omni_duplex", "call")
    expected = [BASES[kind] for kind in seats]
    assert max(expected) == expected[-1]


def test_each_model_and_kind_is_learned_by_itself():
    estimator = Estimator()
    for _ in range(20):
        estimator.observe(Job("m", "embed"), 0.5)
        estimator.observe(Job("n", "embed"), 8.0)
    assert estimator.expected(Job("m", "embed")) == pytest.approx(0.5, abs=0.2)
    assert estimator.expected(Job("n", "embed")) == pytest.approx(8.0, abs=1.0)
    assert estimator.expected(Job("m", "chat")) == pytest.approx(15.0)


def test_a_reply_is_judged_by_its_own_speed_and_length():
    estimator = learned(*[100] * 30)
    writing = SlotProgress(since=0.0, first=1.0, tokens=50, told=6.0)
    assert estimator.remaining(CHAT, writing, 6.0) == pytest.approx(5.0, abs=0.8)
    slower = SlotProgress(since=0.0, first=1.0, tokens=50, told=26.0)
    assert estimator.remaining(CHAT, slower, 26.0) > 15.0


def test_between_two_reports_it_counts_down():
    estimator = learned(*[100] * 30)
    writing = SlotProgress(since=0.0, first=1.0, tokens=20, told=3.0)
    told = [estimator.remaining(CHAT, writing, 3.0 + 0.25 * step) for step in range(8)]
    assert told == sorted(told, reverse=True)
    assert told[0] - told[-1] == pytest.approx(1.75, abs=0.3)


def test_a_worker_that_hangs_is_not_taken_to_write_on():
    estimator = learned(*[100] * 30)
    writing = SlotProgress(since=0.0, first=1.0, tokens=20, told=3.0)
    assert estimator.remaining(CHAT, writing, 500.0) > 4.0


def test_past_the_short_replies_it_is_a_long_one():
    estimator = learned(*[20, 20, 20, 20, 20, 20, 400] * 8)
    assert estimator.expected(CHAT) < 15.0
    writing = SlotProgress(since=0.0, first=0.0, tokens=40, told=4.0)
    assert estimator.remaining(CHAT, writing, 4.0) > 20.0


def test_the_bound_on_tokens_is_kept():
    estimator = learned(*[400] * 20)
    bounded = Job("m", "chat", most=50)
    assert estimator.expected(bounded) == pytest.approx(5.0, abs=0.5)
    at_its_end = SlotProgress(since=0.0, first=0.0, tokens=50, told=5.0)
    assert 0.0 < estimator.remaining(bounded, at_its_end, 5.0) <= 0.2


def test_a_long_prompt_takes_longer_and_one_in_the_cache_does_not():
    estimator = learned(*[100] * 20, job=Job("m", "chat", prompt=10.0))
    long = Job("m", "chat", prompt=1000.0)
    assert estimator.expected(long) == pytest.approx(110.0, abs=3.0)
    assert estimator.expected(long.without(0.9)) == pytest.approx(20.0, abs=3.0)
    reading = SlotProgress(since=0.0)
    assert estimator.remaining(long, reading, 60.0) == pytest.approx(50.0, abs=3.0)


def test_a_prompt_that_is_read_for_too_long_grows_smoothly():
    estimator = learned(*[100] * 20, job=Job("m", "chat", prompt=10.0))
    told = [
        estimator.remaining(Job("m", "chat", prompt=10.0), SlotProgress(), 0.5 * step) for step in range(40)
    ]
    assert max(abs(b - a) for a, b in pairwise(told)) <= 0.5
    assert told[-1] > told[4]


def test_the_start_of_a_worker_is_learned():
    estimator = Estimator()
    assert estimator.start_remaining("m", 0.0) == pytest.approx(START)
    for _ in range(10):
        estimator.started("m", 60.0)
    assert estimator.start_remaining("m", 20.0) == pytest.approx(40.0, abs=5.0)
    assert estimator.start_remaining("other", 0.0) == pytest.approx(START)
    assert estimator.start_remaining("m", 300.0) > 5.0, "never 0 while it starts"


def test_what_ended_before_its_first_token_teaches_nothing_about_replies():
    estimator = learned(*[100] * 5)
    before = estimator.expected(CHAT)
    estimator.replied(CHAT, 0, 1.0, 0.0)
    assert estimator.expected(CHAT) == before


def test_models_that_came_and_went_are_forgotten():
    estimator = Estimator()
    for number in range(2000):
        estimator.observe(Job(f"model-{number}", "chat"), 1.0)
        estimator.replied(Job(f"model-{number}", "chat", prompt=5.0), 10, 1.0, 1.0)
    assert max(len(table) for table in vars(estimator).values() if isinstance(table, dict)) <= 512
