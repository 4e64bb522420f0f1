import pytest

from duologue.values.requests import ModelCard
from duologue.worker.state import Standing


def test_a_worker_begins_loading_and_says_so():
    report = Standing("w").report()
    assert (report.worker, report.state) == ("w", "loading")
    assert report.detail


def test_ready_brings_the_card():
    standing = Standing("w")
    card = ModelCard("m", "scripted", 100)
    standing.ready(card)
    assert standing.report().card == card


def test_failed_keeps_the_sentence():
    standing = Standing("w")
    standing.failed("bad_file", "The file is broken.")
    assert (standing.report().code, standing.report().detail) == ("bad_file", "The file is broken.")


def test_what_failed_never_becomes_ready():
    standing = Standing("w")
    standing.failed("x", "y")
    with pytest.raises(AssertionError):
        standing.ready(ModelCard("m", "scripted", 100))


def test_progress_is_news_by_the_hundredth_and_ends_with_the_loading():
    standing = Standing("w")
    assert not standing.loaded(None)
    assert standing.loaded(0.101)
    assert not standing.loaded(0.102)
    assert standing.report().progress == 0.1
    standing.ready(ModelCard("m", "scripted", 100))
    assert not standing.loaded(0.9)
    assert standing.report().progress is None
