"""The list of voice packs: what is there of each, how it fits, and why none can be used."""

from pathlib import Path

import pytest

from duologue.config import load
from duologue.gateway.speech.pack_rows import PackFiles, pack_files, pack_fit, pack_rows, packs_problem
from duologue.models.fit import Hardware
from duologue.models.installed_packs import models_folder
from duologue.models.voice_packs import find_pack

GIGA = 1_000_000_000
PACK = find_pack("english-small")
WHOLE = PackFiles(PACK, PACK.size, 0)


def named(data: Path, name: str) -> PackFiles:
    return next(row for row in pack_files(data) if row.pack.name == name)


def test_a_shared_model_is_not_missing_twice(tmp_path):
    german = find_pack("german")
    (models_folder(tmp_path) / german.recogniser.name).mkdir(parents=True)
    assert named(tmp_path, "german").missing == german.speaker.size
    assert named(tmp_path, "french").missing == find_pack("french").speaker.size


def test_an_unfinished_download_is_counted(tmp_path):
    models_folder(tmp_path).mkdir()
    (models_folder(tmp_path) / f"{PACK.speaker.file}.part").write_bytes(b"12345")
    (models_folder(tmp_path) / PACK.recogniser.file).write_bytes(b"123")
    assert named(tmp_path, "english-small").unfinished == 8


@pytest.mark.parametrize(
    ("memory", "disk", "verdict"),
    [(8 * GIGA, 20 * GIGA, "good"), (GIGA // 2, 20 * GIGA, "memory"), (8 * GIGA, GIGA // 2, "disk")],
)
def test_a_pack_fits_the_machine_or_not(memory, disk, verdict):
    assert pack_fit(WHOLE, Hardware(2, memory, disk)) == verdict


def test_a_pack_that_is_there_needs_no_disk():
    assert pack_fit(PackFiles(PACK, 0, 0), Hardware(2, 8 * GIGA, 0)) == "good"


def test_a_row_names_both_models_with_their_licences():
    row = pack_rows([WHOLE], PACK.name, None)[0]
    assert (row["active"], row["installed"], row["fit"], row["variant"]) == (True, False, "", "small")
    assert (row["recogniser"]["title"], row["recogniser"]["licence"]) == ("Moonshine", "MIT")
    assert row["speaker"]["source"].startswith("https://")


def test_a_library_that_is_not_installed_is_the_problem():
    problem = packs_problem(load(None, {}, {}).voice, "no_such_library")
    assert problem is not None
    assert (problem.code, problem.status) == ("engine_missing", 503)
    assert "pip install 'duologue[voice]'" in problem.message


def test_settings_that_name_one_engine_are_no_problem():
    voice = load(None, {"DUOLOGUE_VOICE__SPEAKER__ENGINE": "scripted"}, {}).voice
    assert packs_problem(voice, "json") is None
