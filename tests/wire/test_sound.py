"""Sound and words as they stand in JSON."""

import base64
from array import array
from io import BytesIO
from wave import open as open_wave

from duologue.values.events import ReplyWord
from duologue.values.speech import TranscribedPart
from duologue.wire.sound import caption, sound_text, transcript

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
