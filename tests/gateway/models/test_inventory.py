"""The picture of what there is of models."""

from pathlib import Path

import pytest
from tests.support.tiny_model import TinyModel, write_tiny_model
from tests.support.tiny_projectors import write_projector

from duologue.gateway.models import inventory
from duologue.gateway.models.inventory import Headers
from duologue.gateway.models.remembered import RememberedModels
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.models.fit import Hardware, memory_needed
from duologue.models.gguf import header
from duologue.models.recommended import RECOMMENDED
from duologue.values.requests import ModelCard
from duologue.wire.worker_protocol import LoadSpec

ROOMY = Hardware(cores=8, memory=64 * 10**9, disk=500 * 10**9)


@pytest.fixture
def folder(tmp_path) -> Path:
    folder = tmp_path / "models"
    folder.mkdir()
    return folder


def local(name: str, path: Path, **options) -> LoadSpec:
    return LoadSpec(name, "llama", path.stem, {"model": str(path), **options})


def test_files_are_described_by_their_headers_and_by_who_uses_them(folder):
    path = write_tiny_model(folder / "tiny.gguf", TinyModel())
    (folder / "broken.gguf").write_bytes(b"GGUF")
    (folder / "half.gguf.part").write_bytes(bytes(5))
    row = inventory.files_row(folder, Headers(), [local("worker_1", path)])
    bundled, broken, tiny = row["here"]
    assert (bundled["name"], bundled["bundled"]) == ("duologue-mini", True)
    assert (broken["name"], broken["size"], broken["loaded"]) == ("broken", 4, [])
    assert "truncated" in broken["problem"]
    assert (tiny["architecture"], tiny["trained_context"], tiny["problem"]) == ("llama", 512, None)
    assert (tiny["size"], tiny["loaded"]) == (path.stat().st_size, ["worker_1"])
    assert (row["folder"], row["unfinished"]) == (str(folder), [{"name": "half", "size": 5}])


def test_a_folder_that_is_not_there_yet_is_empty(tmp_path):
    row = inventory.files_row(tmp_path / "nowhere", Headers(), [])
    assert [entry["name"] for entry in row["here"]] == ["duologue-mini"]


def test_a_header_is_read_again_only_when_its_file_has_changed(folder, monkeypatch):
    path = write_tiny_model(folder / "tiny.gguf", TinyModel())
    headers = Headers()
    read: list[Path] = []
    real = header.read

    def counted(path):
        read.append(path)
        return real(path)

    monkeypatch.setattr(header, "read", counted)
    headers.read(path)
    headers.read(path)
    assert len(read) == 1
    write_tiny_model(path, TinyModel(blocks=3))
    assert headers.read(path).blocks == 3
    assert len(read) == 2
    headers.forget(set())
    headers.read(path)
    assert len(read) == 3


def test_a_file_that_vanished_is_a_sentence(folder):
    problem = Headers().read(folder / "gone.gguf")
    assert isinstance(problem, str)
    assert "cannot be read" in problem


def test_loaded_models_are_one_row_a_worker(folder):
    path = folder / "tiny.gguf"
    pool = Pool([local("w0", path), LoadSpec("w1", "remote", "far")], Scheduler())
    view = pool.workers["w0"]
    view.state, view.card = "ready", ModelCard("tiny", "llama", 256, slots=2, size=99)
    pool.scheduler.worker_ready("w0", "tiny", 2, 0.0)
    pool.scheduler.request("a", "tiny", 0.0)
    first, second = inventory.loaded_rows(pool, RememberedModels())
    assert first == {
        "name": "tiny",
        "title": "tiny",
        "worker": "w0",
        "engine": "llama",
        "state": "ready",
        "detail": "",
        "progress": None,
        "slots": 2,
        "busy": 1,
        "context": 256,
        "size": 99,
        "modalities": ["text"],
        "task": "chat",
        "removable": True,
        "by_request": False,
        "draining": False,
        "default": True,
        "remembered": False,
    }
    assert (second["name"], second["state"], second["size"]) == ("far", "offline", 0)
    assert inventory.users_of_files(pool.load_specs()) == {path.resolve(): ["w0"]}


def test_the_last_one_of_the_settings_is_better_left_and_one_that_was_added_is_not(folder):
    pool = Pool([LoadSpec("w0", "scripted", "m")], Scheduler())
    assert not inventory.loaded_rows(pool, RememberedModels())[0]["removable"]
    pool.workers["w0"].added = True
    assert inventory.loaded_rows(pool, RememberedModels())[0]["removable"]


def test_what_could_be_had_is_judged_for_this_machine(folder):
    (folder / RECOMMENDED[0].file).write_bytes(b"")
    rows = inventory.available_rows(folder, ROOMY)
    assert [row["name"] for row in rows] == [model.name for model in RECOMMENDED]
    assert (rows[0]["here"], rows[1]["here"], rows[0]["fit"]) == (True, False, "good")
    assert all(row["description"] and row["traits"] for row in rows)
    assert inventory.available_rows(folder, None)[0]["fit"] is None


def test_the_machine_is_told_in_figures_and_words():
    assert inventory.hardware_row((ROOMY, "a machine")) == {
        "memory": ROOMY.memory,
        "card": 0,
        "disk": ROOMY.disk,
        "cores": 8,
        "words": "a machine",
    }
    assert inventory.hardware_row(None) is None


def test_a_model_is_proposed_while_the_bundled_one_answers(folder):
    pool = Pool([local("w0", folder / "duologue-mini.gguf", bundled=True)], Scheduler())
    assert inventory.proposed(pool, ROOMY) == "qwen3-30b-a3b"
    assert inventory.proposed(Pool([], Scheduler()), ROOMY) == "qwen3-30b-a3b"
    assert inventory.proposed(pool, Hardware(1, 1, 1)) is None
    assert inventory.proposed(pool, None) is None


def test_another_model_needs_no_better_one(folder):
    pool = Pool([local("w0", folder / "tiny.gguf")], Scheduler())
    assert inventory.proposed(pool, ROOMY) is None


def test_a_downloaded_model_has_the_name_and_title_it_had_before(folder):
    write_tiny_model(folder / "Qwen3-4B-Q4_K_M.gguf", TinyModel())
    _, row = inventory.files_row(folder, Headers(), [], Hardware(cores=4, memory=8 * 10**9, disk=0))["here"]
    assert (row["name"], row["title"], row["fit"]) == ("qwen3-4b", "Qwen3 4B", "good")
    assert [row["here"] for row in inventory.available_rows(folder, ROOMY) if row["name"] == "qwen3-4b"] == [
        True
    ]


def test_a_projector_counts_in_what_a_model_takes(folder):
    path = write_tiny_model(folder / "tiny.gguf", TinyModel())
    weights = path.stat().st_size
    needed = memory_needed(header.read(path).size)
    just_enough = Hardware(cores=8, memory=needed, disk=500 * 10**9)

    def row():
        return next(
            each
            for each in inventory.files_row(folder, Headers(), [], just_enough)["here"]
            if each["name"] == "tiny"
        )

    assert (row()["size"], row()["fit"]) == (weights, "good")
    eyes = write_projector(folder / "mmproj-tiny.gguf")
    assert (row()["size"], row()["fit"]) == (weights + eyes.stat().st_size, "memory")
    eyes.rename(folder / "mmproj-F16.gguf")
    assert (row()["size"], row()["fit"]) == (weights, "memory"), (
        "removing the model leaves a file of one's own"
    )


def test_what_could_be_had_is_as_large_as_its_download(folder):
    sizes = {row["name"]: row["size"] for row in inventory.available_rows(folder, ROOMY)}
    assert sizes == {model.name: model.size + model.projector_size for model in RECOMMENDED}
