"""Finding Wan's files."""

import json

import pytest

from duologue.engines.wan.wan_weights import LoraFile, find_wan
from duologue.errors import StartFailed


@pytest.fixture
def models(tmp_path):
    index = {"_class_name": "WanImageToVideoPipeline", "transformer": ["diffusers", "X"]}
    for name, second in (("one", [None, None]), ("two", ["diffusers", "WanTransformer3DModel"])):
        place = tmp_path / name / "transformer"
        place.mkdir(parents=True)
        (place / "weights.safetensors").write_text("weights")
        (tmp_path / name / "model_index.json").write_text(json.dumps(index | {"transformer_2": second}))
    for file in ("high.gguf", "low.gguf", "smile.safetensors"):
        (tmp_path / file).write_text(file)
    return tmp_path


def test_a_model_has_one_expert_or_two(models):
    assert find_wan("one", str(models), (), ()).experts == 1
    found = find_wan("two", str(models), (), ())
    assert (found.folder, found.name, found.experts) == (models / "two", "two", 2)


def test_files_are_found_by_path_and_in_the_folder_of_models(models):
    loras = (LoraFile("smile.safetensors", 0.5), LoraFile(str(models / "high.gguf"), second="low.gguf"))
    found = find_wan("two", str(models), ("high.gguf", str(models / "low.gguf")), loras)
    assert found.gguf == (models / "high.gguf", models / "low.gguf")
    assert [lora.path for lora in found.loras] == [
        str(models / "smile.safetensors"),
        str(models / "high.gguf"),
    ]
    assert found.loras[1].second == str(models / "low.gguf")
    assert [mark[:2] for mark in found.mark] == [("two", 0), ("high.gguf", 9), ("low.gguf", 8)]
    assert [mark[-1] for mark in found.lora_mark] == [0.5, 1.0, 1.0]


def test_a_model_without_gguf_is_known_by_its_own_files(models):
    mark = find_wan("one", str(models), (), ()).mark
    assert [part[:2] for part in mark] == [("one", 0), ("weights.safetensors", 7)]
    (models / "one").rename(models / "tuned")
    assert find_wan("tuned", str(models), (), ()).mark != mark


def test_one_gguf_file_is_needed_for_each_expert(models):
    with pytest.raises(StartFailed, match="has 2 transformers, and 1 GGUF files"):
        find_wan("two", str(models), ("high.gguf",), ())
    with pytest.raises(StartFailed, match="There is no file gone"):
        find_wan("one", str(models), ("gone.gguf",), ())
    (models / "low.gguf").write_text("")
    with pytest.raises(StartFailed, match="or it is empty"):
        find_wan("one", str(models), ("low.gguf",), ())


def test_speech_to_video_is_said_not_to_exist(models):
    with pytest.raises(StartFailed, match="diffusers has no class for it") as raised:
        find_wan("Wan-AI/Wan2.2-S2V-14B", str(models), (), ())
    assert "musetalk" in raised.value.message


def test_what_is_not_there_is_named_with_its_command(models):
    with pytest.raises(StartFailed, match=r"hf download Wan-AI/Wan2[.]2-TI2V-5B-Diffusers") as raised:
        find_wan("Wan2.2-TI2V-5B-Diffusers", str(models), (), ())
    assert raised.value.code == "weights_missing"
    with pytest.raises(StartFailed, match="Put its folder there"):
        find_wan("mine", str(models), (), ())


@pytest.mark.parametrize("index", [None, "", "[]", '{"_class_name": 5'])
def test_a_folder_that_is_no_model_of_diffusers_is_a_sentence(models, index):
    file = models / "one" / "model_index.json"
    if index is None:
        file.unlink()
    else:
        file.write_text(index)
    with pytest.raises(StartFailed, match="The original files of Wan are not read"):
        find_wan("one", str(models), (), ())


def test_another_kind_of_pipeline_is_a_sentence(models):
    (models / "one" / "model_index.json").write_text('{"_class_name": "WanAnimatePipeline"}')
    with pytest.raises(StartFailed, match="is a WanAnimatePipeline"):
        find_wan("one", str(models), (), ())
