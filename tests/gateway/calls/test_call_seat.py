"""What a call is counted as, and what becomes of one that its key may not have."""

import anyio
import pytest
from tests.gateway.call_fixture import RunningCall
from tests.gateway.fake_seats import FakeLease
from tests.support.usage_record import RecordingMeter

from duologue.errors import Busy
from duologue.values import call_events
from duologue.values.requests import ModelCard

pytestmark = pytest.mark.anyio
OMNI = ModelCard("omni", "scripted", context=4096)


async def test_a_call_counts_its_sound_and_leaves_being_requests_to_its_replies():
    meter, seat = RecordingMeter(), FakeLease()
    fixture = RunningCall(seat, meter=meter)
    async with fixture.running():
        fixture.call.send(call_events.MicrophoneAudio(b"\0\0" * 16_000))
        seat.say(call_events.ReplyAudio(0, 1, b"\0\0" * 12_000))
        await anyio.wait_all_tasks_blocked()
        (counted,) = meter.requests
        assert not counted.has_ended
    assert (counted.kind, counted.model, counted.part) == ("call", "", True)
    assert (counted.seconds_heard, counted.seconds_spoken) == (1.0, 0.5)
    assert counted.has_ended


async def test_a_call_that_a_model_holds_by_itself_is_a_request():
    meter = RecordingMeter()
    fixture = RunningCall(FakeLease(), native=OMNI, meter=meter)
    async with fixture.running():
        (counted,) = meter.requests
    assert (counted.kind, counted.model, counted.part) == ("call", "omni", False)


async def test_a_call_that_its_key_may_not_have_now_ends_with_the_reason():
    refusal = Busy("Not now.", code="concurrency_limit_exceeded")
    seat = FakeLease()
    fixture = RunningCall(seat, native=OMNI, meter=RecordingMeter(refusal))
    async with fixture.running():
        pass
    assert fixture.ended is not None
    assert fixture.ended.problem is refusal
    assert seat.request is None
