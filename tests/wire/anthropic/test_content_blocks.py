"""What Anthropic's content blocks become, and which have to be read first."""

import base64
from typing import Any

import pytest
from pydantic import TypeAdapter

from duologue.errors import BadRequest, Unsupported
from duologue.values.messages import ImagePart, Part, TextPart
from duologue.wire.anthropic.content_blocks import (
    AnyBlock,
    Blocks,
    each_block,
    parts_of,
    reference,
    unapplied_in,
)

PNG = b"\x89PNG\r\n\x1a\n."
WHERE = "messages[0].content[0]"


def blocks(*values: dict[str, Any]) -> list[AnyBlock]:
    return TypeAdapter(Blocks).validate_python(list(values))


def source(data: bytes, mime: str = "image/png") -> dict[str, Any]:
    return {"type": "base64", "media_type": mime, "data": base64.b64encode(data).decode()}


def shown(value: dict[str, Any], read: list[Part] | None = None) -> list[Part]:
    return list(parts_of(blocks(value)[0], WHERE, {WHERE: read} if read else {}))


def test_a_text_is_a_block() -> None:
    block = TypeAdapter(Blocks).validate_python("Hello")[0]
    assert parts_of(block, WHERE, {}) == [TextPart("Hello")]


def test_a_picture_goes_by_its_bytes() -> None:
    picture = {"type": "image", "source": source(PNG, "image/jpeg")}
    assert shown(picture) == [ImagePart(PNG, "image/png")]
    assert reference(blocks(picture)[0], WHERE) is None
    with pytest.raises(BadRequest, match=r"messages\[0\].content\[0\].source is not a PNG"):
        shown({"type": "image", "source": source(b"no picture")})


def test_a_picture_at_an_address_is_read_first() -> None:
    picture = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    found = reference(blocks(picture)[0], WHERE)
    assert found is not None
    assert (found.where, found.kind, found.url) == (WHERE, "image", "https://example.org/a.png")
    assert shown(picture, read=[ImagePart(PNG, "image/png")]) == [ImagePart(PNG, "image/png")]
    with pytest.raises(BadRequest, match="an address with https://"):
        reference(blocks({"type": "image", "source": {"type": "url", "url": "file:///etc/passwd"}})[0], WHERE)


def test_a_pdf_is_a_file_with_its_title_and_context() -> None:
    document = {
        "type": "document",
        "title": "Plan",
        "context": "Of May.",
        "source": source(b"%PDF", "application/pdf"),
    }
    found = reference(blocks(document)[0], WHERE)
    assert found is not None
    assert (found.kind, found.data, found.name) == ("file", b"%PDF", "Plan")
    assert shown(document, read=[TextPart("It says.")]) == [TextPart("Of May."), TextPart("It says.")]


def test_a_document_of_text_stands_as_it_is() -> None:
    text = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "One."}}
    assert shown(text) == [TextPart("One.")]
    assert shown(text | {"title": "T"}) == [TextPart("T"), TextPart("\n\nOne.")]
    inner = [{"type": "text", "text": "A"}, {"type": "image", "source": source(PNG)}]
    assert shown({"type": "document", "source": {"type": "content", "content": inner}}) == [
        TextPart("\n\nA"),
        ImagePart(PNG, "image/png"),
    ]
    with pytest.raises(BadRequest, match=r"content\[0\] must be a text"):
        shown({"type": "document", "source": {"type": "content", "content": [{"type": "audio"}]}})


def test_search_results_and_tool_references_are_text() -> None:
    found = {
        "type": "search_result",
        "source": "https://a.b",
        "title": "T",
        "content": [{"type": "text", "text": "C"}],
    }
    assert shown(found) == [TextPart("T\nhttps://a.b\n\nC")]
    assert shown({"type": "tool_reference", "tool_name": "f"}) == [TextPart("The tool f is available.")]
    assert shown({"type": "compaction", "content": "So far: x."}) == [TextPart("So far: x.")]


def test_a_stored_file_is_refused_with_what_to_do() -> None:
    for kind in ("image", "document"):
        with pytest.raises(Unsupported, match="there is no store of files here"):
            shown({"type": kind, "source": {"type": "file", "file_id": "file_1"}})


def test_what_another_server_did_is_passed_over_and_named() -> None:
    [block] = blocks({"type": "server_tool_use", "id": "x", "name": "web_search", "input": {"query": "q"}})
    assert parts_of(block, WHERE, {}) == ()
    assert unapplied_in(block) == "server_tool_use"
    [cited] = blocks({"type": "document", "citations": {"enabled": True}, "source": source(b"%PDF")})
    assert unapplied_in(cited) == "citations"


def test_blocks_inside_of_a_result_have_paths() -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a"}]}
    paths = [place for place, _ in each_block(blocks({"type": "text", "text": "b"}, result), "m")]
    assert paths == ["m[0]", "m[1]", "m[1].content[0]"]
