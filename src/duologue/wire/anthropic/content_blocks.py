"""The content blocks of Anthropic's messages, and the parts they become.

Owns the pydantic models, which /docs shows. A picture or document at an address, and any file, is a `MediaReference`, which the caller
reads first. Used by `conversation` and `messages_body`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, JsonValue, Tag, WithJsonSchema

from duologue.errors import BadRequest, Unsupported
from duologue.values.messages import Part, TextPart
from duologue.wire import media_parts
from duologue.wire.fields.field_schemas import SomeText
from duologue.wire.validation import Body, JsonObject, content_parts, part_tag
from duologue.wire.validation_errors import TAG

OTHERS = frozenset(
    {
        "server_tool_use",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "advisor_tool_result",
        "mcp_tool_use",
        "mcp_tool_result",
        "mcp_tool_listing",
        "browser_state",
        "fallback",
    }
)
"""Records of what another server did earlier in a conversation. The model is not shown them: what came of it is in the text."""
OTHER = f"{TAG}server_tool_use"


class TextBlock(Body):
    type: Literal["text"]
    text: SomeText


class SourceBody(Body):
    """Where the bytes are. `content`: of a document that is given as text, or as blocks."""

    type: Annotated[
        Literal["base64", "url", "text", "content", "file"],
        WithJsonSchema({"type": "string", "enum": ["base64", "url", "text", "content"]}),
    ]
    media_type: str = Field(default="", max_length=256)
    data: str | None = None
    url: Annotated[str, WithJsonSchema({"type": "string", "pattern": "^https?://[^/]"})] | None = None
    content: (
        Annotated[
            list[JsonObject], BeforeValidator(content_parts, json_schema_input_type=str | list[JsonObject])
        ]
        | None
    ) = None
    file_id: str | None = None


class ImageBlock(Body):
    type: Literal["image"]
    source: SourceBody


class CitationsBody(Body):
    enabled: bool = False


class DocumentBlock(Body):
    """A PDF, a text, or blocks of text."""

    type: Literal["document"]
    source: SourceBody
    title: str | None = Field(default=None, max_length=1024)
    context: str | None = None
    citations: CitationsBody | None = None


class SearchResultBlock(Body):
    type: Literal["search_result"]
    source: str = ""
    title: str = ""
    content: list[TextBlock] = Field(default_factory=list)
    citations: CitationsBody | None = None


class ThinkingBlock(Body):
    """An earlier thought, with the signature that came with it."""

    type: Literal["thinking"]
    thinking: str = ""
    signature: str = ""


class RedactedThinkingBlock(Body):
    """A thought of another server that nobody else can read."""

    type: Literal["redacted_thinking"]
    data: str = ""


class ToolUseBlock(Body):
    type: Literal["tool_use"]
    id: str
    name: str = Field(min_length=1)
    input: JsonObject = Field(default_factory=dict)


class ToolReferenceBlock(Body):
    """The name of a tool that a search found."""

    type: Literal["tool_reference"]
    tool_name: str


class CompactionBlock(Body):
    """The summary of what was said before."""

    type: Literal["compaction"]
    content: str | None = None


class OtherServersBlock(Body):
    """What another server did; see `OTHERS`."""

    type: Annotated[str, WithJsonSchema({"type": "string", "enum": sorted(OTHERS)})]


def _tag(value: object) -> str | None:
    tag = part_tag(value)
    return OTHER if tag is not None and tag.removeprefix(TAG) in OTHERS else tag


ShownBlock = Annotated[
    Annotated[TextBlock, Tag("~text")]
    | Annotated[ImageBlock, Tag("~image")]
    | Annotated[DocumentBlock, Tag("~document")]
    | Annotated[SearchResultBlock, Tag("~search_result")]
    | Annotated[ToolReferenceBlock, Tag("~tool_reference")]
    | Annotated[OtherServersBlock, Tag(OTHER)],
    Discriminator(_tag),
]


class ToolResultBlock(Body):
    type: Literal["tool_result"]
    tool_use_id: str
    content: (
        Annotated[
            list[ShownBlock], BeforeValidator(content_parts, json_schema_input_type=str | list[ShownBlock])
        ]
        | None
    ) = None
    is_error: bool = False


AnyBlock = (
    TextBlock
    | ImageBlock
    | DocumentBlock
    | SearchResultBlock
    | ToolReferenceBlock
    | OtherServersBlock
    | ThinkingBlock
    | RedactedThinkingBlock
    | ToolUseBlock
    | ToolResultBlock
    | CompactionBlock
)
ContentBlock = Annotated[
    Annotated[TextBlock, Tag("~text")]
    | Annotated[ImageBlock, Tag("~image")]
    | Annotated[DocumentBlock, Tag("~document")]
    | Annotated[SearchResultBlock, Tag("~search_result")]
    | Annotated[ThinkingBlock, Tag("~thinking")]
    | Annotated[RedactedThinkingBlock, Tag("~redacted_thinking")]
    | Annotated[ToolUseBlock, Tag("~tool_use")]
    | Annotated[ToolResultBlock, Tag("~tool_result")]
    | Annotated[ToolReferenceBlock, Tag("~tool_reference")]
    | Annotated[CompactionBlock, Tag("~compaction")]
    | Annotated[OtherServersBlock, Tag(OTHER)],
    Discriminator(_tag),
]
Blocks = Annotated[
    list[ContentBlock],
    BeforeValidator(
        content_parts,
        json_schema_input_type=Annotated[str, Field(min_length=1)]
        | Annotated[list[ContentBlock], Field(min_length=1)],
    ),
]
TextBlocks = Annotated[
    list[TextBlock], BeforeValidator(content_parts, json_schema_input_type=str | list[TextBlock])
]


def each_block(blocks: Sequence[AnyBlock], where: str) -> Iterator[tuple[str, AnyBlock]]:
    """The blocks with their paths; those inside of a tool's result follow it."""
    for index, block in enumerate(blocks):
        place = f"{where}[{index}]"
        yield place, block
        if isinstance(block, ToolResultBlock):
            yield from each_block(block.content or (), f"{place}.content")


def reference(block: AnyBlock, where: str) -> media_parts.MediaReference | None:
    """What has to be fetched or read before it is known what it is. Raises BadRequest, Unsupported."""
    if isinstance(block, ImageBlock) and block.source.type == "url":
        return media_parts.MediaReference(where, "image", url=_address(block.source, where))
    if isinstance(block, DocumentBlock):
        name = block.title or ""
        if block.source.type == "url":
            return media_parts.MediaReference(where, "file", url=_address(block.source, where), name=name)
        if block.source.type == "base64":
            return media_parts.MediaReference(where, "file", _bytes(block.source, where), name=name)
    return None


def parts_of(block: AnyBlock, where: str, references: Mapping[str, Sequence[Part]]) -> Sequence[Part]:
    """What the model is shown of a block; nothing of those that are no content. Raises BadRequest, Unsupported."""
    read = references.get(where)
    match block:
        case TextBlock():
            return [TextPart(block.text)] if block.text else ()
        case ImageBlock():
            return read if read is not None else [_picture(block.source, where)]
        case DocumentBlock():
            return _document(block, where, read)
        case SearchResultBlock():
            head = "\n".join(line for line in (block.title, block.source) if line)
            return [TextPart("\n\n".join([head, *(text.text for text in block.content)]))]
        case ToolReferenceBlock():
            return [TextPart(f"The tool {block.tool_name} is available.")]
        case CompactionBlock() if block.content:
            return [TextPart(block.content)]
    return ()


def unapplied_in(block: AnyBlock) -> str | None:
    """The name of what a block asks for, or is, that has no effect here."""
    if isinstance(block, OtherServersBlock):
        return block.type
    if isinstance(block, DocumentBlock | SearchResultBlock) and block.citations and block.citations.enabled:
        return "citations"
    return None


def _picture(source: SourceBody, where: str) -> Part:
    return media_parts.image(_bytes(source, where), f"{where}.source")


def _document(block: DocumentBlock, where: str, read: Sequence[Part] | None) -> Sequence[Part]:
    if read is not None:
        return [*([TextPart(block.context)] if block.context else ()), *read]
    head = "\n\n".join(words for words in (block.title, block.context) if words)
    source, place = block.source, f"{where}.source"
    parts: list[Part] = [TextPart(head)] if head else []
    if source.type == "text" and source.data:
        return [*parts, TextPart(f"\n\n{source.data}" if head else source.data)]
    if source.type == "content" and source.content:
        for index, entry in enumerate(source.content):
            parts.append(_source_part(entry, f"{place}.content[{index}]"))
        return parts
    raise _no_source(source, where)


def _source_part(entry: Mapping[str, JsonValue], where: str) -> Part:
    text, inner = entry.get("text"), entry.get("source")
    if entry.get("type") == "text" and isinstance(text, str):
        return TextPart(f"\n\n{text}")
    if (
        entry.get("type") == "image"
        and isinstance(inner, dict)
        and isinstance(data := inner.get("data"), str)
    ):
        return media_parts.image(media_parts.from_base64(data, f"{where}.source.data"), f"{where}.source")
    raise BadRequest(f"{where} must be a text, or a picture as base64.", param=where)


def _bytes(source: SourceBody, where: str) -> bytes:
    if source.type != "base64" or not source.data:
        raise _no_source(source, where)
    return media_parts.from_base64(source.data, f"{where}.source.data")


def _address(source: SourceBody, where: str) -> str:
    if source.url and media_parts.is_address(source.url):
        return source.url
    raise BadRequest(f"{where}.source.url must be an address with https://.", param=f"{where}.source.url")


def _no_source(source: SourceBody, where: str) -> BadRequest:
    if source.type == "file":
        return Unsupported(
            f"{where}.source is the id of a file; there is no store of files here. Send the file itself as base64.",
            param=f"{where}.source",
        )
    return BadRequest(
        f"{where}.source of the type {source.type} is not possible here, or lacks its content.",
        param=f"{where}.source",
    )
