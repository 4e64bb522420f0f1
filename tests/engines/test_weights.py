import pytest

from duologue.engines.weights import (
    archive_command,
    check_files,
    fetch_command,
    files_below,
    find_folder,
    hub_command,
    missing_weights,
    target_folder,
)
from duologue.errors import StartFailed


def test_a_model_is_found_by_its_name_below_the_folder_of_models(tmp_path):
    (tmp_path / "small").mkdir()
    assert find_folder("small", str(tmp_path)) == tmp_path / "small"


def test_a_model_is_found_by_the_name_of_its_repository(tmp_path):
    (tmp_path / "faster-whisper-small").mkdir()
    assert find_folder("small", str(tmp_path), ("faster-whisper-small",)) == tmp_path / "faster-whisper-small"
    assert find_folder("Systran/faster-whisper-small", str(tmp_path)) == tmp_path / "faster-whisper-small"


def test_a_path_is_a_path(tmp_path):
    (tmp_path / "mine").mkdir()
    assert find_folder(str(tmp_path / "mine"), "/nowhere") == tmp_path / "mine"


def test_what_is_not_there_is_not_found(tmp_path):
    assert find_folder("small", str(tmp_path)) is None
    assert find_folder("small", "") is None


def test_the_error_says_where_it_belongs_and_what_fetches_it(tmp_path):
    place = target_folder("small", str(tmp_path), "faster-whisper-small")
    problem = missing_weights("whisper", "small", [hub_command("Systran/faster-whisper-small", place)], place)
    assert problem.code == "weights_missing"
    assert f"hf download Systran/faster-whisper-small --local-dir {place}" in problem.message


def test_without_a_command_the_error_says_where_the_folder_is_to_be_put(tmp_path):
    assert (
        f"Put its folder there: {tmp_path / 'mine'}"
        in missing_weights("x", "mine", [], tmp_path / "mine").message
    )


def test_a_path_with_a_space_is_quoted_in_a_command(tmp_path):
    assert "'my models/x.onnx'" in fetch_command(
        "https://example.org/x.onnx", target_folder("x.onnx", "my models")
    )


def test_a_half_fetched_model_names_the_file_it_lacks(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.bin").touch()
    with pytest.raises(StartFailed, match=r"model\.bin is missing or empty"):
        check_files("whisper", tmp_path, ("config.json", "model.bin"))
    (tmp_path / "model.bin").write_bytes(b"x")
    check_files("whisper", tmp_path, ("config.json", "model.bin"))


def test_an_archive_is_unpacked_beside_the_other_models(tmp_path):
    make, fetch = archive_command("https://example.org/files", tmp_path / "my models" / "small")
    assert make == f"mkdir -p '{tmp_path}/my models'"
    assert (
        fetch == f"curl -L --fail https://example.org/files/small.tar.bz2 | tar -xj -C '{tmp_path}/my models'"
    )


def test_files_are_listed_a_few_levels_deep(tmp_path):
    for name in ("b.onnx", "data/a.txt", "data/x/y.txt", "data/x/y/too-deep.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert files_below(tmp_path) == ["b.onnx", "data/a.txt", "data/x/y.txt"]
