"""The command line: flags become settings, problems become one sentence, help is quick and complete."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from duologue import __version__
from duologue.cli import doctor, main
from duologue.config.loader import FLAGS
from duologue.errors import StartFailed

RUNNING = Path(__file__).parents[2] / "docs" / "running.md"


@pytest.fixture(autouse=True)
def _clean_environment(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.startswith("DUOLOGUE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(monkeypatch, capfd):
    """Run the program with these arguments: exit code, output, error output."""

    def call(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["duologue", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = 0
        try:
            main.main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        output, errors = capfd.readouterr()
        return code, output, errors

    return call


@pytest.fixture
def served(monkeypatch):
    """What `serve` would have started with."""
    started = []
    from duologue.gateway import server

    monkeypatch.setattr(server, "serve", lambda settings, **others: started.append(settings))
    return started


def test_the_version_is_said(run):
    assert run("--version") == (0, f"duologue {__version__}\n", "")


def test_no_command_shows_the_help(run):
    _, output, errors = run()
    assert "serve" in output + errors


def test_flags_win_over_the_environment_and_the_file(run, served, monkeypatch, tmp_path):
    (tmp_path / "duologue.yaml").write_text("slots: 2\nport: 1\n")
    monkeypatch.setenv("DUOLOGUE_PORT", "2")
    monkeypatch.setenv("DUOLOGUE_CONTEXT", "512")
    arguments = [
        "--port",
        "3",
        "--upstream",
        "http://x",
        "--host-name",
        "a.b",
        "--host-name",
        "c.d",
        "--no-ui",
        "--base-path",
        "talk/",
        "--proxy",
        "10.0.0.1",
    ]
    assert run("serve", *arguments)[0] == 0
    settings = served[0]
    assert (settings.port, settings.context, settings.slots) == (3, 512, 2)
    assert settings.upstream.url == "http://x"
    assert settings.host_names == ("a.b", "c.d")
    assert settings.ui.enabled is False
    assert (settings.base_path, settings.proxies) == ("/talk", ("10.0.0.1",))


def test_aliases_are_given_one_by_one(run, served):
    assert run("serve", "--alias", "gpt-4.1=mini", "--alias", "*=")[0] == 0
    assert served[0].aliases == {"gpt-4.1": "mini", "*": ""}
    code, _, errors = run("serve", "--alias", "gpt-4.1")
    assert (code, errors) == (1, "duologue: --alias: 'gpt-4.1' must be NAME=VALUE.\n")


def test_flags_not_given_change_nothing(run, served, monkeypatch):
    monkeypatch.setenv("DUOLOGUE_INSECURE_HTTP", "yes")
    monkeypatch.setenv("DUOLOGUE_UI", "no")
    monkeypatch.setenv("DUOLOGUE_HOST_NAMES", "a.b")
    assert run("serve")[0] == 0
    assert (served[0].insecure_http, served[0].ui.enabled, served[0].host_names) == (True, False, ("a.b",))


def test_a_problem_is_one_sentence_and_exit_code_one(run, monkeypatch):
    from duologue.gateway import server

    def fail(settings, **others):
        raise StartFailed("Port 8006 is in use.")

    monkeypatch.setattr(server, "serve", fail)
    assert run("serve") == (1, "", "duologue: Port 8006 is in use.\n")


def test_a_wrong_setting_is_one_sentence(run):
    code, _, errors = run("serve", "--port", "70000")
    assert code == 1
    assert errors == "duologue: port must be a whole number from 0 to 65535, not 70000 (from --port).\n"


def test_a_wrong_flag_is_told_without_a_trace(run):
    code, _, errors = run("serve", "--slots", "many")
    assert code == 2
    assert "--slots" in errors
    assert "Traceback" not in errors


def test_ctrl_c_leaves_no_trace(run, monkeypatch):
    from duologue.gateway import server

    def interrupt(settings, **others):
        raise KeyboardInterrupt

    monkeypatch.setattr(server, "serve", interrupt)
    code, _, errors = run("serve")
    assert code == 130
    assert "Traceback" not in errors


def test_parse_prints_the_parts_of_a_raw_reply(run):
    raw = b'<think>hm</think>Sure.<tool_call>\n{"name": "add", "arguments": {"a": 1.50}}\n</tool_call>'
    for chunk in ("0", "1"):
        code, output, _ = run("parse", "--format", "hermes", "--chunk", chunk, stdin=raw)
        assert code == 0
        assert json.loads(output) == {
            "reasoning": "hm",
            "content": "Sure.",
            "tool_calls": [{"name": "add", "arguments": {"a": 1.5}}],
        }


def test_parse_reads_a_file_as_well_as_standard_input(run, tmp_path):
    (tmp_path / "reply.txt").write_text("<think>hm</think>Sure.")
    code, output, _ = run("parse", "--format", "hermes", str(tmp_path / "reply.txt"))
    assert code == 0
    assert (json.loads(output)["reasoning"], json.loads(output)["content"]) == ("hm", "Sure.")
    code, _, errors = run("parse", "--format", "hermes", str(tmp_path / "none.txt"))
    assert code == 2
    assert "does not exist" in errors


def test_parse_starts_in_reasoning_when_told(run):
    _, output, _ = run("parse", "--format", "hermes", "--start-in-reasoning", stdin=b"hm</think>Sure.")
    assert (json.loads(output)["reasoning"], json.loads(output)["content"]) == ("hm", "Sure.")


def test_parse_names_the_formats_it_knows(run):
    code, _, errors = run("parse", "--format", "nonsense")
    assert code == 1
    assert "hermes" in errors


def test_parse_passes_every_flag_on(run, tmp_path):
    (tmp_path / "template.jinja").write_text("[THINK][/THINK]")
    (tmp_path / "tools.json").write_text("[]")
    flags = (
        "--template",
        str(tmp_path / "template.jinja"),
        "--tools",
        str(tmp_path / "tools.json"),
        "--trace",
    )
    code, output, notes = run("parse", "--format", "hermes", *flags, stdin=b"[THINK]hm[/THINK]Sure.")
    assert code == 0
    assert json.loads(output)["reasoning"] == "hm"
    assert notes.startswith("1: ")


def test_say_without_a_server_says_how_to_start_one(run, monkeypatch, unused_port):
    monkeypatch.setenv("DUOLOGUE_PORT", str(unused_port))
    code, output, errors = run("say", "hello")
    assert (code, output) == (1, "")
    assert f"http://127.0.0.1:{unused_port}. Start one with `duologue serve`" in errors


@pytest.fixture
def unused_port():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:8006"),
        ("0.0.0.0", "http://127.0.0.1:8006"),
        ("::", "http://[::1]:8006"),
    ],
)
def test_say_reaches_the_server_of_the_settings(monkeypatch, run, host, address):
    from duologue.cli import say

    asked = []
    monkeypatch.setattr(say, "say", lambda question, server, *streams: asked.append((question, server)))
    monkeypatch.setenv("DUOLOGUE_HOST", host)
    monkeypatch.setenv("DUOLOGUE_KEY", "secret")
    assert run("say", "hello", "there", "--no-thinking")[0] == 0
    assert run("say", "-", stdin=b"from a pipe")[0] == 0
    (first, server), (second, _) = asked
    assert (first.text, first.thinking) == ("hello there", False)
    assert (server.address, server.key) == (address, "secret")
    assert second.text == "from a pipe"


def test_say_takes_any_bytes_and_refuses_to_say_nothing(monkeypatch, run):
    from duologue.cli import say

    asked = []
    monkeypatch.setattr(say, "say", lambda question, *others: asked.append(question.text))
    assert run("say", "-", stdin=b"caf\xe9")[0] == 0
    assert run("say", "caf\udce9")[0] == 0
    assert asked == ["caf\ufffd", "caf\ufffd"]
    for nothing in (("say", ""), ("say", "-")):
        code, _, errors = run(*nothing, stdin=b" \n")
        assert (code, "nothing to say" in errors) == (1, True)
    assert len(asked) == 2


def test_the_help_names_commands_and_values_in_words(run):
    _, output, errors = run("--help")
    assert "..." not in (output + errors).partition("Commands:")[2], "no summary is cut off"
    group: Any = get_command(main.app)
    for command in group.commands:
        _, output, errors = run(command, "--help")
        assert "<" not in (output + errors).partition("Options:")[2], command


def test_doctor_fails_when_there_is_something_to_mend(run, monkeypatch):
    finding = doctor.Finding("problem", "port", "Port 8006 is in use.")
    monkeypatch.setattr(doctor, "examine", lambda read: [finding])
    code, output, _ = run("doctor")
    assert code == 1
    assert "problem  port  Port 8006 is in use." in output
    monkeypatch.setattr(doctor, "examine", lambda read: [finding._replace(state="warning")])
    assert run("doctor")[0] == 0


def options(command: str) -> set[str]:
    group: Any = get_command(main.app)
    parameters = group.commands[command].params
    return {name for parameter in parameters for name in parameter.opts if name.startswith("--")}


def test_every_flag_of_serve_is_in_the_documentation():
    text = RUNNING.read_text()
    assert {flag for flag in options("serve") if flag not in text} == set()


def test_every_setting_names_the_flag_it_really_has():
    assert {f"--{flag}" for flag in FLAGS.values()} <= options("serve")


def test_every_command_and_every_flag_explains_itself():
    group: Any = get_command(main.app)
    for name, command in group.commands.items():
        assert command.help, name
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{name} {parameter.name}"


def test_help_loads_nothing_heavy():
    code = (
        "import sys; sys.argv = ['duologue', 'serve', '--help']\n"
        "from duologue.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'fastapi', 'httpx', 'yaml', 'uvicorn', 'rich', 'prometheus_client', 'xllamacpp'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr == "[]\n"


def test_output_cut_off_by_its_reader_leaves_no_trace():
    command = f"{sys.executable} -m duologue serve --help | true"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
