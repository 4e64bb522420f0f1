"""What goes out of the chat socket: events to messages."""

import base64
import json
from array import array
from typing import Any

import msgspec
import pytest

from duologue.config.settings import LimitSettings
from duologue.errors import Problem
from duologue.values.events import (
    AudioDelta,
    Done,
    Event,
    Failed,
    Fitted,
    FittingNote,
    Prefilled,
    Progress,
    Queued,
    ReasoningDelta,
    ReplyWord,
    Started,
    TextDelta,
    Timings,
    ToolCallDelta,
    Usage,
)
from duologue.values.mouth import MouthKey
from duologue.values.speech import TranscribedPart
from duologue.wire.chat import ChatFrame, decode, open_frame
from duologue.wire.chat_reply import ChatEncoder, error_message

HELLO = [{"role": "user", "content": "Hello"}]


def frame(**fields: Any) -> ChatFrame:
    return decode(open_frame(json.dumps({"messages": HELLO} | fields)).body, LimitSettings())


class Client:
    """What a client of the encoder has received."""

    def __init__(self, id: str | int | None = None, **fields: Any) -> None:
        self.encoder = ChatEncoder(frame(**fields), "mini", id)

    def hears(self, *events: Event) -> list[dict[str, Any]]:
        return [json.loads(text) for text in self.encoder.encode(events)]


def test_a_streamed_reply_is_prefill_done_chunks_and_done() -> None:
    client = Client()
    assert client.hears(Started("mini", 2048)) == []
    assert client.hears(Prefilled(12, 4)) == [
        {"type": "prefill_done", "input_tokens": 12, "cached_tokens": 4, "ignored": []}
    ]
    assert client.hears(TextDelta("Hel")) == [{"type": "chunk", "text_delta": "Hel"}]
    assert client.hears(TextDelta('lo "you"\n')) == [{"type": "chunk", "text_delta": 'lo "you"\n'}]
    (done,) = client.hears(Done("stop", Usage(12, 3, 4, 1), Timings(1, 2, 3, 4)))
    assert done == {
        "type": "done",
        "text": 'Hello "you"\n',
        "generated_tokens": 3,
        "input_tokens": 12,
        "finish_reason": "stop",
        "reasoning": None,
        "tool_calls": [],
        "model": "mini",
        "usage": {
            "input_tokens": 12, "generated_tokens": 3, "cached_tokens": 4, "reasoning_tokens": 1,
            "estimated": False,
        },
        "timings": {"queue_ms": 1, "prefill_ms": 2, "generate_ms": 3, "first_ms": 4},
    }  # fmt: skip
    assert client.encoder.ended


def test_without_streaming_there_are_no_chunks_and_done_has_everything() -> None:
    client = Client(streaming=False)
    call = ToolCallDelta(0, "{}", "c", "f")
    kinds = [m["type"] for m in client.hears(Prefilled(3), ReasoningDelta("hm"), TextDelta("Hi"), call)]
    assert kinds == ["prefill_done"]
    (done,) = client.hears(Done("tool_calls"))
    assert (done["text"], done["reasoning"], done["audio_data"]) == ("Hi", "hm", None)
    assert done["tool_calls"] == [
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    ]


def test_neighbouring_pieces_of_one_batch_are_one_chunk_and_their_order_is_kept() -> None:
    heard = Client().hears(
        ReasoningDelta("I "), ReasoningDelta("think"), TextDelta("a"), TextDelta("b"), TextDelta(""),
        ToolCallDelta(0, "", "c", "f"), ToolCallDelta(0, "{}"), TextDelta("c"), Done("stop"),
    )  # fmt: skip
    assert heard[:-1] == [
        {"type": "chunk", "reasoning_delta": "I think"},
        {"type": "chunk", "text_delta": "ab"},
        {
            "type": "chunk",
            "tool_calls": [
                {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
            ],
        },
        {"type": "chunk", "tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]},
        {"type": "chunk", "text_delta": "c"},
    ]
    assert heard[-1]["text"] == "abc"


def test_only_who_had_to_wait_hears_of_the_queue() -> None:
    client = Client()
    place = {"estimated_wait_s": 4.5, "eta_seconds": 4.5, "ticket_id": "t1", "queue_length": 2}
    assert client.hears(Queued("t1", 2, 4.5, 2)) == [{"type": "queued", "position": 2} | place]
    assert client.hears(Queued("t1", 1, 4.5, 2)) == [{"type": "queue_update", "position": 1} | place]
    assert client.hears(Started("mini")) == [{"type": "queue_done"}]
    assert Client().hears(Started("mini")) == []


def test_progress_is_told_to_those_who_asked() -> None:
    assert Client().hears(Progress(5, 10, 2)) == []
    assert Client(progress=True).hears(Progress(5, 10, 2)) == [
        {"type": "progress", "processed": 5, "total": 10, "cached": 2}
    ]


def test_ignored_fields_come_back_under_the_callers_names() -> None:
    client = Client(generation={"length_penalty": 1.1, "repeat_penalty": 2}, image={"max_slice_nums": 1})
    ignored = ("length_penalty", "repetition_penalty", "max_slices")
    (heard,) = client.hears(Prefilled(None, 0, ignored))
    assert heard["input_tokens"] is None
    assert heard["ignored"] == [
        "generation.length_penalty",
        "generation.repeat_penalty",
        "image.max_slice_nums",
    ]


@pytest.mark.parametrize("id", ["r-1", 7, 'quo"te', 0])
def test_the_id_is_on_every_message(id: str | int) -> None:
    client = Client(id)
    heard = client.hears(
        Queued("t", 1, 1, 1), Started("m"), Prefilled(1), ReasoningDelta("h"), TextDelta("x"), Done("stop")
    )
    assert len(heard) == 6
    assert [message["id"] for message in heard] == [id] * 6
    assert json.loads(Client(id).encoder.error(Problem("x")))["id"] == id


def test_a_cancelled_request_ends_with_what_was_sent() -> None:
    client = Client(5)
    client.hears(Prefilled(9, 1), TextDelta("Once upon"))
    done = json.loads(client.encoder.cancelled(Timings(1, 2, 3, 4)))
    assert (done["type"], done["finish_reason"], done["text"], done["id"]) == (
        "done",
        "cancelled",
        "Once upon",
        5,
    )
    assert (done["input_tokens"], done["generated_tokens"], done["usage"]["estimated"]) == (9, 1, True)
    assert client.encoder.ended


def test_a_failure_ends_the_request_after_what_was_said_before_it() -> None:
    client = Client()
    heard = client.hears(
        TextDelta("Hi"), Failed("worker_lost", "The worker ended.", 503, None), TextDelta("late")
    )
    assert heard == [
        {"type": "chunk", "text_delta": "Hi"},
        {
            "type": "error",
            "error": "The worker ended.",
            "message": "The worker ended.",
            "code": "worker_lost",
            "param": None,
        },
    ]
    assert client.encoder.ended
    assert client.hears(TextDelta("later")) == []


def test_events_that_break_off_are_an_error_and_an_ended_reply_has_nothing_left() -> None:
    client = Client()
    client.hears(TextDelta("Hi"))
    (text,) = client.encoder.close()
    assert json.loads(text)["code"] == "reply_incomplete"
    assert client.encoder.close() == []


def test_an_error_says_its_sentence_under_both_keys() -> None:
    problem = Problem("There is no voice.", code="voice_unavailable", param="tts.enabled")
    assert msgspec.json.decode(error_message(problem, "r")) == {
        "type": "error",
        "error": "There is no voice.",
        "message": "There is no voice.",
        "code": "voice_unavailable",
        "param": "tts.enabled",
        "id": "r",
    }


SOUND = array("h", [0, 16384, -16384]).tobytes()


def test_sound_comes_in_chunks_with_its_words_when_the_reply_is_streamed() -> None:
    client = Client(tts={"enabled": True})
    [chunk] = client.hears(AudioDelta(SOUND, (ReplyWord("Hi", 0, 2400, 0, 2),)))
    assert array("f", base64.b64decode(chunk["audio_data"])).tolist() == [0.0, 0.5, -0.5]
    assert chunk["words"] == [{"text": "Hi", "start_ms": 0, "end_ms": 100, "at": 0, "to": 2}]
    [done] = client.hears(Done("stop"))
    assert "audio_data" not in done


def test_the_keys_of_a_mouth_come_with_their_sound_or_alone() -> None:
    client = Client(tts={"enabled": True, "mouth": True})
    key = MouthKey(240, 50, -20, 0, 0, 10)
    [chunk] = client.hears(AudioDelta(SOUND, (), (key,)))
    assert chunk["mouth"] == [[240, 50, -20, 0, 0, 10]]
    [rest] = client.hears(AudioDelta(b"", (), (key,)))
    assert "audio_data" not in rest
    assert rest["mouth"]


@pytest.mark.parametrize(("form", "size"), [("f32", 12), ("s16", 6), ("wav", 50)])
def test_sound_is_whole_at_the_end_of_a_reply_that_is_not_streamed(form: str, size: int) -> None:
    client = Client(streaming=False, tts={"enabled": True}, audio_format=form)
    assert client.hears(TextDelta("Hi"), AudioDelta(SOUND[:2]), AudioDelta(SOUND[2:])) == []
    [done] = client.hears(Done("stop"))
    data = base64.b64decode(done["audio_data"])
    assert len(data) == size
    assert data.endswith(SOUND) or form == "f32"


def test_a_voice_that_fails_is_told_at_the_end_and_the_text_stands() -> None:
    client = Client(streaming=False, tts={"enabled": True})
    client.hears(TextDelta("Hi"))
    client.encoder.set_audio_error(Problem("The voice broke.", code="worker_lost"))
    [done] = client.hears(Done("stop"))
    assert (done["text"], done["audio_data"]) == ("Hi", None)
    assert done["audio_error"] == {"code": "worker_lost", "message": "The voice broke."}


def test_what_was_written_down_is_told_when_the_prompt_is_read_and_at_the_end() -> None:
    client = Client()
    said = (TranscribedPart(0, 1, "hello there"), TranscribedPart(2, 0, "", False))
    notes = (FittingNote("messages[0].content[2]", "video", "frames", 3, 2.5),)
    assert client.hears(Fitted(said, notes)) == []
    [prefilled] = client.hears(Prefilled(3))
    [done] = client.hears(Done("stop"))
    assert prefilled["transcripts"] == done["transcripts"]
    assert prefilled["fitted"] == [
        {"where": "messages[0].content[2]", "kind": "video", "became": "frames", "count": 3, "seconds": 2.5}
    ]
    assert done["transcripts"] == [
        {"message": 0, "part": 1, "text": "hello there"},
        {"message": 2, "part": 0, "text": "", "understood": False},
    ]


def test_prefill_done_and_done_name_the_voice_of_a_spoken_reply() -> None:
    client = Client(tts={"enabled": True})
    client.encoder.set_voice("af_heart")
    [read, done] = client.hears(Prefilled(3), Done("stop"))
    assert (read["voice"], done["voice"]) == ("af_heart", "af_heart")
    assert "voice_note" not in done
    assert "voice" not in Client().hears(Done("stop"))[0]


@pytest.mark.parametrize("voice", ["en-us", ""])
def test_a_client_reads_why_another_voice_speaks_than_it_asked_for(voice: str) -> None:
    client = Client(tts={"enabled": True, "ref_audio_data": "AAAAAA=="})
    client.encoder.set_voice(voice, "Another one speaks.")
    [read, done] = client.hears(Prefilled(3), Done("stop"))
    assert read["voice_note"] == done["voice_note"] == "Another one speaks."
    assert done["voice"] == (voice or None)
