"""The entries of `GET /v1/models`."""

import msgspec

from duologue.values.requests import ModelCard
from duologue.wire.models.model_entries import capabilities, model_entry, model_list, unloaded_entry

CARD = ModelCard(
    "mini",
    "llama",
    2048,
    trained_context=4096,
    parameters=5_000_000,
    size=10_000_000,
    verbs=("tools",),
    defaults={"temperature": 0.5, "samplers": ("top_k",)},
)


def test_a_model_is_listed_with_what_clients_want_to_know() -> None:
    entry = model_entry(CARD, 1700000000)
    assert (entry["id"], entry["object"], entry["created"], entry["owned_by"]) == (
        "mini",
        "model",
        1700000000,
        "duologue",
    )
    assert (entry["context_length"], entry["trained_context_length"]) == (2048, 4096)
    assert entry["defaults"] == {"temperature": 0.5, "samplers": ("top_k",)}


def test_a_model_has_the_fields_of_other_servers_lists() -> None:
    entry = model_entry(CARD, 0)
    assert entry["max_model_len"] == 2048
    assert entry["meta"] == {
        "n_ctx": 2048,
        "n_ctx_train": 4096,
        "n_params": 5_000_000,
        "size": 10_000_000,
    }
    assert (entry["status"], entry["state"], entry["type"]) == ({"value": "loaded"}, "loaded", "llm")
    assert (entry["loaded_context_length"], entry["max_context_length"]) == (2048, 4096)
    assert entry["architecture"] == {"input_modalities": ["text"], "output_modalities": ["text"]}


def test_what_a_model_can_do_is_said_in_the_words_of_other_servers_too() -> None:
    assert capabilities(CARD) == ("chat", "completion", "tool_use", "tools")
    seeing = msgspec.structs.replace(
        CARD,
        modalities=("text", "image", "audio", "video"),
        outputs=("text", "audio"),
        verbs=("thinking", "format"),
    )
    assert capabilities(seeing) == (
        *("chat", "completion", "vision", "audio", "video", "speech"),
        *("reasoning", "json_object", "json_schema", "grammar"),
        *("thinking", "format"),
    )
    assert model_entry(seeing, 0)["type"] == "vlm"


def test_of_a_model_that_still_loads_nothing_is_promised() -> None:
    entry = model_entry(ModelCard("soon", "llama", 0), 0)
    assert (entry["status"], entry["state"], entry["capabilities"]) == (
        {"value": "loading"},
        "not-loaded",
        [],
    )


def test_aliases_follow_the_models_and_name_their_root() -> None:
    listed = msgspec.json.decode(model_list([CARD], {"gpt-4o": CARD}, 5))
    assert listed["object"] == "list"
    assert [(entry["id"], entry["root"]) for entry in listed["data"]] == [
        ("mini", "mini"),
        ("gpt-4o", "mini"),
    ]


def test_models_that_a_request_may_have_loaded_come_last_and_say_so() -> None:
    listed = msgspec.json.decode(model_list([CARD], {}, 5, ["big"]))["data"]
    assert listed[1] == unloaded_entry("big", 5)
    assert (listed[1]["status"], listed[1]["owned_by"]) == ({"value": "unloaded"}, "duologue")
