"""Which projector belongs to which model, in folders as people have them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.tiny_model import TinyModel, write_tiny_model
from tests.support.tiny_projectors import write_projector

from duologue.errors import StartFailed
from duologue.models.catalogue import projector_name
from duologue.models.gguf.header import read
from duologue.models.projectors import bare, candidates, find_projector


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_tiny_model(tmp_path / "Tiny-VL-Instruct-Q4_K_M.gguf", TinyModel(name="Tiny VL Instruct"))


def found(model: Path, named: str = "") -> str:
    projector = find_projector(read(model), named).projector
    return projector.path.name if projector else ""


@pytest.mark.parametrize(
    ("model", "projector"),
    [
        ("Qwen3-VL-4B-Instruct-Q4_K_M.gguf", "mmproj-Qwen3-VL-4B-Instruct-F16.gguf"),
        ("gemma-4-E4B-it-Q4_K_M.gguf", "mmproj-gemma-4-E4B-it-bf16.gguf"),
        ("gemma-4-E2B_q4_0-it.gguf", "mmproj-gemma-4-E2B-it.gguf"),
        ("Qwen3.5-4B-UD-Q4_K_XL.gguf", "mmproj-Qwen3.5-4B-BF16.gguf"),
        ("Ministral-3-8B-Instruct-2512-Q4_K_M.gguf", "Ministral-3-8B-Instruct-2512-BF16-mmproj.gguf"),
        ("model-IQ2_XXS.gguf", "mmproj-model-Q8_0.gguf"),
        ("Big-00001-of-00003.gguf", projector_name("Big-00001-of-00003.gguf")),
    ],
)
def test_names_are_the_same_without_quantisation(model: str, projector: str, tmp_path: Path) -> None:
    for other in ("Other-4B-Q4_K_M.gguf", "mmproj-Other-4B-f16.gguf", model, projector):
        (tmp_path / other).touch()
    assert [path.name for path in candidates(tmp_path / model)] == [projector]


def test_a_projector_without_a_name_belongs_to_the_only_model(model: Path) -> None:
    write_projector(model.with_name("mmproj-BF16.gguf"))
    assert found(model) == "mmproj-BF16.gguf"
    write_tiny_model(model.with_name("Second.gguf"))
    assert found(model) == ""


def test_two_forms_of_one_model_share_it(model: Path) -> None:
    write_projector(model.with_name("mmproj-F16.gguf"))
    write_tiny_model(model.with_name("Tiny-VL-Instruct-Q8_0.gguf"))
    assert found(model) == "mmproj-F16.gguf"


def test_of_several_the_one_in_half_precision_is_taken(model: Path) -> None:
    for kind in ("F32", "BF16", "F16", "Q8_0"):
        write_projector(model.with_name(f"mmproj-{kind}.gguf"))
    assert found(model) == "mmproj-F16.gguf"


def test_one_that_does_not_fit_is_left_out_with_a_word(model: Path) -> None:
    write_projector(model.with_name("mmproj.gguf"), embedding=32)
    result = find_projector(read(model))
    assert result.projector is None
    assert "width 32" in result.warning
    assert "reads text only" in result.warning


def test_a_damaged_one_too(model: Path) -> None:
    model.with_name("mmproj.gguf").write_bytes(b"GGUF" + bytes(100))
    assert "mmproj.gguf" in find_projector(read(model)).warning


def test_a_named_one_must_be_right(model: Path, tmp_path: Path) -> None:
    elsewhere = write_projector(tmp_path / "eyes.gguf")
    assert found(model, str(elsewhere)) == "eyes.gguf"
    assert found(model, "eyes.gguf") == "eyes.gguf", "a name is looked for beside the model"
    with pytest.raises(StartFailed, match="There is no projector"):
        found(model, "missing.gguf")
    write_projector(tmp_path / "wide.gguf", embedding=32)
    with pytest.raises(StartFailed, match="Name the one from the model's own repository"):
        found(model, "wide.gguf")


def test_none_is_text_alone(model: Path) -> None:
    write_projector(model.with_name("mmproj.gguf"))
    assert found(model, "none") == ""


def test_without_any_there_is_nothing_to_say(model: Path) -> None:
    assert find_projector(read(model)) == find_projector(read(model), "none")


def test_a_bare_name() -> None:
    assert bare("mmproj-BF16") == ""
    assert bare("Qwen3-VL-4B-Q4_K_M") == bare("qwen3_vl 4b") == "qwen3vl4b"
