"""Names to loadouts: what is there can be named, and nothing else."""

import pytest
from tests.support.tiny_model import TinyModel, write_tiny_adapter, write_tiny_model
from tests.support.tiny_projectors import write_projector

from duologue.config import load
from duologue.errors import BadRequest, ModelNotFound, Problem, StartFailed, Unsupported
from duologue.gateway.models.available import AvailableModels, Sizes, named_files, path_of
from duologue.gateway.workers.load_specs import load_specs
from duologue.wire.worker_protocol import LoadSpec


def loadables(tmp_path, **flags):
    settings = load(
        None, {}, {"data": str(tmp_path / "data"), **{key.replace("__", "."): v for key, v in flags.items()}}
    )
    return AvailableModels(settings, load_specs(settings))


def put(tmp_path, place):
    path = tmp_path / "data" / "models" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_tiny_model(path, TinyModel())


def names(found):
    return [entry.name for entry in found.all()]


def test_what_is_configured_bundled_and_in_the_folder_can_be_loaded(tmp_path):
    put(tmp_path, "Tiny-Q8_0.gguf")
    (tmp_path / "data" / "models" / "half.gguf.part").write_bytes(b"GGUF")
    found = loadables(tmp_path, engine="scripted")
    assert names(found) == ["scripted", "duologue-mini", "Tiny-Q8_0"]


def test_a_name_is_found_in_any_case_and_with_its_suffix(tmp_path):
    path = put(tmp_path, "Tiny-Q8_0.gguf")
    found = loadables(tmp_path, engine="scripted")
    for name in ("Tiny-Q8_0", "tiny-q8_0", " Tiny-Q8_0.gguf "):
        assert found.find(name).path == path


@pytest.mark.parametrize(
    "name", ["../outside", "../outside.gguf", "/etc/passwd", "~/outside.gguf", "models/Tiny-Q8_0.gguf", "."]
)
def test_a_path_is_no_name(tmp_path, name):
    put(tmp_path, "Tiny-Q8_0.gguf")
    put(tmp_path, "../outside.gguf")
    with pytest.raises(ModelNotFound):
        loadables(tmp_path, engine="scripted").find(name)
    with pytest.raises(ModelNotFound):
        loadables(tmp_path, engine="scripted").find(str(tmp_path / "data" / "outside.gguf"))


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(tmp_path):
    put(tmp_path, "Tiny-Q8_0.gguf")
    with pytest.raises(ModelNotFound, match="Did you mean 'Tiny-Q8_0'"):
        loadables(tmp_path, engine="scripted").find("tiny-q80")


def test_files_of_one_name_are_called_by_their_place(tmp_path):
    put(tmp_path, "tiny.gguf")
    inner = put(tmp_path, "old/Tiny.gguf")
    assert [name for name, _ in named_files(tmp_path / "data" / "models")] == ["tiny", "old/Tiny"] or [
        name for name, _ in named_files(tmp_path / "data" / "models")
    ] == ["old/Tiny", "tiny"]
    assert loadables(tmp_path, engine="scripted").find("old/tiny").path == inner


def test_a_configured_model_outside_the_folder_is_loaded_by_its_name_with_its_options(tmp_path):
    path = write_tiny_model(tmp_path / "mine.gguf", TinyModel())
    found = loadables(tmp_path, model=str(path), threads=3, slots=2)
    assert names(found) == ["mine", "duologue-mini"]
    made = found.prepare(found.find("mine"), Sizes(context=256)).load_spec
    assert (made.engine, made.model, made.options["threads"]) == ("llama", "mine", 3)
    assert (made.options["slots"], made.options["context"]) == (2, 256)


def test_a_file_of_the_folder_gets_the_sizes_of_the_settings_unless_others_are_asked_for(tmp_path):
    path = put(tmp_path, "tiny.gguf")
    found = loadables(tmp_path, slots=2, threads=1)
    made = found.prepare(found.find("tiny"), Sizes(slots=5, gpu_layers=0)).load_spec
    assert path_of(made) == path
    assert (made.options["slots"], made.options["threads"], made.options["gpu_layers"]) == (5, 1, 0)


def test_the_bundled_model_can_be_loaded_where_another_is_configured(tmp_path):
    found = loadables(tmp_path, engine="scripted")
    made = found.prepare(found.find("duologue-mini"), Sizes()).load_spec
    assert (made.model, made.options["bundled"]) == ("duologue-mini", True)


def test_a_configured_upstream_is_loaded_by_the_name_of_its_model(tmp_path):
    found = loadables(tmp_path, upstream__url="http://gpu:8000/v1", upstream__model="big")
    made = found.prepare(found.find("big"), Sizes(slots=3))
    assert (made.load_spec.engine, made.load_spec.options["slots"], made.size) == ("remote", 3, 0)
    with pytest.raises(Unsupported, match="gpu_layers"):
        found.prepare(found.find("big"), Sizes(gpu_layers=3))


def test_options_of_another_engine_are_not_given_to_a_file(tmp_path):
    put(tmp_path, "tiny.gguf")
    settings = load(
        None, {}, {"data": str(tmp_path / "data"), "engine": "scripted", "options": {"kind": "chat"}}
    )
    found = AvailableModels(settings, load_specs(settings))
    assert "kind" not in found.prepare(found.find("tiny"), Sizes()).load_spec.options


def test_a_broken_file_is_refused_with_its_sentence(tmp_path):
    put(tmp_path, "tiny.gguf").write_bytes(b"GGUF" + bytes(10))
    found = loadables(tmp_path, engine="scripted")
    with pytest.raises(BadRequest, match=r"tiny\.gguf") as met:
        found.prepare(found.find("tiny"), Sizes())
    assert met.value.code == "model_unusable"


def test_memory_is_counted_for_the_file_and_for_the_context_that_is_asked_for(tmp_path):
    path = put(tmp_path, "tiny.gguf")
    found = loadables(tmp_path, engine="scripted")
    plain = found.prepare(found.find("tiny"), Sizes())
    assert (plain.size, plain.cache) == (path.stat().st_size, 0)
    # 2 blocks, 2 heads of 16 numbers for keys and as many for values, 2 bytes each.
    assert found.prepare(found.find("tiny"), Sizes(context=100, slots=3)).cache == 2 * 64 * 2 * 100 * 3
    assert found.prepare(found.find("tiny"), Sizes(context=10**9)).cache == 2 * 64 * 2 * 512


def test_only_a_local_model_has_a_file():
    assert path_of(LoadSpec("w", "remote", "m", {"model": "m"})) is None


def test_the_projector_beside_a_model_counts_and_one_of_the_settings_belongs_to_their_model(tmp_path):
    path = put(tmp_path, "tiny.gguf")
    mine = write_tiny_model(tmp_path / "mine.gguf", TinyModel())
    eyes = write_projector(tmp_path / "eyes.gguf")
    found = loadables(tmp_path, model=str(mine), mmproj=str(eyes))
    configured = found.prepare(found.find("mine"), Sizes())
    assert configured.load_spec.options["mmproj"] == str(eyes)
    assert configured.size > mine.stat().st_size + eyes.stat().st_size
    alone = found.prepare(found.find("tiny"), Sizes())
    assert "mmproj" not in alone.load_spec.options
    write_projector(path.with_name("mmproj-tiny.gguf"))
    assert found.prepare(found.find("tiny"), Sizes()).size > alone.size
    without = loadables(tmp_path, model=str(mine), mmproj="none")
    assert without.prepare(without.find("tiny"), Sizes()).size == alone.size


def test_a_projector_that_does_not_fit_is_refused_before_anything_starts(tmp_path):
    mine = write_tiny_model(tmp_path / "mine.gguf", TinyModel())
    with pytest.raises(StartFailed, match="projector for a model of width 32"):
        loadables(tmp_path, model=str(mine), mmproj=str(write_projector(tmp_path / "odd.gguf", embedding=32)))


def test_a_model_has_its_own_settings_by_its_name_or_that_of_its_file(tmp_path):
    put(tmp_path, "Tiny-Q8_0.gguf")
    own = {"context": 256, "sampling": {"temperature": 0.1}, "options": {"poll": 5}}
    for key in ("Tiny-Q8_0", "tiny-q8_0"):
        found = loadables(tmp_path, engine="scripted", slots=3, context=512, models={key: own})
        spec = found.prepare(found.find("Tiny-Q8_0"), Sizes()).load_spec
        assert (spec.options["context"], spec.options["slots"], spec.options["poll"]) == (256, 3, 5)
        assert spec.preset.sampling["temperature"].override == 0.1
        spec = found.prepare(found.find("Tiny-Q8_0"), Sizes(context=128)).load_spec
        assert spec.options["context"] == 128


def test_the_context_of_its_own_settings_counts_in_its_memory(tmp_path):
    put(tmp_path, "tiny.gguf")
    plain, long = loadables(tmp_path), loadables(tmp_path, models={"tiny": {"context": 256}})
    assert plain.prepare(plain.find("tiny"), Sizes()).cache == 0
    assert long.prepare(long.find("tiny"), Sizes()).cache > 0


def test_settings_may_name_a_model_that_is_elsewhere_or_another_engines(tmp_path):
    path = put(tmp_path, "../elsewhere.gguf")
    found = loadables(
        tmp_path,
        engine="scripted",
        models={
            "afar": {"model": str(path), "slots": 1},
            "lost": {"model": str(tmp_path / "nothing.gguf")},
            "box": {"upstream": {"url": "http://localhost:1", "model": "m"}},
            "folder": {"engine": "transformers", "model": "Qwen3"},
            "sizes only": {"slots": 2},
        },
    )
    assert names(found) == ["scripted", "afar", "lost", "box", "folder", "duologue-mini"]
    spec = found.prepare(found.find("afar"), Sizes()).load_spec
    assert (spec.model, spec.options["model"], spec.options["slots"]) == ("afar", str(path), 1)
    spec = found.prepare(found.find("box"), Sizes()).load_spec
    assert (spec.model, spec.engine, spec.options["url"]) == ("box", "remote", "http://localhost:1")
    spec = found.prepare(found.find("folder"), Sizes()).load_spec
    assert (spec.model, spec.engine, spec.options["model"]) == ("folder", "transformers", "Qwen3")
    with pytest.raises(BadRequest) as met:
        found.prepare(found.find("lost"), Sizes())
    assert met.value.code == "model_unusable"


def test_adapters_are_loaded_with_a_model_by_their_names(tmp_path):
    put(tmp_path, "Tiny-Q8_0.gguf")
    folder = tmp_path / "data" / "loras"
    folder.mkdir()
    write_tiny_adapter(folder / "pirate.gguf")
    write_tiny_adapter(folder / "other.gguf", TinyModel(embedding=32))
    found = loadables(tmp_path, engine="scripted")
    model = found.find("Tiny-Q8_0")
    sizes = Sizes(loras={"pirate": 0.5})
    assert found.prepare(model, sizes).load_spec.options["loras"] == {str(folder / "pirate.gguf"): 0.5}
    assert sizes.given() == {"loras": {"pirate": 0.5}}
    for name, code in (("missing", "lora_not_found"), ("other", "lora_unusable")):
        with pytest.raises(Problem) as met:
            found.prepare(model, Sizes(loras={name: 1.0}))
        assert met.value.code == code
    with pytest.raises(Unsupported):
        found.prepare(found.find("scripted"), sizes)


def test_adapters_of_the_settings_belong_to_their_model(tmp_path):
    mine = write_tiny_model(tmp_path / "mine.gguf", TinyModel())
    folder = tmp_path / "data" / "loras"
    folder.mkdir(parents=True)
    write_tiny_adapter(folder / "pirate.gguf")
    put(tmp_path, "Tiny-Q8_0.gguf")
    found = loadables(tmp_path, model=str(mine), loras={"pirate": 0.8})
    assert found.prepare(found.find("mine"), Sizes()).load_spec.options["loras"] == {
        str(folder / "pirate.gguf"): 0.8
    }
    assert "loras" not in found.prepare(found.find("Tiny-Q8_0"), Sizes()).load_spec.options
    with pytest.raises(StartFailed, match="no LoRA adapter 'missing'"):
        loadables(tmp_path, model=str(mine), loras={"missing": 1.0})
