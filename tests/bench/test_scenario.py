"""The scenarios of the duplex benchmark: each file can be read, and what it asks for is known."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from duplex.scenario import Caller, read, variations


def test_every_file_can_be_read_and_says_what_it_is_for():
    found = read()
    assert {each.server for each in found} == {"bundled", "scripted"}
    assert all(each.about and each.steps for each in found)
    assert len({each.name for each in found}) == len(found)


def test_what_varies_is_run_once_for_each():
    body = {
        "about": "x",
        "vary": {"voice": ["en-us", "en-gb"], "say": ["a", "b"]},
        "steps": [{"say": "$say", "tag": "turn"}],
    }
    found = list(variations("x", body))
    assert [(each.caller.voice, each.steps[0].value) for each in found] == [
        ("en-us", "a"),
        ("en-us", "b"),
        ("en-gb", "a"),
        ("en-gb", "b"),
    ]
    assert found[0].steps[0].tags == {"turn"}


def test_an_echo_is_read_in_seconds():
    body = {"about": "x", "caller": {"echo": {"level": -20, "delay_ms": 120}}, "steps": []}
    [found] = variations("x", body)
    assert found.caller == Caller(echo=(-20.0, 0.12))


@pytest.mark.parametrize(
    "body",
    [
        {"about": "x", "stepz": [], "steps": []},
        {"about": "x", "steps": [{"shout": "a"}]},
        {"about": "x", "steps": [{"wait": "forever"}]},
        {"about": "x", "steps": [{"wait": {"herd": 1}}]},
        {"about": "x", "caller": {"loudness": 3}, "steps": []},
    ],
)
def test_what_nobody_knows_is_refused(body: dict):
    with pytest.raises(SystemExit):
        list(variations("x", body))
