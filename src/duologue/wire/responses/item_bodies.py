"""The items of OpenAI's Responses API as clients send them: messages and their parts, tool calls and their results, thoughts.

Owns the pydantic models, which /docs shows. What the server stored is read with the same models. Items of tools that OpenAI
hosts are refused by name. Used by `item_messages`, `response_body` and `conversation_bodies`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from duologue.wire.openai import OpenAIAudioContent
from duologue.wire.validation import Body, part_tag, validate
from duologue.wire.validation_errors import TAG, shortened

ID = Annotated[str, Field(max_length=256)]
ITEM_TYPES = (
    *("message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"),
    *("reasoning", "item_reference"),
)


class ItemTextContent(Body):
    """`output_text` in a message of the assistant, `input_text` in others; either is taken anywhere."""

    type: Literal["input_text", "output_text", "text", "summary_text", "reasoning_text"]
    text: str


class ItemRefusalContent(Body):
    type: Literal["refusal"]
    refusal: str


class ItemImageContent(Body):
    """A picture as a `data:` URL, at an address, or a stored file."""

    type: Literal["input_image"]
    image_url: str | None = None
    file_id: str | None = None
    detail: Literal["auto", "low", "high", "original"] = "auto"


class ItemFileContent(Body):
    """A file in base64, as a `data:` URL, at an address, or a stored one."""

    type: Literal["input_file"]
    file_data: str | None = None
    file_url: str | None = None
    filename: str = Field(default="", max_length=1024)
    file_id: str | None = None


class ItemVideoContent(Body):
    """An extension: a video as a `data:` URL or at an address."""

    type: Literal["input_video"]
    video_url: str


AnyItemContent = (
    ItemTextContent
    | ItemRefusalContent
    | ItemImageContent
    | ItemFileContent
    | OpenAIAudioContent
    | ItemVideoContent
)
ItemContent = Annotated[
    Annotated[ItemTextContent, Tag("~input_text")]
    | Annotated[ItemTextContent, Tag("~output_text")]
    | Annotated[ItemImageContent, Tag("~input_image")]
    | Annotated[ItemFileContent, Tag("~input_file")]
    | Annotated[OpenAIAudioContent, Tag("~input_audio")]
    | Annotated[ItemVideoContent, Tag("~input_video")]
    | Annotated[ItemRefusalContent, Tag("~refusal")]
    | Annotated[ItemTextContent, Tag("~text")]
    | Annotated[ItemTextContent, Tag("~summary_text")]
    | Annotated[ItemTextContent, Tag("~reasoning_text")],
    Discriminator(part_tag),
]


def _contents(value: object) -> object:
    """Content as a list of parts; a string becomes one text part."""
    if isinstance(value, str):
        return [{"type": "input_text", "text": value}]
    if isinstance(value, list):
        return value
    raise ValueError("must be a string or a list of parts")


Contents = Annotated[
    list[ItemContent], BeforeValidator(_contents, json_schema_input_type=str | list[ItemContent])
]


class MessageItem(Body):
    type: Literal["message"] = "message"
    id: ID | None = None
    role: Literal["system", "developer", "user", "assistant"]
    content: Contents
    status: str | None = None


class FunctionCallItem(Body):
    type: Literal["function_call"]
    id: ID | None = None
    call_id: ID = Field(min_length=1)
    name: str = Field(min_length=1, max_length=256)
    namespace: str | None = Field(default=None, max_length=128)
    arguments: str = ""
    status: str | None = None


class FunctionCallOutputItem(Body):
    """What a function answered: a text, or parts of text and media."""

    type: Literal["function_call_output"]
    id: ID | None = None
    call_id: ID = Field(min_length=1)
    output: Contents
    status: str | None = None


class CustomToolCallItem(Body):
    type: Literal["custom_tool_call"]
    id: ID | None = None
    call_id: ID = Field(min_length=1)
    name: str = Field(min_length=1, max_length=256)
    namespace: str | None = Field(default=None, max_length=128)
    input: str = ""


class CustomToolCallOutputItem(Body):
    type: Literal["custom_tool_call_output"]
    id: ID | None = None
    call_id: ID = Field(min_length=1)
    output: Contents


class ReasoningItem(Body):
    """A thought of an earlier reply: its text, or what `include: ["reasoning.encrypted_content"]` gave."""

    type: Literal["reasoning"]
    id: ID | None = None
    summary: list[ItemTextContent] = Field(default=[])
    content: list[ItemTextContent] = Field(default=[])
    encrypted_content: str | None = None


class ReferenceItem(Body):
    """An item that the server stored, by its id."""

    type: Literal["item_reference"] = "item_reference"
    id: ID


AnyItem = (
    MessageItem
    | FunctionCallItem
    | FunctionCallOutputItem
    | CustomToolCallItem
    | CustomToolCallOutputItem
    | ReasoningItem
    | ReferenceItem
)


def _item_tag(value: object) -> str | None:
    """The tag of an item; one without a type but with an id alone is a reference, any other a message."""
    if isinstance(value, dict) and value.get("type") is None:
        return TAG + ("item_reference" if "id" in value and "role" not in value else "message")
    return part_tag(value)


Item = Annotated[
    Annotated[MessageItem, Tag("~message")]
    | Annotated[FunctionCallItem, Tag("~function_call")]
    | Annotated[FunctionCallOutputItem, Tag("~function_call_output")]
    | Annotated[CustomToolCallItem, Tag("~custom_tool_call")]
    | Annotated[CustomToolCallOutputItem, Tag("~custom_tool_call_output")]
    | Annotated[ReasoningItem, Tag("~reasoning")]
    | Annotated[ReferenceItem, Tag("~item_reference")],
    Discriminator(_item_tag),
]


def _items(value: object) -> object:
    """Items as a list; a string becomes the user's message."""
    if isinstance(value, str):
        return [{"type": "message", "role": "user", "content": value}]
    if not isinstance(value, list):
        raise ValueError("must be a string or a list of items")
    for index, item in enumerate(value):
        kind = item.get("type") if isinstance(item, dict) else None
        if isinstance(kind, str) and kind not in ITEM_TYPES:
            raise ValueError(
                f"has the type {shortened(kind)!r} at [{index}], which this server does not know; it takes "
                + ", ".join(ITEM_TYPES)
            )
    return value


Items = Annotated[
    list[Item],
    BeforeValidator(
        _items,
        json_schema_input_type=Annotated[str, Field(min_length=1)]
        | Annotated[list[Item], Field(min_length=1)],
    ),
]


class StoredItemsBody(Body):
    """Items as the server stored them."""

    items: Items


def stored_items(items: Sequence[dict[str, Any]]) -> list[AnyItem]:
    """Items that were stored, as models. Raises BadRequest for those that an older server stored and this one cannot read."""
    return list(validate(StoredItemsBody, {"items": list(items)}).items)
