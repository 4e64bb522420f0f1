"""The settings tree: the workers it describes, immutability, and the known engines."""

from typing import get_args

import pytest
from pydantic import ValidationError

from duologue.config import Settings, load
from duologue.config.settings import EngineName


def entries(**flags: object) -> list[tuple[str, str, dict[str, object]]]:
    settings = load(None, {}, flags)
    return [(entry.name, entry.engine, entry.engine_options()) for entry in settings.worker_entries]


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def test_nothing_set_starts_one_llama_worker_with_the_bundled_model():
    assert entries() == [("worker_0", "llama", {})]


def test_a_model_starts_a_llama_worker_with_its_sizes():
    flags = {"model": "a.gguf", "slots": 2, "context": 4096, "threads": 3, "gpu_layers": -1}
    assert entries(**flags) == [("worker_0", "llama", flags)]


def test_a_projector_belongs_to_the_model_it_is_named_with(tmp_path):
    named = {"model": "a.gguf", "mmproj": "eyes.gguf"}
    assert entries(**named) == [("worker_0", "llama", named)]
    workers = [{"model": "b.gguf"}, {"model": "c.gguf", "mmproj": "none"}, {}]
    found = [options for _, _, options in entries(**named, workers=workers)]
    assert found == [{"model": "b.gguf"}, {"model": "c.gguf", "mmproj": "none"}, named]


def test_an_upstream_starts_a_remote_worker_and_its_key_is_handed_on():
    flags = {"upstream.url": "http://x/v1", "upstream.key": "k", "upstream.model": "m"}
    assert entries(**flags) == [("worker_0", "remote", {"url": "http://x/v1", "key": "k", "model": "m"})]


def test_a_model_and_an_upstream_start_two_workers_the_model_first():
    names = [(name, engine) for name, engine, _ in entries(model="a.gguf", **{"upstream.url": "http://x"})]
    assert names == [("worker_0", "llama"), ("worker_1", "remote")]


def test_the_engine_named_wins_over_what_would_follow():
    assert entries(engine="scripted", model="a.gguf", slots=8) == [("worker_0", "scripted", {"slots": 8})]


def test_workers_inherit_what_they_do_not_set():
    workers = [
        {"name": "small", "slots": 8},
        {"model": "big.gguf", "options": {"poll": 0}},
        {"upstream": {"url": "http://x"}},
    ]
    workers_to_start = entries(workers=workers, model="a.gguf", slots=2, options={"poll": 50, "flash": True})
    assert workers_to_start == [
        ("small", "llama", {"model": "a.gguf", "slots": 8, "poll": 50, "flash": True}),
        ("worker_1", "llama", {"model": "big.gguf", "slots": 2, "poll": 0, "flash": True}),
        ("worker_2", "remote", {"url": "http://x", "slots": 2, "poll": 50, "flash": True}),
    ]


def test_a_setting_cannot_be_changed_after_the_start():
    settings = load(None, {}, {})
    with pytest.raises(ValidationError):
        settings.port = 1
    with pytest.raises(ValidationError):
        settings.log.level = "debug"


def test_keys_do_not_show_when_settings_are_printed():
    settings = load(None, {"DUOLOGUE_KEY": "swordfish"}, {"upstream.url": "http://x", "upstream.key": "tuna"})
    assert "swordfish" not in repr(settings)
    assert "tuna" not in repr(settings)


def test_the_engines_one_can_name_are_the_engines_there_are():
    from duologue.engines.registry import LANGUAGE_ENGINES

    assert set(get_args(EngineName)) == set(LANGUAGE_ENGINES)


def test_every_setting_has_a_description():
    from duologue.config.settings_reference import all_settings

    assert all(setting.field.description for setting in all_settings(Settings))


@pytest.mark.parametrize(
    ("text", "base"),
    [("", ""), ("/", ""), ("talk", "/talk"), ("/talk/", "/talk"), ("/a/b.c", "/a/b.c"), (" /~me ", "/~me")],
)
def test_a_base_path_is_read_with_or_without_its_slashes(text, base):
    assert Settings(base_path=text).base_path == base


@pytest.mark.parametrize("text", ["/a b", "/a//b", "/..", "/a/./b", "/ä", "https://x", "/a?b", "/a#b"])
def test_an_invalid_base_path_is_rejected(text):
    with pytest.raises(ValidationError, match="must be a path of letters, digits"):
        Settings(base_path=text)


def test_what_is_set_for_a_model_counts_where_its_worker_says_nothing():
    settings = load(
        None,
        {},
        {
            "threads": 2,
            "context": 100,
            "models": {"tiny": {"context": 200, "slots": 3, "aliases": ["t"], "options": {"poll": 1}}},
            "workers": [{"model": "TINY", "slots": 5}, {"model": "other"}],
        },
    )
    first, second = settings.worker_entries
    assert first.engine_options() == {"model": "TINY", "context": 200, "slots": 5, "threads": 2, "poll": 1}
    assert second.engine_options() == {"model": "other", "context": 100, "threads": 2}
    assert settings.all_aliases == {"t": "tiny"}


def test_a_worker_may_name_a_model_that_the_settings_of_models_place():
    settings = load(
        None,
        {},
        {
            "models": {"big": {"model": "/files/x.gguf"}, "net": {"engine": "transformers", "model": "n"}},
            "workers": [{"model": "big"}, {"model": "net"}],
        },
    )
    big, net = settings.worker_entries
    assert (big.engine, big.model, big.options) == ("llama", "/files/x.gguf", {"name": "big"})
    assert (net.engine, net.model, net.options) == ("transformers", "n", {"name": "net"})


def test_settings_of_a_model_are_found_by_each_of_its_names():
    settings = load(None, {}, {"model": "/a/File.gguf", "models": {"known": {"slots": 7}}})
    assert settings.worker_entries[0].slots is None
    assert settings.entries(lambda model: (model, "KNOWN"))[0].slots == 7
