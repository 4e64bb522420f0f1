"""Error messages for wrong settings, and the settings table of the documentation."""

from pathlib import Path

import pytest

from duologue.config import load
from duologue.config.settings_reference import all_settings, allowed, settings_table
from duologue.errors import StartFailed

RUNNING = Path(__file__).parents[2] / "docs" / "running.md"


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))


def error_of(file: str | None = None, environ: dict[str, str] | None = None, **flags: object) -> str:
    path = None
    if file is not None:
        path = Path("a.yaml")
        path.write_text(file)
    with pytest.raises(StartFailed) as raised:
        load(path, environ or {}, flags)
    return raised.value.message


def test_an_unknown_setting_in_the_file_suggests_the_nearest_name():
    assert error_of("prot: 1") == "Unknown setting prot (in a.yaml). Did you mean port?"
    assert error_of("chat: {idel_s: 3}").endswith("Did you mean chat.idle_s?")
    assert error_of("workers: [{slot: 3}]").endswith("Did you mean workers[0].slots?")


def test_a_device_and_a_number_of_copies_are_told_what_they_may_be():
    assert error_of(device="tpu") == (
        "device must be auto, cpu, or a graphics card such as cuda:0, not 'tpu' (from --device)."
    )
    for wrong in ("0", "65", "some", "1.5", "true"):
        assert f"copies must be a whole number from 1 to 64, or all, not {wrong!r}" in error_of(
            environ={"DUOLOGUE_COPIES": wrong}
        )
    copies = load(None, {"DUOLOGUE_COPIES": "all", "DUOLOGUE_DEVICE": "GPU:1"}, {})
    assert (copies.copies, copies.device) == ("all", "cuda:1")
    assert load(None, {"DUOLOGUE_COPIES": "2"}, {}).copies == 2


def test_an_unknown_variable_suggests_the_nearest_name():
    sentence = error_of(environ={"DUOLOGUE_LIMITS__BODY": "3"})
    assert sentence == (
        "Unknown setting DUOLOGUE_LIMITS__BODY (environment). Did you mean DUOLOGUE_LIMITS__BODY_MB?"
    )


def test_a_name_unlike_any_other_suggests_nothing():
    assert error_of("qqqqqqqq: 1") == "Unknown setting qqqqqqqq (in a.yaml)."


@pytest.mark.parametrize(
    ("sentence", "source"),
    [
        (
            "port must be a whole number from 0 to 65535, not 'abc' (from the environment variable DUOLOGUE_PORT).",
            {"environ": {"DUOLOGUE_PORT": "abc"}},
        ),
        (
            "log.level must be one of debug, info, warning, error, not 'loud' (in a.yaml).",
            {"file": "log: {level: loud}"},
        ),
        ("slots must be a whole number from 1 up, not 0 (from --slots).", {"slots": 0}),
        ("chat.idle_s must be a number above 0, not nan (in a.yaml).", {"file": "chat: {idle_s: .nan}"}),
        ("ui.enabled must be true or false, not 'maybe' (in a.yaml).", {"file": "ui: maybe"}),
        ("log must be a table of settings: level, format, not 'loud' (in a.yaml).", {"file": "log: loud"}),
        ("workers must be a list of tables (in a.yaml).", {"file": "workers: {a: 1}"}),
        (
            "workers[1].slots must be a whole number from 1 up, not 0 (in a.yaml).",
            {"file": "workers: [{}, {slots: 0}]"},
        ),
        (
            "upstream.url must begin with http:// or https://, not 'host' (from --upstream).",
            {"upstream.url": "host"},
        ),
        ("aliases must be a table of names and values (in a.yaml).", {"file": "aliases: [3]"}),
    ],
)
def test_a_wrong_value_is_reported_with_its_name_its_source_and_what_is_allowed(sentence, source):
    assert error_of(**source) == sentence


def test_a_wrong_value_under_a_right_one_of_another_source_keeps_its_own_source():
    assert error_of("upstream: text", {"DUOLOGUE_UPSTREAM__MODEL": "m"}).endswith("(in a.yaml).")


def test_a_key_never_appears_in_an_error():
    assert error_of("key: 12345") == "key must be text (in a.yaml)."
    assert "12345" not in error_of("upstream: {key: 12345}")


def test_allowed_values_are_described_in_words():
    words = {setting.name: allowed(setting.field) for setting in all_settings()}
    assert words["eta.alpha"] == "a number above 0, at most 1"
    assert words["worker_port_base"] == "a whole number from 1024 to 65000"
    assert words["engine"] == "one of llama, remote, scripted, minicpmo, qwen_omni, transformers"
    assert words["host_names"] == "a list of names"
    assert words["tools.builtin"] == "a list of clock, calculator, fetch, search"
    assert words["data"] == "a path"
    assert words["key"] == "text"


def test_no_two_settings_share_a_variable():
    variables = [setting.variable for setting in all_settings()]
    assert len(variables) == len(set(variables))


def test_the_documented_settings_table_matches_the_code():
    table = RUNNING.read_text().partition("<!-- settings -->\n")[2].partition("<!-- /settings -->")[0]
    assert table == settings_table(), (
        "regenerate it: python -c 'from duologue.config.settings_reference import settings_table; print(settings_table())'"
    )
