import pytest

from duologue.gateway.scheduling.place_refresh import AT_ONCE, tell_in_turns
from duologue.gateway.scheduling.queueing.queue_commands import Moved

pytestmark = pytest.mark.anyio


async def test_a_long_queue_is_told_a_few_at_a_time_and_nobody_is_left_out():
    places = [Moved(f"q_{number}", number + 1, 1.0, 60) for number in range(2 * AT_ONCE + 3)]
    portions: list[list[Moved]] = []
    await tell_in_turns(places, lambda portion: portions.append(list(portion)), pause=0.0)  # type: ignore[arg-type]
    assert [len(portion) for portion in portions] == [AT_ONCE, AT_ONCE, 3]
    assert [moved for portion in portions for moved in portion] == places


async def test_an_empty_queue_is_told_nothing():
    await tell_in_turns([], lambda portion: pytest.fail("nobody waits"))
