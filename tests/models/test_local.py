"""The models in a folder: whole, unfinished_downloads, and taken away."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from duologue.errors import BadRequest, Busy, ModelNotFound, Problem
from duologue.models.local import local_models, remove, unfinished_downloads


@pytest.fixture
def shelf(folder: Path, content: bytes) -> Path:
    """A whole model, a broken one, an unfinished one, and two split ones of which one is not finished."""
    (folder / "deep").mkdir(parents=True)
    (folder / "Whole-Q4_0.gguf").write_bytes(content)
    (folder / "deep" / "Broken.gguf").write_bytes(b"nothing of the kind")
    (folder / "Half.gguf.part").write_bytes(b"x" * 100)
    (folder / "Half.gguf.part.json").write_bytes(b"{}")
    for number in (1, 2):
        (folder / f"Split-0000{number}-of-00002.gguf").write_bytes(content)
    (folder / "Late-00003-of-00003.gguf").write_bytes(b"x" * 30)
    (folder / "Late-00002-of-00003.gguf.part").write_bytes(b"x" * 20)
    return folder


def test_whole_models_are_listed_with_what_their_header_says(shelf: Path) -> None:
    entries = {entry.name: entry for entry in local_models(shelf)}
    assert set(entries) == {"Whole-Q4_0", "Broken", "Split"}
    header = entries["Whole-Q4_0"].header
    assert header is not None
    assert (header.architecture, header.trained_context) == ("llama", 512)


def test_a_broken_one_is_listed_with_what_is_wrong(shelf: Path) -> None:
    (broken,) = (entry for entry in local_models(shelf) if entry.name == "Broken")
    assert broken.header is None
    assert "is not a GGUF model" in broken.problem


def test_unfinished_downloads_are_listed_with_their_bytes(shelf: Path) -> None:
    assert [(entry.name, entry.size) for entry in unfinished_downloads(shelf)] == [
        ("Half", 100),
        ("Late", 50),
    ]


def test_a_folder_that_is_not_there_holds_nothing(folder: Path) -> None:
    assert local_models(folder) == []
    assert unfinished_downloads(folder) == []


@pytest.mark.parametrize("name", ["Whole-Q4_0", "whole-q4_0", "Whole-Q4_0.gguf"])
def test_a_model_is_removed_by_its_name(shelf: Path, content: bytes, name: str) -> None:
    assert remove(name, shelf) == ("Whole-Q4_0", len(content))
    assert "Whole-Q4_0" not in {entry.name for entry in local_models(shelf)}


def test_a_model_in_a_folder_below_is_removed_by_its_path(shelf: Path) -> None:
    assert remove("deep/Broken", shelf)[0] == "Broken"
    assert not (shelf / "deep" / "Broken.gguf").exists()


def test_all_parts_of_a_split_model_go(shelf: Path, content: bytes) -> None:
    assert remove("Split", shelf) == ("Split", 2 * len(content))
    assert not list(shelf.glob("Split*"))


@pytest.mark.parametrize(("name", "freed"), [("Half", 100), ("Late", 50)])
def test_what_is_unfinished_goes_with_its_record(shelf: Path, name: str, freed: int) -> None:
    assert remove(name, shelf) == (name, freed)
    assert not list(shelf.glob(f"{name}*"))


def test_nothing_else_goes(shelf: Path) -> None:
    before = {path for path in shelf.rglob("*") if path.is_file()}
    remove("Half", shelf)
    gone = before - {path for path in shelf.rglob("*") if path.is_file()}
    assert {path.name for path in gone} == {"Half.gguf.part", "Half.gguf.part.json"}


def test_what_is_being_downloaded_stays(shelf: Path) -> None:
    with (shelf / "Half.gguf.part").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(Busy, match="being downloaded"):
            remove("Half", shelf)
    assert (shelf / "Half.gguf.part").exists()


def test_a_link_goes_and_what_it_leads_to_stays(shelf: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.gguf"
    elsewhere.write_bytes(b"x")
    (shelf / "Link.gguf").symlink_to(elsewhere)
    remove("Link", shelf)
    assert elsewhere.exists()
    assert not (shelf / "Link.gguf").is_symlink()


@pytest.mark.parametrize(
    "name", ["../Whole-Q4_0", "nowhere/Whole-Q4_0", "/etc/passwd", "gone", "", "*", "/", "."]
)
def test_nothing_outside_the_folder_and_nothing_unknown_is_removed(shelf: Path, name: str) -> None:
    outside = shelf.parent / "Outside.gguf"
    outside.write_bytes(b"x")
    before = sorted(shelf.parent.rglob("*"))
    with pytest.raises(ModelNotFound):
        remove("../Outside", shelf)
    with pytest.raises(ModelNotFound):
        remove(name, shelf)
    assert sorted(shelf.parent.rglob("*")) == before


def test_an_unknown_name_tells_those_there_are(shelf: Path) -> None:
    with pytest.raises(ModelNotFound, match="There are: Broken, Half, Late, Split, Whole-Q4_0"):
        remove("gone", shelf)


def test_two_of_one_name_are_left_to_the_person(shelf: Path, content: bytes) -> None:
    (shelf / "deep" / "Whole-Q4_0.gguf").write_bytes(content)
    with pytest.raises(BadRequest, match="Several models"):
        remove("Whole-Q4_0", shelf)


def test_one_of_several_of_a_name_is_removed_by_its_place(shelf: Path, content: bytes) -> None:
    (shelf / "deep" / "Whole-Q4_0.gguf").write_bytes(content)
    assert remove("deep/whole-q4_0.gguf", shelf) == ("Whole-Q4_0", len(content))
    assert [path.parent for path in shelf.rglob("Whole*")] == [shelf]


def test_names_that_differ_in_case_alone_are_left_to_the_person(shelf: Path, content: bytes) -> None:
    (shelf / "whole-q4_0.gguf").write_bytes(content)
    with pytest.raises(BadRequest, match="Several models"):
        remove("Whole-Q4_0", shelf)


def test_a_download_that_ends_while_one_looks_counts_for_nothing(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.rglob

    def rglob(folder: Path, pattern: str) -> list[Path]:
        return [*real(folder, pattern), *([folder / "Gone.gguf.part"] if pattern.endswith(".part") else [])]

    monkeypatch.setattr(Path, "rglob", rglob)
    monkeypatch.setattr(Path, "is_file", lambda path: True)
    assert ("Gone", 0) in [(entry.name, entry.size) for entry in unfinished_downloads(shelf)]


def test_what_may_not_be_removed_is_a_sentence(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(Problem, match="cannot be removed: Permission denied") as met:
        remove("Whole-Q4_0", shelf)
    assert met.value.code == "write_failed"


def test_the_bundled_model_stays(shelf: Path) -> None:
    with pytest.raises(BadRequest, match="part of Duologue itself"):
        remove("duologue-mini", shelf)
