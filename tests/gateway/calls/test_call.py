"""A call as the gateway has it: the session's wishes are answered, what it keeps is kept, and a lost session is followed by
another one."""

import math
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest
from tests.gateway.call_fixture import RunningCall
from tests.gateway.fake_seats import FakeGenerate, FakeLease, FakeSeats, failed, words

from duologue.errors import Busy
from duologue.gateway.calls.call import MAX_HELD, Call
from duologue.gateway.calls.call_seat import CallSeat
from duologue.gateway.calls.history import ConversationChanges, EphemeralHistory
from duologue.gateway.calls.spoken_approvals import DELETED, LOST, SORRY
from duologue.gateway.scheduling.scheduler import Moved
from duologue.values import call_events
from duologue.values.call_events import CallSetup
from duologue.values.conversations import StoredMessage, TextContent
from duologue.values.events import RESTARTED, WORKER_LOST, Done, Event, ReplyWord, TextDelta, ToolCallDelta
from duologue.values.messages import ImagePart, Message, TextPart, Tool, ToolCall, assistant, user
from duologue.wire.calls import caller_messages, voice

pytestmark = pytest.mark.anyio


class Held(FakeLease):
    """A seat that is free when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.free = anyio.Event()

    async def places(self) -> AsyncGenerator[Moved]:
        await self.free.wait()
        nowhere: tuple[Moved, ...] = ()
        for place in nowhere:
            yield place


async def test_a_reply_is_made_of_everything_said_before_and_told_as_it_comes():
    seat = FakeLease()
    fixture = RunningCall(seat, generate=FakeGenerate(words("Hello, ", "you.")))
    async with fixture.running():
        seat.say(call_events.ReplyRequested(0, 1, 1, 1, "hi there"))
        told = await seat.until(3)
    assert told == [
        call_events.Text(1, "Hello, "),
        call_events.Text(1, "you."),
        call_events.Text(1, "", last=True),
    ]
    [request] = fixture.generate.requests
    assert [message.text for message in request.messages] == ["Be kind.", "hi there"]
    assert request.spoken
    assert fixture.generate.kinds == ["voice"]


async def test_only_what_was_heard_is_remembered():
    seat = FakeLease()
    fixture = RunningCall(seat, generate=FakeGenerate(words("One two three."), words("Yes.")))
    async with fixture.running():
        seat.say(call_events.ReplyRequested(0, 1, 1, 1, "count"))
        await seat.until(2)
        seat.say(
            call_events.UserSaid(0, 1, "count"),
            call_events.Cut(1, 1),
            call_events.AssistantSaid(1, 1, "One two", " three.", "interrupted"),
            call_events.ReplyRequested(1, 2, 2, 1, "stop"),
        )
        await seat.until(4)
    assert [message.text for message in fixture.generate.requests[1].messages] == [
        "Be kind.", "count", "One two…", "stop",
    ]  # fmt: skip


async def test_a_reply_that_is_not_wanted_any_more_is_cancelled_and_leaves_nothing():
    seat = FakeLease()
    fixture = RunningCall(seat)
    async with fixture.running():
        seat.say(call_events.ReplyRequested(0, 1, 1, 1, "hi"))
        await anyio.wait_all_tasks_blocked()
        assert fixture.generate.running == 1
        seat.say(call_events.CancelReply(0, 1))
        await anyio.wait_all_tasks_blocked()
        assert fixture.generate.running == 0
    assert len(fixture.history.messages) == 1
    assert seat.controls == []


async def test_an_interruption_cancels_whoever_still_writes():
    seat = FakeLease()
    fixture = RunningCall(seat)
    async with fixture.running():
        seat.say(call_events.ReplyRequested(0, 1, 1, 1, "hi"))
        await anyio.wait_all_tasks_blocked()
        seat.say(call_events.Cut(1, 1))
        await anyio.wait_all_tasks_blocked()
        assert fixture.generate.running == 0


async def test_a_model_that_fails_is_apologised_for_and_the_reason_shown():
    seat = FakeLease()
    fixture = RunningCall(seat, generate=FakeGenerate(failed("queue_full", "The queue is full.")))
    async with fixture.running():
        seat.say(call_events.ReplyRequested(0, 1, 1, 1, "hi"))
        assert await seat.until(1) == [call_events.ReplyFailed(1, SORRY["en"])]
    error = await fixture.client.until("error")
    assert (error["code"], error["message"]) == ("queue_full", "The queue is full.")


async def test_a_lost_model_is_asked_once_more_while_nothing_was_said():
    seat = FakeLease()
    fixture = RunningCall(seat, generate=FakeGenerate([WORKER_LOST], words("Back.")))
    async with fixture.running():
        seat.say(call_events.ReplyRequested(0, 1, 1, 1, "hi"))
        assert await seat.until(2) == [call_events.Text(1, "Back."), call_events.Text(1, "", last=True)]


async def test_a_model_lost_in_the_middle_of_its_words_is_apologised_for():
    seat = FakeLease()
    fixture = RunningCall(seat, generate=FakeGenerate([TextDelta("Well, "), WORKER_LOST], words("Back.")))
    async with fixture.running():
        seat.say(call_events.ReplyRequested(0, 1, 1, 1, "hi"))
        assert await seat.until(2) == [call_events.Text(1, "Well, "), call_events.ReplyFailed(1, SORRY["en"])]


async def test_a_lost_session_is_followed_by_another_that_says_so_and_keeps_what_was_heard():
    first, second = FakeLease(), FakeLease()
    fixture = RunningCall(first, second, generate=FakeGenerate(words("One two three.")))
    spoken = (
        ReplyWord("One", 0, 5000, 0, 3),
        ReplyWord("two", 6000, 11000, 4, 7),
        ReplyWord("three.", 12000, 20000, 8, 14),
    )
    async with fixture.running():
        first.say(call_events.ReplyRequested(0, 1, 1, 1, "count"))
        await first.until(2)
        first.say(
            call_events.UserSaid(0, 1, "count"),
            call_events.ReplyAudioStarted(0, 1),
            call_events.ReplyText(0, 1, "One two three."),
            call_events.ReplyAudio(0, 1, b"\0\0" * 24000, spoken),
        )
        await anyio.wait_all_tasks_blocked()
        fixture.call.send(call_events.Played(1, 11500))
        first.say(WORKER_LOST)
        await anyio.wait_all_tasks_blocked()
        assert first.gone
        assert second.request == CallSetup(
            pauses=True, marks=True, greeting=LOST["en"], epoch=1, reply=2, turn=2
        )
        second.say(call_events.State(1, "listening"))
        await anyio.wait_all_tasks_blocked()
    assert [message.text for message in fixture.history.messages] == ["Be kind.", "count", "One two…"]
    cut = await fixture.client.until("interrupt")
    assert cut == {"type": "interrupt", "epoch": 1, "reply_id": 1}
    assert fixture.client.messages[-1] == {"type": "status", "epoch": 1, "state": "listening"}


async def test_a_voice_that_an_admin_starts_anew_goes_on_likewise():
    first, second = FakeLease(), FakeLease()
    fixture = RunningCall(first, second)
    async with fixture.running():
        first.say(RESTARTED)
        await anyio.wait_all_tasks_blocked()
    assert second.request is not None
    assert second.request.epoch == 1


async def test_words_that_nothing_answered_yet_are_not_lost_with_the_session():
    first, second = FakeLease(), FakeLease()
    fixture = RunningCall(first, second, generate=FakeGenerate(words("Well.")))
    async with fixture.running():
        first.say(call_events.ReplyRequested(0, 1, 1, 1, "remember the milk"))
        await first.until(2)
        first.say(WORKER_LOST)
        await anyio.wait_all_tasks_blocked()
    assert [message.text for message in fixture.history.messages] == ["Be kind.", "remember the milk"]


async def test_a_filler_in_between_makes_nobody_forget_what_was_heard():
    first, second = FakeLease(), FakeLease()
    fixture = RunningCall(first, second, generate=FakeGenerate(words("One two.")))
    async with fixture.running():
        first.say(call_events.ReplyRequested(0, 1, 1, 1, "count"))
        await first.until(2)
        first.say(
            call_events.UserSaid(0, 1, "count"),
            call_events.ReplyAudioStarted(0, 1),
            call_events.ReplyText(0, 1, "One two."),
            call_events.ReplyAudio(0, 1, b"\0\0" * 9600, (ReplyWord("One", 0, 5000, 0, 3),)),
            call_events.ReplyAudioStarted(0, 2),
            call_events.ReplyAudio(0, 2, b"\0\0" * 4800),
            call_events.ReplyAudioEnded(0, 2, 4800),
        )
        await anyio.wait_all_tasks_blocked()
        fixture.call.send(call_events.Played(1, 9600))
        first.say(WORKER_LOST)
        await anyio.wait_all_tasks_blocked()
    assert [message.text for message in fixture.history.messages] == ["Be kind.", "count", "One…"]


async def test_a_voice_that_is_lost_again_and_again_ends_the_call_with_a_sentence():
    seats = [FakeLease() for _ in range(4)]
    fixture = RunningCall(*seats)
    async with fixture.running():
        for seat in seats:
            seat.say(WORKER_LOST)
            await anyio.wait_all_tasks_blocked()
    assert fixture.ended is not None
    assert fixture.ended.problem is not None
    assert fixture.ended.problem.code == "voice_lost"


async def test_an_ended_session_ends_the_call():
    seat = FakeLease()
    fixture = RunningCall(seat)
    async with fixture.running():
        seat.say(call_events.CallSessionEnded())
        await anyio.wait_all_tasks_blocked()
    assert fixture.ended is not None
    assert fixture.ended.problem is None
    assert seat.gone


async def test_waiting_for_a_seat_is_told():
    seat = FakeLease([Moved("q_1", 2, 8.0, 3)])
    fixture = RunningCall(seat)
    async with fixture.running():
        pass
    assert [message["type"] for message in fixture.client.messages] == ["status", "queued", "queue_done"]


async def test_the_time_of_a_call_begins_with_its_seat():
    seat = Held()
    fixture = RunningCall(seat)
    async with fixture.running():
        assert (fixture.call.active_at, fixture.call.seated_at) == (math.inf, math.inf)
        seat.free.set()
        await anyio.wait_all_tasks_blocked()
        assert fixture.call.active_at == fixture.call.seated_at <= anyio.current_time()


async def test_in_the_line_for_another_seat_nobody_is_idle_and_the_call_grows_no_younger():
    first, second = FakeLease(), Held()
    fixture = RunningCall(first, second)
    async with fixture.running():
        began = fixture.call.seated_at
        first.say(WORKER_LOST)
        await anyio.wait_all_tasks_blocked()
        assert fixture.call.active_at == math.inf
        second.free.set()
        await anyio.wait_all_tasks_blocked()
        assert fixture.call.active_at < math.inf
        assert fixture.call.seated_at == began


async def test_what_is_typed_in_the_line_is_not_pushed_out_by_sound():
    seat = Held()
    fixture = RunningCall(seat)
    async with fixture.running():
        fixture.call.send(call_events.Typed("hi"))
        for number in range(MAX_HELD + 1):
            fixture.call.send(call_events.MicrophoneAudio(bytes([number, 0])))
        fixture.call.send(call_events.Pressed(down=True))
        seat.free.set()
        await seat.until(MAX_HELD)
    assert seat.controls[0] == call_events.Typed("hi")
    # Of the sound the newest is left.
    assert seat.controls[1:-1] == [
        call_events.MicrophoneAudio(bytes([number, 0])) for number in range(3, MAX_HELD + 1)
    ]
    assert seat.controls[-1] == call_events.Pressed(down=True)


async def test_more_than_can_wait_for_a_seat_is_refused_with_a_sentence():
    seat = Held()
    fixture = RunningCall(seat)
    async with fixture.running():
        for _ in range(MAX_HELD):
            fixture.call.send(call_events.Typed("hi"))
        fixture.call.send(call_events.MicrophoneAudio(b"\0\0"))
        with pytest.raises(Busy, match="waiting for a seat"):
            fixture.call.send(call_events.Typed("and this"))
        seat.free.set()
        assert await seat.until(MAX_HELD) == [call_events.Typed("hi")] * MAX_HELD


async def test_what_was_played_of_a_lost_reply_is_told_to_nobody():
    first, second = FakeLease(), Held()
    fixture = RunningCall(first, second)
    async with fixture.running():
        first.say(WORKER_LOST)
        await anyio.wait_all_tasks_blocked()
        fixture.call.send(call_events.Played(1, 480))
        second.free.set()
        await anyio.wait_all_tasks_blocked()
    assert second.controls == []


async def test_the_clients_tools_are_called_and_the_reply_goes_on_with_what_they_say():
    call: list[Event] = [ToolCallDelta(0, '{"on":true}', "c1", "lamp"), Done("tool_calls")]
    seat = FakeLease()
    fixture = RunningCall(seat, generate=FakeGenerate(call, words("The lamp is on.")), tools=(Tool("lamp"),))
    async with fixture.running():
        seat.say(call_events.ReplyRequested(0, 1, 1, 1, "light"), call_events.TurnConfirmed(0, 1))
        asked = await fixture.client.until("tool_call")
        assert (asked["name"], asked["arguments"]) == ("lamp", '{"on":true}')
        assert seat.controls == [call_events.ToolsRunning(1)]
        assert fixture.call.replies.client_tools.accept(caller_messages.ClientToolResult("c1", "done"))
        told = await seat.until(4)
        assert told[1:] == [
            call_events.ToolsRunning(1, busy=False), call_events.Text(1, "The lamp is on."), call_events.Text(1, "", last=True),
        ]  # fmt: skip
        seat.say(
            call_events.UserSaid(0, 1, "light"),
            call_events.AssistantSaid(0, 1, "The lamp is on.", "", "spoken"),
        )
    lamp = ToolCall("c1", "lamp", '{"on":true}')
    assert fixture.history.messages[1:] == (
        user("light"),
        Message("assistant", tool_calls=(lamp,)),
        Message("tool", (TextPart("done"),), tool_call_id="c1"),
        assistant("The lamp is on."),
    )


async def test_a_result_nobody_waits_for_is_refused():
    fixture = RunningCall(FakeLease())
    assert not fixture.call.replies.client_tools.accept(caller_messages.ClientToolResult("c9", ""))


async def test_the_newest_picture_goes_with_the_turn_it_falls_in_and_with_no_other():
    seat = FakeLease()
    fixture = RunningCall(seat, generate=FakeGenerate(words("A cat."), words("Yes.")))
    async with fixture.running():
        fixture.call.replies.add_image(ImagePart(b"old"))
        fixture.call.replies.add_image(ImagePart(b"cat"))
        seat.say(call_events.ReplyRequested(0, 1, 1, 1, "what is it"))
        await seat.until(2)
        seat.say(call_events.UserSaid(0, 1, "what is it"), call_events.ReplyRequested(0, 2, 2, 1, "sure?"))
        await seat.until(4)
    asked = fixture.generate.requests[0].messages[-1]
    assert asked.parts == (ImagePart(b"cat"), TextPart("what is it"))
    assert fixture.generate.requests[1].messages[-1].parts == (TextPart("sure?"),)


async def test_the_figures_of_a_turn_reach_whoever_keeps_them():
    seat = FakeLease()
    fixture = RunningCall(seat)
    figures = call_events.TurnFigures(0, 1, 1, endpoint=300.0)
    async with fixture.running():
        seat.say(figures)
    assert fixture.figures == [figures]
    assert fixture.observer.models == ["m"]


async def test_how_a_call_is_to_be_may_be_said_once_it_has_its_seat():
    seat, another = FakeLease(), FakeLease()
    fixture = RunningCall(seat, another)
    asked = anyio.Event()

    async def prepare(setup: CallSetup, lent: Any) -> CallSetup:
        assert lent is seat
        await asked.wait()
        return CallSetup(voice="low")

    fixture.call = Call(
        CallSeat(FakeSeats(seat, another)),  # type: ignore[arg-type]
        fixture.generate,
        fixture.history,
        voice.VoiceEncoder(),
        fixture.client.write,
        prepare=prepare,
    )
    async with fixture.running():
        assert seat.request is None
        asked.set()
        await anyio.wait_all_tasks_blocked()
        assert seat.request == CallSetup(voice="low")
        seat.say(WORKER_LOST)
        await anyio.wait_all_tasks_blocked()
    assert another.request is not None
    assert another.request.voice == "low"


class Followed(EphemeralHistory):
    """A conversation that others change, or delete."""

    def __init__(self) -> None:
        super().__init__("Be kind.", "m", ())
        self.changed, self.gone = anyio.Event(), anyio.Event()

    async def sync(self, changes: ConversationChanges) -> None:
        await self.changed.wait()
        await changes.history_changed("m1", [StoredMessage("m1", "c", None, "user", (TextContent("Hi."),))])
        await self.gone.wait()
        await changes.deleted()


async def test_what_others_make_of_the_conversation_is_told_to_the_client():
    history = Followed()
    fixture = RunningCall(FakeLease(), history=history)
    async with fixture.running():
        history.changed.set()
        told = await fixture.client.until("history")
    assert (told["leaf"], told["messages"]) == ("m1", [{"id": "m1", "role": "user", "text": "Hi."}])


async def test_a_call_whose_conversation_was_deleted_says_so_and_ends():
    seat, history = FakeLease(), Followed()
    fixture = RunningCall(seat, history=history)
    async with fixture.running():
        history.changed.set()
        history.gone.set()
        await anyio.wait_all_tasks_blocked()
        assert seat.controls == [
            call_events.Interrupt(),
            call_events.Speak(DELETED["en"], interruptible=False),
        ]
        # Nobody answers what is said into the farewell.
        seat.say(call_events.ReplyRequested(0, 2, 1, 1, "hello?"))
        await anyio.wait_all_tasks_blocked()
        assert fixture.ended is None
        seat.say(call_events.AssistantSaid(1, 1, DELETED["en"]))
        await anyio.wait_all_tasks_blocked()
    assert fixture.generate.requests == []
    assert fixture.ended is not None
    assert fixture.ended.problem is not None
    assert fixture.ended.problem.code == "conversation_deleted"
