from pathlib import Path

import pytest
from tests.support.tiny_encoder import TinyEncoder, write_tiny_encoder
from tests.support.tiny_model import TinyModel, write_tiny_model

from duologue.config import Settings, load
from duologue.config.settings import WorkerSettings
from duologue.errors import StartFailed
from duologue.gateway.workers import load_specs as module
from duologue.gateway.workers.load_specs import load_specs, on_device, placed_beside, voice_load_spec
from duologue.models.fit import memory_needed
from duologue.models.placement import Card
from duologue.models.voice_packs import SMART_TURN, find_pack


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


def test_an_omni_model_is_a_folder_which_its_own_worker_looks_for(tmp_path):
    consent = {"trust_remote_code": True, "revision": "abc"}
    [spec] = load_specs(
        settings(tmp_path, engine="minicpmo", model="~/omni/MiniCPM-o-4_5", device="cuda:1", options=consent)
    )
    assert (spec.engine, spec.model, spec.device) == ("minicpmo", "MiniCPM-o-4_5", "cuda:1")
    assert spec.options == {
        "model": "~/omni/MiniCPM-o-4_5",
        "models": str(tmp_path / "models"),
        "device": "cuda:1",
        **consent,
    }
    [plain] = load_specs(settings(tmp_path, engine="minicpmo"))
    assert plain.model == "minicpmo"


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


def test_a_packs_file_for_the_ends_of_turns_is_used_where_the_settings_ask_for_it_and_name_none(tmp_path):
    pack = find_pack("german")

    def turn_end(**environ):
        environ = {f"DUOLOGUE_VOICE__TURN_END__{name}": value for name, value in environ.items()}
        settings = load(None, {"DUOLOGUE_VOICE__ENABLED": "true", **environ}, {"data": str(tmp_path)})
        return voice_load_spec(settings, pack).options["turn_end"]

    assert turn_end() == turn_end(ENABLED="false", MODEL="mine.onnx") == {}
    assert turn_end(ENABLED="true")["model"] == SMART_TURN.file
    assert turn_end(ENABLED="true", MODEL="mine.onnx")["model"] == "mine.onnx"
    assert turn_end(MODEL="mine.onnx")["model"] == "mine.onnx"


def test_video_is_loaded_with_the_voice_unless_it_is_off(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: object())

    def video(**environ):
        environ = {f"DUOLOGUE_VIDEO__{name}": value for name, value in environ.items()}
        settings = load(None, {"DUOLOGUE_VOICE__ENABLED": "true", **environ}, {"data": str(tmp_path)})
        return voice_load_spec(settings).options["video"]

    assert video() == {"engine": "portrait", "size": 512, "rate": 25}
    assert video(ENABLED="false") == {}
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert video() == {}
    assert video(ENABLED="true")["engine"] == "portrait", "who asks for it is told what is missing"
    assert video(ENGINE="musetalk")["models"] == str(tmp_path / "models")


GB = 1_000_000_000
TWO_CARDS = (Card(0, "A", 24 * GB), Card(1, "B", 16 * GB))


def workers(settings, cards=TWO_CARDS):
    return [
        (spec.worker, spec.device, spec.options.get("device")) for spec in load_specs(settings, lambda: cards)
    ]


def test_copies_are_workers_with_the_same_model(tmp_path):
    specs = load_specs(settings(tmp_path, copies=2, device="cpu"))
    assert [(spec.worker, spec.device) for spec in specs] == [("worker_0", "cpu"), ("worker_0.2", "cpu")]
    assert specs[0].model == specs[1].model
    assert specs[0].options == specs[1].options


def test_a_copy_for_each_card(tmp_path):
    assert workers(settings(tmp_path, copies="all")) == [
        ("worker_0", "cuda:0", "cuda:0"),
        ("worker_0.2", "cuda:1", "cuda:1"),
    ]
    assert workers(settings(tmp_path, copies="all"), ()) == [("worker_0", "auto", None)]
    assert workers(settings(tmp_path, copies="all", device="cuda:1")) == [("worker_0", "cuda:1", "cuda:1")]
    assert len(load_specs(settings(tmp_path, copies="all", engine="scripted"), lambda: TWO_CARDS)) == 1


def test_several_models_are_placed_on_the_cards_with_room(tmp_path):
    several = Settings.model_validate(
        {"data": tmp_path, "workers": [{}, {"device": "cuda:0"}, {"gpu_layers": 0}, {"engine": "scripted"}]}
    )
    assert workers(several) == [
        ("worker_0", "cuda:0", "cuda:0"),
        ("worker_1", "cuda:0", "cuda:0"),
        ("worker_2", "cpu", "cpu"),
        ("worker_3", "auto", None),
    ]


def test_a_model_that_no_card_has_room_for_is_divided_and_the_log_says_so(tmp_path, caplog):
    small = (Card(0, "A", 1000), Card(1, "B", 1000))
    several = Settings.model_validate({"data": tmp_path, "workers": [{}, {"device": "cpu"}]})
    assert workers(several, small) == [("worker_0", "auto", None), ("worker_1", "cpu", "cpu")]
    assert "duologue-mini needs" in caplog.text


def test_a_model_that_is_loaded_later_goes_where_those_that_are_still_starting_leave_room(tmp_path):
    [spec] = load_specs(settings(tmp_path))
    assert placed_beside(spec, [], TWO_CARDS).device == "cuda:0"
    assert placed_beside(spec, [], TWO_CARDS).options["device"] == "cuda:0"
    needed = memory_needed(Path(str(spec.options["model"])).stat().st_size)
    even = (Card(0, "A", 3 * needed), Card(1, "B", 3 * needed - 1))
    starting = on_device(spec, "cuda:0")
    assert placed_beside(spec, [], even).device == "cuda:0"
    assert placed_beside(spec, [starting], even).device == "cuda:1"
    assert placed_beside(spec, [starting, on_device(spec, "cuda:1")], even).device == "cuda:0"
    assert placed_beside(starting, [], (Card(0, "A", 0), Card(1, "B", 24 * GB))) is starting, "it was named"
    assert placed_beside(spec, [], TWO_CARDS[:1]).device == "auto", "there is nothing to choose"
    [scripted] = load_specs(settings(tmp_path, engine="scripted"))
    assert placed_beside(scripted, [starting], TWO_CARDS) is scripted


def test_the_cards_are_listed_only_where_there_is_something_to_place(tmp_path):
    def unasked():
        raise AssertionError("it takes a second")

    load_specs(settings(tmp_path), unasked)
    load_specs(settings(tmp_path, device="cuda:1"), unasked)
    load_specs(settings(tmp_path, engine="scripted", copies=2), unasked)


def test_a_worker_may_have_a_python_of_its_own_which_is_checked_before_anything_starts(tmp_path, monkeypatch):
    checked: list[tuple[str, str]] = []
    monkeypatch.setattr(module, "check_interpreter", lambda worker, python: checked.append((worker, python)))
    monkeypatch.setenv("HOME", "/home/ada")
    named = {"name": "omni", "engine": "scripted", "python": "~/env/bin/python"}
    [omni, plain] = load_specs(settings(tmp_path, workers=[named, {"engine": "scripted"}]))
    assert (omni.python, plain.python) == ("/home/ada/env/bin/python", "")
    assert checked == [("omni", "/home/ada/env/bin/python")]


def test_the_python_that_installs_the_server_runs_no_worker(tmp_path, monkeypatch):
    monkeypatch.setenv("DUOLOGUE_PYTHON", "python3.13")
    (spec,) = load_specs(settings(tmp_path, engine="scripted"))
    assert spec.python == ""


def test_a_python_that_is_not_there_is_an_error_of_the_start(tmp_path):
    with pytest.raises(StartFailed, match="nowhere/bin/python, which cannot be started") as caught:
        load_specs(settings(tmp_path, workers=[{"engine": "scripted", "python": "/nowhere/bin/python"}]))
    assert caught.value.code == "interpreter_unusable"


def test_what_a_model_is_for_is_known_before_it_is_loaded(tmp_path):
    embed = write_tiny_encoder(tmp_path / "embed.gguf", TinyEncoder())
    rank = write_tiny_encoder(tmp_path / "rank.gguf", TinyEncoder(pooling="rank"))
    workers = (
        WorkerSettings(model=str(embed)),
        WorkerSettings(model=str(rank)),
        WorkerSettings(options={"pooling": "last"}),
        WorkerSettings(engine="scripted", options={"kind": "embedding"}),
        WorkerSettings(),
    )
    specs = load_specs(Settings(data=tmp_path, workers=workers))
    assert [spec.task for spec in specs] == ["embed", "rerank", "embed", "embed", "chat"]
