"""The last hour in figures: samples of a few seconds, ended by whoever has a clock."""

import pytest

from duologue.gateway.admin.metrics_history import (
    MEASURED,
    MODELS,
    SAMPLES,
    MetricsHistory,
    ModelSample,
    Spread,
)


def test_a_sample_holds_what_happened_in_it_and_how_things_stood_at_its_end():
    figures = MetricsHistory(100.0)
    figures.ended(first=30.0, waited=10.0)
    figures.ended(first=50.0, waited=0.0)
    figures.ended(failed=True)
    figures.wrote(40)
    figures.wrote(10)
    sample = figures.close(105.0, 3, 2)
    assert (sample.at, sample.requests, sample.failed, sample.tokens) == (105.0, 3, 1, 50)
    assert (sample.tokens_per_second, sample.running, sample.waiting) == (10.0, 3, 2)
    assert sample.first_token == Spread(30.0, 50.0)
    assert sample.queue_wait == Spread(0.0, 10.0)


def test_replies_are_told_apart_by_model_and_only_those_that_ended():
    figures = MetricsHistory(0.0)
    for first in (10.0, 30.0, 20.0):
        figures.ended(first=first, waited=1.0, tokens=20, generate=100.0, model="b")
    figures.ended(failed=True, model="a")
    figures.ended(first=99.0)
    sample = figures.close(5.0, 0, 0)
    assert sample.requests == 5
    assert sample.models == (ModelSample("a", 1), ModelSample("b", 3, 20.0, 1.0, 200.0))
    assert figures.close(10.0, 0, 0).models == ()


def test_no_more_models_than_a_page_can_show_are_told_apart():
    figures = MetricsHistory(0.0)
    for number in range(MODELS + 5):
        figures.ended(first=1.0, model=f"model {number}")
    sample = figures.close(5.0, 0, 0)
    assert (len(sample.models), sample.requests) == (MODELS, MODELS + 5)


def test_the_next_sample_begins_empty():
    figures = MetricsHistory(0.0)
    figures.ended(first=1.0, waited=1.0)
    figures.wrote(5)
    figures.close(5.0, 1, 0)
    empty = figures.close(10.0, 0, 0)
    assert (empty.requests, empty.failed, empty.tokens, empty.tokens_per_second) == (0, 0, 0, 0.0)
    assert (empty.first_token, empty.queue_wait) == (None, None)


def test_the_speed_of_replies_is_that_while_they_are_written_and_not_spread_over_idle_time():
    figures = MetricsHistory(0.0)
    for tokens, generate in ((30, 100.0), (80, 200.0), (50, 100.0), (1, 1.0), (9, 0.0)):
        figures.ended(first=1.0, tokens=tokens, generate=generate)
        figures.wrote(tokens)
    sample = figures.close(5.0, 0, 0)
    assert (sample.reply_tokens_per_second, sample.tokens_per_second) == (400.0, 34.0)
    assert figures.close(10.0, 0, 0).reply_tokens_per_second is None


@pytest.mark.parametrize(
    ("measured", "spread"),
    [([7.0], (7.0, 7.0)), ([1.0, 2.0, 3.0], (2.0, 3.0)), (list(range(1, 101)), (50.0, 95.0))],
)
def test_spreads_are_of_what_was_measured(measured, spread):
    figures = MetricsHistory(0.0)
    for value in measured:
        figures.ended(first=float(value))
    assert figures.close(5.0, 0, 0).first_token == Spread(*spread)


def test_a_long_sample_is_counted_over_its_real_length_and_a_clock_set_back_does_no_harm():
    figures = MetricsHistory(100.0)
    figures.wrote(80)
    assert figures.close(108.0, 0, 0).tokens_per_second == 10.0
    figures.wrote(50)
    assert figures.close(20.0, 0, 0).tokens_per_second == 10.0


def test_what_was_counted_too_much_is_taken_back_and_never_below_nothing():
    figures = MetricsHistory(0.0)
    figures.wrote(10)
    figures.wrote(-4)
    assert figures.close(5.0, 0, 0).tokens == 6
    figures.wrote(-4)
    assert figures.close(10.0, 0, 0).tokens == 0


def test_an_hour_is_remembered_and_what_came_after_a_time_can_be_asked_for():
    figures = MetricsHistory(0.0)
    for number in range(1, SAMPLES + 11):
        figures.close(5.0 * number, 0, 0)
    known = figures.since(0.0)
    assert (len(known), known[0].at, known[-1].at) == (SAMPLES, 55.0, 5.0 * (SAMPLES + 10))
    assert [sample.at for sample in figures.since(5.0 * (SAMPLES + 8))] == [
        sample.at for sample in known[-2:]
    ]


def test_a_sample_keeps_so_many_durations_and_no_more():
    figures = MetricsHistory(0.0)
    for _ in range(MEASURED):
        figures.ended(first=1.0)
    for _ in range(MEASURED):
        figures.ended(first=9.0)
    sample = figures.close(5.0, 0, 0)
    assert (sample.requests, sample.first_token) == (2 * MEASURED, Spread(9.0, 9.0))
