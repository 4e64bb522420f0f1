"""The page's settings: three ways to switch it off, and the defaults of what users can change."""

import pytest

from duologue.config import load
from duologue.config.sections.ui import UiOptions, UiPage
from duologue.errors import StartFailed
from duologue.wire.api import OptionsBody


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))


def settings(file: str = "", environ: dict[str, str] | None = None, **flags: object):
    from pathlib import Path

    Path("duologue.yaml").write_text(file)
    return load(None, environ or {}, flags).ui


def refused(file: str) -> str:
    with pytest.raises(StartFailed) as raised:
        settings(file)
    return raised.value.message


def test_the_page_is_served_and_has_no_first_values():
    assert settings().enabled is True
    assert settings().defaults.overrides() == {}


@pytest.mark.parametrize(
    "source",
    [
        {"file": "ui: false"},
        {"file": "ui: {enabled: false}"},
        {"environ": {"DUOLOGUE_UI": "false"}},
        {"environ": {"DUOLOGUE_UI__ENABLED": "false"}},
        {"file": "ui: true", "environ": {"DUOLOGUE_UI": "0"}},
        {"file": "ui: true", "ui.enabled": False},
    ],
)
def test_the_page_can_be_switched_off_in_every_way(source):
    assert settings(**source).enabled is False


def test_first_values_are_what_the_operator_said_and_nothing_more():
    file = """
ui:
  defaults:
    options: {thinking: true, sampling: {temperature: 0.4}, stop: [END]}
    system: Be brief.
    page: {theme: dark, announce: off, shortcuts: {new-chat: ""}}
"""
    assert settings(file).defaults.overrides() == {
        "options": {"thinking": True, "sampling": {"temperature": 0.4}, "stop": ["END"]},
        "system": "Be brief.",
        "page": {"theme": "dark", "announce": "off", "shortcuts": {"new-chat": ""}},
    }


def test_first_values_can_come_from_the_environment():
    environ = {
        "DUOLOGUE_UI__DEFAULTS__OPTIONS__SAMPLING__TEMPERATURE": "0.4",
        "DUOLOGUE_UI__DEFAULTS__OPTIONS__SERVERS__BUILTIN": "false",
        "DUOLOGUE_UI__DEFAULTS__PAGE__LANGUAGE": "de",
    }
    assert settings(environ=environ).defaults.overrides() == {
        "options": {"sampling": {"temperature": 0.4}, "servers": {"builtin": False}},
        "page": {"language": "de"},
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "page: {them: dark}",
            "Unknown setting ui.defaults.page.them (in duologue.yaml). Did you mean ui.defaults.page.theme?",
        ),
        (
            "options: {thinkin: true}",
            "Unknown setting ui.defaults.options.thinkin (in duologue.yaml). Did you mean ui.defaults.options.thinking?",
        ),
        (
            "options: {sampling: {temprature: 1}}",
            "ui.defaults.options.sampling has no temprature (did you mean temperature?) (in duologue.yaml).",
        ),
        (
            "page: {theme: blue}",
            "ui.defaults.page.theme must be one of system, light, dark, not 'blue' (in duologue.yaml).",
        ),
        (
            "page: {paste_as_file: -1}",
            "ui.defaults.page.paste_as_file must be a whole number from 0 up, not -1 (in duologue.yaml).",
        ),
        ("system: [a]", "ui.defaults.system must be text (in duologue.yaml)."),
    ],
)
def test_a_wrong_default_is_reported_with_its_name_and_the_nearest(text, sentence):
    assert refused(f"ui: {{defaults: {{{text}}}}}") == sentence


def test_a_section_that_is_not_a_table_is_reported():
    assert refused("ui: [1]") == "ui must be a table of settings: enabled, defaults (in duologue.yaml)."


def test_the_operator_can_set_every_option_a_user_can():
    assert set(UiOptions.model_fields) == set(OptionsBody.model_fields)


def test_the_pages_first_values_are_those_of_the_page():
    assert UiPage().theme == "system"
    assert UiPage().paste_as_file == 2500


def test_a_voice_can_be_among_the_first_values():
    file = "ui: {defaults: {page: {voice_response: true, voice: anna, voice_speed: 1.25, hold_to_talk: true, face: theo, show_face: false, rendered_face: true}}}"
    spoken = {
        "voice_response": True,
        "voice": "anna",
        "voice_speed": 1.25,
        "hold_to_talk": True,
        "face": "theo",
        "show_face": False,
        "rendered_face": True,
    }
    assert settings(file).defaults.overrides() == {"page": spoken}
    assert "ui.defaults.page.voice_speed" in refused("ui: {defaults: {page: {voice_speed: 9}}}")


def test_every_language_of_the_page_can_be_the_operator_s_choice():
    from pathlib import Path

    folder = Path(__file__).parents[3] / "web/src/language"
    languages = sorted(path.name for path in folder.iterdir() if path.is_dir())
    assert "en" in languages
    for language in languages:
        page = settings(f"ui: {{defaults: {{page: {{language: {language}}}}}}}").defaults.overrides()["page"]
        assert page == {"language": language}
