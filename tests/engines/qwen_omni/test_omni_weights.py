"""The folder of a model and its options, without the library."""

import json
from pathlib import Path

import pytest

from duologue.engines.qwen_omni.omni_weights import (
    OmniOptions,
    check_options,
    find_weights,
)
from duologue.errors import StartFailed


def folder_of(place: Path, kind: str = "qwen2_5_omni", *files: str) -> Path:
    for name in ("preprocessor_config.json", "tokenizer_config.json", "spk_dict.pt", *files):
        (place / name).write_text("{}")
    (place / "config.json").write_text(json.dumps({"model_type": kind}))
    return place


def test_a_model_is_found_by_its_path_its_name_or_the_hubs_name(tmp_path: Path) -> None:
    (tmp_path / "Qwen2.5-Omni-3B").mkdir()
    folder = folder_of(tmp_path / "Qwen2.5-Omni-3B")
    for name in (str(folder), "Qwen2.5-Omni-3B", "Qwen/Qwen2.5-Omni-3B", ""):
        assert find_weights(OmniOptions(model=name, models=str(tmp_path)))[0] == folder


def test_the_error_for_missing_weights_has_the_command_that_fetches_them(tmp_path: Path) -> None:
    with pytest.raises(
        StartFailed, match="hf download Qwen/Qwen3-Omni-30B-A3B-Instruct --local-dir"
    ) as caught:
        find_weights(OmniOptions(model="Qwen/Qwen3-Omni-30B-A3B-Instruct", models=str(tmp_path)))
    assert caught.value.code == "weights_missing"
    with pytest.raises(StartFailed, match=r"hf download Qwen/Qwen2\.5-Omni-3B"):
        find_weights(OmniOptions(models=str(tmp_path)))


def test_an_incomplete_folder_and_one_of_another_model_are_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    (folder / "spk_dict.pt").unlink()
    options = OmniOptions(model=str(folder))
    with pytest.raises(StartFailed, match=r"spk_dict\.pt is missing"):
        find_weights(options)
    assert find_weights(OmniOptions(model=str(folder), speech=False))[0] == folder
    folder_of(tmp_path, "qwen3_omni_moe")
    assert find_weights(options)[1].class_name == "Qwen3OmniMoeForConditionalGeneration"
    folder_of(tmp_path, "llama")
    with pytest.raises(StartFailed, match="is a llama"):
        find_weights(options)
    (folder / "config.json").write_text("[]")
    with pytest.raises(StartFailed):
        find_weights(options)


@pytest.mark.parametrize(
    ("options", "param"),
    [
        (OmniOptions(slots=0), "slots"),
        (OmniOptions(context=-1), "context"),
        (OmniOptions(dtype="int3"), "dtype"),
        (OmniOptions(pixels=9), "pixels"),
    ],
)
def test_options_that_cannot_be_are_refused(options: OmniOptions, param: str) -> None:
    with pytest.raises(StartFailed) as caught:
        check_options(options)
    assert caught.value.param == param
