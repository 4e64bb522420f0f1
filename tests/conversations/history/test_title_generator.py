"""Titles a model writes: after the first reply unless the operator prefers first words, and never over the user's own."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.support.conversation_service import CARD, Model, opened_site

from duologue.conversations.history.title_generator import (
    IDLE_TIMEOUT_S,
    MOST_MESSAGES,
    QUEUE_SIZE,
    TitleGenerator,
)
from duologue.store.database import Database
from duologue.store.stores import Stores
from duologue.values.conversations import Conversation, StoredMessage, TextContent
from duologue.values.requests import ModelCard
from duologue.values.runs import ListChanged, ListEvent

pytestmark = pytest.mark.anyio


class Bench:
    def __init__(
        self, stores: Stores, has_waiting_requests: Callable[[], bool], can_write: Callable[[ModelCard], bool]
    ) -> None:
        self.stores = stores
        self.model = Model()
        self.model.says = lambda request: "Baking bread"
        self.told: list[tuple[str, ListEvent]] = []
        self.slept = 0
        self.titles = TitleGenerator(
            stores,
            self.model,
            lambda name: CARD,
            publish=lambda *told: self.told.append(told),
            has_waiting_requests=has_waiting_requests,
            can_write=can_write,
            sleep=self.sleep,
        )

    async def sleep(self, seconds: float) -> None:
        self.slept += 1

    async def conversation(self, id: str = "c", messages: int = 1, **fields: Any) -> None:
        await self.stores.create("ann", Conversation(id, "how do I", **fields))
        said = (TextContent("how do I bake?"),)
        names = [f"{id}{number}" for number in range(messages)]
        rows = [
            StoredMessage(name, id, parent, "user", said)
            for name, parent in zip(names, [None, *names], strict=False)
        ]
        await self.stores.of(id).messages.add(rows, leaf=rows[-1].id)

    async def title(self, id: str = "c") -> tuple[str, str]:
        kept = await self.stores.of(id).conversations.get("ann", id)
        return kept.title, kept.title_source

    async def work(self) -> None:
        """Until nothing is left to do."""
        async with anyio.create_task_group() as group:
            group.start_soon(self.titles.run)
            await self.titles.idle()
            group.cancel_scope.cancel()


@asynccontextmanager
async def bench(
    has_waiting_requests: Callable[[], bool] = lambda: False,
    can_write: Callable[[ModelCard], bool] = lambda card: True,
) -> AsyncIterator[Bench]:
    async with Database.memory() as durable, Database.memory() as temporary:
        yield Bench(Stores(durable, temporary, lambda: 1), has_waiting_requests, can_write)


async def test_a_title_that_was_put_off_is_written() -> None:
    async with bench() as made:
        await made.conversation()
        made.titles.enqueue("ann", "c")
        await made.work()
        assert await made.title() == ("Baking bread", "model")
        assert made.told == [("ann", ListChanged("c"))]


async def test_the_users_own_title_stays() -> None:
    async with bench() as made:
        await made.conversation(title_source="user")
        made.titles.enqueue("ann", "c")
        await made.work()
        assert (await made.title())[1] == "user"
        assert made.model.asked == []


async def test_a_title_that_the_user_gives_while_the_model_writes_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with bench() as made:
        await made.conversation()
        write = made.titles._generated_title

        async def rename_meanwhile(user: str, conversation: Conversation) -> str:
            title = await write(user, conversation)
            changes = {"title": "Mine", "title_source": "user"}
            await made.stores.of("c").conversations.change("ann", "c", changes)
            return title

        monkeypatch.setattr(made.titles, "_generated_title", rename_meanwhile)
        made.titles.enqueue("ann", "c")
        await made.work()
        assert await made.title() == ("Mine", "user")


async def test_people_who_wait_go_first() -> None:
    waits = iter([True, True, False])
    async with bench(lambda: next(waits)) as made:
        await made.conversation()
        made.titles.enqueue("ann", "c")
        await made.work()
        assert made.slept == 2
        assert (await made.title())[1] == "model"


async def test_when_it_never_is_quiet_the_first_words_stay() -> None:
    async with bench(lambda: True) as made:
        await made.conversation()
        made.titles.enqueue("ann", "c")
        await made.work()
        assert made.slept == IDLE_TIMEOUT_S
        assert (await made.title())[1] == "first"


async def test_one_that_fails_does_not_keep_the_next_from_its_title() -> None:
    async with bench() as made:
        await made.conversation("d")
        made.titles.enqueue("ann", "gone")
        made.titles.enqueue("ann", "d")
        await made.work()
        assert (await made.title("d"))[1] == "model"


async def test_only_so_many_wait() -> None:
    async with bench() as made:
        await made.conversation()
        for _ in range(2 * QUEUE_SIZE):
            made.titles.enqueue("ann", "c")
        await made.work()
        assert len(made.model.asked) == 1, "once it has a model's title it is not asked for again"


async def test_an_old_conversation_keeps_its_first_words() -> None:
    async with bench() as made:
        await made.conversation(messages=MOST_MESSAGES + 1)
        made.titles.enqueue("ann", "c")
        await made.work()
        assert made.model.asked == []


async def test_a_model_that_cannot_write_titles_is_not_asked_by_itself() -> None:
    async with bench(can_write=lambda card: False) as made:
        await made.conversation()
        made.titles.enqueue("ann", "c")
        await made.work()
        assert made.model.asked == []
        assert (await made.titles.generate("ann", "c")).title == "Baking bread", (
            "but it is when a user wants it"
        )


@pytest.mark.parametrize(
    ("card", "titles", "title"),
    [
        (ModelCard("big", "llama", 4096), {}, "Baking bread"),
        (ModelCard("mini", "llama", 4096, bundled=True), {}, "how do I bake"),
        (ModelCard("mini", "llama", 4096, bundled=True), {"titles": "model"}, "Baking bread"),
        (ModelCard("big", "llama", 4096), {"titles": "first"}, "how do I bake"),
    ],
)
async def test_a_model_writes_the_titles_unless_it_is_the_bundled_one(
    tmp_path: Path, card: ModelCard, titles: dict[str, str], title: str
) -> None:
    async with opened_site(tmp_path, card=card, runs=titles) as site:
        await site.conversation()
        site.model.says = lambda request: "Baking bread"
        await site.say("how do I bake?", 1)
        await site.service.titles.idle()
        assert (await site.whole())["conversation"]["title"] == title


async def test_the_operator_may_have_every_first_reply_followed_by_a_title(tmp_path: Path) -> None:
    async with opened_site(tmp_path, runs={"titles": "model"}) as site:
        await site.conversation()
        site.model.says = lambda request: "Baking bread"
        await site.say("how do I bake?", 1)
        await site.service.titles.idle()
        assert (await site.whole())["conversation"]["title"] == "Baking bread"
