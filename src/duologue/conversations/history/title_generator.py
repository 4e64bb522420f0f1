"""Titles a model writes: when asked for, and after the first reply where the operator wants it.

Owns when a model is asked and what its words replace. What a title is, is in `titles`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio

from duologue.conversations.agent.one_shot import one_shot_reply
from duologue.conversations.history import title_rules
from duologue.errors import BadRequest, EngineFailed, Problem
from duologue.values.conversations import Conversation
from duologue.values.generate import Generate
from duologue.values.requests import ModelCard
from duologue.values.runs import ListChanged, ListEvent

if TYPE_CHECKING:
    from duologue.store.stores import Stores

log = logging.getLogger(__name__)

WAITING = 100
"""Conversations that may wait for a title; further ones keep their first words."""
PATIENCE = 60
"""Seconds a title waits for a moment when nobody waits for a model; then the first words stay."""


class Naming:
    """`has_waiting_requests` says whether anybody waits for a model now: a title asked for by nobody lets them go first."""

    def __init__(
        self,
        stores: Stores,
        generate: Generate,
        resolve: Callable[[str], ModelCard],
        *,
        publish: Callable[[str, ListEvent], None],
        has_waiting_requests: Callable[[], bool] = lambda: False,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._stores = stores
        self._generate = generate
        self._resolve = resolve
        self._publish = publish
        self._has_waiting_requests = has_waiting_requests
        self._sleep = sleep
        self._give, self._take = anyio.create_memory_object_stream[tuple[str, str]](WAITING)
        self._left = 0
        self._done = anyio.Event()

    async def ask(self, user: str, id: str) -> Conversation:
        """The conversation with a title its model wrote, whatever it was called before.

        Raises NotFound, BadRequest where nothing was said yet, EngineFailed(code="title_unusable"), and what the
        model raises; then the title stays.
        """
        store = self._stores.of(id)
        conversation = await store.conversations.get(user, id)
        title = await self._written(user, conversation)
        if not title:
            raise EngineFailed(
                "The model wrote nothing that can be a title; the present one stays.",
                code="title_unusable",
                status=502,
            )
        changed = await store.conversations.change(user, id, {"title": title, "title_source": "model"})
        self._publish(user, ListChanged(id))
        return changed

    def later(self, user: str, id: str) -> None:
        """Let a model write the title when nobody waits for it, if it is still made of the first words by then."""
        try:
            self._give.send_nowait((user, id))
            self._left += 1
        except anyio.WouldBlock:
            log.info("too many conversations wait for a title; %s keeps its first words", id)

    async def run(self) -> None:
        """Write the titles that were put off, one at a time, for ever."""
        async for user, id in self._take:
            if await self._moment():
                await self._name(user, id)
            self._left -= 1
            self._done.set()
            self._done = anyio.Event()

    async def idle(self) -> None:
        """Wait until nothing is left of what was put off."""
        while self._left:
            await self._done.wait()

    async def _name(self, user: str, id: str) -> None:
        try:
            conversation = await self._stores.of(id).conversations.get(user, id)
            if conversation.title_source == "first":
                await self.ask(user, id)
        except Problem as problem:
            log.info("the conversation %s keeps its first words as its title: %s", id, problem.message)
        except Exception:
            log.exception("no title was made for the conversation %s", id)

    async def _moment(self) -> bool:
        for _ in range(PATIENCE):
            if not self._has_waiting_requests():
                return True
            await self._sleep(1)
        return False

    async def _written(self, user: str, conversation: Conversation) -> str:
        card = self._resolve(conversation.options.model)
        leaf = conversation.leaf
        path = await self._stores.of(conversation.id).messages.path(conversation.id, leaf) if leaf else ()
        asked = title_rules.question(path, card.name)
        if asked is None:
            raise BadRequest("Nothing was said in this conversation yet.", code="nothing_said")
        return title_rules.accepted(await one_shot_reply(self._generate, asked, user=user))
