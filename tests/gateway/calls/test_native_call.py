"""A call that its model holds by itself: no reply is generated here, frames and sound go to the model, and the history stays true."""

import anyio
import anyio.lowlevel
import pytest
from tests.gateway.call_fixture import RunningCall
from tests.gateway.fake_seats import FakeLease
from tests.gateway.recording_stand_in import Looker

from duologue.gateway.calls.history import ConversationChanges, EphemeralHistory
from duologue.gateway.calls.native_turns import SPOKEN
from duologue.gateway.scheduling.scheduler import EVERY_SLOT
from duologue.values import call_events
from duologue.values.call_events import CallSetup
from duologue.values.events import WORKER_LOST
from duologue.values.messages import ImagePart, assistant, system, user
from duologue.values.requests import ModelCard, Sampling
from duologue.values.speech import Transcript

pytestmark = pytest.mark.anyio

OMNI = ModelCard("omni", "scripted", 8192, modalities=("text", "image", "audio"), verbs=("duplex",))
SETUP = CallSetup(marks=True, omni=call_events.OmniSetup(sampling=Sampling(temperature=0.5)))
SOUND = b"\1\0" * 160


async def written(pcm: bytes, language: str) -> Transcript:
    return Transcript("what is that")


def native(*leases: FakeLease) -> RunningCall:
    return RunningCall(*leases, native=OMNI, transcribe=written)


async def test_it_takes_a_worker_of_its_model_whole_and_tells_it_what_was_said_before():
    seat = FakeLease()
    fixture = native(seat)
    fixture.history.add_user_turn("hello")
    async with fixture.running(SETUP):
        [setup] = await seat.began(1)
    assert fixture.call.seat.pool.asked == [("omni", EVERY_SLOT)]  # type: ignore[attr-defined]
    assert setup.omni == call_events.OmniSetup(
        messages=(system("Be kind."), user("hello")), sampling=Sampling(temperature=0.5)
    )


async def test_its_replies_are_the_models_and_stored_as_heard_after_what_was_said():
    seat = FakeLease()
    fixture = native(seat)
    async with fixture.running(SETUP):
        seat.say(
            call_events.ReplyBegun(0, 1, 1),
            call_events.ReplyAudioStarted(0, 1),
            call_events.ReplyText(0, 1, "A lamp, I think."),
            call_events.ReplyAudio(0, 1, SOUND),
            call_events.UserSound(0, 1, SOUND),
            call_events.AssistantSaid(0, 1, "A lamp,", " I think.", "interrupted"),
        )
        await fixture.client.until("transcript", turn=1, text="what is that", final=True)
        await fixture.client.until("reply_done", text="A lamp,")
        await anyio.wait_all_tasks_blocked()
    assert fixture.generate.requests == []
    assert fixture.history.messages[1:] == (user("what is that"), assistant("A lamp,…"))


async def test_a_frame_goes_to_the_model_and_to_who_looks_on():
    seat, looker = FakeLease(), Looker(lambda reason: None)
    fixture = native(seat)
    async with fixture.running(SETUP):
        fixture.call.observer = looker
        fixture.call.saw(ImagePart(b"x"))
        assert (await seat.until(1))[-1] == call_events.CallFrame(ImagePart(b"x"))
    assert ImagePart(b"x") in looker.seen


async def test_a_lost_model_is_told_and_the_next_session_knows_what_was_heard():
    first, second = FakeLease(), FakeLease()
    fixture = native(first, second)
    async with fixture.running(SETUP):
        first.say(
            call_events.UserSound(0, 1, SOUND),
            call_events.ReplyBegun(0, 1, 1),
            call_events.ReplyAudioStarted(0, 1),
            call_events.ReplyText(0, 1, "one two"),
            call_events.ReplyAudio(0, 1, SOUND),
        )
        await fixture.client.until("audio_start")
        fixture.call.send(call_events.Played(1, 100))
        first.say(WORKER_LOST)
        [setup] = await second.began(1)
        assert (await fixture.client.until("error"))["code"] == "worker_lost"
        await fixture.client.until("status", state="waiting")
    assert setup.omni is not None
    assert setup.omni.messages == (system("Be kind."), user("what is that"), assistant("one…"))
    assert setup.omni.sampling == Sampling(temperature=0.5)
    assert (setup.epoch, setup.reply, setup.turn, setup.greeting) == (1, 2, 2, "")


async def test_a_conversation_can_begin_anew_in_the_same_seat():
    seat = FakeLease()
    fixture = native(seat)
    async with fixture.running(SETUP):
        await seat.began(1)
        seat.say(call_events.UserSaid(0, 1, "old", typed=True), call_events.ReplyBegun(0, 4, 1))
        await anyio.wait_all_tasks_blocked()
        fixture.history.restart("Be brief.", "omni", Sampling())
        fixture.call.restart(SETUP)
        [_, setup] = await seat.began(2)
        assert not seat.gone
    assert setup.omni is not None
    assert setup.omni.messages == (system("Be brief."),)
    assert (setup.epoch, setup.reply, setup.turn) == (1, 5, 2)
    assert len(fixture.call.seat.pool.asked) == 1  # type: ignore[attr-defined]


async def test_a_pause_is_seen_from_outside_and_keeps_the_seat():
    seat = FakeLease()
    fixture = native(seat)
    async with fixture.running(SETUP):
        await seat.began(1)
        fixture.call.pause(True)
        assert (seat.paused, seat.gone) == (True, False)
        fixture.call.pause(False)
        assert not seat.paused
    assert seat.gone


async def test_what_was_said_last_is_stored_although_the_caller_hangs_up():
    seat = FakeLease()
    fixture = RunningCall(seat, native=OMNI)
    async with fixture.running(SETUP):
        seat.say(call_events.UserSound(0, 1, SOUND))
    assert fixture.history.messages[-1] == user(SPOKEN["en"])


async def test_while_it_waits_for_a_seat_only_the_newest_frame_is_kept():
    class Waiting(FakeLease):
        free = anyio.Event()

        async def places(self):
            await self.free.wait()
            return
            yield

    seat = Waiting()
    seat.free = anyio.Event()
    fixture = native(seat)
    async with fixture.running(SETUP):
        for data in (b"a", b"b"):
            fixture.call.saw(ImagePart(data))
        fixture.call.send(call_events.CallChunk(SOUND, (ImagePart(b"c"),)))
        seat.free.set()
        assert await seat.until(2) == [
            call_events.CallFrame(ImagePart(b"b")),
            call_events.CallChunk(SOUND),
        ]


async def test_a_conversation_that_is_deleted_ends_it_at_once_because_it_cannot_say_goodbye():
    class Deleted(EphemeralHistory):
        async def sync(self, changes: ConversationChanges) -> None:
            await changes.deleted()

    seat = FakeLease()
    fixture = RunningCall(seat, native=OMNI, history=Deleted("", "omni", ()))
    async with fixture.running(SETUP):
        with anyio.fail_after(30):
            while fixture.ended is None:
                await anyio.lowlevel.checkpoint()
    assert fixture.ended.problem is not None
    assert fixture.ended.problem.code == "conversation_deleted"
    assert seat.controls == []
