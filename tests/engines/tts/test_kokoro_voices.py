import pytest

from duologue.engines.tts.kokoro_voices import choose_voice, voice_of, voices_of
from duologue.errors import NotFound
from duologue.values.speech import Voice

NAMES = ["am_adam", "bf_emma", "af_heart", "ff_siwis", "jf_alpha", "zm_yunxi", "af_bella", "x", ""]


def test_a_name_tells_language_and_sex():
    assert voice_of("bm_george") == Voice("bm_george", "en-GB", "British English, male.")
    assert voice_of("zf_xiaobei").language == "zh"


def test_voices_whose_language_cannot_be_spoken_are_left_out():
    assert {voice.name for voice in voices_of(NAMES, "abf")} == {
        *("am_adam", "bf_emma", "af_heart", "ff_siwis", "af_bella")
    }


def test_the_wished_voice_is_the_first_and_kokoros_own_else():
    assert voices_of(NAMES, "ab", "bf_emma")[0].name == "bf_emma"
    assert voices_of(NAMES, "ab", "jf_alpha")[0].name == "af_heart"
    assert voices_of(["ff_siwis"], "f")[0].name == "ff_siwis"
    assert voices_of(NAMES, "q") == ()


def test_a_named_voice_is_taken_and_a_language_finds_one():
    voices = voices_of(NAMES, "abf")
    assert choose_voice(voices, "am_adam", "fr") == "am_adam"
    assert choose_voice(voices, "", "en-GB") == "bf_emma"
    assert choose_voice(voices, "", "en_AU") == "af_heart"
    assert choose_voice(voices, "", "fr") == "ff_siwis"
    assert choose_voice(voices, "", "de") == "af_heart"
    assert choose_voice(voices, "", "") == "af_heart"


def test_a_voice_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(NotFound, match="af_heart, af_bella") as caught:
        choose_voice(voices_of(NAMES, "ab"), "nobody", "")
    assert caught.value.code == "voice_not_found"
