import msgspec

from duologue.values.conversations import ImageContent, StoredMessage, TextContent


def test_the_text_of_a_row_leaves_its_files_out():
    row = StoredMessage(
        "m", "c", None, "user", (TextContent("a "), ImageContent("f" * 64, "image/png"), TextContent("b"))
    )
    assert row.text == "a b"


def test_a_row_is_its_own_json():
    row = StoredMessage("m", "c", None, "user", (TextContent("hello"),), sequence=3)
    body = msgspec.json.encode(row)
    assert b'"tool_calls"' not in body
    assert msgspec.json.decode(body, type=StoredMessage) == row
