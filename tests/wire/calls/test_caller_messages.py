"""What the client of a call says: every message means what it says, wrong ones are named, and the session is told in its own terms."""

import json
from typing import Any

import pytest

from duologue.config.settings import LimitSettings
from duologue.errors import BadRequest, TooLarge
from duologue.values import call_events
from duologue.wire.calls import caller_messages, voice
from duologue.wire.sound import RecordCall

LIMITS = LimitSettings()
JPEG = "/9j/4AAQSkZJRg=="


def said(kind: str, **fields: Any) -> caller_messages.VoiceMessage:
    return caller_messages.decode(json.dumps({"type": kind, **fields}), LIMITS)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("played", {"reply_id": 10**400, "samples": 1}),
        ("played", {"reply_id": 1, "samples": 2**64}),
        ("interrupt", {"last_chunk_id": 2**70}),
        ("interrupt", {"reply_id": 2**70, "samples": 0}),
        ("interrupt", {"reply_id": 0, "samples": 2**70}),
    ],
)
def test_a_number_beyond_what_a_worker_can_be_sent_is_refused(kind: str, fields: dict[str, Any]):
    with pytest.raises(BadRequest, match="9,007,199,254,740,992"):
        said(kind, **fields)


def test_a_client_that_draws_a_mouth_asks_for_its_keys():
    assert said("start", features=["mouth"]).setup.mouth
    assert not said("start", features=["pause"]).setup.mouth


def test_a_start_says_how_the_call_is_to_be():
    start = said(
        "start",
        features=["pause", "played"],
        conversation_id="c1",
        voice="en-us",
        language="de",
        mode="hold",
        instructions="Be brief.",
    )
    assert start == caller_messages.StartCall(
        call_events.CallSetup(voice="en-us", language="de", pauses=True, marks=True, listens=False),
        conversation_id="c1",
        instructions="Be brief.",
    )


def test_a_client_of_few_words_neither_pauses_nor_marks():
    start = said("start")
    assert isinstance(start, caller_messages.StartCall)
    assert not start.setup.pauses
    assert not start.setup.marks
    assert start.setup.listens


def test_fields_nobody_knows_are_told_and_harm_nothing():
    start = said("start", colour="blue", epoch=3)
    assert isinstance(start, caller_messages.StartCall)
    assert start.unknown == ("colour",)


@pytest.mark.parametrize(
    ("message", "meaning"),
    [
        ({"type": "played", "reply_id": 2, "samples": 4800, "epoch": 1}, call_events.Played(2, 4800)),
        ({"type": "text", "text": "hello"}, call_events.Typed("hello")),
        ({"type": "hold", "down": True}, call_events.Pressed(True)),
        ({"type": "interrupt", "last_chunk_id": 7}, caller_messages.InterruptCall(7)),
        ({"type": "interrupt"}, caller_messages.InterruptCall()),
        ({"type": "tool_result", "call_id": "a", "content": "4"}, caller_messages.ClientToolResult("a", "4")),
        ({"type": "approval", "id": "q", "decision": "tool"}, caller_messages.AnswerApproval("q", "tool")),
        (
            {"type": "approval", "id": "q", "action": "accept", "values": {"colour": "red"}},
            caller_messages.AnswerApproval("q", "accept", {"colour": "red"}),
        ),
        ({"type": "stop"}, caller_messages.StopCall()),
    ],
)
def test_every_message_means_what_it_says(message: dict[str, Any], meaning: caller_messages.VoiceMessage):
    assert caller_messages.decode(json.dumps(message), LIMITS) == meaning


def test_a_picture_is_one_by_its_bytes():
    seen = said("video_frame", frame=JPEG)
    assert isinstance(seen, caller_messages.CallImage)
    assert seen.image.mime == "image/jpeg"
    with pytest.raises(BadRequest):
        said("video_frame", frame="AAAA")


def test_an_unknown_message_is_answered_with_those_there_are():
    with pytest.raises(BadRequest, match="takes start, interrupt"):
        said("dance")


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ({"type": "played", "reply_id": 1}, "samples"),
        ({"type": "played", "reply_id": -1, "samples": 1}, "reply_id"),
        ({"type": "text", "text": ""}, "text"),
        ({"type": "start", "speed": 9}, "speed"),
        ({"type": "approval", "id": "q"}, "decision"),
        ({"type": "approval", "id": "q", "decision": "once", "action": "accept"}, "decision"),
        ({"type": "approval", "id": "q", "decision": "maybe"}, "decision"),
    ],
)
def test_a_wrong_field_is_named(message: dict[str, Any], param: str):
    with pytest.raises(BadRequest) as raised:
        caller_messages.decode(json.dumps(message), LIMITS)
    assert raised.value.param == param


def test_a_frame_is_a_picture_in_base64_or_as_a_data_url_of_the_camera_or_the_screen():
    seen = said("frame", image=JPEG)
    assert isinstance(seen, caller_messages.CallImage)
    assert (seen.image.mime, seen.source) == ("image/jpeg", "camera")
    shown = said("frame", image=f"data:image/jpeg;base64,{JPEG}", source="screen")
    assert isinstance(shown, caller_messages.CallImage)
    assert (shown.image, shown.source) == (seen.image, "screen")


@pytest.mark.parametrize(
    "fields", [{}, {"image": "AAAA"}, {"image": "data:,x"}, {"image": JPEG, "source": "window"}]
)
def test_a_frame_that_is_no_picture_is_refused(fields: dict[str, Any]):
    with pytest.raises(BadRequest):
        said("frame", **fields)


def test_a_frame_may_not_be_larger_than_its_bound(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(caller_messages, "MAX_FRAME", 8)
    with pytest.raises(TooLarge, match="smaller, or as a JPEG"):
        said("frame", image=JPEG)


def test_an_interruption_by_chunk_is_one_by_sample():
    encoder = voice.VoiceEncoder()
    encoder.encode(
        [
            call_events.ReplyAudioStarted(0, 1),
            call_events.ReplyAudio(0, 1, b"\0\0" * 480),
            call_events.ReplyAudio(0, 1, b"\0\0" * 480),
        ]
    )
    assert caller_messages.control(caller_messages.InterruptCall(0), encoder) == call_events.Interrupt(1, 480)
    assert caller_messages.control(caller_messages.InterruptCall(1), encoder) == call_events.Interrupt(1, 960)
    assert caller_messages.control(caller_messages.InterruptCall(-1), encoder) == call_events.Interrupt(
        None, 0
    )
    assert caller_messages.control(caller_messages.InterruptCall(99), encoder) == call_events.Interrupt(None)
    assert caller_messages.control(
        caller_messages.InterruptCall(None, 1, 77), encoder
    ) == call_events.Interrupt(1, 77)


def test_marks_and_typed_words_pass_as_they_are_and_the_gateways_business_does_not():
    encoder = voice.VoiceEncoder()
    assert caller_messages.control(call_events.Played(1, 2), encoder) == call_events.Played(1, 2)
    assert caller_messages.control(call_events.Typed("hi"), encoder) == call_events.Typed("hi")
    assert caller_messages.control(caller_messages.StopCall(), encoder) is None


def test_a_call_may_be_recorded_from_its_start_or_later():
    start = said("start", record=True)
    assert isinstance(start, caller_messages.StartCall)
    assert start.record
    assert said("record", on=False) == RecordCall(False)
