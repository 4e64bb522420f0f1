"""Files that admins choose from: found by name alone, read with bounds, refused with a reason."""

from pathlib import Path

import pytest

from duologue.errors import BadRequest, NotFound
from duologue.gateway.tuning.preset_files import (
    LARGEST_PRESET,
    LARGEST_TEMPLATE,
    PRESET_SUFFIXES,
    list_names,
    preset_file,
    template_file,
)
from duologue.values.requests import PresetEntry


def test_a_template_is_found_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "plain.jinja").write_text("{{ messages }}")
    (tmp_path / "other.txt").write_text("no")
    assert list_names(tmp_path, (".jinja",)) == ["plain"]
    for name in ("plain", "plain.jinja"):
        assert template_file(tmp_path, name) == (tmp_path / "plain.jinja", "{{ messages }}")
    for name in ("../plain", "other", "", "/etc/passwd", "plain.txt"):
        with pytest.raises(NotFound) as met:
            template_file(tmp_path, name)
        assert met.value.code == "template_not_found"
    assert list_names(tmp_path / "nowhere", (".jinja",)) == []


def test_a_template_has_a_size_and_is_text(tmp_path: Path) -> None:
    (tmp_path / "large.jinja").write_text("a" * (LARGEST_TEMPLATE + 1))
    (tmp_path / "binary.jinja").write_bytes(b"\xff\xfe")
    for name in ("large", "binary"):
        with pytest.raises(BadRequest, match=name):
            template_file(tmp_path, name)


def test_a_preset_is_yaml_of_sampling_parameters(tmp_path: Path) -> None:
    (tmp_path / "cold.yaml").write_text("temperature: {override: 0.1, force: true}\ntop_k: 5\nstop: [END]\n")
    (tmp_path / "empty.yml").write_text("")
    assert list_names(tmp_path, PRESET_SUFFIXES) == ["cold", "empty"]
    assert preset_file(tmp_path, "cold").sampling == {
        "temperature": PresetEntry(0.1, force=True),
        "top_k": PresetEntry(5),
        "stop": PresetEntry(["END"]),
    }
    assert preset_file(tmp_path, "empty").sampling == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("temperatur: 1", "no sampling parameter"),
        ("temperature: warm", "temperature"),
        ("- 1", "table"),
        ("1: 2", "table"),
        ("a: [", "YAML"),
        ("temperature: 2001-99-99", "YAML"),
        ("temperature: !!python/object/apply:os.system [ls]", "YAML"),
        ("top_k: {override: 1, additive: true}", "additive"),
        ("x" * (LARGEST_PRESET + 1), "bytes"),
    ],
)
def test_a_wrong_preset_is_refused_with_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(BadRequest, match=reason):
        preset_file(tmp_path, "bad")
