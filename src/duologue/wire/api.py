"""The bodies of the conversations API, `/api`: what a client may ask, field by field.

Owns the pydantic models (so that /docs shows them) and their one way to values. Strict: a field nobody knows is
refused by its name, for a command that is half understood is half done. Answers are values, encoded as they are.
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
)

from duologue.errors import BadRequest, TooLarge
from duologue.values.conversations import GenerationOptions, ResourceContent, TextContent
from duologue.values.requests import Effort, Sampling
from duologue.wire.validation import MAX_TOKENS, MEGABYTE, SamplingFields, Stops, part_tag
from duologue.wire.validation_errors import refusal, shortened

A = TypeVar("A", bound="RequestBody")

TITLE = 200
NAME = 200
TAGS = 32
MANY = 1000
"""Conversations one bulk command may name."""


def checked_id(value: str) -> str:
    """The id, if it can be one. Raises ValueError with the end of a sentence."""
    if 1 <= len(value) <= 64 and value.isascii() and value.replace("-", "").replace("_", "a").isalnum():
        return value
    raise ValueError("must be 1 to 64 characters of A-Z a-z 0-9 _ -")


def _hash(value: str) -> str:
    if len(value) == 64 and not set(value) - set("0123456789abcdef"):
        return value
    raise ValueError("must be the hash of a kept file: 64 characters of 0-9 a-f")


def _hash_or_none(value: str) -> str:
    return _hash(value) if value else value


Id = Annotated[str, AfterValidator(checked_id)]
Hash = Annotated[str, AfterValidator(_hash)]
Title = Annotated[str, Field(max_length=TITLE)]


class RequestBody(BaseModel):
    """Strict about types, as JSON has them. null is a value where a field allows it."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True)

    def named(self) -> dict[str, Any]:
        """The fields the client sent, as they were understood."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class SamplingBody(SamplingFields):
    """How the next token is chosen; what is absent is inherited."""

    model_config = ConfigDict(extra="forbid")

    max_tokens: int | None = Field(default=None, ge=1, le=MAX_TOKENS)
    logprobs: int | None = Field(default=None, ge=0, le=20)

    def values(self) -> Sampling:
        return self.sampling(max_tokens=self.max_tokens, logprobs=self.logprobs)


class OptionsBody(RequestBody):
    """How replies are made; what is absent is inherited: run, then conversation, then settings."""

    model: str = Field(default="", max_length=NAME)
    sampling: SamplingBody = SamplingBody()
    stop: Stops = Field(default_factory=list)
    thinking: bool | None = None
    max_turns: int | None = Field(default=None, ge=1, le=1000)
    tools: bool | None = None
    servers: dict[str, bool] = Field(default_factory=dict, max_length=256)
    effort: Effort | None = Field(default=None, description="How long a model may think where it does.")

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
    """A kept file (`/api/blobs`). `given`: a document's text, or its pages as pictures; absent: what suits."""

    type: Literal["file"]
    blob: Hash
    name: str = Field(default="", max_length=1000)
    mime: str = Field(default="", max_length=NAME)
    given: Literal["text", "pages"] | None = None


class ResourceContentBody(RequestBody):
    """A resource of an MCP server, as `/api/mcp/resources/read` gave it."""

    type: Literal["resource"]
    server: str = Field(max_length=NAME)
    uri: str = Field(max_length=4000)
    name: str = Field(default="", max_length=1000)
    mime: str = Field(default="", max_length=NAME)
    text: str = ""
    blob: Annotated[str, AfterValidator(_hash_or_none)] = ""


Part = TextContentBody | FileContentBody | ResourceContentBody
ContentBody = Annotated[
    Annotated[TextContentBody, Tag("~text")]
    | Annotated[FileContentBody, Tag("~file")]
    | Annotated[ResourceContentBody, Tag("~resource")],
    Discriminator(part_tag),
]
Contents = Annotated[list[ContentBody], Field(min_length=1, max_length=1000)]


class MessageBody(RequestBody):
    id: Id
    content: Contents


class SendBody(RequestBody):
    """A message and its answer. `parent` absent: after the row the conversation stands at; null: at the beginning.
    `busy`: what becomes of it while a reply is running."""

    verb: Literal["send"]
    run: Id
    message: MessageBody
    parent: Id | None = None
    options: OptionsBody = OptionsBody()
    busy: Literal["refuse", "queue", "steer"] = "refuse"


class RegenerateBody(RequestBody):
    """Another answer beside an assistant's message, or to a user's message."""

    verb: Literal["regenerate"]
    run: Id
    message: Id
    options: OptionsBody = OptionsBody()


class ContinueBody(RequestBody):
    """Go on with a reply that was cut, stopped, interrupted or limited."""

    verb: Literal["continue"]
    run: Id
    message: Id
    options: OptionsBody = OptionsBody()


class EditBody(RequestBody):
    """A user's message once more, as a branch beside it, and answered."""

    verb: Literal["edit"]
    run: Id
    message: Id
    new: MessageBody
    options: OptionsBody = OptionsBody()


VERBS: dict[str, type[SendBody | RegenerateBody | ContinueBody | EditBody]] = {
    "send": SendBody,
    "regenerate": RegenerateBody,
    "continue": ContinueBody,
    "edit": EditBody,
}


class SteerBody(RequestBody):
    """What goes into a running reply at its next step."""

    id: Id
    content: Contents


class ContentChangeBody(RequestBody):
    content: Contents


class PendingChangeBody(RequestBody):
    content: Contents | None = None
    how: Literal["queue", "steer"] | None = None
    options: OptionsBody | None = None


class ApprovalAnswerBody(RequestBody):
    """The answer to an approval: a `decision` about a tool's call, or an `action` (and `values`) for a server that
    asks for something."""

    decision: Literal["once", "tool", "server", "deny"] | None = None
    action: Literal["accept", "decline", "cancel"] | None = None
    values: dict[str, JsonValue] = Field(default_factory=dict, max_length=256)


class NewConversationBody(RequestBody):
    """`temporary`: kept in memory only, and forgotten when the server ends."""

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
    """What is absent stays. `leaf` switches the branch: to the newest row below the one named."""

    title: Title | None = None
    folder: Id | None = None
    pinned: bool | None = None
    archived: bool | None = None
    tags: list[Annotated[str, Field(min_length=1, max_length=64)]] | None = Field(
        default=None, max_length=TAGS
    )
    leaf: Id | None = None
    options: OptionsBody | None = None


class BulkBody(RequestBody):
    ids: list[Id] = Field(min_length=1, max_length=MANY)
    do: Literal["archive", "unarchive", "delete", "restore", "pin", "unpin", "move"]
    folder: Id | None = None


class ForkBody(RequestBody):
    """Copies the path up to `message` into the new conversation `id`."""

    id: Id
    message: Id
    title: Title = ""


class SystemMessageBody(RequestBody):
    """The system message; empty text removes it."""

    id: Id | None = None
    text: str


class CompactBody(RequestBody):
    """`leaf` names the branch; absent: the one the conversation stands at."""

    id: Id | None = None
    leaf: Id | None = None


class FolderBody(RequestBody):
    name: str = Field(min_length=1, max_length=NAME)
    parent: Id | None = None


class DraftBody(RequestBody):
    """What was begun to be written, as the page has it; what else it puts in is kept. `updated` is the server's."""

    model_config = ConfigDict(extra="allow")

    text: str = ""
    files: list[JsonValue] = Field(default_factory=list)


class SettingsBody(RequestBody):
    """A merge patch of a user's settings. The page's own are under names of its choosing; `options` are the defaults
    of every reply, `zone` the time zone its clock is read in, as IANA names it."""

    model_config = ConfigDict(extra="allow")

    options: OptionsBody | None = None
    zone: str | None = Field(default=None, max_length=64)


def read(model: type[A], value: object) -> A:
    """The body as `model`. Raises BadRequest that names the field."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise refusal(error, model) from None
    except RecursionError:
        raise BadRequest("The request is nested too deeply.", code="invalid_json") from None


def read_run(value: object) -> SendBody | RegenerateBody | ContinueBody | EditBody:
    """The body of `POST /api/conversations/{id}/runs`. Raises BadRequest that names the field."""
    model = (
        VERBS.get(value["verb"]) if isinstance(value, dict) and isinstance(value.get("verb"), str) else None
    )
    if model is None:
        raise BadRequest(f"verb must be one of {', '.join(VERBS)}.", param="verb")
    return read(model, value)


def plain_content(part: TextContentBody | ResourceContentBody) -> TextContent | ResourceContent:
    """The content of a part that is no file."""
    if isinstance(part, TextContentBody):
        return TextContent(part.text)
    return ResourceContent(part.server, part.uri, part.name, part.mime, part.text, part.blob)


def check_contents(parts: Iterable[Part], *, text_mb: int, attachments: int) -> None:
    """Raises TooLarge for more text or more files than a message may bring; each limit is a setting."""
    parts = list(parts)
    texts = [part.text for part in parts if not isinstance(part, FileContentBody)]
    check_text(texts, text_mb=text_mb)
    files = sum(not isinstance(part, TextContentBody) for part in parts)
    if files > attachments:
        raise TooLarge(
            f"The message carries {files:,} files; at most {attachments:,} are allowed "
            "(setting limits.attachments).",
            param="content",
        )


def check_text(texts: Iterable[str], *, text_mb: int, param: str = "content") -> None:
    """Raises TooLarge for more text than one request may bring."""
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    if size > text_mb * MEGABYTE:
        raise TooLarge(
            f"{shortened(param)} holds {size:,} bytes of text; {text_mb * MEGABYTE:,} are allowed "
            "(setting limits.text_mb).",
            param=param,
        )
