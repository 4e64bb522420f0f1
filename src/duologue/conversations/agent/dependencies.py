"""What runs and tool calls need from the rest of the server: models, tools, files, room in the context.

Types only. `conversations/service.py` fills them in; tests fill them with fakes.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Literal, Protocol

from msgspec import Struct

from duologue.tools.values import Ask, Keep, Offer, OfferedTool, Report, ToolOutcome
from duologue.values.conversations import Content, GenerationOptions, StoredMessage
from duologue.values.generate import Generate
from duologue.values.messages import Message
from duologue.values.model_choice import ModelState
from duologue.values.requests import ChatRequest, ModelCard
from duologue.values.runs import ListEvent, Run


class PromptSize(Protocol):
    """The length of a prompt, in tokens, and the size of its model's context."""

    @property
    def tokens(self) -> int: ...
    @property
    def context(self) -> int: ...


Count = Callable[[ChatRequest, str], Awaitable[PromptSize]]
"""The size of a request's prompt, which this user asks for."""


class ConversationFiles(Protocol):
    """`files.attachments.Attachments`. A protocol, because `files` is built on this package."""

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


class ToolProvider(Protocol):
    """`tools.toolbox.Toolbox`. A protocol, so that tests need no tool servers."""

    async def offer(
        self, user: str, options: GenerationOptions, *, budget_tokens: int | None, count: Count | None
    ) -> Offer: ...

    async def call_tool(
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


class ModelAccess(Protocol):
    """`gateway.models.chat_models.ChatModels`. A protocol, because `gateway` is built on this room."""

    def may_load(self, user: str, /) -> bool: ...

    @property
    def coming_default(self) -> str: ...

    async def state(self, name: str) -> ModelState: ...

    def ready(self, name: str, user: str, *, load: bool) -> AsyncGenerator[float | None]: ...


class ToolDependencies(Struct, frozen=True):
    """What tool calls need. Without a toolbox only a client's own tools can be called."""

    now: Callable[[], int]
    clock: Callable[[], float]
    """Seconds, for durations."""
    new_id: Callable[[], str]
    toolbox: ToolProvider | None = None


MakeRoom = Callable[[str, str, str, ModelCard], Awaitable[str | None]]
"""(user, conversation, leaf, card) -> the leaf to continue from after older turns were summarised, or None when that was
not possible."""

Watch = Callable[[str, Callable[[], None]], AbstractContextManager[None]]
"""A context for work of this user, in which the function is called once the user may not have it go on."""


class RunDependencies(Struct, frozen=True, kw_only=True):
    """What a run needs. Without a toolbox no tools are offered; without `count` and `make_room` a conversation that is too
    long fails with the model's own error; without `models` a model that is not loaded is an error too."""

    generate: Generate
    resolve: Callable[[str], ModelCard]
    """The card of a model by name, "" for the default. Raises ModelNotFound, Unavailable."""
    attachments: Callable[[str], ConversationFiles]
    """The files of a conversation: a temporary conversation has its files in memory."""
    now: Callable[[], int]
    clock: Callable[[], float]
    """Seconds, for durations."""
    new_id: Callable[[], str]
    defaults: Callable[[str], Awaitable[GenerationOptions]]
    """The generation options in a user's settings."""
    toolbox: ToolProvider | None = None
    count: Count | None = None
    models: ModelAccess | None = None
    make_room: MakeRoom | None = None
    publish: Callable[[str, ListEvent], None] = lambda user, event: None
    """Publish a change to the conversation lists of a user."""
    watched: Watch = lambda user, end: nullcontext()
    """Watches over the access of a run's user."""
    on_end: Callable[[str, Run], None] = lambda user, run: None
    """Called when a run has ended and all of it is stored."""
