from collections.abc import Iterator

import pytest

from duologue.gateway.scheduling.place_refresh import tell_in_turns
from duologue.gateway.scheduling.queueing.queue_commands import Moved

pytestmark = pytest.mark.anyio


async def test_each_portion_is_made_when_the_one_before_was_told():
    done: list[str] = []

    def portions() -> Iterator[list[Moved]]:
        for number in range(3):
            done.append(f"made {number}")
            yield [Moved(f"q_{number}", number + 1, 1.0, 3)]

    await tell_in_turns(portions(), lambda told: done.extend(place.ticket for place in told), pause=0.0)
    assert done == ["made 0", "q_0", "made 1", "q_1", "made 2", "q_2"]


async def test_an_empty_queue_is_told_nothing():
    await tell_in_turns([], lambda portion: pytest.fail("nobody waits"))
