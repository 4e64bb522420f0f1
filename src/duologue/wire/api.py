"""The request bodies of the conversations API, `/api`. Responses are values, encoded as they are.

Owns the pydantic models, which /docs shows, and their conversion to values. Unknown fields are refused by name: a command
understood in part would be carried out in part. Used by `conversations.api`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    Tag,
    ValidationError,
    WithJsonSchema,
)

from duologue.errors import BadRequest, TooLarge
from duologue.values.conversations import GenerationOptions, ResourceContent, TextContent
from duologue.values.requests import Effort, Sampling
from duologue.wire.fields.field_schemas import exactly_one, without_null
from duologue.wire.validation import MAX_TOKENS, MEGABYTE, SamplingFields, Stops, part_tag
from duologue.wire.validation_errors import refusal, shortened

A = TypeVar("A", bound="RequestBody")

TITLE = 200
NAME = 200
TAGS = 32
MANY = 1000
"""Conversations in one bulk command."""


def checked_id(value: str) -> str:
    """The id, if it is valid. Raises ValueError with the end of a sentence."""
    if 1 <= len(value) <= 64 and value.isascii() and value.replace("-", "").replace("_", "a").isalnum():
        return value
    raise ValueError("must be 1 to 64 characters of A-Z a-z 0-9 _ -")


def _hash(value: str) -> str:
    if len(value) == 64 and not set(value) - set("0123456789abcdef"):
        return value
    raise ValueError("must be the hash of a stored file: 64 characters of 0-9 a-f")


def _hash_or_none(value: str) -> str:
    return _hash(value) if value else value


ID_SCHEMA = {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"}
"""What `checked_id` takes, for /docs."""
Id = Annotated[str, AfterValidator(checked_id), WithJsonSchema(ID_SCHEMA)]
Hash = Annotated[str, AfterValidator(_hash), WithJsonSchema({"type": "string", "pattern": "^[0-9a-f]{64}$"})]
Title = Annotated[str, Field(max_length=TITLE)]
NOT_NULL = WithJsonSchema({"type": "boolean"})
"""For a flag that may be left out: None is what it is then, and not a value."""


class RequestBody(BaseModel):
    """A JSON body with strict types. null is a value where a field allows it."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True)

    def named(self) -> dict[str, Any]:
        """The validated values of the fields that the client sent."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class SamplingBody(SamplingFields):
    """How the next token is chosen. Absent fields are inherited."""

    model_config = ConfigDict(extra="forbid")

    max_tokens: int | None = Field(default=None, ge=1, le=MAX_TOKENS)
    logprobs: int | None = Field(default=None, ge=0, le=20)

    def values(self) -> Sampling:
        return self.sampling(max_tokens=self.max_tokens, logprobs=self.logprobs)


class OptionsBody(RequestBody):
    """How replies are generated. Absent fields are inherited: run, then conversation, then settings."""

    model: str = Field(default="", max_length=NAME)
    sampling: SamplingBody = SamplingBody()
    stop: Stops = Field(default_factory=list)
    thinking: bool | None = None
    max_turns: int | None = Field(default=None, ge=1, le=1000)
    tools: bool | None = None
    servers: dict[str, bool] = Field(default_factory=dict, max_length=256)
    effort: Effort | None = Field(default=None, description="Limits the reasoning of models that reason.")

    def options(self) -> GenerationOptions:
        return GenerationOptions(
            model=self.model,
            sampling=self.sampling.values(),
            stop=tuple(self.stop or self.sampling.stop or ()),
            thinking=self.thinking,
            max_turns=self.max_turns,
            tools=self.tools,
            servers=dict(self.servers),
            effort=self.effort,
        )


class TextContentBody(RequestBody):
    type: Literal["text"]
    text: str


class FileContentBody(RequestBody):
    """A stored file (`/api/blobs`). `given`: send a document as its text, or as pictures of its pages; absent: as suits the
    model."""

    type: Literal["file"]
    blob: Hash
    name: str = Field(default="", max_length=1000)
    mime: str = Field(default="", max_length=NAME)
    given: Literal["text", "pages"] | None = None


class ResourceContentBody(RequestBody):
    """A resource of an MCP server, as `/api/mcp/resources/read` returned it."""

    type: Literal["resource"]
    server: str = Field(max_length=NAME)
    uri: str = Field(max_length=4000)
    name: str = Field(default="", max_length=1000)
    mime: str = Field(default="", max_length=NAME)
    text: str = ""
    blob: Annotated[
        str, AfterValidator(_hash_or_none), WithJsonSchema({"type": "string", "pattern": "^([0-9a-f]{64})?$"})
    ] = ""


Part = TextContentBody | FileContentBody | ResourceContentBody
ContentBody = Annotated[
    Annotated[TextContentBody, Tag("~text")]
    | Annotated[FileContentBody, Tag("~file")]
    | Annotated[ResourceContentBody, Tag("~resource")],
    Discriminator(part_tag),
]
Contents = Annotated[list[ContentBody], Field(min_length=1, max_length=1000)]


class UploadBody(RequestBody):
    """A file that will arrive in pieces."""

    name: str = Field(default="", max_length=1024)
    mime: str = Field(default="", max_length=NAME)
    size: int = Field(ge=1, le=2**53, description="Bytes of the whole file.")


class MessageBody(RequestBody):
    id: Id
    content: Contents


class SendBody(RequestBody):
    """Send a message and answer it. `parent` absent: after the conversation's current row; null: at the beginning. `busy`: what
    to do with it while a reply is running."""

    verb: Literal["send"]
    run: Id
    message: MessageBody
    parent: Id | None = None
    options: OptionsBody = OptionsBody()
    busy: Literal["refuse", "queue", "steer"] = "refuse"


class RegenerateBody(RequestBody):
    """Generate another answer to a user's message, or beside an assistant's message."""

    verb: Literal["regenerate"]
    run: Id
    message: Id
    options: OptionsBody = OptionsBody()


class ContinueBody(RequestBody):
    """Continue a reply that was cut off, stopped or interrupted, or that reached its limit of turns."""

    verb: Literal["continue"]
    run: Id
    message: Id
    options: OptionsBody = OptionsBody()


class EditBody(RequestBody):
    """Edit a user's message: a new version in a branch beside it, which is answered."""

    verb: Literal["edit"]
    run: Id
    message: Id
    new: MessageBody
    options: OptionsBody = OptionsBody()


RUN_BODIES: dict[str, type[SendBody | RegenerateBody | ContinueBody | EditBody]] = {
    "send": SendBody,
    "regenerate": RegenerateBody,
    "continue": ContinueBody,
    "edit": EditBody,
}


class SteerBody(RequestBody):
    """A message for a running reply, inserted at its next step."""

    id: Id
    content: Contents


class ContentChangeBody(RequestBody):
    content: Contents


class PendingChangeBody(RequestBody):
    content: Contents | None = None
    how: Literal["queue", "steer"] | None = None
    options: OptionsBody | None = None


class ApprovalAnswerBody(RequestBody):
    """The answer to an approval: a `decision` about a tool call, or an `action` (and `values`) for a server's question."""

    model_config = ConfigDict(json_schema_extra=exactly_one(decision="string", action="string"))

    decision: Literal["once", "tool", "server", "deny"] | None = None
    action: Literal["accept", "decline", "cancel"] | None = None
    values: dict[str, JsonValue] = Field(default_factory=dict, max_length=256)


class NewConversationBody(RequestBody):
    """`temporary`: stored in memory only, and lost when the server stops."""

    id: Id | None = None
    title: Title = ""
    system: str = ""
    folder: Id | None = None
    temporary: bool = False
    tags: list[Annotated[str, Field(min_length=1, max_length=64)]] = Field(
        default_factory=list, max_length=TAGS
    )
    options: OptionsBody = OptionsBody()


class ConversationChangeBody(RequestBody):
    """Absent fields stay as they are. `leaf` switches to the branch of the newest row below it."""

    title: Annotated[Title | None, WithJsonSchema({"type": "string", "maxLength": TITLE})] = None
    folder: Id | None = None
    pinned: Annotated[bool | None, NOT_NULL] = None
    archived: Annotated[bool | None, NOT_NULL] = None
    tags: list[Annotated[str, Field(min_length=1, max_length=64)]] | None = Field(
        default=None, max_length=TAGS, json_schema_extra=without_null
    )
    leaf: Id | None = Field(default=None, json_schema_extra=without_null)
    options: OptionsBody | None = Field(default=None, json_schema_extra=without_null)


class BulkBody(RequestBody):
    ids: list[Id] = Field(min_length=1, max_length=MANY)
    do: Literal["archive", "unarchive", "delete", "restore", "pin", "unpin", "move"]
    folder: Id | None = None


class ForkBody(RequestBody):
    """Copy the path up to `message` into the new conversation `id`."""

    id: Id
    message: Id
    title: Title = ""


class SystemMessageBody(RequestBody):
    """The system message; empty text removes it."""

    id: Id | None = None
    text: str


class CompactBody(RequestBody):
    """`leaf` names the branch. Absent: the current one."""

    id: Id | None = None
    leaf: Id | None = None


class FolderBody(RequestBody):
    name: str = Field(min_length=1, max_length=NAME)
    parent: Id | None = None


class DraftBody(RequestBody):
    """A draft of the page; unknown fields are stored with it. The server sets `updated`."""

    model_config = ConfigDict(extra="allow")

    text: str = ""
    files: list[JsonValue] = Field(default_factory=list)


class SettingsBody(RequestBody):
    """A merge patch of a user's settings. The page stores its own under other names; `options` are the defaults of every reply,
    `zone` is the user's IANA time zone."""

    model_config = ConfigDict(extra="allow")

    options: OptionsBody | None = None
    zone: str | None = Field(default=None, max_length=64)


def read(model: type[A], value: object) -> A:
    """The body as a `model`. Raises BadRequest that names the field."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise refusal(error, model) from None
    except RecursionError:
        raise BadRequest("The request is too deeply nested.", code="invalid_json") from None


def read_run(value: object) -> SendBody | RegenerateBody | ContinueBody | EditBody:
    """The body of `POST /api/conversations/{id}/runs`. Raises BadRequest that names the field."""
    model = (
        RUN_BODIES.get(value["verb"])
        if isinstance(value, dict) and isinstance(value.get("verb"), str)
        else None
    )
    if model is None:
        raise BadRequest(f"verb must be one of {', '.join(RUN_BODIES)}.", param="verb")
    return read(model, value)


def plain_content(part: TextContentBody | ResourceContentBody) -> TextContent | ResourceContent:
    """The content of a part that is not a file."""
    if isinstance(part, TextContentBody):
        return TextContent(part.text)
    return ResourceContent(part.server, part.uri, part.name, part.mime, part.text, part.blob)


def check_contents(parts: Iterable[Part], *, text_mb: int, attachments: int) -> None:
    """Raises TooLarge for more text or files than a message may have; each limit is a setting."""
    parts = list(parts)
    texts = [part.text for part in parts if not isinstance(part, FileContentBody)]
    check_text(texts, text_mb=text_mb)
    files = sum(not isinstance(part, TextContentBody) for part in parts)
    if files > attachments:
        raise TooLarge(
            f"The message has {files:,} files; at most {attachments:,} are allowed "
            "(setting limits.attachments).",
            param="content",
        )


def check_text(texts: Iterable[str], *, text_mb: int, param: str = "content") -> None:
    """Raises TooLarge for more text than a request may have."""
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    if size > text_mb * MEGABYTE:
        raise TooLarge(
            f"{shortened(param)} has {size:,} bytes of text; at most {text_mb * MEGABYTE:,} are allowed "
            "(setting limits.text_mb).",
            param=param,
        )
