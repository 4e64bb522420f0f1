"""What is told of models, from cards and from files."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.tiny_model import TinyModel, write_tiny_model

from duologue.config import Settings
from duologue.errors import ModelNotFound
from duologue.gateway.models.available import AvailableModels
from duologue.gateway.ollama.model_details import (
    ModelDetails,
    abilities_of_card,
    abilities_of_file,
    thinks,
)
from duologue.models.gguf.reader import LongArray, Metadata
from duologue.values.requests import ModelCard
from duologue.wire.worker_protocol import LoadSpec


@pytest.mark.parametrize(
    ("card", "able"),
    [
        (ModelCard("m", "llama", 1), ("completion",)),
        (ModelCard("m", "llama", 1, verbs=("tools", "thinking")), ("completion", "tools", "thinking")),
        (ModelCard("m", "llama", 1, verbs=("infill",)), ("completion", "insert")),
        (
            ModelCard("m", "llama", 1, modalities=("text", "image", "audio")),
            ("completion", "vision", "audio"),
        ),
        (ModelCard("m", "llama", 1, thoughts="<think>"), ("completion", "thinking")),
        (ModelCard("m", "llama", 1, verbs=("embed",)), ("embedding",)),
    ],
)
def test_the_abilities_of_a_card(card: ModelCard, able: tuple[str, ...]) -> None:
    assert abilities_of_card(card) == able
    assert thinks(card) is ("thinking" in able)


@pytest.mark.parametrize(
    ("entries", "able"),
    [
        ({}, ("completion", "vision")),
        ({"tokenizer.chat_template": "{% if tools %}<think>"}, ("completion", "tools", "vision", "thinking")),
        ({"general.architecture": "nomic-bert"}, ("embedding",)),
        ({"general.architecture": "qwen3", "qwen3.pooling_type": 3}, ("embedding",)),
    ],
)
def test_the_abilities_of_a_file(entries: dict[str, object], able: tuple[str, ...]) -> None:
    assert abilities_of_file(Metadata(entries), ("image",)) == able  # type: ignore[arg-type]


def test_a_broken_file_is_listed_without_its_details(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "broken.gguf").write_bytes(b"GGUF and then nothing")
    details = ModelDetails(AvailableModels(Settings(engine="scripted", data=tmp_path), []), 0.0)
    entry = next(model for model in details.all([], {}) if model.name == "broken")
    assert (entry.size, entry.family, entry.format) == (21, "", "gguf")
    model, shown = details.shown("broken", None)
    assert (model.name, shown.capabilities, shown.information) == ("broken", ("completion",), {})


def test_long_lists_of_a_header_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    write_tiny_model(tmp_path / "models" / "tiny.gguf", TinyModel())
    details = ModelDetails(AvailableModels(Settings(engine="scripted", data=tmp_path), []), 0.0)
    _, shown = details.shown("tiny", None)
    assert shown.information["tokenizer.ggml.tokens"] is None
    assert "tokenizer.chat_template" not in shown.information
    assert shown.information["general.parameter_count"]
    assert not any(isinstance(value, LongArray) for value in shown.information.values())


def test_a_model_without_a_file_has_what_its_settings_say(tmp_path: Path) -> None:
    spec = LoadSpec("worker_0", "scripted", "scripted", {})
    details = ModelDetails(AvailableModels(Settings(engine="scripted", data=tmp_path), [spec]), 5.0)
    entry = details.all([], {})[0]
    assert (entry.name, entry.family, entry.modified) == ("scripted", "scripted", 5.0)
    assert details.loaded(ModelCard("scripted", "scripted", 9)).family == "scripted"
    with pytest.raises(ModelNotFound):
        details.shown("nobody", None)
