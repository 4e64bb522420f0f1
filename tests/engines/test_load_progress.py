"""How far a loading is, from the thread that loads to the worker that waits."""

import pytest

from duologue.engines.load_progress import report, track
from duologue.threads import ThreadLane


def test_a_report_without_a_listener_is_dropped():
    report(0.5)
    with track() as progress:
        assert progress.share is None


@pytest.mark.anyio
async def test_a_report_from_a_thread_is_seen_outside():
    with track() as progress:
        assert progress.share is None
        await ThreadLane(1).run(lambda: report(0.5))
        assert progress.share == 0.5
    report(0.7)
    assert progress.share == 0.5
