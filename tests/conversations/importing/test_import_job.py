"""Imports are read in a process of their own: the items that come back, and the files that would stop a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.bombs import zipped
from tests.support.decoder_jobs import test_jobs, unpack_without_checks

from duologue.conversations.importing import import_job
from duologue.conversations.importing.import_job import (
    ConversationItem,
    FilePiece,
    ImportItem,
    ProblemItem,
    read_import,
)
from duologue.decoder.service import decode_stream
from duologue.errors import BadRequest, TooLarge

__all__ = ["test_jobs"]

SAMPLES = Path(__file__).parent / "samples"
BLANKS = b" " * 2**20


async def read(data: bytes) -> list[ImportItem]:
    async with decode_stream(read_import, data, "ann") as items:
        return [item async for item in items]


def chat(text: str = "hello") -> dict[str, object]:
    """A conversation as Open WebUI exports it."""
    message: dict[str, object] = {
        "id": "m",
        "parentId": None,
        "childrenIds": [],
        "role": "user",
        "content": text,
        "timestamp": 1,
    }
    return {"id": "c", "chat": {"title": "Talk", "history": {"currentId": "m", "messages": {"m": message}}}}


def test_a_conversation_comes_before_the_bytes_of_its_files() -> None:
    items = list(read_import((SAMPLES / "llama_ui.jsonl").read_bytes(), "ann"))
    head = items[0]
    assert isinstance(head, ConversationItem)
    assert head.conversation.files == {}
    assert [file.name for file in head.files] == ["sea.png", "notes.md"]
    pieces = [item.data for item in items[1:] if isinstance(item, FilePiece)]
    assert sum(map(len, pieces)) == sum(file.size for file in head.files)


def test_a_large_file_comes_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_job, "PIECE", 16)
    items = list(read_import((SAMPLES / "llama_ui.jsonl").read_bytes(), "ann"))
    pieces = [item.data for item in items if isinstance(item, FilePiece)]
    assert len(pieces) > 2
    assert max(map(len, pieces)) <= 16


def test_a_conversation_of_too_much_text_is_left_out_by_its_title(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_job, "CONVERSATION_MB", 1)
    [item] = read_import(json.dumps([chat("a" * 2**21)]).encode(), "ann")
    assert isinstance(item, ProblemItem)
    assert item.message == "“Talk” has more than 1 MB of text and was left out."


@pytest.mark.anyio
@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir()))
async def test_the_items_are_the_same_in_a_process_of_its_own(sample: str) -> None:
    data = (SAMPLES / sample).read_bytes()
    assert await read(data) == list(read_import(data, "ann"))


BOMBS = {
    "a list of blanks in a zip": lambda: zipped("conversations.json", b"[", BLANKS, times=30),
    "blanks in a zip": lambda: zipped("conversations.json", BLANKS, times=30),
    "an endless string in a zip": lambda: zipped("conversations.json", b'["', BLANKS, times=30),
    "empty objects": lambda: b"[" + b"{}," * 400_000 + b"{}]",
    "lists in lists": lambda: b"[" * 1_000_000,
    "objects in objects": lambda: b'{"a":' * 200_000,
    "a number of many digits": lambda: b"[" + b"9" * 2_000_000 + b"]",
    "a float of many digits": lambda: b"[0." + b"9" * 2_000_000 + b"e999999999]",
    "lines of nothing": lambda: b"{}\n" * 200_000,
    "blanks beyond reason in a zip": lambda: zipped("conversations.json", BLANKS, times=33),
    "a cut zip": lambda: zipped("conversations.json", b"[", BLANKS)[:-40],
    "a zip of nothing": lambda: b"PK\5\6" + bytes(18),
}


@pytest.mark.anyio
@pytest.mark.parametrize("bomb", BOMBS)
async def test_a_hostile_file_is_refused_and_the_next_one_is_read(bomb: str) -> None:
    data = BOMBS[bomb]()
    with pytest.raises((BadRequest, TooLarge)) as raised:
        await read(data)
    assert raised.value.code in ("import_unknown", "import_unreadable", "too_large")
    assert await read(json.dumps([chat()]).encode())


@pytest.mark.anyio
async def test_half_a_character_arrives_as_one_that_can_be_stored() -> None:
    [item] = await read(json.dumps([chat("\ud800")]).encode())
    assert isinstance(item, ConversationItem)
    assert [row.text for row in item.conversation.messages] == ["\ufffd"]


@pytest.mark.anyio
@pytest.mark.usefixtures("test_jobs")
async def test_an_archive_that_unpacks_to_too_much_memory_ends_its_process_only() -> None:
    data = zipped("a", BLANKS, times=160)
    with pytest.raises(BadRequest) as raised:
        async with decode_stream(unpack_without_checks, data) as items:
            await anext(items)
    assert raised.value.code == "file_too_complex"
    assert await read(json.dumps([chat()]).encode())
