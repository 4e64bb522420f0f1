"""Which voice packs are on the disk, which one is used, and removing one without what others share."""

import pytest

from duologue.errors import NotFound, Problem
from duologue.models.installed_packs import (
    CHOICE,
    choose_pack,
    chosen_pack,
    installed_packs,
    remove_pack,
    turn_end_file,
)
from duologue.models.voice_packs import SMART_TURN, find_pack


def install(data, *names: str) -> None:
    for name in names:
        for archive in find_pack(name).archives:
            folder = data / "models" / archive.name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "model.onnx").write_bytes(b"12345")


def test_a_pack_is_installed_when_all_its_models_are(tmp_path):
    assert installed_packs(tmp_path) == []
    install(tmp_path, "german")
    assert [pack.name for pack in installed_packs(tmp_path)] == ["german"]
    install(tmp_path, "english")
    assert [pack.name for pack in installed_packs(tmp_path)] == ["english", "german"]


def test_the_choice_is_remembered(tmp_path):
    install(tmp_path, "german")
    assert chosen_pack(tmp_path) is None
    choose_pack(tmp_path, "german")
    assert chosen_pack(tmp_path) == find_pack("german")
    choose_pack(tmp_path, "")
    assert chosen_pack(tmp_path) is None
    choose_pack(tmp_path, "")


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"pack": 3}', b'{"pack": "klingon"}', b'{"pack": "french"}']
)
def test_a_choice_that_is_no_longer_there_is_none(tmp_path, content):
    install(tmp_path, "german")
    (tmp_path / CHOICE).write_bytes(content)
    assert chosen_pack(tmp_path) is None


def test_a_choice_that_cannot_be_written_is_a_sentence(tmp_path):
    with pytest.raises(Problem) as caught:
        choose_pack(tmp_path / "nowhere", "german")
    assert caught.value.code == "write_failed"


def test_what_another_pack_needs_stays(tmp_path):
    install(tmp_path, "german", "english")
    assert remove_pack(find_pack("german"), tmp_path) == 5
    assert [pack.name for pack in installed_packs(tmp_path)] == ["english"]
    assert remove_pack(find_pack("english"), tmp_path) == 10
    assert list((tmp_path / "models").iterdir()) == []


def test_what_is_not_there_cannot_be_removed(tmp_path):
    with pytest.raises(NotFound):
        remove_pack(find_pack("german"), tmp_path)


def test_the_file_for_the_ends_of_turns_goes_with_the_last_pack_that_has_it(tmp_path):
    install(tmp_path, "german", "french")
    assert turn_end_file(find_pack("german"), tmp_path) is None
    file = tmp_path / "models" / SMART_TURN.file
    file.write_bytes(b"a network")
    assert turn_end_file(find_pack("german"), tmp_path) == file
    remove_pack(find_pack("german"), tmp_path)
    assert file.is_file()
    remove_pack(find_pack("french"), tmp_path)
    assert not file.exists()


def test_a_pack_is_installed_without_that_file(tmp_path):
    install(tmp_path, "german")
    assert [pack.name for pack in installed_packs(tmp_path)] == ["german"]
