"""A recording for a clip: any file, at the rate of replies, and not too long."""

import pytest
from tests.support.sample_files import tone, wav_file

from duologue.errors import BadRequest, TooLarge, Unsupported
from duologue.media import clip_sound
from duologue.media.clip_sound import read_clip_sound
from duologue.values.audio import SPOKEN_RATE, samples


def test_a_recording_comes_at_the_rate_of_replies():
    assert samples(read_clip_sound(wav_file(tone(16_000, 1.0)))) == pytest.approx(SPOKEN_RATE, rel=0.02)


def test_what_cannot_be_used_is_a_sentence(monkeypatch):
    with pytest.raises(Unsupported):
        read_clip_sound(b"%PDF-1.7 not a sound")
    with pytest.raises(BadRequest):
        read_clip_sound(wav_file(tone(16_000, 1.0))[:44])
    monkeypatch.setattr(clip_sound, "LONGEST", 1)
    with pytest.raises(TooLarge) as refused:
        read_clip_sound(wav_file(tone(16_000, 3.0)))
    assert refused.value.code == "clip_too_long"
