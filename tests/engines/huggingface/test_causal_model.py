"""The folder of a model and its options, without the library."""

import json
from pathlib import Path

import pytest

from duologue.engines.huggingface.causal_model import (
    HuggingfaceOptions,
    check_options,
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
