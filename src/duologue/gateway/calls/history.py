"""The history of a call: the messages before it, and the turns since, with only as much of each reply as was heard.

Owns the messages of its prompts. In a conversation (`StoredHistory`) the turns are saved in order, in the background, and
changes made elsewhere are taken over. Used by `Call` and `CallReplies`.
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
from duologue.gateway.calls.context_window import droppable, instructions
from duologue.notifier import Notifier
from duologue.values.call_events import Ending
from duologue.values.conversations import StoredMessage
from duologue.values.messages import ImagePart, Message, Part, TextPart, Tool, assistant, system, user
from duologue.values.requests import ChatRequest, Sampling

INTERRUPTED = "…"
"""Marks in the history where a reply was interrupted, so that the model knows."""
MAX_UNSAVED = 1000
"""Turns that wait while the database cannot be written."""
RECENT, RECENT_MESSAGES = 1000, 6
"""Characters and messages that count as said lately."""
SAVE_TIMEOUT = 10.0
"""Seconds to save a turn, also at the end of a call. After that it is tried again with the next turn, if there is one."""
MAX_IMAGES = 2
"""The newest pictures that prompts include; of an older one only the text of its turn is left."""
NOT_SAVED = "This call is not being saved: the database does not respond. The call itself continues."


class ConversationChanges(Protocol):
    """Is notified of changes to a call's conversation that others make."""

    async def history_changed(self, leaf: str | None, path: Sequence[StoredMessage]) -> None:
        """This is the branch now; the next reply continues from it."""
        ...

    async def deleted(self) -> None:
        """The conversation was deleted."""
        ...


class CallHistory(Protocol):
    """What a call needs of the conversation it belongs to."""

    @property
    def context(self) -> CallContext:
        """The tools and permissions of its replies."""
        ...

    @property
    def model(self) -> str:
        """The name of the model that it is for; "": the default one."""
        ...

    @property
    def sampling(self) -> Sampling:
        """How its model writes."""
        ...

    def speak(self, language: str) -> None:
        """Have the replies spoken in this language (BCP 47); "": in that of the conversation."""
        ...

    @property
    def messages(self) -> tuple[Message, ...]:
        """Everything so far, except the turns that `shorten` dropped."""
        ...

    def request(self, text: str, images: Sequence[ImagePart] = ()) -> ChatRequest:
        """The prompt of a reply to `text`, after everything before it."""
        ...

    def request_again(self) -> ChatRequest:
        """The prompt of a reply to the turn that was added last."""
        ...

    def shorten(self, request: ChatRequest) -> ChatRequest | None:
        """A prompt that was too long for its model, without its oldest turns; later prompts lack them too. None where there is
        only one turn."""
        ...

    def recent_text(self) -> str:
        """What was said last, at most RECENT characters of it."""
        ...

    def add_user_turn(self, text: str, images: Sequence[ImagePart] = (), *, typed: bool = False) -> None: ...

    def add_reply(self, heard: str, unheard: str, ending: Ending, rows: Sequence[StoredMessage] = ()) -> None:
        """Add a reply that is over: `rows` are its tool calls, `heard` is what was heard of the text after them."""
        ...

    async def sync(self, changes: ConversationChanges) -> None:
        """Save turns as they are added, and report what others change, until cancelled."""
        ...

    async def close(self) -> None:
        """The call is over: save the rest."""
        ...


class EphemeralHistory:
    """The history of a call without a conversation: in memory, gone with the call. The only tools are the client's."""

    def __init__(self, prompt: str, model: str, tools: Sequence[Tool]) -> None:
        first = (system(prompt),) if prompt else ()
        self._request = ChatRequest(first, model=model, tools=tuple(tools), thinking=False, spoken=True)
        self._language = ""
        self._messages = list(first)
        self._turns_with_images: deque[Message] = deque()
        dependencies = ToolDependencies(
            lambda: time.time_ns() // 1_000_000, time.monotonic, lambda: uuid.uuid4().hex
        )
        self._context = CallContext(dependencies=dependencies, tools=client_tools(tools))

    @property
    def context(self) -> CallContext:
        return self._context

    @property
    def model(self) -> str:
        return self._request.model

    @property
    def sampling(self) -> Sampling:
        return self._request.sampling

    def speak(self, language: str) -> None:
        self._language = language

    def request(self, text: str, images: Sequence[ImagePart] = ()) -> ChatRequest:
        messages = (*self._messages, _user(text, images))
        return replace(self._request, messages=messages, spoken_language=self._language)

    def request_again(self) -> ChatRequest:
        return replace(self._request, messages=tuple(self._messages), spoken_language=self._language)

    def shorten(self, request: ChatRequest) -> ChatRequest | None:
        messages = request.messages
        if not (count := droppable(messages)):
            return None
        first = instructions(messages)
        dropped = slice(first, first + count)
        # The history may have been changed elsewhere since, and begin with other turns now: those stay.
        if tuple(self._messages[dropped]) == messages[dropped]:
            del self._messages[dropped]
        return replace(request, messages=messages[:first] + messages[first + count :])

    def add_user_turn(self, text: str, images: Sequence[ImagePart] = (), *, typed: bool = False) -> None:
        message = _user(text, images)
        self._messages.append(message)
        if images:
            self._turns_with_images.append(message)
            if len(self._turns_with_images) > MAX_IMAGES:
                self._remove_images(self._turns_with_images.popleft())

    def _remove_images(self, turn: Message) -> None:
        """Keep only the text of a turn."""
        self._messages = _without_images(self._messages, turn)

    def add_reply(self, heard: str, unheard: str, ending: Ending, rows: Sequence[StoredMessage] = ()) -> None:
        self._messages.extend(text_messages(rows))
        if heard:
            self._messages.append(assistant(heard_text(heard, ending)))

    async def sync(self, changes: ConversationChanges) -> None:
        """Nothing to save, and nobody else who could change it."""

    async def close(self) -> None:
        """Nothing to save."""

    def restart(self, prompt: str, model: str, sampling: Sampling) -> None:
        """Begin again with this system prompt and no turns."""
        self._messages = [system(prompt)] if prompt else []
        self._turns_with_images.clear()
        self._request = replace(self._request, model=model, sampling=sampling)

    def use_model(self, model: str) -> None:
        """Have another model continue."""
        self._request = replace(self._request, model=model)

    def recent_text(self) -> str:
        spoken = [message.text for message in self._messages[-RECENT_MESSAGES:] if message.role != "system"]
        return " ".join(spoken)[-RECENT:]

    @property
    def messages(self) -> tuple[Message, ...]:
        """Everything so far, except the turns that `shorten` dropped."""
        return tuple(self._messages)


class TurnStore(Protocol):
    """Stores the turns of a conversation: `conversations.call_turns.CallTurns`. Raises Problem."""

    @property
    def request(self) -> ChatRequest: ...
    @property
    def leaf(self) -> str | None: ...
    @property
    def path(self) -> tuple[StoredMessage, ...]: ...
    @property
    def context(self) -> CallContext: ...

    async def read(self) -> bool: ...

    def changes(self) -> AsyncIterator[Literal["changed", "deleted"]]: ...

    async def user_said(self, id: str, text: str) -> None: ...

    async def assistant_said(
        self, id: str, heard: str, ending: Ending, rows: Sequence[StoredMessage] = ()
    ) -> None: ...


class _UnsavedTurn(Struct):
    """A turn of the caller, or (with an ending) a reply, that is not saved yet."""

    text: str
    messages: tuple[Message, ...]
    ending: Ending | None = None
    rows: tuple[StoredMessage, ...] = ()
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    """The id of its row. A save that timed out may have succeeded after all: by the id it is not saved twice."""

    def is_in(self, path: Sequence[StoredMessage]) -> bool:
        """Whether it was saved after all. Its rows are written in one transaction, so all of them are there or none."""
        own = {self.id, *(row.id for row in self.rows)}
        return any(row.id in own for row in path)


class StoredHistory(EphemeralHistory):
    """The history of a call in a conversation. `on_problem` is called when turns cannot be saved: once, until saving works
    again."""

    def __init__(self, turns: TurnStore, on_problem: Callable[[Problem], None]) -> None:
        super().__init__("", turns.request.model, ())
        self._turns, self._on_problem = turns, on_problem
        self._unsaved: deque[_UnsavedTurn] = deque()
        self._wakeup = Notifier()
        self._problem_reported = False
        self._changed = False
        self._deleted = False
        self._rebuild()

    @property
    def context(self) -> CallContext:
        return self._turns.context

    def add_user_turn(self, text: str, images: Sequence[ImagePart] = (), *, typed: bool = False) -> None:
        super().add_user_turn(text, images, typed=typed)
        self._save_later(_UnsavedTurn(text, (self._messages[-1],)))

    def add_reply(self, heard: str, unheard: str, ending: Ending, rows: Sequence[StoredMessage] = ()) -> None:
        before = len(self._messages)
        super().add_reply(heard, unheard, ending, rows)
        self._save_later(_UnsavedTurn(heard, tuple(self._messages[before:]), ending, tuple(rows)))

    def _remove_images(self, turn: Message) -> None:
        super()._remove_images(turn)
        for unsaved in self._unsaved:
            unsaved.messages = tuple(_without_images(unsaved.messages, turn))

    def _rebuild(self) -> None:
        """The prompt is the conversation as it was read, and the turns that are not saved there yet."""
        self._request = replace(self._turns.request, thinking=False, spoken=True)
        self._messages = [
            *self._turns.request.messages,
            *(
                message
                for turn in self._unsaved
                if not turn.is_in(self._turns.path)
                for message in turn.messages
            ),
        ]

    def _save_later(self, turn: _UnsavedTurn) -> None:
        if len(self._unsaved) < MAX_UNSAVED:
            self._unsaved.append(turn)
            self._wakeup.notify()
        else:
            self._report(Problem(NOT_SAVED, code="storage_unavailable", status=503))

    async def sync(self, changes: ConversationChanges) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch)
            while not self._deleted:
                # Taken before the work, which awaits: what changes meanwhile must wake the next round.
                wakeup = self._wakeup.pending()
                # Changes made elsewhere come first: the caller's next turn continues from them.
                if self._changed or any(turn.ending is None for turn in self._unsaved):
                    await self._read(changes)
                await self._save()
                if not self._deleted:
                    await wakeup.wait()
            tasks.cancel_scope.cancel()
        await changes.deleted()

    async def close(self) -> None:
        if not self._deleted:
            with anyio.CancelScope(shield=True):
                await self._save()

    async def _watch(self) -> None:
        async with aclosing(self._turns.changes()) as changes:  # type: ignore[type-var] # generators all
            async for change in changes:
                self._changed = True
                self._deleted = self._deleted or change == "deleted"
                self._wakeup.notify()

    async def _read(self, changes: ConversationChanges) -> None:
        self._changed = False
        try:
            if not await self._turns.read():
                return
        except NotFound:
            self._deleted = True
            return
        except Problem as problem:
            self._report(problem)
            return
        self._rebuild()
        await changes.history_changed(self._turns.leaf, self._turns.path)

    async def _save(self) -> None:
        """Save the turns in order. One that cannot be saved stays, and is tried again with the next."""
        while self._unsaved and not self._deleted:
            turn = self._unsaved[0]
            try:
                # Shielded from hanging up: a turn whose save was cancelled halfway would be saved again by `close`.
                with anyio.fail_after(SAVE_TIMEOUT, shield=True):
                    if turn.ending is None:
                        await self._turns.user_said(turn.id, turn.text)
                    else:
                        await self._turns.assistant_said(turn.id, turn.text, turn.ending, turn.rows)
            except Problem as problem:
                self._report(problem)
                return
            except TimeoutError:
                self._report(Problem(NOT_SAVED, code="storage_unavailable", status=503))
                return
            self._unsaved.popleft()
            self._problem_reported = False

    def _report(self, problem: Problem) -> None:
        if not self._problem_reported:
            self._problem_reported = True
            self._on_problem(problem)


def heard_text(heard: str, ending: Ending) -> str:
    """The text of a reply in the history: what was heard, and a mark where it was interrupted."""
    return heard.rstrip() + INTERRUPTED if ending == "interrupted" else heard


def _without_images(messages: Sequence[Message], turn: Message) -> list[Message]:
    return [user(message.text) if message is turn else message for message in messages]


def _user(text: str, images: Sequence[ImagePart]) -> Message:
    parts: tuple[Part, ...] = (*images, TextPart(text))
    return Message("user", parts) if images else user(text)
