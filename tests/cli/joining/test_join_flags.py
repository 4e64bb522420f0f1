"""The flags of `duologue worker`."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from duologue.cli.joining import join_command
from duologue.cli.joining.join_command import JoinFlags
from duologue.cli.main import app


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[JoinFlags]:
    """What the command was called with."""
    calls: list[JoinFlags] = []

    def join(flags: JoinFlags, *rest: Any) -> int:
        calls.append(flags)
        return 0

    monkeypatch.setattr(join_command, "join", join)
    return calls


def test_flags_of_the_machine_become_its_settings(given: list[JoinFlags]) -> None:
    arguments = ["worker", "--join", "https://gateway", "--key", "k", "--slots", "4", "--device", "cuda:1"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert (given[0].url, given[0].key) == ("https://gateway", "k")
    assert {name: value for name, value in given[0].settings.items() if value is not None} == {
        "slots": 4,
        "device": "cuda:1",
    }


def test_several_fingerprints_may_be_given(given: list[JoinFlags]) -> None:
    CliRunner().invoke(app, ["worker", "--join", "https://g", "--fingerprint", "a", "--fingerprint", "b"])
    assert given[0].fingerprints == ("a", "b")


def test_without_an_address_there_is_nothing_to_join(given: list[JoinFlags]) -> None:
    assert CliRunner().invoke(app, ["worker"]).exit_code == 2
    assert not given
