"""Where settings come from, and which source wins."""

from pathlib import Path

import pytest

from duologue.config import find_file, load
from duologue.errors import StartFailed


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_defaults_listen_on_loopback():
    settings = load(None, {}, {})
    assert (settings.host, settings.port, settings.key) == ("127.0.0.1", 8006, None)


def test_the_environment_wins_over_the_file_and_flags_win_over_both(tmp_path):
    file = write(tmp_path / "a.yaml", "port: 1\nhost: 127.0.0.1\nqueue: {limit: 5}\nlimits:\n  tools: 3\n")
    environ = {"DUOLOGUE_PORT": "2", "DUOLOGUE_QUEUE__LIMIT": "6"}
    settings = load(file, environ, {"port": 3, "host": None})
    assert (settings.port, settings.queue.limit, settings.limits.tools) == (3, 6, 3)


def test_the_short_variables_are_port_host_data_model_and_key():
    environ = {
        "DUOLOGUE_PORT": "9000",
        "DUOLOGUE_HOST": "::1",
        "DUOLOGUE_DATA": "/somewhere",
        "DUOLOGUE_MODEL": "tiny",
        "DUOLOGUE_KEY": "secret",
        "DUOLOGUE_UPSTREAM": "http://localhost:11434",
    }
    settings = load(None, environ, {})
    assert (settings.port, settings.host, settings.data) == (9000, "::1", Path("/somewhere"))
    assert (settings.model, settings.upstream.url) == ("tiny", "http://localhost:11434")
    assert settings.key is not None
    assert settings.key.get_secret_value() == "secret"


def test_an_empty_variable_and_an_empty_value_in_the_file_are_not_set(tmp_path):
    file = write(tmp_path / "a.yaml", "model:\nlog:\nworkers:\n  - model:\n    slots: 2\n")
    settings = load(file, {"DUOLOGUE_PORT": ""}, {})
    assert (settings.port, settings.model, settings.log.level) == (8006, "", "info")
    assert settings.worker_entries[0].engine_options() == {"slots": 2}


def test_a_variable_gives_a_list_by_commas_or_as_json():
    assert load(None, {"DUOLOGUE_HOST_NAMES": "a.example, b.example"}, {}).host_names == (
        "a.example",
        "b.example",
    )
    assert load(None, {"DUOLOGUE_HOST_NAMES": '["a,b"]'}, {}).host_names == ("a,b",)
    workers = load(None, {"DUOLOGUE_WORKERS": '[{"name": "w", "slots": 2}]'}, {}).worker_entries
    assert (workers[0].name, workers[0].slots) == ("w", 2)


def test_a_variable_gives_one_entry_of_a_table_and_options_keep_their_type():
    environ = {"DUOLOGUE_ALIASES__MINI": "duologue-mini", "DUOLOGUE_OPTIONS__POLL": "50"}
    settings = load(None, environ, {})
    assert settings.aliases == {"mini": "duologue-mini"}
    assert settings.options == {"poll": 50}


def test_home_is_understood_in_paths(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    assert load(None, {"DUOLOGUE_DATA": "~/chats"}, {}).data == Path("/home/ada/chats")


def test_the_file_is_searched_by_flag_then_variable_then_working_folder_then_data_folder(tmp_path):
    data = tmp_path / "data"
    environ = {"DUOLOGUE_DATA": str(data)}
    assert find_file(None, environ) is None
    in_data = write(data / "duologue.yaml", "")
    assert find_file(None, environ) == in_data
    write(tmp_path / "duologue.yaml", "")
    assert find_file(None, environ) == Path("duologue.yaml")
    named = write(tmp_path / "named.yaml", "")
    assert find_file(None, environ | {"DUOLOGUE_CONFIG": str(named)}) == named
    flag = write(tmp_path / "flag.yaml", "")
    assert find_file(flag, environ | {"DUOLOGUE_CONFIG": str(named)}) == flag


def test_a_data_folder_given_by_flag_is_where_the_file_is_searched(tmp_path):
    write(tmp_path / "data" / "duologue.yaml", "port: 7")
    assert load(None, {}, {"data": tmp_path / "data"}).port == 7


def test_an_explicitly_named_file_must_exist(tmp_path):
    with pytest.raises(StartFailed, match=r"settings file .*missing\.yaml does not exist"):
        load(tmp_path / "missing.yaml", {}, {})


def test_other_programs_variables_do_not_matter():
    assert load(None, {"DUOLOGUE_CONFIG": "", "DUOLOGUE_SERVER": "http://x", "PATH": "/bin"}, {}).port == 8006


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("port: [1", "line 1 is not valid YAML"),
        ("- port", "must contain settings, one `name: value` per line"),
        ("5: 6", "must contain settings"),
    ],
)
def test_a_malformed_file_is_reported(tmp_path, text, sentence):
    with pytest.raises(StartFailed, match=sentence):
        load(write(tmp_path / "a.yaml", text), {}, {})


def test_a_binary_file_is_reported(tmp_path):
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StartFailed, match="cannot be read"):
        load(tmp_path / "a.yaml", {}, {})


def test_a_remote_worker_needs_an_upstream():
    with pytest.raises(StartFailed, match="worker_0 uses the remote engine but has no upstream"):
        load(None, {}, {"engine": "remote"})


def test_two_workers_cannot_share_a_name():
    with pytest.raises(StartFailed, match="Two workers are named a"):
        load(None, {"DUOLOGUE_WORKERS": "[{name: a}, {name: a}]"}, {})


def test_aliases_come_as_pairs_as_json_and_one_by_one_and_flags_add_to_them(tmp_path):
    file = write(tmp_path / "a.yaml", "aliases: {one: a, two: b}\n")
    for text in ("gpt-4.1=m, *=n,", '{"gpt-4.1": "m", "*": "n"}'):
        assert load(file, {"DUOLOGUE_ALIASES": text}, {}).aliases == {"gpt-4.1": "m", "*": "n"}
    settings = load(file, {}, {"aliases": {"two": "c", "gpt-4.1": "m"}})
    assert settings.aliases == {"one": "a", "two": "c", "gpt-4.1": "m"}
    with pytest.raises(StartFailed, match="'gpt' must be NAME=VALUE"):
        load(file, {"DUOLOGUE_ALIASES": "gpt"}, {})


def test_who_may_load_is_one_word_or_several(tmp_path):
    assert load(None, {}, {}).loading.by_request == ("admins",)
    for text, expected in (
        ("off", ("off",)),
        ("everyone", ("everyone",)),
        ("[admins, anna]", ("admins", "anna")),
    ):
        file = write(tmp_path / "a.yaml", f"loading: {{by_request: {text}}}\n")
        assert load(file, {}, {}).loading.by_request == expected
    variable = {"DUOLOGUE_LOADING__BY_REQUEST": "admins,anna"}
    assert load(None, variable, {}).loading.by_request == ("admins", "anna")


def test_an_unknown_setting_of_a_model_is_named_with_the_nearest(tmp_path):
    file = write(tmp_path / "a.yaml", "models:\n  Qwen3-4B.Q4:\n    contxt: 5\n")
    with pytest.raises(StartFailed) as met:
        load(file, {}, {})
    assert met.value.message.startswith("Unknown setting models.Qwen3-4B.Q4.contxt")
    assert "Did you mean models.Qwen3-4B.Q4.context?" in met.value.message
    file = write(tmp_path / "a.yaml", "models:\n  tiny:\n    slots: 0\n")
    with pytest.raises(StartFailed, match=r"models\.tiny\.slots must be a whole number from 1 up"):
        load(file, {}, {})
