"""Conversations as they are stored: the rows of the message tree, their content, and folders, files and approvals.

These are also the JSON of the conversations API: msgspec encodes them as they are. Rows contain no file bytes: content names files
by their hash.
Times are milliseconds since 1970 (UTC); ids are chosen by the client or made by the server, 1 to 64 characters of
`A-Z a-z 0-9 _ -`.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duologue.values.events import Finish, Fitted, Timings, Usage
from duologue.values.messages import Role
from duologue.values.requests import Effort, Sampling


class TextContent(Struct, frozen=True, tag="text"):
    text: str


class ImageContent(Struct, frozen=True, tag="image", omit_defaults=True):
    """A picture as the user sent it; `shown` is the blob a model takes (upright, PNG or JPEG, within the cap), empty
    where it is `blob` itself. Pixels."""

    blob: str
    mime: str
    name: str = ""
    shown: str = ""
    width: int = 0
    height: int = 0


class AudioContent(Struct, frozen=True, tag="audio", omit_defaults=True):
    """Audio; `duration` in ms, 0 where unknown."""

    blob: str
    mime: str
    name: str = ""
    duration: int = 0


class VideoContent(Struct, frozen=True, tag="video", omit_defaults=True):
    blob: str
    mime: str
    name: str = ""
    duration: int = 0


class DocumentContent(Struct, frozen=True, tag="document", omit_defaults=True):
    """A text file or PDF. `given`: what the model gets, its text (in the blob `text`), or its pages as pictures
    (blobs)."""

    blob: str
    mime: str
    name: str = ""
    text: str = ""
    pages: tuple[str, ...] = ()
    given: Literal["text", "pages"] = "text"


class ResourceContent(Struct, frozen=True, tag="resource", omit_defaults=True):
    """A resource of an MCP server, as it was read when it was attached: its text, or a blob."""

    server: str
    uri: str
    name: str = ""
    mime: str = ""
    text: str = ""
    blob: str = ""


Content = TextContent | ImageContent | AudioContent | VideoContent | DocumentContent | ResourceContent

Status = Literal["running", "done", "stopped", "failed", "interrupted"]
"""How a row ended. `interrupted`: the server went down while it was being written."""
Kind = Literal["message", "summary"]
"""`summary`: a compaction. While it is `active`, it replaces everything above it on the path."""
ToolCallState = Literal["waiting", "asked", "running", "done", "failed", "denied", "expired", "skipped"]
"""The state of a tool call: `waiting` for its turn, `asked` (an approval is pending), then its result. `skipped`: the user wrote
something before it ran, or the reply was stopped."""
Decision = Literal["once", "tool", "server", "deny"]


CLIENT = "client"
"""The server name in the record of a tool that the client of a call runs itself."""


class StoredToolCall(Struct, frozen=True):
    """A tool call; `arguments` is the JSON text exactly as the model wrote it."""

    id: str
    name: str
    arguments: str


class ToolCallRecord(Struct, frozen=True, omit_defaults=True):
    """The state of a tool call, on the tool's row. `server` has the tool ("" for built-in ones), `tool` is its name there (the
    model may know it by another), `ms` how long it ran."""

    name: str
    arguments: str = ""
    server: str = ""
    tool: str = ""
    state: ToolCallState = "waiting"
    ms: int = 0
    expires: int = 0
    """When a pending approval counts as denied; 0 where none is pending."""


class RowError(Struct, frozen=True):
    """Why a row failed: `kind` is of "timeout", "server", "queue", "context", "model", "tool"; `code` is stable."""

    kind: str
    code: str
    message: str


class StoredMessage(Struct, frozen=True, omit_defaults=True):
    """One row of the tree. Children are derived: a row knows only its parent, None for a child of the root.

    A model turn is one assistant row; each of its tool calls is one tool row, chained under it in call order.
    `sequence` grows with every row of the database: siblings are ordered by it.
    """

    id: str
    conversation: str
    parent: str | None
    role: Role
    content: tuple[Content, ...] = ()
    sequence: int = 0
    created: int = 0
    status: Status = "done"
    kind: Kind = "message"
    active: bool = True
    reasoning: str = ""
    tool_calls: tuple[StoredToolCall, ...] = ()
    tool_call_id: str = ""
    call: ToolCallRecord | None = None
    model: str = ""
    finish: Finish | None = None
    usage: Usage | None = None
    timings: Timings | None = None
    error: RowError | None = None
    run: str = ""
    edited: int = 0
    fitted: Fitted | None = None
    """What was made of files of the prompt for this turn, without what rows above it have already. The paths are those of the prompt."""

    @property
    def text(self) -> str:
        """The text content, joined."""
        return "".join(part.text for part in self.content if isinstance(part, TextContent))


class GenerationOptions(Struct, frozen=True, omit_defaults=True):
    """How replies of a conversation, or of one run, are generated. What is None or empty is inherited: run, then
    conversation, then the user's settings, then the operator's first values, then the server's defaults."""

    model: str = ""
    sampling: Sampling = Sampling()
    stop: tuple[str, ...] = ()
    thinking: bool | None = None
    max_turns: int | None = None
    """Model turns a run may take before it asks whether to go on."""
    tools: bool | None = None
    """Whether the model gets tools."""
    servers: dict[str, bool] = {}
    """Tool servers switched on or off; the built-in tools are the server "builtin"."""
    effort: Effort | None = None
    """Limits the reasoning of models that reason."""


TitleSource = Literal["first", "model", "user"]


class Conversation(Struct, frozen=True, omit_defaults=True):
    """A conversation as lists show it. `leaf` is the last row of the branch last looked at; `running` the run that is
    writing in it. `deleted` conversations are in no list, and are purged after an hour."""

    id: str
    title: str = ""
    title_source: TitleSource = "first"
    created: int = 0
    updated: int = 0
    leaf: str | None = None
    folder: str | None = None
    pinned: bool = False
    archived: bool = False
    temporary: bool = False
    deleted: int = 0
    tags: tuple[str, ...] = ()
    forked_from: str | None = None
    options: GenerationOptions = GenerationOptions()
    running: str | None = None


class Folder(Struct, frozen=True, omit_defaults=True):
    id: str
    name: str
    parent: str | None = None
    created: int = 0


class Blob(Struct, frozen=True, omit_defaults=True):
    """A file stored by the SHA-256 (hex) of its bytes. `size` in bytes, `width` and `height` in pixels, `duration` in
    ms, 0 where it has none."""

    hash: str
    mime: str
    size: int
    name: str = ""
    width: int = 0
    height: int = 0
    duration: int = 0
    created: int = 0


class PendingMessage(Struct, frozen=True, omit_defaults=True):
    """What the user sent while a reply was running: `queue` becomes the next turn when the run is done, `steer` goes
    into the run at its next step, `hold` stays until the user decides, because the run did not end well."""

    id: str
    conversation: str
    content: tuple[Content, ...]
    how: Literal["queue", "steer", "hold"] = "queue"
    options: GenerationOptions = GenerationOptions()
    created: int = 0


class Hit(Struct, frozen=True):
    """A message a search found. `snippet` is plain text around the match; `marks` are the (start, end) of matched
    words in it, in characters."""

    conversation: str
    title: str
    message: str
    role: Role
    created: int
    snippet: str
    marks: tuple[tuple[int, int], ...] = ()
    archived: bool = False


class Approval(Struct, frozen=True, omit_defaults=True):
    """A question only the user can answer. `tool`: may this call run? `form`: a server asks for values of `schema`
    (an elicitation); `link`: it asks the user to open `url`."""

    id: str
    run: str
    conversation: str
    kind: Literal["tool", "form", "link"] = "tool"
    server: str = ""
    tool: str = ""
    arguments: str = ""
    message: str = ""
    schema: dict[str, object] = {}
    url: str = ""
    created: int = 0
    expires: int = 0
