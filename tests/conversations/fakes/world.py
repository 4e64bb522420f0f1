"""Runs over two real databases in memory, with everything else played."""

from contextlib import asynccontextmanager
from itertools import count
from typing import Any

from tests.conversations.fakes.run_dependencies import Surroundings

from duologue.config.settings import RunSettings as RunSettings
from duologue.conversations.runs.commands import Continue, Edit, NewMessage, Regenerate, Send
from duologue.conversations.runs.service import RunService
from duologue.store.database import Database
from duologue.store.stores import Stores
from duologue.values.conversations import Conversation, TextContent
from duologue.values.runs import MessageAdded, MessageDone, RunDelta, RunDone, ToolResult


class World:
    """`user` ann has the conversation `c`. Verbs make ids of their own unless they are given some."""

    user = "ann"

    def __init__(self, stores, now):
        self.stores = stores
        self.around = Surroundings(now)
        self.settings = RunSettings()
        self.interval = 0.01
        self.retry = 0.01
        self.runs: RunService
        self._numbers = count(1)

    @property
    def model(self):
        return self.around.model

    @property
    def tools(self):
        return self.around.toolbox

    @asynccontextmanager
    async def serving(self):
        """The runs, as one process has them; leaving it is the end of that process, in order."""
        runs = RunService(
            self.stores, self.around.dependencies(), self.settings, interval=self.interval, retry=self.retry
        )
        async with runs.serving():
            self.runs = runs
            yield runs

    def store(self, conversation="c"):
        return self.stores.of(conversation)

    async def create(self, id="c", user=None, **fields):
        return await self.stores.create(user or self.user, Conversation(id, **fields))

    async def send(self, text="Hello", *, conversation="c", user=None, run=None, id=None, **fields):
        number = next(self._numbers)
        message = NewMessage(id or f"user{number}", (TextContent(text),))
        return await self.runs.start(
            user or self.user, conversation, Send(run or f"run{number}", message, **fields)
        )

    async def regenerate(self, message, **fields):
        return await self.runs.start(
            self.user, "c", Regenerate(f"run{next(self._numbers)}", message, **fields)
        )

    async def carry_on(self, message, **fields):
        return await self.runs.start(self.user, "c", Continue(f"run{next(self._numbers)}", message, **fields))

    async def edit(self, message, text, **fields):
        number = next(self._numbers)
        new = NewMessage(f"user{number}", (TextContent(text),))
        return await self.runs.start(self.user, "c", Edit(f"run{number}", message, new, **fields))

    async def events(self, run, after=0) -> list:
        """Every event of a run, to its end."""
        return [logged.event async for logged in self.runs.viewer(self.user, run.id, after)]

    async def until(self, run, wanted) -> Any:
        """The first event of a run that `wanted` accepts."""
        async for logged in self.runs.viewer(self.user, run.id):
            if wanted(logged.event):
                return logged.event
        raise AssertionError("the run ended without it")

    async def done(self, run) -> RunDone:
        """The end of a run, when its place is free again."""
        end = (await self.events(run))[-1]
        assert isinstance(end, RunDone)
        return end

    async def said(self, text="Hello", **fields) -> RunDone:
        return await self.done(await self.send(text, **fields))

    async def all(self, conversation="c"):
        return await self.store(conversation).messages.all(conversation)

    async def shown(self, conversation="c"):
        """The path that is shown, as "role: text"."""
        kept = await self.store(conversation).conversations.get(self.user, conversation)
        path = await self.store(conversation).messages.path(conversation, kept.leaf)
        return [f"{row.role}: {row.text}" for row in path]

    async def path(self, conversation="c"):
        kept = await self.store(conversation).conversations.get(self.user, conversation)
        return await self.store(conversation).messages.path(conversation, kept.leaf)


def seen(events):
    """The rows as a viewer who follows has them: text by row id."""
    texts: dict[str, str] = {}
    for event in events:
        match event:
            case MessageAdded(row) | MessageDone(row) | ToolResult(row):
                texts[row.id] = row.text
            case RunDelta(message, "text", text):
                texts[message] += text
    return texts


def appended(events):
    """As `seen`, by appending alone: what the last word about a row says is not looked at."""
    return seen([event for event in events if not isinstance(event, MessageDone)])


@asynccontextmanager
async def opened(now):
    """A world with an empty conversation."""
    async with Database.memory() as durable, Database.memory() as temporary:
        world = World(Stores(durable, temporary, now), now)
        await world.create()
        yield world
