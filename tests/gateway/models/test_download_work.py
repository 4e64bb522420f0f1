"""The work of one download: the numbers its thread reports, and how it ends when it is stopped."""

import threading

import pytest

from duologue.gateway.models.download_work import Work
from duologue.models.hub.resume import Stopped


class Opened:
    """A connection that only knows whether it was stopped."""

    stopped = False

    def stop(self) -> None:
        self.stopped = True


def test_the_bytes_of_all_files_are_counted_together():
    work = Work("a/b", "b")
    work.ordered("model", 100, 10)
    work.begin("one", 40, 0)
    work.kept(15)
    assert (work.done, work.checking) == (25, True)
    work.advance(25)
    assert (work.done, work.checking) == (50, False)
    work.end()
    work.begin("two", 50, 0)
    work.advance(50)
    assert (work.name, work.total, work.done, work.checking) == ("model", 100, 100, True)


def test_what_is_stopped_ends_at_its_next_report_and_closes_its_connection():
    work, opened = Work("a/b", "b"), Opened()
    work.uses(opened)  # type: ignore[arg-type]
    work.stop()
    assert opened.stopped
    for report in (lambda: work.advance(1), lambda: work.begin("one", 1, 0), lambda: work.uses(opened)):  # type: ignore[arg-type]
        with pytest.raises(Stopped):
            report()


def test_a_pause_between_two_attempts_ends_when_it_is_stopped():
    work, ended = Work("a/b", "b"), threading.Event()

    def wait() -> None:
        with pytest.raises(Stopped):
            work.pause(3600)
        ended.set()

    thread = threading.Thread(target=wait)
    thread.start()
    work.stop()
    assert ended.wait(30)
    thread.join()
