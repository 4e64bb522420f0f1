"""What runs are given by the rest of the server: models, tools, attachments, room in the context.

Only the shapes. Knows none of those who fill them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from duologue.tools.values import Ask, Keep, Offer, OfferedTool, Report, ToolOutcome
from duologue.values.conversations import Content, GenerationOptions, StoredMessage
from duologue.values.generate import Generate
from duologue.values.messages import Message
from duologue.values.requests import ChatRequest, ModelCard
from duologue.values.runs import ListEvent, Run


class Counted(Protocol):
    """How long a prompt is, in tokens, of the `context` its model has."""

    @property
    def tokens(self) -> int: ...
    @property
    def context(self) -> int: ...


Count = Callable[[ChatRequest], Awaitable[Counted]]


class Attachments(Protocol):
    """`conversations.attachments.Attachments`, for one conversation's files."""

    async def content(
        self,
        user: str,
        hash: str,
        *,
        name: str,
        mime: str,
        given: Literal["text", "pages"] | None,
        card: ModelCard | None,
    ) -> Content: ...

    async def messages(
        self, user: str, rows: Sequence[StoredMessage], card: ModelCard | None
    ) -> tuple[Message, ...]: ...

    def check(self, content: Sequence[Content], card: ModelCard) -> None: ...

    async def keep(self, user: str, data: bytes, name: str, mime: str, card: ModelCard | None) -> Content: ...


class Toolbox(Protocol):
    """`tools.toolbox.Toolbox`."""

    async def offer(
        self, user: str, options: GenerationOptions, *, budget_tokens: int | None, count: Count | None
    ) -> Offer: ...

    async def call(
        self,
        tool: OfferedTool,
        arguments: dict[str, object],
        *,
        user: str,
        conversation: str,
        report: Report,
        ask: Ask,
        keep: Keep,
    ) -> ToolOutcome: ...


class ToolDependencies(Struct, frozen=True):
    """What tool calls are made with. Without a toolbox only tools are called that a client answers itself."""

    now: Callable[[], int]
    clock: Callable[[], float]
    """Seconds, for durations."""
    new_id: Callable[[], str]
    toolbox: Toolbox | None = None


MakeRoom = Callable[[str, str, str, ModelCard], Awaitable[str | None]]
"""(user, conversation, leaf, card) -> the leaf to go on from when room was made in the context, None when it could not
be."""


class RunDependencies(Struct, frozen=True, kw_only=True):
    """Everything a run is given. Without a toolbox no tools are offered; without `count` and `make_room` a conversation
    that is too long fails as the model says it."""

    generate: Generate
    resolve: Callable[[str], ModelCard]
    """The card of a model by name, "" for the default. Raises ModelNotFound, Unavailable."""
    attachments: Callable[[str], Attachments]
    """Those of a conversation: a temporary one keeps its files in memory."""
    now: Callable[[], int]
    clock: Callable[[], float]
    """Seconds, for durations."""
    new_id: Callable[[], str]
    defaults: Callable[[str], Awaitable[GenerationOptions]]
    """What a user's settings say of every reply."""
    toolbox: Toolbox | None = None
    count: Count | None = None
    make_room: MakeRoom | None = None
    feed: Callable[[str, ListEvent], None] = lambda user, event: None
    ended: Callable[[str, Run], None] = lambda user, run: None
    """Told of every run that has ended, when all of it is kept."""
