"""The flags of `duologue avatar render`."""

import pytest
from typer.testing import CliRunner

from duologue.cli import render_clip
from duologue.cli.main import app
from duologue.cli.render_clip import Order
from duologue.errors import StartFailed


def test_the_help_says_where_to_run_it():
    result = CliRunner().invoke(app, ["avatar", "render", "--help"])
    assert result.exit_code == 0
    assert "server's own machine" in " ".join(result.output.split())


def test_flags_become_an_order_and_options(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(render_clip, "render_clip", lambda *given: asked.append(given))
    flags = [
        "--seconds",
        "2",
        "--seed",
        "3",
        "--no-loras",
        "--gguf",
        "a",
        "--gguf",
        "b",
        "--steps",
        "4",
        "--no-offload",
    ]
    result = CliRunner().invoke(app, ["avatar", "render", "own-1", *flags, "--data", str(tmp_path)])
    assert result.exit_code == 0, result.output
    order, chosen, settings, server, _ = asked[0]
    assert order == Order("own-1", 2.0, "", 3, False)
    assert chosen == {
        "model": "",
        "gguf": ["a", "b"],
        "size": 832,
        "steps": 4,
        "guidance": None,
        "offload": False,
    }
    assert settings.data == tmp_path
    assert server.base_url.startswith("http")


def test_a_problem_reaches_the_terminal_as_a_sentence(monkeypatch, tmp_path):
    def fail(*_):
        raise StartFailed("There are no weights.")

    monkeypatch.setattr(render_clip, "render_clip", fail)
    with pytest.raises(StartFailed, match="There are no weights"):
        CliRunner().invoke(app, ["avatar", "render", "x", "--data", str(tmp_path)], catch_exceptions=False)
