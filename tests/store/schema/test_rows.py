"""Rows of messages; that every field comes back is tested where they are kept (test_messages)."""

from __future__ import annotations

import json

import msgspec

from duologue.store.schema import rows
from duologue.values.conversations import (
    AudioContent,
    DocumentContent,
    ImageContent,
    ResourceContent,
    StoredMessage,
    TextContent,
)


def test_rows_are_read_in_the_order_of_the_fields():
    assert tuple(column.name for column in rows.COLUMNS) == StoredMessage.__struct_fields__


def test_a_row_and_back():
    made = StoredMessage("m", "a", None, "assistant", (TextContent("x"),), reasoning="y\0")
    values = rows.columns(made) | {
        "id": "m",
        "conversation": "a",
        "parent": None,
        "sequence": 0,
        "created": 0,
    }
    assert rows.message([values[column.name] for column in rows.COLUMNS]) == made


def test_json_is_compact_and_nothing_stays_nothing():
    assert rows.json((1, "ü")) == '[1,"ü"]'
    assert rows.optional_json(None) is None
    assert rows.optional_json({}) == "{}"


def test_the_files_of_content_are_those_it_names_and_those_made_of_them():
    content = (
        TextContent("x"),
        ImageContent("a", "image/heic", shown="b"),
        ImageContent("a", "image/png"),
        AudioContent("c", "audio/wav"),
        DocumentContent("d", "application/pdf", text="e", pages=("f", "g")),
        ResourceContent("server", "x://y", text="no file"),
    )
    assert rows.files(content) == frozenset("abcdefg")


def test_a_message_is_found_by_its_text_and_the_names_of_its_files():
    content = (
        TextContent("look"),
        ImageContent("a", "image/png", "beach.png"),
        ImageContent("b", "image/png"),
    )
    assert rows.searched(StoredMessage("m", "a", None, "user", content)) == "look\nbeach.png"
    assert rows.searched(StoredMessage("m", "a", None, "tool", content)) == ""


def test_what_is_read_back_leaves_its_defaults_out_of_json():
    made = StoredMessage("m", "a", None, "user", (TextContent("x"),))
    place = {"id": "m", "conversation": "a", "parent": None, "sequence": 1, "created": 1}
    values = rows.columns(made) | place
    # As a driver gives them: words made anew.
    read = [json.loads(json.dumps(values[column.name])) for column in rows.COLUMNS]
    body = msgspec.json.encode(rows.message(read))
    assert b"status" not in body
    assert b"kind" not in body
