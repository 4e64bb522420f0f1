"""Sound and words as they stand in JSON."""

import base64
import json
from array import array
from io import BytesIO
from wave import open as open_wave

from duologue.values.events import ReplyWord
from duologue.values.speech import TranscribedPart
from duologue.wire.sound import caption, recording_message, sound_text, transcript

PCM = array("h", [0, 8192, -32768]).tobytes()


def test_samples_are_floats_or_whole_numbers_or_a_file():
    assert array("f", base64.b64decode(sound_text(PCM, "f32"))).tolist() == [0.0, 0.25, -1.0]
    assert base64.b64decode(sound_text(PCM, "s16")) == PCM
    with open_wave(BytesIO(base64.b64decode(sound_text(PCM, "wav")))) as file:
        assert (file.getframerate(), file.readframes(9)) == (24_000, PCM)


def test_a_word_has_its_time_and_its_place():
    word = {"text": "two", "start_ms": 500, "end_ms": 750, "at": 4, "to": 7}
    assert caption(ReplyWord("two", 12_000, 18_000, 4, 7)) == word


def test_what_was_not_understood_says_so():
    assert transcript(TranscribedPart(1, 0, "hi")) == {"message": 1, "part": 0, "text": "hi"}
    assert transcript(TranscribedPart(1, 0, "", False))["understood"] is False


def test_it_says_whether_the_call_is_recorded_and_why_not():
    assert json.loads(recording_message(2, "r1", on=True)) == {
        "type": "recording",
        "epoch": 2,
        "on": True,
        "recording_id": "r1",
    }
    assert json.loads(recording_message(2, "r1", on=False, reason="full"))["reason"] == "full"
