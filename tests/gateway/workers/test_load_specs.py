import pytest
from tests.support.tiny_model import TinyModel, write_tiny_model

from duologue.config import Settings, load
from duologue.errors import StartFailed
from duologue.gateway.workers import load_specs as module
from duologue.gateway.workers.load_specs import load_specs, voice_load_spec


def settings(tmp_path, **flags):
    return load(None, {}, {"data": str(tmp_path), **{key.replace("__", "."): v for key, v in flags.items()}})


def test_the_scripted_engine_needs_no_file(tmp_path):
    [loadout] = load_specs(settings(tmp_path, engine="scripted", slots=2))
    assert (loadout.engine, loadout.model, loadout.options["slots"]) == ("scripted", "scripted", 2)


def test_nothing_set_means_the_bundled_model(tmp_path):
    [loadout] = load_specs(settings(tmp_path))
    assert (loadout.engine, loadout.model) == ("llama", "duologue-mini")
    assert loadout.options["bundled"] is True


def test_an_upstream_is_called_by_its_model_or_names_itself(tmp_path):
    [named] = load_specs(settings(tmp_path, upstream__url="http://gpu:8000/v1", upstream__model="big"))
    [bare] = load_specs(settings(tmp_path, upstream__url="http://gpu:8000/v1"))
    assert (named.engine, named.model, bare.model) == ("remote", "big", "")


def test_a_missing_file_is_refused_before_anything_starts(tmp_path):
    with pytest.raises(StartFailed, match=r"nowhere\.gguf"):
        load_specs(settings(tmp_path, model="nowhere.gguf"))


def test_a_broken_file_is_refused_before_anything_starts(tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(10))
    with pytest.raises(StartFailed, match=r"broken\.gguf"):
        load_specs(settings(tmp_path, model=str(broken)))


def test_a_model_in_the_data_folder_is_found_by_its_name(tmp_path):
    path = tmp_path / "models" / "tiny.gguf"
    path.parent.mkdir()
    write_tiny_model(path, TinyModel())
    [loadout] = load_specs(settings(tmp_path, model="tiny"))
    assert (loadout.model, loadout.options["model"]) == ("tiny", str(path))


def test_a_voice_is_loaded_where_its_libraries_are(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: object())
    loadout = voice_load_spec(Settings(data=tmp_path))
    assert loadout is not None
    assert loadout.engine == "voice"
    assert loadout.options["speaker"] == {"engine": "espeak"}
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert voice_load_spec(Settings(data=tmp_path)) is None


def test_whoever_wants_a_voice_gets_its_worker_even_if_a_library_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert (
        voice_load_spec(Settings.model_validate({"data": tmp_path, "voice": {"enabled": True}})) is not None
    )
    assert voice_load_spec(Settings.model_validate({"data": tmp_path, "voice": {"enabled": False}})) is None


def test_whoever_sets_another_engine_wants_a_voice(tmp_path, monkeypatch):
    monkeypatch.setattr("duologue.gateway.workers.load_specs.find_spec", lambda name: None)
    for kind, engine in (("recogniser", "whisper"), ("speaker", "remote")):
        assert (
            voice_load_spec(Settings.model_validate({"data": tmp_path, "voice": {kind: {"engine": engine}}}))
            is not None
        )
