"""Stand-ins for what runs are given: a model that plays a script, a toolbox of functions, attachments of text."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from typing import Any

import anyio
import msgspec

from duologue.conversations.agent.dependencies import RunDependencies
from duologue.conversations.history.prompt_messages import history
from duologue.errors import ModelNotFound, Unsupported
from duologue.tools.values import Offer, OfferedTool, ToolOutcome
from duologue.values.conversations import GenerationOptions, ImageContent, TextContent
from duologue.values.events import Done, Failed, Started, TextDelta, ToolCallDelta, Usage
from duologue.values.messages import Message, TextPart, ToolCall
from duologue.values.requests import ModelCard

CARD = ModelCard(
    "mini", "scripted", 10_000, modalities=("text",), verbs=("continue", "count", "tools", "thinking")
)


def says(text, *, finish="stop", usage=None):
    """A turn that says `text` a word at a time."""
    words = text.split(" ")
    pieces = [word + (" " if at < len(words) - 1 else "") for at, word in enumerate(words)]
    return [Started("mini", 10_000), *map(TextDelta, pieces), Done(finish, usage or Usage(10, len(words)))]


def calls(*named, text=""):
    """A turn that ends in calls: (name, JSON text)."""
    said = [TextDelta(text)] if text else []
    deltas = [ToolCallDelta(at, arguments, f"call_{at}", name) for at, (name, arguments) in enumerate(named)]
    return [Started("mini", 10_000), *said, *deltas, Done("tool_calls", Usage(10, 5))]


def fails(code="engine_failed", sentence="It broke.", *before):
    return [Started("mini", 10_000), *before, Failed(code, sentence)]


class ScriptedModel:
    """Plays one turn after the other. A step is an event, or an `anyio.Event` to wait for, or None: say nothing for
    ever. `open` counts the contexts that were entered and not left."""

    def __init__(self):
        self.turns = []
        self.requests = []
        self.users = []
        self.open = 0
        self.most_open = 0

    def plays(self, *turns):
        self.turns = list(turns)
        return self

    @asynccontextmanager
    async def __call__(self, request, *, kind="chat", count=1, request_id="", user="local"):
        self.requests.append(request)
        self.users.append(user)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        steps = self.turns.pop(0) if self.turns else says("Nothing was written for this turn.")
        batches: Any = self._batches(steps)
        try:
            yield batches
        finally:
            self.open -= 1
            await batches.aclose()

    async def _batches(self, steps) -> AsyncIterator:
        for step in steps:
            if step is None:
                await anyio.sleep_forever()
            elif isinstance(step, anyio.Event):
                await step.wait()
            elif isinstance(step, Exception):
                raise step
            else:
                yield [(0, step)]


class FunctionTools:
    """A toolbox of async functions: name -> (function, read_only). Each gets (arguments, report, ask, keep)."""

    def __init__(self):
        self.functions = {}
        self.called = []
        self.running = 0
        self.most_running = 0
        self.offered = []
        self.system = ""

    def add(self, name, function=None, *, read_only=True, server="desk"):
        async def answer(arguments, **_):
            return f"{name} of {msgspec.json.encode(arguments).decode()}"

        self.functions[name] = (function or answer, read_only, server)
        return self

    async def offer(self, user, options, *, budget_tokens=None, count=None):
        self.offered.append((user, options, budget_tokens))
        tools = tuple(
            OfferedTool(name, server, name, read_only=read_only)
            for name, (_, read_only, server) in sorted(self.functions.items())
        )
        return Offer(tools, (), self.system)

    async def call_tool(self, tool, arguments, *, user, conversation, report, ask, keep):
        self.called.append((tool.name, arguments))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            found = await self.functions[tool.name][0](arguments, report=report, ask=ask, keep=keep)
        finally:
            self.running -= 1
        return found if isinstance(found, ToolOutcome) else ToolOutcome((TextContent(found),))


class TextAttachments:
    """Attachments where every file is a picture nobody but a seeing model can take."""

    async def content(self, user, hash, *, name="", mime="", given=None, card=None):
        return ImageContent(hash, mime or "image/png", name)

    async def keep(self, user, data, name, mime, card=None):
        return ImageContent(f"hash_of_{len(data)}", mime, name)

    def check(self, content, card):
        if any(isinstance(part, ImageContent) for part in content) and "image" not in card.modalities:
            raise Unsupported(f"The model {card.name} sees no pictures.", code="modality_unsupported")

    async def messages(self, user, rows, card):
        return tuple(
            Message(
                entry.role,
                tuple(
                    TextPart(part.text if isinstance(part, TextContent) else "[a picture]")
                    for part in entry.content
                ),
                entry.reasoning or None,
                tuple(ToolCall(call.id, call.name, call.arguments) for call in entry.tool_calls),
                entry.tool_call_id,
            )
            for entry in history(rows)
        )


class Surroundings:
    """Everything a run is given, played. `told` is what lists were told, `ended` the runs that ended."""

    def __init__(self, now):
        self.model = ScriptedModel()
        self.toolbox = FunctionTools()
        self.attachments = TextAttachments()
        self.cards = {"mini": CARD}
        self.defaults = GenerationOptions()
        self.told = []
        self.ended = []
        self.count = None
        self.make_room = None
        self.models: Any = None
        self.seconds = 0.0
        self.ends = {}
        self._now = now
        self._ids = count(1)

    def resolve(self, name):
        if (card := self.cards.get(name or "mini")) is None:
            raise ModelNotFound(f"There is no model {name!r} here.")
        return card

    async def _defaults(self, user):
        return self.defaults

    @contextmanager
    def watched(self, user, end):
        """Notes what ends the work of a user."""
        self.ends[user] = end
        yield
        self.ends.pop(user, None)

    def dependencies(self):
        return RunDependencies(
            generate=self.model,
            resolve=self.resolve,
            attachments=lambda conversation: self.attachments,
            now=self._now,
            clock=lambda: self.seconds,
            new_id=lambda: f"new{next(self._ids)}",
            defaults=self._defaults,
            toolbox=self.toolbox,
            count=self.count,
            models=self.models,
            make_room=self.make_room,
            publish=lambda user, event: self.told.append((user, event)),
            watched=self.watched,
            on_end=lambda user, run: self.ended.append((user, run)),
        )
