"""The answers of Ollama's API about models."""

from __future__ import annotations

import json

import pytest

from duologue.errors import BadRequest
from duologue.wire.ollama.ollama_models import (
    NamedModelBody,
    OllamaEmbedBody,
    OllamaModel,
    PullStep,
    PullStream,
    ShownModel,
    downloadable,
    embedded,
    file_name,
    short_count,
    tagged,
    untagged,
)
from duologue.wire.validation import validate

MODEL = OllamaModel("tiny", 1000, 1700000000.0, "gguf", "llama", 8_030_000_000, "Q4_K_M")


def test_an_entry_of_the_list() -> None:
    assert MODEL.listed() == {
        "name": "tiny:latest",
        "model": "tiny:latest",
        "modified_at": "2023-11-14T22:13:20.000000Z",
        "size": 1000,
        "digest": MODEL.digest,
        "details": {
            "parent_model": "",
            "format": "gguf",
            "family": "llama",
            "families": ["llama"],
            "parameter_size": "8.0B",
            "quantization_level": "Q4_K_M",
        },
    }
    assert len(MODEL.digest) == 64
    assert MODEL.digest != OllamaModel("tiny", 1001, 1700000000.0).digest


def test_a_running_model_expires_in_a_hundred_years() -> None:
    row = MODEL.running(1700000000.0, 4096, on_card=True)
    assert (row["size_vram"], row["context_length"]) == (1000, 4096)
    assert str(row["expires_at"]).startswith("2123-")
    assert MODEL.running(0, 1, on_card=False)["size_vram"] == 0


def test_what_is_shown_of_a_model() -> None:
    shown = ShownModel(
        ("completion", "tools"), {"general.architecture": "llama"}, "{{ x }}", "MIT", 4096, {"top_k": 40}
    )
    body = shown.body(MODEL)
    assert body["parameters"] == f"{'num_ctx':<30} 4096\n{'top_k':<30} 40"
    assert str(body["modelfile"]).splitlines()[0] == "FROM tiny:latest"
    assert body["capabilities"] == ["completion", "tools"]
    assert (body["template"], body["license"]) == ("{{ x }}", "MIT")
    assert body["model_info"] == {"general.architecture": "llama"}
    assert ShownModel(("completion",)).body(MODEL)["parameters"] == ""


@pytest.mark.parametrize(
    ("name", "with_tag"),
    [
        ("tiny", "tiny:latest"),
        ("qwen3:4b", "qwen3:4b"),
        ("Server/tiny", "Server/tiny:latest"),
        ("host:8000/tiny", "host:8000/tiny:latest"),
    ],
)
def test_names_get_a_tag(name: str, with_tag: str) -> None:
    assert tagged(name) == with_tag
    assert untagged(with_tag) == name


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("qwen3:4b", "qwen3-4b"),
        ("qwen3-4b:latest", "qwen3-4b"),
        ("hf.co/someone/Tiny-GGUF:Q4_K_M", "hf.co/someone/Tiny-GGUF:Q4_K_M"),
        ("hf.co/someone/Tiny-GGUF:latest", "hf.co/someone/Tiny-GGUF"),
    ],
)
def test_names_of_the_library_are_those_of_the_catalogue(name: str, what: str) -> None:
    assert downloadable(name) == what


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("hf.co/someone/Tiny-GGUF:Q4_K_M", "Tiny-Q4_K_M"),
        ("someone/tiny-gguf:latest", "tiny"),
        ("qwen3:4b", ""),
    ],
)
def test_a_model_of_a_hub_is_found_by_its_file(name: str, file: str) -> None:
    assert file_name(name) == file


def test_a_download_in_the_words_of_ollama() -> None:
    stream, states = PullStream(), ("waiting", "running", "running", "running", "checking", "done")
    sizes = [(0, 0), (0, 0), (100, 10), (100, 10), (100, 100), (100, 100)]
    text = b"".join(
        stream.encode(PullStep("a/b", state, *size)) for state, size in zip(states, sizes, strict=True)
    )
    rows = [json.loads(line) for line in text.splitlines()]
    digest = rows[1].pop("digest")
    assert digest.startswith("sha256:")
    assert rows == [
        {"status": "pulling manifest"},
        {"status": f"pulling {digest[7:19]}", "total": 100, "completed": 10},
        {"status": "verifying sha256 digest"},
        {"status": "writing manifest"},
        {"status": "success"},
    ]
    assert stream.ended


def test_a_silence_repeats_the_last_line() -> None:
    stream = PullStream()
    stream.encode(PullStep("a/b", "running", 100, 10))
    assert json.loads(stream.note)["completed"] == 10


@pytest.mark.parametrize(
    ("number", "text"), [(8_030_000_000, "8.0B"), (134_515_000, "134.51M"), (12_000, "12K")]
)
def test_counts_are_short(number: int, text: str) -> None:
    assert short_count(number) == text


def test_an_older_client_names_its_model_otherwise() -> None:
    assert validate(NamedModelBody, {"name": "tiny"}).named() == "tiny"
    with pytest.raises(BadRequest, match="model is missing"):
        validate(NamedModelBody, {}).named()


def test_one_text_to_embed_is_a_list_of_one() -> None:
    assert validate(OllamaEmbedBody, {"input": "x"}).input == ["x"]
    assert validate(OllamaEmbedBody, {"input": ["x", "y"]}).input == ["x", "y"]
    assert embedded("m", [[1.0]], 3, 5)["prompt_eval_count"] == 3
