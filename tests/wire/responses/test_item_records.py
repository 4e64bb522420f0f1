"""Items as they are stored and listed: ids, media by reference, lists."""

from __future__ import annotations

from typing import Any

from duologue.wire.responses.item_bodies import stored_items
from duologue.wire.responses.item_records import (
    InlineMedia,
    inline_media,
    item_list,
    listed,
    recorded,
    stored_files,
    with_files,
    with_media,
)

HASH = "ab" * 32
PICTURE = {"type": "input_image", "image_url": "data:image/png;base64,QUJD", "detail": "auto"}
SOUND = {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "wav"}}
FILE = {"type": "input_file", "file_data": "QUJD", "filename": "a.txt"}
ITEM: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "user", "content": [PICTURE, SOUND, FILE]}


def test_items_get_ids_and_states_and_keep_their_own() -> None:
    items = stored_items(
        [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Ho", "id": "msg_own", "status": "incomplete"},
            {"type": "function_call", "call_id": "c", "name": "f"},
            {"type": "function_call_output", "call_id": "c", "output": "x"},
            {"type": "reasoning", "summary": []},
        ]
    )
    records = recorded(items, "abc")
    assert [record["id"] for record in records] == [
        "msg_abci0",
        "msg_own",
        "fc_abci2",
        "fco_abci3",
        "rs_abci4",
    ]
    assert [record.get("status") for record in records] == [
        "completed", "incomplete", "completed", "completed", None,
    ]  # fmt: skip
    assert records[0]["content"] == [{"type": "input_text", "text": "Hi"}]
    assert records[1]["content"] == [{"type": "output_text", "text": "Ho", "annotations": []}]


def test_media_go_out_and_come_back() -> None:
    media = inline_media(ITEM)
    assert media == [
        InlineMedia(0, "image_url", "data:image/png;base64,", "QUJD"),
        InlineMedia(1, "input_audio", "", "QUJD"),
        InlineMedia(2, "file_data", "", "QUJD"),
    ]
    stored = with_files(ITEM, [(medium, HASH) for medium in media])
    assert "QUJD" not in str(stored)
    files = stored_files(stored)
    assert [hash for _, _, hash, _ in files] == [HASH] * 3
    full = with_media(stored, {(part, field): prefix + "QUJD" for part, field, _, prefix in files})
    assert full == ITEM


def test_addresses_and_texts_stay() -> None:
    item = {"type": "message", "content": [{**PICTURE, "image_url": "https://host/a.png"}]}
    assert inline_media(item) == []
    assert inline_media({"type": "function_call", "arguments": "{}"}) == []
    result = {"type": "function_call_output", "output": [PICTURE]}
    assert with_files(result, [(inline_media(result)[0], HASH)])["output"][0]["image_url"].startswith(
        "duologue-blob:"
    )


def test_lists_show_no_media() -> None:
    stored = with_files(ITEM, [(medium, HASH) for medium in inline_media(ITEM)])
    picture, sound, file = listed(stored)["content"]
    assert (picture["image_url"], sound["input_audio"]["data"], file["file_data"]) == (None, None, None)
    assert file["filename"] == "a.txt"


def test_a_list_tells_its_ends() -> None:
    items: list[dict[str, Any]] = [{"id": str(number)} for number in range(2)]
    shown = item_list(items, more=True)
    assert (shown["first_id"], shown["last_id"], shown["has_more"]) == ("0", "1", True)
    assert item_list([], more=False)["first_id"] is None
