"""What admins choose, in tabbyAPI's words and llama-server's."""

import pytest

from duologue.errors import BadRequest
from duologue.values.questions.worker_answers import Described
from duologue.values.requests import ModelCard, ModelPreset, PresetEntry
from duologue.wire.tokens import server_props
from duologue.wire.tokens.tuning_bodies import (
    LoraLoadBody,
    SamplingSwitchBody,
    TemplateSwitchBody,
    lora_adapters,
    lora_list,
    lora_scales,
    names_list,
    sampling_overrides,
)
from duologue.wire.validation import validate


def test_names_may_be_written_as_tabby_writes_them():
    assert validate(TemplateSwitchBody, {"prompt_template_name": "a"}).name == "a"
    assert validate(TemplateSwitchBody, {"name": "a"}).name == "a"
    body = validate(
        LoraLoadBody, {"loras": [{"name": "a.gguf", "scaling": 0.5}, {"name": "b"}], "skip_queue": True}
    )
    assert body.scales() == {"a": 0.5, "b": 1.0}


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (TemplateSwitchBody, {}),
        (TemplateSwitchBody, {"name": ""}),
        (LoraLoadBody, {"loras": []}),
        (LoraLoadBody, {"loras": [{"name": "a", "scaling": 1e9}]}),
        (LoraLoadBody, {"loras": [{"scaling": 1.0}]}),
        (SamplingSwitchBody, {"preset": 5}),
    ],
)
def test_a_wrong_body_is_refused(model, fields):
    with pytest.raises(BadRequest):
        validate(model, fields)


def test_llama_servers_adapters_are_a_list():
    assert [
        (each.id, each.scale) for each in lora_scales([{"id": 0, "scale": 0.5}, {"id": 1, "scale": 1}])
    ] == [
        (0, 0.5),
        (1, 1.0),
    ]
    wrong: list[object] = [
        None,
        {},
        [1],
        [{"id": -1, "scale": 1.0}],
        [{"id": 0}],
        [{"id": 0, "scale": 1.0}] * 100,
    ]
    for value in wrong:
        with pytest.raises(BadRequest):
            lora_scales(value)
    assert lora_adapters({"a": 0.5, "b": 0.0}) == [
        {"id": 0, "path": "a", "scale": 0.5, "task_name": "", "prompt_prefix": ""},
        {"id": 1, "path": "b", "scale": 0.0, "task_name": "", "prompt_prefix": ""},
    ]


def test_lists_have_tabbys_shape():
    assert names_list(["a"]) == {"object": "list", "data": ["a"]}
    [entry] = lora_list([("a", 0.5)], 7)["data"]
    assert entry == {"id": "a", "object": "lora", "created": 7, "owned_by": "duologue", "scaling": 0.5}
    preset = ModelPreset({"temperature": PresetEntry(0.1, force=True)})
    assert sampling_overrides("cold", preset, ["cold"]) == {
        "selected_preset": "cold",
        "overrides": {"temperature": {"override": 0.1, "force": True, "additive": False}},
        "presets": ["cold"],
    }
    assert sampling_overrides(None, None, []) == {"selected_preset": None, "overrides": {}, "presets": []}


def test_properties_are_those_of_the_model_and_tell_no_folder():
    card = ModelCard(
        "m",
        "llama",
        4096,
        modalities=("text", "image"),
        defaults={"repetition_penalty": 1.1, "max_tokens": -1},
    )
    told = server_props.props(card, Described("{{ x }}", "<s>", "</s>"), 4, "1.0")
    assert told["default_generation_settings"]["n_ctx"] == 4096
    params = told["default_generation_settings"]["params"]
    assert (params["repeat_penalty"], params["n_predict"]) == (1.1, -1)
    assert (told["total_slots"], told["model_path"], told["model_alias"]) == (4, "m", "m")
    assert told["modalities"] == {"vision": True, "audio": False}
    assert (told["chat_template"], told["bos_token"], told["eos_token"]) == ("{{ x }}", "<s>", "</s>")
    assert server_props.slots(card, [True, False]) == [
        {"id": 0, "n_ctx": 4096, "is_processing": True},
        {"id": 1, "n_ctx": 4096, "is_processing": False},
    ]
