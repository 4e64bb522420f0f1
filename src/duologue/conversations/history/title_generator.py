"""Titles written by a model: on request, and after a chat's first replies unless the operator prefers first words.

Owns when the model runs and which titles it may replace; `title_rules.py` owns the prompt and what counts as a title.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio

from duologue.conversations.agent.one_shot import one_shot_reply
from duologue.conversations.history import title_rules
from duologue.errors import BadRequest, EngineFailed, Problem
from duologue.notifier import Notifier
from duologue.store.schema.repeating import repeated
from duologue.values.conversations import Conversation
from duologue.values.generate import Generate
from duologue.values.requests import ModelCard
from duologue.values.runs import ListChanged, ListEvent

if TYPE_CHECKING:
    from duologue.store.stores import Stores

log = logging.getLogger(__name__)

QUEUE_SIZE = 100
"""Conversations that may wait for a title; further ones keep their first words as the title."""
MOST_MESSAGES = 6
"""Messages of a conversation that a title is still tried for by itself: a model that writes none is not asked after each reply."""
IDLE_TIMEOUT_S = 60
"""How long a title waits until no request waits for a model; then the first words stay."""


class TitleGenerator:
    """`has_waiting_requests`: whether requests wait for a model. A title that no user asked for is written after them, and only by
    a model that `can_write` accepts."""

    def __init__(
        self,
        stores: Stores,
        generate: Generate,
        resolve: Callable[[str], ModelCard],
        *,
        publish: Callable[[str, ListEvent], None],
        has_waiting_requests: Callable[[], bool] = lambda: False,
        can_write: Callable[[ModelCard], bool] = lambda card: True,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._stores = stores
        self._generate = generate
        self._resolve = resolve
        self._publish = publish
        self._has_waiting_requests = has_waiting_requests
        self._can_write = can_write
        self._sleep = sleep
        self._sender, self._receiver = anyio.create_memory_object_stream[tuple[str, str]](QUEUE_SIZE)
        self._waiting = 0
        self._changed = Notifier()

    async def generate(self, user: str, id: str) -> Conversation:
        """Have the model write a title, whatever the present title is. Returns the changed conversation.

        Raises NotFound, BadRequest for a conversation without messages, EngineFailed(code="title_unusable"), and what the
        model raises; the title then stays.
        """
        conversation = await self._stores.of(id).conversations.get(user, id)
        title = await self._generated_title(user, conversation)
        if not title:
            raise EngineFailed(
                "The model wrote nothing that can be used as a title, so the present title stays.",
                code="title_unusable",
                status=502,
            )
        return await self._store_title(user, id, title)

    @repeated
    async def _store_title(
        self, user: str, id: str, title: str, *, only_first_words: bool = False
    ) -> Conversation:
        """Store a title that a model wrote; `only_first_words`: unless there is another one by now."""
        store = self._stores.of(id)
        async with store.writing() as connection:
            kept = await store.conversations.hold(user, id, within=connection)
            if only_first_words and kept.title_source != "first":
                return kept
            changes = {"title": title, "title_source": "model"}
            changed = await store.conversations.change(user, id, changes, within=connection)
        self._publish(user, ListChanged(id))
        return changed

    def enqueue(self, user: str, id: str) -> None:
        """Have a model write the title when no request waits for it, unless the user has changed the title by then."""
        try:
            self._sender.send_nowait((user, id))
            self._waiting += 1
        except anyio.WouldBlock:
            log.info("too many conversations wait for a title; %s keeps its first words", id)

    async def run(self) -> None:
        """Write the queued titles, one at a time. Runs until cancelled."""
        async for user, id in self._receiver:
            if await self._is_idle():
                await self._replace_title(user, id)
            self._waiting -= 1
            self._changed.notify()

    async def idle(self) -> None:
        """Wait until the queue is empty. For tests."""
        while self._waiting:
            await self._changed.wait()

    async def _replace_title(self, user: str, id: str) -> None:
        try:
            conversation = await self._stores.of(id).conversations.get(user, id)
            if conversation.title_source != "first" or not await self._is_wanted(conversation):
                return
            # It takes the model seconds, and the user may give the title meanwhile.
            if title := await self._generated_title(user, conversation):
                await self._store_title(user, id, title, only_first_words=True)
        except Problem as problem:
            log.info("the conversation %s keeps its first words as its title: %s", id, problem.message)
        except Exception:
            log.exception("no title was made for the conversation %s", id)

    async def _is_wanted(self, conversation: Conversation) -> bool:
        """Whether the conversation is young, and its model one that writes titles."""
        if conversation.leaf is None or not self._can_write(self._resolve(conversation.options.model)):
            return False
        path = await self._stores.of(conversation.id).messages.path(conversation.id, conversation.leaf)
        return len(path) <= MOST_MESSAGES

    async def _is_idle(self) -> bool:
        for _ in range(IDLE_TIMEOUT_S):
            if not self._has_waiting_requests():
                return True
            await self._sleep(1)
        return False

    async def _generated_title(self, user: str, conversation: Conversation) -> str:
        card = self._resolve(conversation.options.model)
        leaf = conversation.leaf
        path = await self._stores.of(conversation.id).messages.path(conversation.id, leaf) if leaf else ()
        request = title_rules.title_request(path, card.name)
        if request is None:
            raise BadRequest("This conversation has no messages yet.", code="nothing_said")
        return title_rules.extract_title(await one_shot_reply(self._generate, request, user=user))
