"""The lists of models of many kinds of servers, as those servers write them."""

import json
from typing import Any

import pytest

from duologue.models.upstream_models import (
    MOST_MODELS,
    parse_models,
    questions,
    smallest_first,
    with_answers,
    with_llama_properties,
    with_lm_studio,
    with_ollama,
)
from duologue.values.requests import UpstreamModel

SEES = ("text", "image")
ALL = ("text", "image", "audio", "video")


def listed(*entries: dict[str, Any]) -> tuple[UpstreamModel, ...]:
    return parse_models(json.dumps({"object": "list", "data": entries}).encode()).models


@pytest.mark.parametrize(
    ("entry", "model"),
    [
        ({"id": "plain", "object": "model"}, UpstreamModel("plain")),
        ({"id": "vllm", "max_model_len": 32768}, UpstreamModel("vllm", 32768)),
        (
            {
                "id": "openrouter",
                "context_length": 131072,
                "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
                "supported_parameters": ["temperature", "tools"],
            },
            UpstreamModel("openrouter", 131072, modalities=SEES, tools=True),
        ),
        (
            {
                "id": "mistral",
                "max_context_length": 32000,
                "capabilities": {"completion_chat": True, "vision": False, "function_calling": True},
            },
            UpstreamModel("mistral", 32000, modalities=("text",), tools=True),
        ),
        ({"id": "groq", "context_window": 8192, "active": True}, UpstreamModel("groq", 8192)),
        (
            {"id": "duologue", "context_length": 4096, "modalities": ["text"], "capabilities": ["count"]},
            UpstreamModel("duologue", 4096, modalities=("text",), tools=False),
        ),
        (
            {
                "id": "omni",
                "architecture": {
                    "input_modalities": ["file", "video", "audio", "text", "image"],
                    "output_modalities": ["text", "audio"],
                },
            },
            UpstreamModel("omni", modalities=ALL, outputs=("text", "audio")),
        ),
        (
            {"id": "speaks", "modalities": ["text", "audio"], "outputs": ["text", "audio"]},
            UpstreamModel("speaks", modalities=("text", "audio"), outputs=("text", "audio")),
        ),
        ({"id": "a chain", "modalities": ["text"], "untold": ["image"]}, UpstreamModel("a chain")),
        (
            {"id": "voxtral", "capabilities": {"completion_chat": True, "vision": False, "audio": True}},
            UpstreamModel("voxtral", modalities=("text", "audio")),
        ),
        (
            {"id": "litellm", "supports_vision": True, "supports_audio_output": True},
            UpstreamModel("litellm", modalities=SEES, outputs=("text", "audio")),
        ),
        ({"id": "odd", "context_length": "many", "capabilities": 5}, UpstreamModel("odd")),
        ({"id": "none", "context_length": 0}, UpstreamModel("none")),
    ],
)
def test_what_a_list_says_of_a_model_is_read_and_the_rest_is_unknown(
    entry: dict[str, Any], model: UpstreamModel
) -> None:
    assert listed(entry) == (model,)


@pytest.mark.parametrize(
    "entry",
    [
        {"id": "whisper-1"},
        {"id": "gpt-4o-mini-tts"},
        {"id": "dall-e-3"},
        {"id": "flux", "architecture": {"output_modalities": ["image"]}},
        {"id": "ocr", "capabilities": {"completion_chat": False}},
        {"id": "retired", "active": False},
    ],
)
def test_a_model_of_no_use_here_is_left_out(entry: dict[str, Any]) -> None:
    assert listed(entry, {"id": "chat"}) == (UpstreamModel("chat"),)


@pytest.mark.parametrize(
    ("entry", "task"),
    [
        ({"id": "text-embedding-3-small"}, "embed"),
        ({"id": "nomic-embed-text:latest"}, "embed"),
        ({"id": "bge-reranker-v2-m3"}, "rerank"),
        ({"id": "some-model", "type": "embedding"}, "embed"),
        ({"id": "some-model", "type": "rerank"}, "rerank"),
        ({"id": "some-model", "mode": "embedding"}, "embed"),
        ({"id": "mistral-embed", "capabilities": {"completion_chat": False}}, "embed"),
        ({"id": "ours", "capabilities": ["rerank"]}, "rerank"),
        ({"id": "open", "architecture": {"output_modalities": ["embeddings"]}}, "embed"),
        ({"id": "embedded-chat", "architecture": {"output_modalities": ["text"]}}, "chat"),
        ({"id": "both", "capabilities": ["completion", "embedding"]}, "chat"),
    ],
)
def test_a_list_says_what_a_model_is_for_or_its_name_does(entry: dict[str, Any], task: str) -> None:
    [model] = listed(entry)
    assert model.task == task


def test_only_a_model_that_chats_is_asked_for_first_words() -> None:
    models = [UpstreamModel("mini-embed", task="embed"), UpstreamModel("big"), UpstreamModel("mini")]
    assert [model.name for model in smallest_first(models)] == ["mini", "big"]


def test_a_bare_list_is_a_list_too() -> None:
    assert parse_models(b'[{"id": "together", "type": "chat"}]').models == (UpstreamModel("together"),)


def test_entries_without_a_usable_name_and_repeated_ones_are_left_out() -> None:
    entries = [
        {"id": "one"},
        {"id": "one"},
        {"id": 5},
        {"id": "x" * 500},
        {"id": "a\nb"},
        "text",
        {"name": "two"},
    ]
    content = json.dumps({"data": entries}).encode()
    assert parse_models(content).models == (UpstreamModel("one"),)
    assert parse_models(content).omitted == len(entries) - 1


def test_an_endless_list_is_cut() -> None:
    content = json.dumps({"data": [{"id": f"model-{number}"} for number in range(5000)]}).encode()
    assert len(parse_models(content).models) == MOST_MODELS
    assert parse_models(content).omitted == 5000 - MOST_MODELS


@pytest.mark.parametrize(
    "content",
    [b"", b"<html>", b"5", b'"text"', b"{}", b'{"data": 5}', b'{"data": [1, 2]}', b"[" * 100_000],
)
def test_what_is_no_list_of_models_is_an_error(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"^(not|a list without)"):
        parse_models(content)


def test_an_empty_list_is_a_list() -> None:
    assert parse_models(b'{"data": []}').models == ()


@pytest.mark.parametrize(
    ("owner", "kind"),
    [
        ("library", "ollama"),
        ("vllm", "vllm"),
        ("llamacpp", "llamacpp"),
        ("pygmalionai", "aphrodite"),
        ("me", ""),
    ],
)
def test_a_server_is_recognised_by_its_list(owner: str, kind: str) -> None:
    assert parse_models(json.dumps({"data": [{"id": "m", "owned_by": owner}]}).encode()).kind == kind


def test_ollama_says_elsewhere_what_a_model_can_do_and_its_context_stays_unknown() -> None:
    models = [UpstreamModel(name) for name in ("seeing", "hearing", "embeds", "unknown")]
    shown = {
        "seeing": json.dumps(
            {"capabilities": ["completion", "vision"], "model_info": {"llama.context_length": 131072}}
        ).encode(),
        "hearing": b'{"capabilities": ["completion", "tools", "audio"]}',
        "embeds": b'{"capabilities": ["embedding"]}',
        "unknown": b"not JSON",
    }
    assert list(with_ollama(models, shown)) == [
        UpstreamModel("seeing", None, modalities=SEES, tools=False),
        UpstreamModel("hearing", None, modalities=("text", "audio"), tools=True),
        UpstreamModel("embeds", modalities=("text",), task="embed"),
        UpstreamModel("unknown"),
    ]


def test_lm_studio_says_what_context_a_loaded_model_has() -> None:
    new = {
        "models": [
            {
                "key": "big",
                "type": "llm",
                "loaded_instances": [{"id": "big", "config": {"context_length": 8192}}],
                "max_context_length": 131072,
                "capabilities": {"vision": True, "trained_for_tool_use": True},
            },
            {"key": "embeds", "type": "embedding"},
        ]
    }
    old = {
        "data": [
            {"id": "big", "type": "vlm", "loaded_context_length": 4096, "capabilities": ["tool_use"]},
            {"id": "small", "type": "llm", "max_context_length": 4096},
        ]
    }
    models = [UpstreamModel("big"), UpstreamModel("embeds")]
    assert list(with_lm_studio(models, json.dumps(new).encode())) == [
        UpstreamModel("big", 8192, modalities=SEES, tools=True),
        UpstreamModel("embeds", task="embed"),
    ]
    models = [UpstreamModel("big"), UpstreamModel("small"), UpstreamModel("new")]
    assert list(with_lm_studio(models, json.dumps(old).encode())) == [
        UpstreamModel("big", 4096, modalities=SEES, tools=True),
        UpstreamModel("small", None, modalities=("text",), tools=None),
        UpstreamModel("new"),
    ]
    assert list(with_lm_studio(models, b"")) == models


def test_llama_server_says_what_its_one_model_has() -> None:
    content = (
        b'{"default_generation_settings": {"n_ctx": 16384}, "modalities": {"vision": true, "audio": false}}'
    )
    assert list(with_llama_properties([UpstreamModel("m", 99)], content)) == [
        UpstreamModel("m", 16384, modalities=SEES)
    ]
    omni = b'{"modalities": {"vision": false, "audio": true, "video": true}}'
    assert list(with_llama_properties([UpstreamModel("m", 99)], omni)) == [
        UpstreamModel("m", 99, modalities=("text", "audio", "video"))
    ]
    assert list(with_llama_properties([UpstreamModel("m", 99)], b"[]")) == [UpstreamModel("m", 99)]


def test_each_kind_of_server_is_asked_where_it_says_more() -> None:
    models = (UpstreamModel("m"), UpstreamModel("n"))
    assert questions("lmstudio", models) == (("/api/v1/models", None), ("/api/v0/models", None))
    assert questions("ollama", models) == (("/api/show", {"model": "m"}), ("/api/show", {"model": "n"}))
    assert questions("llamacpp", models) == (("/props", None),)
    assert questions("vllm", models) == ()


def test_the_answers_are_those_of_the_models() -> None:
    models = (UpstreamModel("m"), UpstreamModel("n"))
    older = b'{"data": [{"id": "n", "type": "vlm"}]}'
    seen = (UpstreamModel("m"), UpstreamModel("n", modalities=SEES))
    assert with_answers("lmstudio", models, [b"", older]) == seen
    assert with_answers("ollama", models, [b"", b'{"capabilities": ["completion", "vision"]}']) == (
        UpstreamModel("m"),
        UpstreamModel("n", modalities=SEES, tools=False),
    )
    assert with_answers("llamacpp", models[:1], [b'{"modalities": {"vision": true}}']) == (
        UpstreamModel("m", modalities=SEES),
    )
    assert with_answers("vllm", models, []) == models


def test_a_small_model_is_asked_first() -> None:
    names = ["huge-opus", "gpt-mini", "gemini-pro", "llama-8b", "minimal"]
    order = [model.name for model in smallest_first(UpstreamModel(name) for name in names)]
    assert order == ["gpt-mini", "llama-8b", "huge-opus", "gemini-pro", "minimal"]


def test_sglang_says_elsewhere_whether_it_sees() -> None:
    listed = parse_models(b'{"data": [{"id": "m", "owned_by": "sglang", "max_model_len": 4096}]}')
    assert (listed.kind, listed.models[0].context) == ("sglang", 4096)
    assert questions("sglang", listed.models) == (("/model_info", None),)
    answer = b'{"has_image_understanding": true, "has_audio_understanding": false}'
    assert with_answers("sglang", listed.models, [answer])[0].modalities == ("text", "image")
    blind = b'{"has_image_understanding": false}'
    assert with_answers("sglang", listed.models, [blind])[0].modalities == ("text",)
    for silent in (b"", b"{}", b'{"has_image_understanding": null}'):
        assert with_answers("sglang", listed.models, [silent])[0].modalities is None


def test_litellm_is_known_by_its_list_and_says_the_rest_elsewhere() -> None:
    one = b'{"id": "%s", "object": "model", "created": 1677610602, "owned_by": "openai"}'
    listed = parse_models(b'{"data": [%s, %s]}' % (one % b"eyes", one % b"mystery"))
    assert listed.kind == "litellm"
    assert questions("litellm", listed.models) == (("/model/info", None),)
    information = {"supports_vision": True, "supports_function_calling": False, "max_input_tokens": 128000}
    unknown = {"supports_vision": None, "supports_function_calling": None, "max_input_tokens": None}
    answer = {
        "data": [
            {"model_name": "eyes", "model_info": information},
            {"model_name": "mystery", "model_info": unknown},
        ]
    }
    eyes, mystery = with_answers("litellm", listed.models, [json.dumps(answer).encode()])
    assert (eyes.modalities, eyes.tools, eyes.context) == (("text", "image"), False, 128000)
    assert (mystery.modalities, mystery.tools, mystery.context) == (None, None, None)
    refused = with_answers("litellm", listed.models, [b""])
    assert refused == listed.models


def test_a_list_of_openais_own_is_not_one_of_litellm() -> None:
    entries = [
        {"id": "gpt-3.5-turbo", "created": 1677610602, "owned_by": "openai"},
        {"id": "gpt-4o", "created": 1715367049, "owned_by": "system"},
    ]
    assert parse_models(json.dumps({"data": entries}).encode()).kind == ""
