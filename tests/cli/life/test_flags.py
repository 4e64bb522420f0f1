"""The flags of `duologue drain` and `duologue restart`."""

import pytest
from typer.testing import CliRunner

from duologue.cli.life import commands
from duologue.cli.main import app
from duologue.errors import Problem


def test_flags_become_what_is_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(commands, "drain", lambda server, *given, **options: asked.append((given, options)))
    monkeypatch.setattr(commands, "restart", lambda server, *given, **options: asked.append((given, options)))
    for line in (
        ["drain", "--worker", "w0", "--no-wait"],
        ["drain", "--undo"],
        ["restart"],
        ["restart", "--at-once"],
    ):
        result = CliRunner().invoke(app, line)
        assert result.exit_code == 0, result.output
    for _, options in asked:
        del options["asides"]
    assert asked == [
        ((("w0",),), {"undo": False, "wait": False}),
        (((),), {"undo": True, "wait": True}),
        (((),), {"rolling": True, "wait": True}),
        (((),), {"rolling": False, "wait": True}),
    ]


@pytest.mark.parametrize("command", ["drain", "restart"])
def test_without_a_server_the_commands_say_how_to_start_one(command):
    result = CliRunner().invoke(app, [command, "--server", "http://127.0.0.1:1"])
    assert isinstance(result.exception, Problem)
    assert "Start one with `duologue serve`" in str(result.exception)
