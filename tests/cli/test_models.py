"""The commands for models, from their flags to a model that the next start finds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.hub_stand_in import Hub, serving
from tests.support.tiny_model import write_tiny_model
from typer.main import get_command

from duologue.cli import main
from duologue.config import load
from duologue.gateway.workers.load_specs import load_specs


@pytest.fixture(autouse=True)
def _clean_environment(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.startswith(("DUOLOGUE_", "HF_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("DUOLOGUE_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    content = write_tiny_model(tmp_path / "source.gguf").read_bytes()
    with serving(Hub({"someone/New-GGUF": {"New-Q8_0.gguf": content}})) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the program with these arguments: exit code, output, error output."""

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["duologue", *arguments])
        code = 0
        try:
            main.main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        output, errors = capsys.readouterr()
        return code, output, errors

    return call


def test_pull_list_and_remove(run, hub, tmp_path):
    code, output, errors = run("models", "pull", "someone/New-GGUF:Q8_0")
    assert (code, output.splitlines()[-1]) == (0, "Start with it: duologue serve --model New-Q8_0")
    assert "100 % of 0.4 MB" in errors
    assert "New-Q8_0" in run("models", "list")[1]
    assert run("models", "rm", "New-Q8_0") == (0, "Removed New-Q8_0, 0.4 MB freed.\n", "")
    assert "New-Q8_0" not in run("models", "list")[1]


def test_setup_makes_the_next_start_answer_with_the_model(run, hub, tmp_path):
    code, output, _ = run("setup", "--model", "someone/New-GGUF", "--yes")
    assert code == 0
    assert "Wrote `model: New-Q8_0` to" in output
    (loadout,) = load_specs(load(None, os.environ, {}))
    assert loadout.options["model"] == str(tmp_path / "data" / "models" / "New-Q8_0.gguf")


def test_setup_writes_the_file_that_the_next_start_reads(run, hub, tmp_path):
    (tmp_path / "duologue.yaml").write_text("slots: 2\n")
    assert run("setup", "--model", "someone/New-GGUF", "--yes")[0] == 0
    assert (tmp_path / "duologue.yaml").read_text() == "slots: 2\nmodel: New-Q8_0\n"
    assert load(None, os.environ, {}).model == "New-Q8_0"


def test_setup_can_only_look(run, tmp_path):
    code, output, _ = run("setup", "--dry-run")
    assert code == 0
    assert "This machine: " in output
    assert not (tmp_path / "data").exists()


def test_setup_without_a_terminal_says_what_to_say(run):
    code, _, errors = run("setup")
    assert code == 1
    assert "--yes" in errors or "fits" in errors


def test_what_goes_wrong_is_one_sentence(run, hub):
    code, output, errors = run("models", "pull", "someone/Gone")
    assert (code, output) == (1, "")
    assert errors == (
        "duologue: 127.0.0.1 has no repository someone/Gone. Check the spelling. If it is private, set HF_TOKEN.\n"
    )


def test_the_catalogue_needs_no_network(run, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.invalid")
    code, output, _ = run("models", "list", "--available")
    assert code == 0
    assert "qwen3-4b" in output


def test_every_command_and_every_flag_explains_itself():
    group: Any = get_command(main.app)
    commands = {**group.commands["models"].commands, "setup": group.commands["setup"]}
    assert set(commands) == {"list", "pull", "rm", "setup"}
    for name, command in commands.items():
        assert command.help, name
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{name} {parameter.name}"


def test_their_help_loads_nothing_heavy():
    code = (
        "import sys; sys.argv = ['duologue', 'models', '--help']\n"
        "from duologue.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'fastapi', 'httpx', 'yaml', 'rich', 'msgspec', 'xllamacpp', 'duologue.cli.model_commands'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr == "[]\n"


def test_a_server_that_downloads_nothing_does_not_load_the_downloader():
    code = (
        "import sys, duologue.gateway.app\n"
        "downloader = ('connection', 'download', 'pull')\n"
        "print([name for name in downloader if f'duologue.models.{name}' in sys.modules])"
    )
    folder = Path(__file__).parents[1]
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder
    )
    assert ended.stdout == "[]\n"
