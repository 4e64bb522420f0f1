"""How a name becomes a model file."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from duologue.errors import StartFailed
from duologue.models import catalogue
from duologue.models.catalogue import bundled_model, find_model, list_models, model_name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "Small-Q4_K_M.gguf",
        "deep/Other.gguf",
        "Big-00001-of-00002.gguf",
        "Big-00002-of-00002.gguf",
        "mmproj-Small.gguf",
        "notes.txt",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def test_it_lists_each_model_once_and_no_projector(folder: Path) -> None:
    assert [path.name for path in list_models(folder)] == [
        "Big-00001-of-00002.gguf",
        "Other.gguf",
        "Small-Q4_K_M.gguf",
    ]


def test_a_folder_that_is_not_there_has_no_models(tmp_path: Path) -> None:
    assert list_models(tmp_path / "absent") == []


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("Small-Q4_K_M", "Small-Q4_K_M.gguf"),
        ("Small-Q4_K_M.gguf", "Small-Q4_K_M.gguf"),
        ("small-q4_k_m", "Small-Q4_K_M.gguf"),
        ("Other", "deep/Other.gguf"),
        ("deep/Other.gguf", "deep/Other.gguf"),
        ("Big", "Big-00001-of-00002.gguf"),
    ],
)
def test_a_name_finds_its_file(folder: Path, name: str, file: str) -> None:
    assert find_model(name, folder) == folder / file


def test_a_path_is_taken_as_it_is(folder: Path) -> None:
    path = folder / "Small-Q4_K_M.gguf"
    assert find_model(str(path), folder / "elsewhere") == path


def test_a_path_that_is_not_there_is_said_so(folder: Path) -> None:
    with pytest.raises(StartFailed, match=r"no model file at /nowhere/x\.gguf"):
        find_model("/nowhere/x.gguf", folder)


def test_a_misspelt_name_is_answered_with_the_nearest(folder: Path) -> None:
    with pytest.raises(StartFailed, match="Did you mean 'Small-Q4_K_M'"):
        find_model("Smal-Q4_K_M", folder)


def test_an_unknown_name_is_answered_with_what_there_is(folder: Path) -> None:
    with pytest.raises(StartFailed, match="There are: Big, Other, Small-Q4_K_M"):
        find_model("zzz", folder)


def test_an_empty_folder_says_where_to_put_a_model(tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match="holds none"):
        find_model("zzz", tmp_path)


def test_two_models_of_one_name_are_both_named(folder: Path) -> None:
    (folder / "Other.gguf").touch()
    (folder / "second").mkdir()
    (folder / "second" / "Small-Q4_K_M.gguf").touch()
    with pytest.raises(StartFailed, match="Several models are called 'small-q4_k_m'"):
        find_model("small-q4_k_m", folder)


def test_the_bundled_model_is_a_file_or_a_sentence() -> None:
    try:
        path = bundled_model()
    except StartFailed as problem:
        sentence = problem.message
    else:
        assert path.is_file()
        return
    assert "--model FILE.gguf" in sentence


def test_the_bundled_model_answers_to_its_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / f"{catalogue.BUNDLED}.gguf").touch()
    monkeypatch.setattr(resources, "files", lambda package: tmp_path)
    assert find_model(catalogue.BUNDLED, folder / "deep") == tmp_path / "duologue-mini.gguf"


def test_a_split_model_is_called_by_its_stem() -> None:
    assert model_name(Path("/m/Big-00001-of-00002.gguf")) == "Big"
    assert model_name(Path("/m/Small.gguf")) == "Small"


def test_the_file_of_a_recommended_model_has_its_name(tmp_path: Path) -> None:
    path = tmp_path / "Qwen3-4B-Q4_K_M.gguf"
    path.write_bytes(b"")
    assert model_name(path) == "qwen3-4b"
    assert find_model("qwen3-4b", tmp_path) == find_model("Qwen3-4B-Q4_K_M", tmp_path) == path
    assert model_name(tmp_path / "gpt-oss-120b-mxfp4-00001-of-00003.gguf") == "gpt-oss-120b"


def test_a_model_has_the_names_of_its_path_and_of_the_recommended_model() -> None:
    assert catalogue.names_of("") == ("", "duologue-mini")
    assert catalogue.names_of("~/files/Own-Q8_0.gguf") == ("~/files/Own-Q8_0.gguf", "Own-Q8_0")
    name, stem = next((name, stem) for name, (stem,) in catalogue.RECOMMENDED_STEMS.items())
    assert stem in catalogue.names_of(name)
    assert name in {one.lower() for one in catalogue.names_of(f"/files/{stem}.gguf")}
