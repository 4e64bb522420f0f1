"""What goes out on the voice socket is numbered, dated by its epoch, and never stale."""

import json
from typing import Any

from msgspec.structs import replace

from duologue.errors import Problem
from duologue.values import call_events
from duologue.values.conversations import CLIENT, Approval, StoredMessage, TextContent, ToolCallRecord
from duologue.values.events import Queued, ReplyWord
from duologue.values.messages import ToolCall
from duologue.values.mouth import MouthKey
from duologue.wire.calls import voice


def told(*events: call_events.CallEvent, encoder: voice.VoiceEncoder | None = None) -> list[Any]:
    messages = (encoder or voice.VoiceEncoder()).encode(events)
    return [message if isinstance(message, bytes) else json.loads(message) for message in messages]


def types(messages: list[Any]) -> list[str]:
    return ["sound" if isinstance(message, bytes) else message["type"] for message in messages]


def test_sound_is_numbered_over_the_whole_session():
    encoder = voice.VoiceEncoder()
    first = told(
        call_events.ReplyAudioStarted(0, 1),
        call_events.ReplyAudio(0, 1, b"\0\0" * 480),
        call_events.ReplyAudio(0, 1, b"\0\0" * 480),
        encoder=encoder,
    )
    assert first[0] == {"type": "audio_start", "epoch": 0, "reply_id": 1, "chunk_id": 0, "sample_rate": 24000}
    second = told(
        call_events.ReplyAudioEnded(0, 1, 960),
        call_events.ReplyAudioStarted(0, 2),
        call_events.ReplyAudio(0, 2, b"\0\0"),
        encoder=encoder,
    )
    assert second[1]["chunk_id"] == 2
    assert encoder.position(1) == (1, 960)
    assert encoder.position(2) == (2, 1)
    assert encoder.position(3) is None


def test_a_reply_that_goes_on_behind_another_one_is_begun_again():
    encoder = voice.VoiceEncoder()
    messages = told(
        call_events.ReplyAudioStarted(0, 1),
        call_events.ReplyAudio(0, 1, b"\0\0" * 480),
        call_events.ReplyAudioStarted(0, 2),
        call_events.ReplyAudio(0, 2, b"\0\0" * 240),
        call_events.ReplyAudioEnded(0, 2, 240),
        call_events.ReplyAudio(0, 1, b"\0\0" * 480),
        call_events.ReplyAudioEnded(0, 1, 960),
        encoder=encoder,
    )
    starts = [
        message for message in messages if isinstance(message, dict) and message["type"] == "audio_start"
    ]
    begun = [(message["reply_id"], message["chunk_id"]) for message in starts]
    assert begun == [(1, 0), (2, 1), (1, 2)]
    assert [encoder.position(chunk) for chunk in range(3)] == [(1, 480), (2, 240), (1, 960)]


def test_frames_of_long_ago_are_forgotten_and_later_ones_keep_their_numbers():
    encoder = voice.VoiceEncoder()
    told(call_events.ReplyAudioStarted(0, 1), encoder=encoder)
    count = voice.FRAMES_KEPT + 10
    for _ in range(count):
        told(call_events.ReplyAudio(0, 1, b"\0\0"), encoder=encoder)
    assert encoder.position(0) is None
    assert encoder.position(count - 1) == (1, count)


def test_the_texts_of_a_reply_are_told_as_a_whole():
    encoder = voice.VoiceEncoder()
    [one] = told(call_events.ReplyText(0, 1, "Hello, "), encoder=encoder)
    [two] = told(call_events.ReplyText(0, 1, "you.", final=True), encoder=encoder)
    assert (one["text"], one["final"]) == ("Hello, ", False)
    assert (two["text"], two["final"]) == ("Hello, you.", True)
    [other] = told(call_events.ReplyText(0, 2, "New."), encoder=encoder)
    assert other["text"] == "New."


def test_captions_come_before_their_sound_in_milliseconds():
    sound = call_events.ReplyAudio(0, 1, b"\0\0", (ReplyWord("Hello", 2400, 12000, 0, 5),))
    messages = told(call_events.ReplyAudioStarted(0, 1), sound)
    assert types(messages) == ["audio_start", "caption", "sound"]
    assert messages[1]["words"] == [{"text": "Hello", "start_ms": 100, "end_ms": 500, "at": 0, "to": 5}]


def test_the_keys_of_the_mouth_come_before_their_sound_and_are_dropped_with_it():
    sound = call_events.ReplyAudio(0, 1, b"\0\0", (), (MouthKey(0), MouthKey(960, 80, 10)))
    messages = told(call_events.ReplyAudioStarted(0, 1), sound)
    assert types(messages) == ["audio_start", "mouth", "sound"]
    assert messages[1] == {
        "type": "mouth",
        "epoch": 0,
        "reply_id": 1,
        "keys": [[0, 0, 0, 0, 0, 0], [960, 80, 10, 0, 0, 0]],
    }
    assert types(told(sound, call_events.Cut(1, 1))) == ["interrupt"]


def test_nothing_stale_leaves_even_when_the_interruption_came_with_it():
    messages = told(
        call_events.ReplyAudio(0, 1, b"\0\0"),
        call_events.ReplyText(0, 1, "never heard"),
        call_events.Cut(1, 1),
        call_events.AssistantSaid(1, 1, "Hello", " there", "interrupted"),
    )
    assert types(messages) == ["interrupt", "reply_done"]
    assert all(message["epoch"] == 1 for message in messages)


def test_what_is_late_is_dropped_and_what_was_heard_is_not():
    encoder = voice.VoiceEncoder()
    told(call_events.Cut(3, 1), encoder=encoder)
    late = told(
        call_events.ReplyAudio(2, 1, b"\0\0"),
        call_events.Transcribed(2, 4, "wait", final=True),
        encoder=encoder,
    )
    assert types(late) == ["transcript"]


def test_the_rest_of_a_call_is_said_in_its_words():
    messages = told(
        call_events.State(0, "hearing"),
        call_events.Transcribed(0, 1, "", final=True, understood=False),
        call_events.Hold(0, 1),
        call_events.Resume(0, 1),
        call_events.CallProblem(0, "slow", "It takes long."),
        call_events.ReplyRequested(0, 1, 1, 1, "for the gateway alone"),
        call_events.CallSessionEnded(),
    )
    assert types(messages) == ["status", "transcript", "pause", "resume", "error"]
    assert messages[0]["state"] == "hearing"
    assert messages[1]["understood"] is False
    assert messages[4] == {
        "type": "error", "epoch": 0, "code": "slow", "message": "It takes long.", "error": "It takes long.", "param": None,
    }  # fmt: skip


def test_waiting_for_a_seat_is_a_state_and_a_place():
    first = [json.loads(text) for text in voice.queue_messages(Queued("q_1", 2, 9.5, 3), again=False)]
    assert [message["type"] for message in first] == ["status", "queued"]
    assert first[1]["position"] == 2
    assert first[1]["estimated_wait_s"] == first[1]["eta_seconds"] == 9.5
    [again] = voice.queue_messages(Queued("q_1", 1, 3.0, 3), again=True)
    assert json.loads(again)["type"] == "queue_update"


def test_a_clients_own_tool_is_asked_by_name():
    message = json.loads(voice.tool_call_message(2, 5, ToolCall("c1", "lamp", '{"on":true}')))
    assert message == {
        "type": "tool_call", "epoch": 2, "reply_id": 5, "call_id": "c1", "name": "lamp", "arguments": '{"on":true}',
    }  # fmt: skip


def test_a_call_of_the_servers_own_tool_is_shown_as_it_stands():
    record = ToolCallRecord("add", "{}", "sums", "add", "done")
    row = StoredMessage("m", "c", "p", "tool", (TextContent("4" * 5000),), tool_call_id="c1", call=record)
    [message] = voice.VoiceEncoder().tool_state(3, row)
    said = json.loads(message)
    assert said.pop("text") == "4" * voice.MAX_TOOL_TEXT
    assert said == {
        "type": "tool", "epoch": 0, "reply_id": 3, "call_id": "c1", "name": "add", "server": "sums", "tool": "add",
        "arguments": "{}", "state": "done",
    }  # fmt: skip
    own = replace(row, call=ToolCallRecord("lamp", server=CLIENT))
    assert voice.VoiceEncoder().tool_state(3, own) == []


def test_a_question_and_its_end_are_told():
    encoder = voice.VoiceEncoder()
    approval = Approval("q", "", "c", server="sums", tool="add", arguments="{}", expires=9)
    asked = json.loads(encoder.approval_requested(3, approval, "May I?")[0])
    assert (asked["type"], asked["question"], asked["approval"]["tool"]) == (
        "approval_asked",
        "May I?",
        "add",
    )
    answered = json.loads(encoder.approval_answered(3, "q", None)[0])
    assert (answered["type"], answered["id"], answered["decision"]) == ("approval_answered", "q", None)


def test_a_conversation_that_was_changed_elsewhere_is_told_as_it_is_now():
    path = [StoredMessage("m1", "c", None, "user", (TextContent("Hi."),))]
    [message] = voice.VoiceEncoder().history_changed("c", "m1", path)
    assert json.loads(message) == {
        "type": "history", "epoch": 0, "conversation_id": "c", "leaf": "m1",
        "messages": [{"id": "m1", "role": "user", "text": "Hi."}],
    }  # fmt: skip


def test_an_error_has_its_code_and_its_sentence():
    message = json.loads(voice.error_message(Problem("Too loud.", code="loud"), 4))
    assert (message["code"], message["message"], message["epoch"]) == ("loud", "Too loud.", 4)
