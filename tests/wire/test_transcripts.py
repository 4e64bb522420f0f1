"""Transcriptions in each of their formats."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.config.settings import LimitSettings
from duologue.errors import BadRequest, EngineFailed, Unsupported
from duologue.values.speech import SpeechCard, SpeechEngineStatus, TimedWord, Transcript
from duologue.wire.transcripts import (
    MAX_SEGMENT,
    RecordingTranscript,
    Segment,
    TranscriptionFields,
    TranscriptStream,
    body,
    segments,
    srt,
    vtt,
)
from duologue.wire.validation import validate

CARD = SpeechCard(
    recogniser=SpeechEngineStatus("ready", "pocketsphinx", "small"), hears=("en-US",), word_times=True
)
SAID = Transcript(
    "Hello there. How are you?",
    (
        TimedWord("Hello", 0.1, 0.4),
        TimedWord("there.", 0.45, 0.9),
        TimedWord("How", 1.0, 1.2),
        TimedWord("are", 1.2, 1.3),
        TimedWord("you?", 1.3, 1.61),
    ),
    "en",
    0.5,
)
HEARD = RecordingTranscript(SAID, 2.0)


def fields(**given: Any) -> TranscriptionFields:
    return validate(TranscriptionFields, given)


def answer(heard: RecordingTranscript = HEARD, **given: Any) -> Any:
    return json.loads(body(fields(**given), heard)[0])


def test_the_fields_of_a_form_are_texts_and_mean_what_they_say():
    asked = fields(temperature="0.5", stream="true", timestamp_granularities=["word"], model="whisper-1")
    assert (asked.temperature, asked.stream, asked.timestamp_granularities) == (0.5, True, ["word"])


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({"temperature": "warm"}, "temperature"),
        ({"response_format": "pdf"}, "response_format"),
        ({"stream": "perhaps"}, "stream"),
    ],
)
def test_a_wrong_field_is_named(given, param):
    with pytest.raises(BadRequest) as caught:
        fields(**given)
    assert caught.value.param == param


@pytest.mark.parametrize(
    ("given", "card", "sentence"),
    [
        (
            {"response_format": "diarized_json"},
            CARD,
            "does not distinguish speakers.*gpt-4o-transcribe-diarize",
        ),
        ({"language": "de"}, CARD, "supports only en-US.*docs/models.md"),
        ({"timestamp_granularities": ["word"]}, CARD, "requires response_format to be verbose_json"),
        (
            {"timestamp_granularities": ["word"], "response_format": "verbose_json"},
            SpeechCard(recogniser=SpeechEngineStatus("ready", "some")),
            "some gives no word timestamps",
        ),
        ({"prompt": "x" * 1_100_000}, CARD, r"limits\.text_mb"),
    ],
)
def test_what_cannot_be_had_is_refused(given, card, sentence):
    with pytest.raises((BadRequest, Unsupported), match=sentence) as caught:
        fields(**given).check(card, LimitSettings())
    assert caught.value.param in given


def test_what_can_be_had_is_not_refused():
    fields(language="en_GB", response_format="verbose_json", timestamp_granularities=["word"]).check(
        CARD, LimitSettings()
    )
    fields(language="de").check(SpeechCard(), LimitSettings())
    fields(language="de").check(None, LimitSettings())


def test_fields_that_change_nothing_are_named():
    asked = fields(temperature="0", chunking_strategy="auto", include=["logprobs"], colour="red")
    assert asked.ignored() == ("temperature", "chunking_strategy", "include", "colour")
    assert fields().ignored() == ()


def test_json_is_the_text_and_how_long_the_recording_was():
    usage = {"type": "duration", "seconds": 2.0}
    assert answer() == {"text": "Hello there. How are you?", "usage": usage}


def test_what_was_not_understood_is_an_empty_text_that_says_so():
    assert answer(RecordingTranscript(Transcript("", understood=False), 1.0))["understood"] is False


def test_text_is_the_text():
    assert body(fields(response_format="text"), HEARD) == (
        b"Hello there. How are you?\n",
        "text/plain; charset=utf-8",
    )


def test_subtitles_are_sentences_with_their_times():
    data, kind = body(fields(response_format="srt"), HEARD)
    assert kind.startswith("application/x-subrip")
    assert data.decode() == (
        "1\n00:00:00,100 --> 00:00:00,900\nHello there.\n\n2\n00:00:01,000 --> 00:00:01,610\nHow are you?\n\n"
    )
    data, kind = body(fields(response_format="vtt"), HEARD)
    assert kind.startswith("text/vtt")
    assert data.decode().startswith("WEBVTT\n\n00:00:00.100 --> 00:00:00.900\nHello there.\n\n")


def test_subtitles_of_hours_and_of_markup():
    assert "01:01:01,500 --> 01:01:02,000" in srt([Segment(3661.5, 3662, "late")])
    assert "a &lt;b&gt; &amp; c" in vtt([Segment(0, 1, "a <b> & c")])


def test_a_long_segment_is_shown_on_two_lines():
    [line] = [Segment(0, 1, "one two three four five six seven eight nine ten")]
    shown = srt([line]).splitlines()
    assert shown[2:4] == ["one two three four five", "six seven eight nine ten"]


def test_a_pause_ends_a_segment_and_so_does_a_long_one():
    words = [TimedWord("a", 0, 0.1), TimedWord("b", 0.9, 1.0)]
    assert [one.text for one in segments(RecordingTranscript(Transcript("a b", tuple(words)), 2))] == [
        "a",
        "b",
    ]
    words = [TimedWord("um", float(second), second + 0.9) for second in range(20)]
    found = segments(RecordingTranscript(Transcript("", tuple(words)), 20))
    assert max(one.end - one.start for one in found) <= MAX_SEGMENT


@given(st.lists(st.tuples(st.text("abc.?", min_size=1, max_size=20), st.floats(0, 3)), max_size=60))
def test_no_word_is_lost_between_segments(said):
    words, at = [], 0.0
    for text, length in said:
        words.append(TimedWord(text, at, at + length))
        at += length
    found = segments(RecordingTranscript(Transcript(" ".join(text for text, _ in said), tuple(words)), at))
    assert " ".join(one.text for one in found) == " ".join(text for text, _ in said)


def test_without_word_times_the_whole_is_one_segment():
    [one] = segments(RecordingTranscript(Transcript("all of it"), 3.0))
    assert one == Segment(0.0, 3.0, "all of it")
    assert segments(RecordingTranscript(Transcript(""), 3.0)) == []


def test_verbose_json_has_the_fields_clients_expect():
    said = answer(response_format="verbose_json", timestamp_granularities=["word", "segment"])
    assert (said["task"], said["language"], said["duration"]) == ("transcribe", "en", 2.0)
    assert said["words"][1] == {"word": "there.", "start": 0.45, "end": 0.9}
    first = said["segments"][0]
    assert (first["id"], first["text"], first["start"], first["end"]) == (0, "Hello there.", 0.1, 0.9)
    assert first["avg_logprob"] == pytest.approx(-0.6931)
    assert {"seek", "tokens", "temperature", "compression_ratio", "no_speech_prob"} <= set(first)
    assert "words" not in answer(response_format="verbose_json")


def test_a_stream_is_pieces_and_an_end_with_the_whole_text():
    stream = TranscriptStream()
    assert json.loads(stream.encode("Hello").removeprefix(b"data: ")) == {
        "type": "transcript.text.delta",
        "delta": "Hello",
    }
    assert stream.encode("") == b""
    with pytest.raises(EngineFailed, match="broke off"):
        stream.close()
    done = json.loads(stream.encode(HEARD).removeprefix(b"data: "))
    assert (done["type"], done["text"]) == ("transcript.text.done", SAID.text)
    assert done["usage"] == {"type": "duration", "seconds": 2.0}
    stream.close()
