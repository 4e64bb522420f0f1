"""What a call remembers: what was said before it, and what was said and heard since.

Owns the messages its prompts are made of. A call of a conversation hands what it remembers on to be kept there, in order and
behind the talking, and goes on from what others make of the conversation meanwhile. Knows no socket, no worker and no store.
"""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Literal, Protocol

import anyio
from msgspec import Struct, field
from msgspec.structs import replace

from duologue.conversations.agent.call_agent import CallContext, client_tools, text_messages
from duologue.conversations.agent.dependencies import ToolDependencies
from duologue.errors import NotFound, Problem
from duologue.gateway.calls.context_window import instructions, outgrown
from duologue.values.call_events import Ending
from duologue.values.conversations import StoredMessage
from duologue.values.messages import ImagePart, Message, Part, TextPart, Tool, assistant, system, user
from duologue.values.requests import ChatRequest, Sampling

CUT = "…"
"""Stands in the history where a reply was interrupted, so that the model knows it was."""
MOST_LEFT = 1000
"""Turns that wait to be kept while the database cannot."""
KEEPING = 10.0
"""Seconds a turn may take to be kept, also at the end of a call; then it is tried again with the next, if there is one."""
PICTURES = 2
"""Pictures of a call that its prompts go on showing, the newest; of older ones the words about them are left."""
FULL = "What is said in this call cannot be kept: the database does not answer. The call itself goes on."


class ConversationChanges(Protocol):
    """Whoever is told what others did to the conversation of a call."""

    async def rewritten(self, leaf: str | None, path: Sequence[StoredMessage]) -> None:
        """This is its branch now; the next reply goes on from it."""
        ...

    async def deleted(self) -> None:
        """There is nothing to go on with."""
        ...


class CallHistory(Protocol):
    """What a call asks, and tells, about the conversation it belongs to."""

    @property
    def surroundings(self) -> CallContext:
        """What its replies may do besides talking."""
        ...

    def request(self, text: str, images: Sequence[ImagePart] = ()) -> ChatRequest:
        """The prompt of a reply to `text`, said after everything before it."""
        ...

    def again(self) -> ChatRequest:
        """The prompt of a reply to what is remembered already."""
        ...

    def shortened(self, request: ChatRequest) -> ChatRequest | None:
        """This prompt was too long for its model: the same without its oldest turns, where the next ones begin then too. None
        where there is nothing to leave out."""
        ...

    def user_said(self, text: str, images: Sequence[ImagePart] = (), *, typed: bool = False) -> None: ...

    def assistant_said(
        self, heard: str, unheard: str, ending: Ending, rows: Sequence[StoredMessage] = ()
    ) -> None:
        """A reply is over, and `heard` is what was heard of it behind its calls, which `rows` are."""
        ...

    async def keeping(self, news: ConversationChanges) -> None:
        """Keep what is remembered as it comes, and tell what others do meanwhile, until cancelled."""
        ...

    async def close(self) -> None:
        """The call is over: keep what is left to keep."""
        ...


class EphemeralHistory:
    """A call's own, in memory, gone with it. Its replies may do what its client offers."""

    def __init__(self, prompt: str, model: str, tools: Sequence[Tool]) -> None:
        first = (system(prompt),) if prompt else ()
        self._request = ChatRequest(first, model=model, tools=tuple(tools), thinking=False, spoken=True)
        self._messages = list(first)
        self._pictured: deque[Message] = deque()
        means = ToolDependencies(
            lambda: time.time_ns() // 1_000_000, time.monotonic, lambda: uuid.uuid4().hex
        )
        self._surroundings = CallContext(dependencies=means, tools=client_tools(tools))

    @property
    def surroundings(self) -> CallContext:
        return self._surroundings

    def request(self, text: str, images: Sequence[ImagePart] = ()) -> ChatRequest:
        return replace(self._request, messages=(*self._messages, _user(text, images)))

    def again(self) -> ChatRequest:
        return replace(self._request, messages=tuple(self._messages))

    def shortened(self, request: ChatRequest) -> ChatRequest | None:
        messages = request.messages
        if not (count := outgrown(messages)):
            return None
        first = instructions(messages)
        out = slice(first, first + count)
        # Unless it was rewritten meanwhile, and begins with other turns now.
        if tuple(self._messages[out]) == messages[out]:
            del self._messages[out]
        return replace(request, messages=messages[:first] + messages[first + count :])

    def user_said(self, text: str, images: Sequence[ImagePart] = (), *, typed: bool = False) -> None:
        message = _user(text, images)
        self._messages.append(message)
        if images:
            self._pictured.append(message)
            if len(self._pictured) > PICTURES:
                self._unsee(self._pictured.popleft())

    def _unsee(self, old: Message) -> None:
        """Leave the words about a picture, without it."""
        self._messages = _unseen(self._messages, old)

    def assistant_said(
        self, heard: str, unheard: str, ending: Ending, rows: Sequence[StoredMessage] = ()
    ) -> None:
        self._messages.extend(text_messages(rows))
        if heard:
            self._messages.append(assistant(said(heard, ending)))

    async def keeping(self, news: ConversationChanges) -> None:
        """There is nowhere to keep it, and nobody else."""

    async def close(self) -> None:
        """Nothing is left to keep."""

    def restart(self, prompt: str, model: str, sampling: Sampling) -> None:
        """Begin again, with this system prompt and nothing said."""
        self._messages = [system(prompt)] if prompt else []
        self._pictured.clear()
        self._request = replace(self._request, model=model, sampling=sampling)

    @property
    def messages(self) -> tuple[Message, ...]:
        """Everything so far, but for what was left out."""
        return tuple(self._messages)


class TurnStore(Protocol):
    """Where the turns of a conversation are kept: `conversations.spoken.SpokenTurns`. Raises Problem."""

    @property
    def request(self) -> ChatRequest: ...
    @property
    def leaf(self) -> str | None: ...
    @property
    def path(self) -> tuple[StoredMessage, ...]: ...
    @property
    def surroundings(self) -> CallContext: ...

    async def read(self) -> bool: ...

    def changes(self) -> AsyncIterator[Literal["changed", "deleted"]]: ...

    async def user_said(self, id: str, text: str) -> None: ...

    async def assistant_said(
        self, id: str, heard: str, ending: Ending, rows: Sequence[StoredMessage] = ()
    ) -> None: ...


class _Turn(Struct):
    """What was said by the caller, or (with an ending) by a reply, and is not kept yet."""

    text: str
    messages: tuple[Message, ...]
    ending: Ending | None = None
    rows: tuple[StoredMessage, ...] = ()
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    """Its row's: a turn that was kept after all, when nobody waited for it any more, is not kept twice."""

    def is_among(self, path: Sequence[StoredMessage]) -> bool:
        """Whether it is there, though nobody knows that it was kept. All of its rows are, or none."""
        own = {self.id, *(row.id for row in self.rows)}
        return any(row.id in own for row in path)


class StoredHistory(EphemeralHistory):
    """That of a call that goes on with a conversation. `broken` is told, once, why something could not be kept."""

    def __init__(self, turns: TurnStore, broken: Callable[[Problem], None]) -> None:
        super().__init__("", turns.request.model, ())
        self._turns, self._broken = turns, broken
        self._left: deque[_Turn] = deque()
        self._came = anyio.Event()
        self._told = False
        self._changed = False
        self._deleted = False
        self._begin()

    @property
    def surroundings(self) -> CallContext:
        return self._turns.surroundings

    def user_said(self, text: str, images: Sequence[ImagePart] = (), *, typed: bool = False) -> None:
        super().user_said(text, images, typed=typed)
        self._keep(_Turn(text, (self._messages[-1],)))

    def assistant_said(
        self, heard: str, unheard: str, ending: Ending, rows: Sequence[StoredMessage] = ()
    ) -> None:
        before = len(self._messages)
        super().assistant_said(heard, unheard, ending, rows)
        self._keep(_Turn(heard, tuple(self._messages[before:]), ending, tuple(rows)))

    def _unsee(self, old: Message) -> None:
        super()._unsee(old)
        for turn in self._left:
            turn.messages = tuple(_unseen(turn.messages, old))

    def _begin(self) -> None:
        """The prompt is the conversation as it was read, and what is not kept there yet."""
        self._request = replace(self._turns.request, thinking=False, spoken=True)
        self._messages = [
            *self._turns.request.messages,
            *(
                message
                for turn in self._left
                if not turn.is_among(self._turns.path)
                for message in turn.messages
            ),
        ]

    def _keep(self, turn: _Turn) -> None:
        if len(self._left) < MOST_LEFT:
            self._left.append(turn)
            self._came.set()
        else:
            self._tell(Problem(FULL, code="storage_unavailable", status=503))

    async def keeping(self, news: ConversationChanges) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch)
            while not self._deleted:
                await self._came.wait()
                self._came = anyio.Event()
                # What others made of it comes first: what is said next goes on from there.
                if not self._deleted and (self._changed or any(turn.ending is None for turn in self._left)):
                    await self._read(news)
                await self._flush()
            tasks.cancel_scope.cancel()
        await news.deleted()

    async def close(self) -> None:
        if not self._deleted:
            with anyio.CancelScope(shield=True):
                await self._flush()

    async def _watch(self) -> None:
        async with aclosing(self._turns.changes()) as changes:  # type: ignore[type-var] # generators all
            async for change in changes:
                self._changed = True
                self._deleted = self._deleted or change == "deleted"
                self._came.set()

    async def _read(self, news: ConversationChanges) -> None:
        self._changed = False
        try:
            if not await self._turns.read():
                return
        except NotFound:
            self._deleted = True
            return
        except Problem as problem:
            self._tell(problem)
            return
        self._begin()
        await news.rewritten(self._turns.leaf, self._turns.path)

    async def _flush(self) -> None:
        """Keep what is left, in order. What cannot be kept now is tried again with the next: only what was kept is let go."""
        while self._left and not self._deleted:
            turn = self._left[0]
            try:
                # Whoever hangs up does not end it: half of it would be kept twice.
                with anyio.fail_after(KEEPING, shield=True):
                    if turn.ending is None:
                        await self._turns.user_said(turn.id, turn.text)
                    else:
                        await self._turns.assistant_said(turn.id, turn.text, turn.ending, turn.rows)
            except Problem as problem:
                self._tell(problem)
                return
            except TimeoutError:
                self._tell(Problem(FULL, code="storage_unavailable", status=503))
                return
            self._left.popleft()
            self._told = False

    def _tell(self, problem: Problem) -> None:
        if not self._told:
            self._told = True
            self._broken(problem)


def said(heard: str, ending: Ending) -> str:
    """What the history keeps of a reply: what was heard, and a mark where it was cut off."""
    return heard.rstrip() + CUT if ending == "interrupted" else heard


def _unseen(messages: Sequence[Message], old: Message) -> list[Message]:
    return [user(message.text) if message is old else message for message in messages]


def _user(text: str, images: Sequence[ImagePart]) -> Message:
    parts: tuple[Part, ...] = (*images, TextPart(text))
    return Message("user", parts) if images else user(text)
