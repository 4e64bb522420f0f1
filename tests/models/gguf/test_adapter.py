"""LoRA adapters: which files are some, and whether they belong to a model."""

from pathlib import Path

import pytest
from tests.support.tiny_model import TinyModel, write_tiny_adapter, write_tiny_model

from duologue.errors import BadRequest, NotFound
from duologue.models.gguf.adapter import MOST, check_adapters, find_adapter, list_adapters, read_adapter
from duologue.models.gguf.header import read


def test_adapters_are_found_by_their_names_alone(tmp_path: Path) -> None:
    write_tiny_adapter(tmp_path / "pirate.gguf")
    (tmp_path / "notes.txt").write_text("no adapter")
    assert list_adapters(tmp_path) == ["pirate"]
    assert (
        find_adapter(tmp_path, "pirate.gguf") == find_adapter(tmp_path, "pirate") == tmp_path / "pirate.gguf"
    )
    for name in ("../pirate", "notes", "", "/etc/passwd"):
        with pytest.raises(NotFound) as met:
            find_adapter(tmp_path, name)
        assert met.value.code == "lora_not_found"
    assert list_adapters(tmp_path / "nowhere") == []


def test_an_adapter_that_was_made_for_the_model_fits(tmp_path: Path) -> None:
    header = read(write_tiny_model(tmp_path / "m.gguf"))
    adapter = read_adapter(write_tiny_adapter(tmp_path / "a.gguf"))
    assert (adapter.name, adapter.architecture, len(adapter.tensors)) == ("a", "llama", 8 // 2)
    check_adapters(header, [adapter])


@pytest.mark.parametrize(
    ("adapter", "reason"),
    [
        ({"model": TinyModel(embedding=32)}, "another shape"),
        ({"model": TinyModel(blocks=3)}, "has nothing that"),
        ({"architecture": "qwen2"}, "made for qwen2"),
    ],
)
def test_an_adapter_of_another_model_is_refused_with_the_reason(tmp_path: Path, adapter, reason: str) -> None:
    header = read(write_tiny_model(tmp_path / "m.gguf"))
    other = read_adapter(write_tiny_adapter(tmp_path / "a.gguf", **adapter))
    with pytest.raises(BadRequest, match=reason) as met:
        check_adapters(header, [other])
    assert met.value.code == "lora_unusable"


def test_a_file_that_is_no_adapter_is_refused(tmp_path: Path) -> None:
    model = write_tiny_model(tmp_path / "m.gguf")
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(write_tiny_adapter(tmp_path / "a.gguf").read_bytes()[:-100])
    (tmp_path / "text.gguf").write_text("hello")
    for path in (model, broken, tmp_path / "text.gguf", tmp_path / "missing.gguf"):
        with pytest.raises(BadRequest) as met:
            read_adapter(path)
        assert met.value.code == "lora_unusable"


def test_a_model_takes_a_bounded_number_of_adapters(tmp_path: Path) -> None:
    header = read(write_tiny_model(tmp_path / "m.gguf"))
    adapter = read_adapter(write_tiny_adapter(tmp_path / "a.gguf"))
    with pytest.raises(BadRequest, match="at most"):
        check_adapters(header, [adapter] * (MOST + 1))
