"""A conversation that goes on as a call: what a model is told of it, and the rows of what was said and heard.

Owns the rows a call adds. A reply's row holds what was heard of it and no word more. Knows no sound and no session.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

from duologue.conversations.keeping import Keeping
from duologue.conversations.options import inherited, turn_request
from duologue.conversations.titles import first_words
from duologue.tools.offers import Offer
from duologue.values.calls import Ending
from duologue.values.conversations import Content, GenerationOptions, StoredMessage, TextContent
from duologue.values.requests import ChatRequest
from duologue.values.runs import ListChanged, ListEvent

if TYPE_CHECKING:
    from duologue.conversations.service import Service
    from duologue.store.stores import Stores


class SpokenTurns:
    """The turns of one call in one conversation, from `leaf` on. Each method is one transaction; raises Unavailable as the
    database does, NotFound when the conversation is gone."""

    def __init__(
        self,
        stores: Stores,
        user: str,
        conversation: str,
        leaf: str | None,
        model: str,
        *,
        titled: bool,
        now: Callable[[], int],
        tell: Callable[[str, ListEvent], None],
    ) -> None:
        self._stores, self._user, self._conversation = stores, user, conversation
        self._leaf, self._model, self._titled = leaf, model, titled
        self._now, self._tell = now, tell

    async def user_said(self, text: str) -> None:
        content: tuple[Content, ...] = (TextContent(text),)
        await self._add("user", content)
        if not self._titled:
            self._titled = True
            store = self._stores.of(self._conversation)
            changes: dict[str, object] = {"title": first_words(content), "title_source": "first"}
            await store.conversations.change(self._user, self._conversation, changes)
            self._tell(self._user, ListChanged(self._conversation))

    async def assistant_said(self, heard: str, ending: Ending) -> None:
        """`heard` of a reply. One nobody heard leaves no row."""
        if heard:
            await self._add("assistant", (TextContent(heard),), cut=ending != "spoken")

    async def _add(self, role: str, content: tuple[Content, ...], *, cut: bool = False) -> None:
        is_user = role == "user"
        row = StoredMessage(
            uuid.uuid4().hex,
            self._conversation,
            self._leaf,
            "user" if is_user else "assistant",
            content,
            created=self._now(),
            status="stopped" if cut else "done",
            model="" if is_user else self._model,
            finish=None if is_user else "cancelled" if cut else "stop",
        )
        await Keeping(self._stores.of(self._conversation)).add((row,))
        self._leaf = row.id
        self._tell(self._user, ListChanged(self._conversation))


async def spoken_turns(
    service: Service, user: str, conversation: str, *, model: str = ""
) -> tuple[SpokenTurns, ChatRequest]:
    """The turns of a call that goes on with a conversation, and the request its replies begin with: everything said so
    far, and the options that hold there. Raises NotFound, and what finding the model raises."""
    store = service.stores.of(conversation)
    kept = await store.conversations.get(user, conversation)
    asked = GenerationOptions(model=model, thinking=False)
    options = inherited(asked, kept.options, await service.defaults(user))
    card = service.resolve(options.model)
    path = await store.messages.path(conversation, kept.leaf) if kept.leaf else ()
    messages = await service.attachments(conversation).messages(user, path, card)
    request = turn_request(messages, options, card, Offer())
    turns = SpokenTurns(
        service.stores,
        user,
        conversation,
        kept.leaf,
        card.name,
        titled=bool(kept.title),
        now=service.now,
        tell=service.feed.tell,
    )
    return turns, request
