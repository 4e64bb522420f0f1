"""What kind of speech model a folder holds, by the names of the real releases and the metadata their exporters write."""

import pytest

from duologue.engines.tts.sherpa_speech_kinds import SpeechModel, detect_speech_kind
from duologue.errors import StartFailed

NUMBERS = {"sample_rate": "22050", "n_speakers": "1"}
PIPER = {**NUMBERS, "model_type": "vits", "comment": "piper", "language": "German", "voice": "de"}
KOKORO = {**NUMBERS, "model_type": "kokoro", "has_espeak": "1", "style_dim": "510,1,256", "version": "2"}
MATCHA = {**NUMBERS, "model_type": "matcha-tts", "use_eos_bos": "1", "pad_id": "0"}
POCKET = [
    "lm_flow.int8.onnx",
    "lm_main.int8.onnx",
    "encoder.onnx",
    "decoder.int8.onnx",
    "text_conditioner.onnx",
    "vocab.json",
    "token_scores.json",
]
SUPERTONIC = [
    "duration_predictor.int8.onnx",
    "text_encoder.int8.onnx",
    "vector_estimator.int8.onnx",
    "vocoder.int8.onnx",
    "tts.json",
    "unicode_indexer.bin",
    "voice.bin",
]
ZIPVOICE = ["tokens.txt", "lexicon.txt", "encoder.int8.onnx", "decoder.int8.onnx"]


def detect(names, metadata=None, **how) -> SpeechModel:
    model = detect_speech_kind(names, lambda name: metadata or {}, **how)
    assert model is not None
    return model


def test_piper_reads_phonemes_and_has_a_network_of_its_own_name():
    model = detect(["tokens.txt", "de_DE-thorsten-medium.onnx", "MODEL_CARD"], PIPER)
    assert model.family == "vits"
    assert model.reads_phonemes
    assert model.files == {
        "tokens": ("tokens.txt",),
        "model": ("de_DE-thorsten-medium.onnx",),
    }


def test_a_model_with_a_lexicon_reads_text():
    names = ["model.onnx", "tokens.txt", "lexicon.txt", "date.fst", "number.fst", "rule.far"]
    model = detect(names, {**NUMBERS, "comment": "melo", "language": "Chinese"})
    assert not model.reads_phonemes
    assert model.files["lexicon"] == ("lexicon.txt",)
    assert (model.rules, model.archives) == (("date.fst", "number.fst"), ("rule.far",))


def test_kokoro_has_one_english_lexicon_beside_the_others():
    lexicons = ["lexicon-gb-en.txt", "lexicon-us-en.txt", "lexicon-zh.txt"]
    model = detect(["model.onnx", "voices.bin", "tokens.txt", *lexicons], KOKORO)
    assert model.family == "kokoro"
    assert model.files["lexicon"] == ("lexicon-us-en.txt", "lexicon-zh.txt")
    assert model.files["voices"] == ("voices.bin",)


def test_what_is_read_letter_by_letter_is_text():
    model = detect(["model.onnx", "tokens.txt"], {**PIPER, "comment": "mms", "frontend": "characters"})
    assert not model.reads_phonemes


def test_kitten_is_not_kokoro():
    metadata = {**KOKORO, "model_type": "kitten-tts", "style_dim": "1,256"}
    assert detect(["model.fp16.onnx", "voices.bin", "tokens.txt"], metadata).family == "kitten"


@pytest.mark.parametrize("vocoder", ["vocos-22khz-univ.onnx", "hifigan_v2.onnx"])
def test_matcha_has_a_vocoder_in_its_folder(vocoder):
    model = detect(["model-steps-3.onnx", vocoder, "tokens.txt"], MATCHA)
    assert model.family == "matcha"
    assert model.files["acoustic_model"] == ("model-steps-3.onnx",)
    assert model.files["vocoder"] == (vocoder,)


def test_the_networks_of_several_parts_are_recognised():
    assert detect(POCKET).family == "pocket"
    assert detect(POCKET).clones
    supertonic = detect(SUPERTONIC)
    assert supertonic.family == "supertonic"
    assert not supertonic.clones
    assert supertonic.files["voice_style"] == ("voice.bin",)
    zipvoice = detect([*ZIPVOICE, "vocos_24khz.onnx"])
    assert zipvoice.family == "zipvoice"
    assert zipvoice.files["vocoder"] == ("vocos_24khz.onnx",)


def test_of_two_precisions_the_wanted_one_is_taken():
    names = ["model.onnx", "model.int8.onnx", "voices.bin", "tokens.txt"]
    assert detect(names, KOKORO).files["model"] == ("model.int8.onnx",)
    assert detect(names, KOKORO, prefer_int8=False).files["model"] == ("model.onnx",)


@pytest.mark.parametrize(
    ("names", "metadata", "missing"),
    [
        (["model-steps-3.onnx", "tokens.txt"], MATCHA, "vocos-22khz-univ.onnx is missing"),
        (ZIPVOICE, {}, "vocos_24khz.onnx is missing"),
        (POCKET[:-1], {}, "token_scores.json is missing"),
        (SUPERTONIC[1:], {}, "duration_predictor.onnx is missing"),
        (["tokens.txt", "x.onnx"], {**PIPER, "comment": "melo"}, "needs a lexicon"),
        (["tokens.txt", "x.onnx", "vocos-22khz-univ.onnx"], {**MATCHA, "jieba": "1"}, "needs a lexicon"),
        (["tokens.txt", "model.onnx"], NUMBERS, "no entry 'language'"),
    ],
)
def test_what_a_model_lacks_is_named(names, metadata, missing):
    with pytest.raises(StartFailed, match=missing):
        detect(names, metadata)


@pytest.mark.parametrize(
    "names",
    [
        [],
        ["model.onnx"],
        ["tokens.txt"],
        ["tokens.txt", "model.onnx"],
        ["deep/tokens.txt", "deep/model.onnx"],
    ],
)
def test_anything_else_is_of_no_known_kind(names):
    assert detect_speech_kind(names, lambda name: {}) is None
