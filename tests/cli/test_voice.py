"""The commands for the voice: their flags reach whoever does the work."""

import os
from pathlib import Path

import pytest

from duologue.cli import call, main, transcribe, voice


@pytest.fixture(autouse=True)
def _clean_environment(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.startswith("DUOLOGUE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the program with these arguments: exit code, error output."""

    def call(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["duologue", *arguments])
        code = 0
        try:
            main.main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        return code, capsys.readouterr().err

    return call


def test_listen_hands_over_file_format_and_server(run, monkeypatch):
    asked = []
    monkeypatch.setattr(
        transcribe, "print_transcript", lambda recording, server, output: asked.append((recording, server))
    )
    assert run("listen", "a.wav", "--format", "vtt", "--language", "de", "--server", "http://x:1")[0] == 0
    [(recording, server)] = asked
    assert recording == transcribe.Recording(Path("a.wav"), "vtt", "de")
    assert server.base_url == "http://x:1"


def test_call_hands_over_how_it_is_to_be(run, monkeypatch):
    asked = []
    monkeypatch.setattr(call, "run_call", lambda server, setup, output, asides: asked.append((setup, server)))
    assert run("call", "--voice", "en-gb", "--conversation", "c1")[0] == 0
    [(setup, server)] = asked
    assert setup == call.Setup(voice="en-gb", conversation="c1")
    assert server.base_url == "http://127.0.0.1:8006"


def test_a_file_that_is_not_there_is_one_sentence(run):
    code, errors = run("listen", "nothing.wav")
    assert code == 1
    assert errors == "duologue: nothing.wav cannot be read: No such file or directory.\n"


def test_the_server_is_the_one_of_the_settings_with_its_key(monkeypatch):
    monkeypatch.setenv("DUOLOGUE_PORT", "9001")
    monkeypatch.setenv("DUOLOGUE_KEY", "s" * 24)
    server = voice.client(None, None)
    assert (server.base_url, server.key) == ("http://127.0.0.1:9001", "s" * 24)
