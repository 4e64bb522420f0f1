"""Setting `model` in a settings file that people edit by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from duologue.config import load
from duologue.config.file_editor import model_line, with_model, write_model
from duologue.errors import StartFailed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "model: M\n"),
        ("port: 1\n", "port: 1\nmodel: M\n"),
        ("port: 1", "port: 1\nmodel: M\n"),
        ("# mine\nmodel: old.gguf  # for now\nport: 1\n", "# mine\nmodel: M\nport: 1\n"),
        ("model:\nport: 1\n", "model: M\nport: 1\n"),
        ("# model: x\n", "# model: x\nmodel: M\n"),
        ("upstream:\n  model: llama\n", "upstream:\n  model: llama\nmodel: M\n"),
    ],
    ids=["empty", "added", "no last newline", "replaced", "was empty", "a comment", "another's"],
)
def test_one_line_changes_and_nothing_else(before: str, after: str) -> None:
    assert with_model(before, "M") == after


@pytest.mark.parametrize(
    "text",
    [
        "{port: 1}",
        "- a\n",
        "port: [1\n",
        "model: >\n  folded\n",
        "model: a\nmodel: b\n",
        "a: |\n  model: x\nmodel\n",
    ],
    ids=["in braces", "a list", "broken", "over two lines", "twice", "not settings"],
)
def test_what_cannot_be_changed_safely_is_not_changed(text: str) -> None:
    assert with_model(text, "M") is None


def test_a_line_inside_a_text_is_no_setting() -> None:
    text = "options: |\n\n  x\nmodel: a\n"
    assert yaml.safe_load(with_model(text, "M") or "") == {"options": "\nx\n", "model": "M"}


@pytest.mark.parametrize("name", ["Qwen3-4B-Q4_K_M", "7", "yes", "a: b", "~", "1e3"])
def test_a_name_is_read_back_as_it_was(name: str) -> None:
    assert yaml.safe_load(model_line(name)) == {"model": name}


def test_the_file_is_made_with_its_folder_and_read_by_the_next_start(tmp_path: Path) -> None:
    write_model(tmp_path / "data" / "duologue.yaml", "M")
    assert load(None, {"DUOLOGUE_DATA": str(tmp_path / "data")}, {}).model == "M"
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["duologue.yaml"]


def test_rights_and_links_stay(tmp_path: Path) -> None:
    real = tmp_path / "real.yaml"
    real.write_text("key: secret\n")
    real.chmod(0o600)
    (tmp_path / "duologue.yaml").symlink_to(real)
    write_model(tmp_path / "duologue.yaml", "M")
    assert (tmp_path / "duologue.yaml").is_symlink()
    assert real.read_text() == "key: secret\nmodel: M\n"
    assert real.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_changed_is_left_alone_and_the_line_reported(tmp_path: Path) -> None:
    file = tmp_path / "duologue.yaml"
    file.write_text("{port: 1}\n")
    with pytest.raises(StartFailed, match="Add this line to it yourself: model: M"):
        write_model(file, "M")
    assert file.read_text() == "{port: 1}\n"


def test_an_unwritable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StartFailed, match="cannot be written"):
        write_model(tmp_path / "file" / "duologue.yaml", "M")
