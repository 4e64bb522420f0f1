"""The folder of a model and its options, without the library."""

import json
from pathlib import Path

import pytest

from duologue.engines.huggingface.causal_model import (
    HuggingfaceOptions,
    check_options,
    check_stored_bits,
    find_weights,
    open_model,
)
from duologue.errors import StartFailed


def folder_of(place: Path, **config: object) -> Path:
    place.mkdir(exist_ok=True)
    (place / "config.json").write_text(json.dumps({"model_type": "llama", **config}))
    (place / "model.safetensors").write_bytes(b"weights")
    return place


def refusal(options: HuggingfaceOptions) -> StartFailed:
    with pytest.raises(StartFailed) as caught:
        find_weights(options)
    return caught.value


def test_a_model_is_found_by_its_path_its_name_or_the_hubs_name(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "tiny")
    for name in (str(folder), "tiny", "someone/tiny"):
        assert find_weights(HuggingfaceOptions(model=name, models=str(tmp_path))) == folder


def test_what_is_missing_is_told_with_the_command_that_fetches_it(tmp_path: Path) -> None:
    problem = refusal(HuggingfaceOptions(model="Qwen/Qwen3-0.6B", models=str(tmp_path)))
    assert problem.code == "weights_missing"
    assert f"hf download Qwen/Qwen3-0.6B --local-dir {tmp_path}/Qwen3-0.6B" in problem.message
    assert "Put its folder there" in refusal(HuggingfaceOptions(model="tiny", models=str(tmp_path))).message
    assert "--model FOLDER" in refusal(HuggingfaceOptions()).message
    assert "engine llama" in refusal(HuggingfaceOptions(model="/no/such.gguf")).message


def test_a_folder_without_safetensors_is_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "old")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert "no weights as safetensors" in refusal(HuggingfaceOptions(model=str(folder))).message


def test_a_folder_without_a_kind_is_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "odd")
    (folder / "config.json").write_text("[]")
    assert "what kind of model" in refusal(HuggingfaceOptions(model=str(folder))).message


@pytest.mark.parametrize(
    ("options", "param"),
    [
        (HuggingfaceOptions(slots=0), "slots"),
        (HuggingfaceOptions(context=-1), "context"),
        (HuggingfaceOptions(dtype="int3"), "dtype"),
    ],
)
def test_options_that_cannot_be_are_refused(options: HuggingfaceOptions, param: str) -> None:
    with pytest.raises(StartFailed) as caught:
        check_options(options)
    assert caught.value.param == param


def test_a_device_that_there_is_not_is_refused_first() -> None:
    with pytest.raises(StartFailed, match="no device"):
        open_model(HuggingfaceOptions(device="tpu"))


@pytest.mark.parametrize(
    ("stored", "sentence", "code"),
    [
        ({"quant_method": "unheard_of"}, r"does not know \(unheard_of\)", "start_failed"),
        ({"bits": 4}, r"does not know \(without a name\)", "start_failed"),
        ("4bit", r"does not know \(without a name\)", "start_failed"),
        ({"quant_method": "vptq"}, "pip install vptq", "engine_missing"),
    ],
)
def test_weights_in_fewer_bits_that_nobody_here_can_read_are_refused(
    tmp_path: Path, stored: object, sentence: str, code: str
) -> None:
    folder = folder_of(tmp_path / "packed", quantization_config=stored)
    with pytest.raises(StartFailed, match=sentence) as caught:
        check_stored_bits(folder, ("vptq", "bitsandbytes_4bit"))
    assert caught.value.code == code


def test_weights_as_they_were_made_or_read_by_the_library_itself_are_fine(tmp_path: Path) -> None:
    check_stored_bits(folder_of(tmp_path / "plain"), ())
    check_stored_bits(folder_of(tmp_path / "packed", quantization_config={"quant_method": "fp8"}), ("fp8",))
