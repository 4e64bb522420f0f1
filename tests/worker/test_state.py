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
