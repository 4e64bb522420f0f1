import pytest

from duologue.values.requests import ModelCard
from duologue.worker.state import WorkerLifecycle


def test_a_worker_begins_loading_and_says_so():
    report = WorkerLifecycle("w").report()
    assert (report.worker, report.state) == ("w", "loading")
    assert report.detail


def test_ready_brings_the_card():
    status = WorkerLifecycle("w")
    card = ModelCard("m", "scripted", 100)
    status.ready(card)
    assert status.report().card == card


def test_the_card_of_a_model_may_change_while_it_is_ready():
    status = WorkerLifecycle("w")
    card = ModelCard("m", "remote", 100)
    status.changed(card)
    assert status.card is None
    status.ready(card)
    better = ModelCard("m", "remote", 200)
    status.changed(better)
    assert (status.report().state, status.report().card) == ("ready", better)


def test_failed_keeps_the_sentence():
    status = WorkerLifecycle("w")
    status.failed("bad_file", "The file is broken.")
    assert (status.report().code, status.report().detail) == ("bad_file", "The file is broken.")


def test_what_failed_never_becomes_ready():
    status = WorkerLifecycle("w")
    status.failed("x", "y")
    with pytest.raises(AssertionError):
        status.ready(ModelCard("m", "scripted", 100))


def test_progress_is_news_by_the_hundredth_and_ends_with_the_loading():
    status = WorkerLifecycle("w")
    assert not status.set_progress(None)
    assert status.set_progress(0.101)
    assert not status.set_progress(0.102)
    assert status.report().progress == 0.1
    status.ready(ModelCard("m", "scripted", 100))
    assert not status.set_progress(0.9)
    assert status.report().progress is None


def test_a_worker_that_was_told_to_stop_while_it_loaded_stays_so_however_the_loading_ends():
    for end in ("ready", "failed"):
        status = WorkerLifecycle("w")
        status.stopping()
        if end == "ready":
            status.ready(ModelCard("m", "scripted", 100))
        else:
            status.failed("x", "y")
        assert status.report().state == "stopping"
