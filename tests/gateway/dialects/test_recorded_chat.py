"""A spoken chat as its recording sees it: a call of one turn."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.gateway.dialects.test_chat_socket import HELLO, MINI, SPOKEN, Talker, application
from tests.gateway.fake_seats import FakeGenerate, FakeSeats, words
from tests.gateway.fake_voice_worker import Seats
from tests.gateway.recording_stand_in import Looker, Lookers
from websockets.asyncio.client import connect

from duologue.config.settings import LimitSettings
from duologue.errors import Problem
from duologue.gateway.calls.call_services import CallServices
from duologue.gateway.dialects.recorded_chat import RecordedChat
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.speech.service import SpeechService
from duologue.values import call_events
from duologue.values.audio import to_float32
from duologue.values.events import AudioDelta, Done, Event, Fitted, TextDelta
from duologue.values.messages import AudioPart, Message, user
from duologue.values.speech import TranscribedPart
from duologue.wire.chat import decode

SOUND = b"\1\0" * 800


async def recorded(message: Message, *events: Event) -> Looker:
    observer = Looker(lambda reason: None)
    chat = RecordedChat(observer)
    await chat.ask(message)
    chat.take(events)
    chat.close()
    return observer


def of(observer: Looker, kind: type) -> list[Any]:
    return [each for each in observer.seen if isinstance(each, kind)]


@pytest.mark.anyio
async def test_the_sound_and_what_was_understood_are_the_users():
    spoken = Message("user", (AudioPart(to_float32(SOUND)),))
    observer = await recorded(spoken, Fitted((TranscribedPart(0, 0, "hello there"),)), Done("stop"))
    assert observer.seen[0] == call_events.MicrophoneAudio(SOUND)
    assert of(observer, call_events.UserSaid) == [call_events.UserSaid(0, 1, "hello there")]


@pytest.mark.anyio
async def test_the_reply_is_heard_to_its_end():
    observer = await recorded(
        user("Hi"), TextDelta("One "), AudioDelta(SOUND), TextDelta("two."), AudioDelta(SOUND), Done("stop")
    )
    assert of(observer, call_events.UserSaid) == [call_events.UserSaid(0, 1, "Hi", typed=True)]
    assert len(of(observer, call_events.ReplyAudioStarted)) == 1
    assert [each.pcm for each in of(observer, call_events.ReplyAudio)] == [SOUND, SOUND]
    assert observer.seen[-1] == call_events.AssistantSaid(0, 1, "One two.")
    assert observer.closed.is_set()


@pytest.mark.anyio
async def test_a_reply_that_was_cancelled_is_heard_up_to_there():
    observer = await recorded(user("Hi"), TextDelta("One "), AudioDelta(SOUND))
    assert observer.seen[-1] == call_events.AssistantSaid(0, 1, "One ", ending="interrupted")
    assert observer.closed.is_set()


async def asked(serve: Any, lookers: Lookers, **fields: Any) -> list[dict[str, Any]]:
    """What the socket answers to a request."""
    generate = FakeGenerate(words("one two"))
    calls = CallServices(FakeSeats(), generate, ModelRegistry(lambda: [MINI], {}), recordings=lookers)  # type: ignore[arg-type]
    app = application(generate, speech=SpeechService(Seats()), call_services=calls)
    async with serve(app) as address, connect(f"ws://{address}/ws/chat") as socket:
        talker = Talker(socket)
        await talker.says({"messages": HELLO, "record": True} | fields)
        return await talker.hears_until("done")


@pytest.mark.anyio
async def test_a_spoken_chat_is_recorded_if_its_client_asks_for_it(serve: Any):
    lookers = Lookers()
    heard = await asked(serve, lookers, **SPOKEN)
    assert heard[-1]["recording_session_id"] == "r1"
    [looker] = lookers.lookers
    with anyio.fail_after(60):
        await looker.closed.wait()
    assert lookers.begun == [{"user": "ada", "kind": "chat", "marks": False, "at_once": True}]
    assert any(isinstance(each, call_events.ReplyAudio) for each in looker.seen)


@pytest.mark.anyio
async def test_a_chat_that_cannot_be_recorded_says_why_and_is_answered(serve: Any):
    refused = Problem("Recording is switched off.", code="recording_forbidden", status=403)
    heard = await asked(serve, Lookers(refused), **SPOKEN)
    assert heard[-1]["recording_error"]["code"] == "recording_forbidden"
    assert heard[-1]["text"] == "one two"


def test_a_chat_without_a_voice_is_not_recorded_and_says_so():
    frame = decode({"messages": HELLO, "record": True}, LimitSettings())
    assert not frame.record
    assert "record" in frame.request.unapplied
    assert (
        "record"
        not in decode({"messages": HELLO, "record": True, **SPOKEN}, LimitSettings()).request.unapplied
    )
