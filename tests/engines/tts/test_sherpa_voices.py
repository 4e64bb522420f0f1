"""The voices of a model: names and languages from wherever its makers wrote them."""

import pytest

from duologue.engines.tts.sherpa_speech_kinds import SpeechModel
from duologue.engines.tts.sherpa_voices import SUPERTONIC_LANGUAGES, list_voices


def listed(model: SpeechModel, speakers: int, **how):
    return list_voices(model, speakers, **{"name": "tiny", "notes": {}, **how})


def vits(**metadata: str) -> SpeechModel:
    return SpeechModel("vits", {}, metadata)


def test_one_speaker_is_called_like_the_model():
    (only,) = listed(vits(language="German"), 1)
    assert (only.voice.name, only.voice.language, only.number) == ("tiny", "de", 0)


def test_many_speakers_have_the_names_in_the_notes():
    notes = {"speaker_id_map": {"ben": 1, "anna": 0}, "language": {"code": "en_GB"}}
    voices = listed(vits(), 2, notes=notes)
    assert [(each.voice.name, each.number) for each in voices] == [("anna", 0), ("ben", 1)]
    assert {each.voice.language for each in voices} == {"en-GB"}


@pytest.mark.parametrize("notes", [{}, {"speaker_id_map": {"a": 0, "b": 7}}, {"speaker_id_map": ["a"]}])
def test_speakers_without_names_have_numbers(notes):
    assert [each.voice.name for each in listed(vits(), 2, notes=notes)] == ["speaker_1", "speaker_2"]


def test_the_metadata_names_speakers_too():
    voices = listed(vits(speaker_names="anna, ben"), 2)
    assert [each.voice.name for each in voices] == ["anna", "ben"]


@pytest.mark.parametrize(
    ("metadata", "tag"),
    [
        ({"voice": "en-us"}, "en-US"),
        ({"voice": "de"}, "de"),
        ({"voice": "en-gb-x-rp", "language": "English"}, "en"),
        ({"language": "Chinese + English"}, "en"),
        ({"language": "Chinese"}, "zh"),
        ({"language": "Klingon"}, "en"),
        ({}, "en"),
    ],
)
def test_the_language_comes_from_the_metadata(metadata, tag):
    assert listed(vits(**metadata), 1)[0].voice.language == tag


def test_kokoro_lists_the_voices_it_can_speak_with_and_their_language():
    names = "af_alloy,af_heart,bf_emma,ff_siwis,jf_alpha,zf_xiaobei,zm_yunxi"
    voices = listed(SpeechModel("kokoro", {}, {"speaker_names": names}), 7)
    assert [(each.voice.name, each.number, each.spoken) for each in voices] == [
        ("af_heart", 1, "en-us"),
        ("af_alloy", 0, "en-us"),
        ("bf_emma", 2, "en-gb"),
        ("ff_siwis", 3, "fr-fr"),
        ("zf_xiaobei", 5, ""),
        ("zm_yunxi", 6, ""),
    ]
    assert voices[3].voice.language == "fr-FR"


def test_kokoro_without_names_has_american_voices():
    assert [each.voice.name for each in listed(SpeechModel("kokoro", {}), 2)] == ["af_0", "af_1"]


def test_the_voice_of_the_settings_comes_first():
    assert listed(vits(speaker_names="anna,ben"), 2, default="ben")[0].voice.name == "ben"
    assert listed(vits(speaker_names="anna,ben"), 2, default="carl")[0].voice.name == "anna"


def test_a_model_that_clones_has_the_voices_of_its_recordings():
    voices = listed(SpeechModel("pocket", {}), 1, recordings=("anna.wav", "test_wavs/ben.wav"))
    assert [(each.voice.name, each.recording) for each in voices] == [
        ("anna", "anna.wav"),
        ("ben", "test_wavs/ben.wav"),
    ]
    assert listed(SpeechModel("zipvoice", {}), 1) == ()


def test_supertonic_speaks_its_languages():
    assert {"en", "de", "ko"} <= SUPERTONIC_LANGUAGES
    assert "zh" not in SUPERTONIC_LANGUAGES


def test_a_model_that_reads_phonemes_says_in_which_language():
    assert listed(vits(voice="en-gb-x-rp"), 1)[0].spoken == "en-gb-x-rp"
    assert listed(vits(language="German"), 1)[0].spoken == "de"
    assert listed(vits(language="German", frontend="characters"), 1)[0].spoken == ""
