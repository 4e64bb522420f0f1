"""Which format a file has is told by what is in it."""

import json
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from duologue.conversations.importing import conversations
from duologue.conversations.importing.values import ImportedConversation, ImportProblem
from duologue.errors import BadRequest
from duologue.values.conversations import Conversation, ImageContent

SAMPLES = Path(__file__).parent / "samples"
TITLES = {
    "llama_ui.jsonl": ["Tides"],
    "llama_ui_first.json": ["Hello"],
    "chatgpt.json": ["Plot of a sine"],
    "open_webui.json": ["Weather in Oslo", "Without a tree"],
}


def sample(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


def titles(data: bytes) -> list[str]:
    return [
        one.conversation.title for one in conversations(data, "ann") if isinstance(one, ImportedConversation)
    ]


def packed(members: dict[str, bytes]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name, data in members.items():
            target.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize("name", TITLES)
def test_every_format_is_known_by_its_content(name):
    assert titles(sample(name)) == TITLES[name]


@pytest.mark.parametrize("name", [name for name in TITLES if name.endswith(".json")])
def test_json_is_known_in_one_line_and_in_many(name):
    value = json.loads(sample(name))
    for written in (
        json.dumps(value),
        json.dumps(value, indent=1),
        json.dumps(value[0]),
        json.dumps(value[0], indent=4),
    ):
        assert titles(written.encode())[:1] == TITLES[name][:1]
        assert titles(b"\xef\xbb\xbf" + written.encode())[:1] == TITLES[name][:1]


def test_an_archive_of_several_formats_gives_all_of_them():
    members = {f"export/{name}.txt.jsonl": sample(name) for name in TITLES}
    members["__MACOSX/export/._x.json"] = b"\0\1"
    members["export/user.json"] = b'{"id": "user-1"}'
    members["export/notes.json"] = b"{not json"
    assert sorted(titles(packed(members))) == sorted(title for some in TITLES.values() for title in some)


def test_pictures_of_a_chatgpt_archive_come_along():
    members = {
        "conversations.json": sample("chatgpt.json"),
        "file-Abc123-sketch.png": b"sketch",
        "user-1/file_00ff-part.png": b"figure",
        "chat.html": b"<html>",
    }
    found = next(conversations(packed(members), "ann"))
    assert sorted(file.data for file in found.files.values()) == [b"figure", b"sketch"]
    assert isinstance(found.messages[0].content[0], ImageContent)


def test_lines_are_known_when_the_first_is_damaged():
    data = b'{"type": "conversation", "conv": {"id": "cut\n' + sample("llama_ui.jsonl").split(b"\n", 1)[1]
    trouble, found = conversations(data, "ann")
    assert isinstance(trouble, ImportProblem)
    assert len(found.messages) == 6


def test_ids_are_the_same_at_every_import_and_of_each_user():
    def ids(user: str) -> list[str]:
        return [one.id for found in conversations(sample("llama_ui.jsonl"), user) for one in found.messages]

    assert ids("ann") == ids("ann")
    assert not set(ids("ann")) & set(ids("bob"))


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"\x89PNG", b"[]", b"{}", b"[1]", b'{"a": 1}\n{"b": 2}', packed({})]
)
def test_other_files_are_refused_with_what_can_be_read(data):
    with pytest.raises(BadRequest, match="ChatGPT") as met:
        list(conversations(data, "ann"))
    assert met.value.code == "import_unknown"


def test_a_file_that_was_cut_is_told_to_be_damaged():
    with pytest.raises(BadRequest, match="damaged") as met:
        list(conversations(sample("chatgpt.json")[:-50], "ann"))
    assert met.value.code == "import_unreadable"


@pytest.mark.parametrize("name", TITLES)
def test_whatever_is_broken_in_a_value_the_rest_is_read(name):
    """Every value of the sample in turn is something else; nothing but a Trouble comes of it."""
    data = sample(name)
    lined = name.endswith("l")
    whole = [json.loads(line) for line in data.splitlines()] if lined else json.loads(data)
    for path in places(whole):
        for other in (None, 7, "x", [], {}, [None], {"a": None}):
            broken = replaced(whole, path, other)
            text = (
                "\n".join(map(json.dumps, broken))
                if lined and isinstance(broken, list)
                else json.dumps(broken)
            )
            assert refusal(text.encode()) in ("", "import_unknown")


def refusal(data: bytes) -> str:
    """The code a file is refused with, "" when it is read."""
    try:
        for found in conversations(data, "ann"):
            assert isinstance(found, ImportProblem) or isinstance(found.conversation, Conversation)
    except BadRequest as problem:
        return problem.code
    return ""


def places(value: object, path: tuple = ()):
    for key, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield (*path, key)
        yield from places(inner, (*path, key))


def replaced(value, path, other):
    if not path:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], other)
    return copy
