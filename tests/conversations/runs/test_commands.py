"""The verbs as JSON."""

import msgspec
import pytest

from duologue.conversations.runs.commands import (
    Continue,
    Edit,
    FileContent,
    NewMessage,
    Regenerate,
    RunCommand,
    Send,
)
from duologue.values.conversations import GenerationOptions, TextContent


def test_each_verb_is_told_by_its_name():
    new = {"id": "m", "content": [{"type": "text", "text": "hi"}]}
    message = NewMessage("m", (TextContent("hi"),))
    for body, expected in (
        ({"verb": "send", "run": "r", "message": new}, Send("r", message)),
        ({"verb": "send", "run": "r", "message": new, "parent": None}, Send("r", message, None)),
        ({"verb": "regenerate", "run": "r", "message": "a"}, Regenerate("r", "a")),
        (
            {"verb": "continue", "run": "r", "message": "a", "options": {"model": "x"}},
            Continue("r", "a", GenerationOptions("x")),
        ),
        ({"verb": "edit", "run": "r", "message": "a", "new": new}, Edit("r", "a", message)),
    ):
        assert msgspec.convert(body, RunCommand) == expected


def test_a_file_is_named_by_its_hash():
    assert msgspec.convert(
        {"id": "m", "content": [{"type": "file", "blob": "ab", "given": "pages"}]}, NewMessage
    ).content == (FileContent("ab", given="pages"),)


@pytest.mark.parametrize("id", ["", "a" * 65, "a b", "ä", "a/b"])
def test_an_id_of_other_characters_is_refused(id):
    with pytest.raises(msgspec.ValidationError, match="run"):
        msgspec.convert({"verb": "regenerate", "run": id, "message": "a"}, RunCommand)


def test_an_unknown_field_is_refused_by_name():
    with pytest.raises(msgspec.ValidationError, match="temperature"):
        msgspec.convert({"verb": "regenerate", "run": "r", "message": "a", "temperature": 1}, RunCommand)
