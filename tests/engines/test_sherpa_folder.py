"""The folder of a model of sherpa-onnx, and the cards that its builds can use."""

from pathlib import Path

import pytest

from duologue.engines import sherpa_folder
from duologue.engines.devices import Device
from duologue.engines.sherpa_folder import check_precision, find_sherpa_model, require_sherpa_card
from duologue.errors import StartFailed


def find(models: Path, kind: str | None = "tiny") -> tuple[Path, str]:
    return find_sherpa_model(
        "m",
        str(models),
        "https://releases",
        detect=lambda names, metadata: kind,
        files=lambda kind: ["tokens.txt"],
        known="a model of a kind that is known",
    )


def test_a_folder_is_found_with_the_kind_of_its_model(tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match="https://releases"):
        find(tmp_path)
    (tmp_path / "m").mkdir()
    with pytest.raises(StartFailed, match=r"are not a model of a kind that is known\."):
        find(tmp_path, None)
    with pytest.raises(StartFailed, match=r"tokens\.txt"):
        find(tmp_path)
    (tmp_path / "m" / "tokens.txt").write_text("a 0")
    assert find(tmp_path) == (tmp_path / "m", "tiny")


def test_a_precision_is_one_of_two() -> None:
    check_precision("int8")
    with pytest.raises(StartFailed, match="int8 or float"):
        check_precision("half")


def test_a_card_that_the_library_would_leave_alone_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sherpa_folder, "version", lambda name: "2.0.1")
    require_sherpa_card(Device("cpu"))
    with pytest.raises(StartFailed, match=r"no device cuda:0.*It has: cpu\."):
        require_sherpa_card(Device("cuda"))


def test_only_the_first_card_is_used_by_builds_for_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sherpa_folder, "version", lambda name: "2.0.1+cuda12.cudnn9")
    require_sherpa_card(Device("cuda"))
    with pytest.raises(StartFailed, match=r"no device cuda:1.*It has: cpu, cuda:0\."):
        require_sherpa_card(Device("cuda", 1))
