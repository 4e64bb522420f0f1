"""The folders are those that sherpa-onnx's makers publish."""

import pytest

from duologue.engines.asr.sherpa_model_kinds import detect_kind

ZIPFORMER = {"model_type": "zipformer2"}
STREAMING = {"model_type": "zipformer2", "decode_chunk_len": "32", "T": "45"}
NEMO = {"model_type": "EncDecRNNTBPEModel"}


def kind(names, told=None, **how):
    told = told or {}
    return detect_kind(names, lambda name: told.get(name, {}), **how)


def test_three_networks_are_a_transducer():
    model = kind(
        ["encoder-epoch-99.onnx", "decoder-epoch-99.onnx", "joiner-epoch-99.onnx", "tokens.txt"],
        {"encoder-epoch-99.onnx": ZIPFORMER},
    )
    assert (model.maker, model.online, model.timed) == ("transducer", False, True)
    assert model.settings == {"model_type": "transducer"}
    assert model.files["joiner"] == "joiner-epoch-99.onnx"


def test_a_transducer_that_hears_in_chunks_hears_while_one_speaks():
    names = ["encoder.onnx", "decoder.onnx", "joiner.onnx", "tokens.txt"]
    assert kind(names, {"encoder.onnx": STREAMING}).online
    assert kind(names, {"encoder.onnx": NEMO | {"cache_last_time_dim1": "17"}}).online
    assert kind(names, {"decoder.onnx": {"streaming_model_type": "nemo_parakeet_unified_streaming"}}).online


def test_parakeet_is_told_to_be_of_nemo():
    names = ["encoder.int8.onnx", "decoder.int8.onnx", "joiner.int8.onnx", "tokens.txt", "test_wavs/en.wav"]
    model = kind(names, {"encoder.int8.onnx": NEMO})
    assert (model.maker, model.online, model.settings) == (
        "transducer",
        False,
        {"model_type": "nemo_transducer"},
    )


def test_of_two_sizes_the_wanted_one_is_taken():
    names = [
        *("tiny.en-encoder.onnx", "tiny.en-encoder.int8.onnx", "tiny.en-decoder.onnx"),
        *("tiny.en-decoder.int8.onnx", "tiny.en-tokens.txt"),
    ]
    told = {name: {"model_type": "whisper-tiny.en"} for name in names}
    assert kind(names, told).files["encoder"] == "tiny.en-encoder.int8.onnx"
    assert kind(names, told, prefer_int8=False).files["encoder"] == "tiny.en-encoder.onnx"
    assert kind(names, told).maker == "whisper"
    assert not kind(names, told).timed


@pytest.mark.parametrize(
    ("told", "maker", "online"),
    [
        ({"model_type": "sense_voice_ctc", "with_itn": "14", "lfr_window_size": "7"}, "sense_voice", False),
        ({"model_type": "paraformer", "lfr_window_size": "7"}, "paraformer", False),
        ({"model_type": "EncDecCTCModelBPE"}, "nemo_ctc", False),
        ({"model_type": "EncDecHybridRNNTCTCBPEModel", "cache_last_time_dim1": "17"}, "nemo_ctc", True),
        ({"model_type": "zipformer2_ctc"}, "zipformer_ctc", False),
        ({"model_type": "zipformer2", "decode_chunk_len": "32"}, "zipformer2_ctc", True),
        ({"model_type": "wenet_ctc"}, "wenet_ctc", False),
        ({"model_type": "wenet_ctc", "right_context": "0"}, "wenet_ctc", True),
        ({"model_type": "telespeech_ctc"}, "telespeech_ctc", False),
        ({"model_type": "omnilingual-asr"}, "omnilingual_asr_ctc", False),
        ({"mean": "1", "invstd": "1", "vocab_size": "9"}, "dolphin_ctc", False),
        ({"model_type": "t-one"}, "t_one_ctc", True),
    ],
)
def test_one_network_is_what_it_says_it_is(told, maker, online):
    model = kind(["model.int8.onnx", "tokens.txt"], {"model.int8.onnx": told})
    assert (model.maker, model.online) == (maker, online)


@pytest.mark.parametrize(
    ("told", "maker", "online"),
    [
        ({"encoder_output_size": "512", "decoder_num_blocks": "16"}, "paraformer", True),
        ({"model_type": "EncDecMultiTaskModel"}, "nemo_canary", False),
        ({"cmvn_mean": "1", "num_head": "20"}, "fire_red_asr", False),
    ],
)
def test_two_networks_are_what_the_first_says(told, maker, online):
    names = ["encoder.int8.onnx", "decoder.int8.onnx", "tokens.txt"]
    model = kind(names, {"encoder.int8.onnx": told})
    assert (model.maker, model.online) == (maker, online)


def test_qwen_is_told_by_its_frontend_and_has_a_folder_of_words():
    names = [
        *("conv_frontend.onnx", "encoder.int8.onnx", "decoder.int8.onnx"),
        *("tokenizer/merges.txt", "tokenizer/vocab.json"),
    ]
    model = kind(names)
    assert (model.maker, model.files["tokenizer"], model.languages) == ("qwen3_asr", "tokenizer", "stream")
    assert kind(names[:3]) is None


def test_both_makes_of_moonshine_are_known():
    first = ["preprocess.onnx", "encode.int8.onnx", "uncached_decode.int8.onnx", "cached_decode.int8.onnx"]
    model = kind([*first, "tokens.txt"])
    assert (model.maker, model.files["encoder"]) == ("moonshine", "encode.int8.onnx")
    second = kind(["encoder_model.ort", "decoder_model_merged.ort", "tokens.txt"])
    assert (second.maker, second.files["decoder"]) == ("moonshine_v2", "decoder_model_merged.ort")


def test_what_is_not_known_is_not_guessed():
    assert kind([]) is None
    assert kind(["model.onnx"]) is None
    assert kind(["model.onnx", "tokens.txt"]) is None
    assert kind(["encoder.onnx", "decoder.onnx", "tokens.txt"]) is None
    assert kind(["preprocess.onnx", "tokens.txt"]) is None
    assert kind(["deeper/model.onnx", "deeper/tokens.txt"]) is None
