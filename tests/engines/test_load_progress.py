"""How far a loading is, from the thread that knows to whoever waits."""

import pytest

from duologue.engines.load_progress import tell, watched
from duologue.threads import ThreadLane


def test_nobody_need_listen():
    tell(0.5)


@pytest.mark.anyio
async def test_what_a_thread_tells_is_seen_outside():
    with watched() as loading:
        assert loading.share is None
        await ThreadLane(1).run(lambda: tell(0.5))
        assert loading.share == 0.5
    tell(0.7)
    assert loading.share == 0.5
