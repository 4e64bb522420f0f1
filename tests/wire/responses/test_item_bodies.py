"""Items as clients send them, in every spelling."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.errors import BadRequest
from duologue.wire.responses.item_bodies import (
    ITEM_TYPES,
    FunctionCallOutputItem,
    ItemTextContent,
    MessageItem,
    ReferenceItem,
    stored_items,
)


def read(*items: dict[str, Any]) -> list[Any]:
    return list(stored_items(items))


def test_a_message_needs_no_type_and_its_content_may_be_a_text() -> None:
    (message,) = read({"role": "user", "content": "Hello"})
    assert isinstance(message, MessageItem)
    assert message.content == [ItemTextContent(type="input_text", text="Hello")]


def test_parts_of_text_have_many_names() -> None:
    names = ["input_text", "output_text", "text", "summary_text", "reasoning_text"]
    content = [{"type": name, "text": name, "annotations": []} for name in names]
    (message,) = read({"type": "message", "role": "assistant", "content": content})
    assert [part.text for part in message.content] == names


def test_an_id_alone_is_a_reference() -> None:
    for item in ({"id": "msg_1"}, {"type": "item_reference", "id": "msg_1"}):
        (reference,) = read(item)
        assert isinstance(reference, ReferenceItem)


def test_a_result_is_a_text_or_parts() -> None:
    results = read(
        {"type": "function_call_output", "call_id": "c", "output": "sunny"},
        {
            "type": "function_call_output",
            "call_id": "c",
            "output": [{"type": "input_image", "image_url": "u"}],
        },
    )
    assert all(isinstance(result, FunctionCallOutputItem) for result in results)
    assert results[0].output[0].text == "sunny"
    assert results[1].output[0].image_url == "u"


def test_what_a_reply_gave_can_be_sent_back() -> None:
    items: list[dict[str, Any]] = [
        {"id": "rs_1", "type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm"}]},
        {"id": "fc_1", "type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "status": "completed"},
        {"type": "custom_tool_call", "call_id": "d", "name": "g", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "d", "output": "y"},
    ]  # fmt: skip
    assert [item.type for item in read(*items)] == [item["type"] for item in items]


@pytest.mark.parametrize("kind", ["web_search_call", "computer_call_output", "mcp_call", "compaction"])
def test_items_of_hosted_tools_are_refused_by_name(kind: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read({"role": "user", "content": "Hi"}, {"type": kind, "id": "x"})
    assert kind in refused.value.message
    assert "[1]" in refused.value.message
    assert all(known in refused.value.message for known in ITEM_TYPES)


@pytest.mark.parametrize(
    ("item", "param"),
    [
        ({"type": "function_call", "name": "f"}, "items[0].call_id"),
        ({"type": "function_call", "name": "f", "call_id": ""}, "items[0].call_id"),
        ({"type": "function_call_output", "call_id": "c"}, "items[0].output"),
        ({"type": "message", "role": "user", "content": 5}, "items[0].content"),
        ({"id": "x" * 257}, "items[0].id"),
    ],
)
def test_a_broken_item_is_refused_with_its_place(item: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read(item)
    assert refused.value.param == param
