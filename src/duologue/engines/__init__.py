"""Models behind narrow doors: the Protocols every engine keeps, and the table of their names.

Owns the contracts. Knows no model library: choosing an engine by name imports its file only then. Nothing outside
`sessions/chat.py` knows which of the two kinds of language engine it talks to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from duologue.text.templates import ChatTemplate
from duologue.values.events import Event, Finish, Progress, TokenLogprob
from duologue.values.requests import ChatRequest, ModelCard, OutputFormat, Sampling


class Piece(Struct, frozen=True):
    """Raw text as the model wrote it: markers and all. `tokens` is how many tokens it stands for."""

    text: str
    tokens: int = 1
    logprobs: tuple[TokenLogprob, ...] = ()


class Ended(Struct, frozen=True):
    """The last item of a generation: why it ended, and the engine's own counts."""

    finish: Finish
    generated: int
    cached: int = 0


class Generation(Struct, frozen=True):
    """What to generate: sampling, an optional constraint, and `preserved`: markers that must come out as text even
    where the tokenizer holds them for control tokens."""

    sampling: Sampling = Sampling()
    format: OutputFormat | None = None
    preserved: tuple[str, ...] = ()


@runtime_checkable
class PromptEngine(Protocol):
    """A language engine that takes tokens and gives raw text; the session renders the template around it.

    A slot runs one thing at a time, `prefill` then `generate`, and keeps its cache between calls. Leaving either
    context ends the work within one token (one batch in prefill), and returns only when the slot is truly free.
    Raises `Problem`s.
    """

    @property
    def card(self) -> ModelCard: ...

    @property
    def template(self) -> ChatTemplate: ...

    async def tokenize(self, text: str, *, start: bool = True) -> tuple[int, ...]:
        """Token ids of a rendered prompt, special tokens parsed. `start` False: of what follows a beginning that was
        tokenized before, so that nothing belongs in front of it."""
        ...

    def held(self, slot: int, tokens: Sequence[int]) -> int:
        """How many of `tokens`, at least, the slot's cache holds from before."""
        ...

    def prefill(
        self, slot: int, tokens: Sequence[int]
    ) -> AbstractAsyncContextManager[AsyncIterator[Progress]]:
        """Read `tokens` into the slot's cache, keeping the common prefix; the last Progress tells what was cached."""
        ...

    def generate(
        self, slot: int, tokens: Sequence[int], generation: Generation
    ) -> AbstractAsyncContextManager[AsyncIterator[Piece | Progress | Ended]]:
        """Continue `tokens`; reuses what the slot has cached and reads the rest first, telling its `Progress`. Ends
        with exactly one `Ended`."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class ChatEngine(Protocol):
    """A language engine that takes messages and gives events (remote servers, omni models).

    Yields `Prefilled` once, deltas, and one terminal event.
    """

    @property
    def card(self) -> ModelCard: ...

    def chat(self, slot: int, request: ChatRequest) -> AbstractAsyncContextManager[AsyncIterator[Event]]: ...

    async def close(self) -> None: ...


LanguageEngine = PromptEngine | ChatEngine

# name -> (module, function); `await function(loadout_options)` returns the loaded engine.
LANGUAGE_ENGINES: dict[str, tuple[str, str]] = {
    "scripted": ("duologue.engines.scripted", "load"),
    "llama": ("duologue.engines.llama", "load"),
    "remote": ("duologue.engines.remote", "load"),
}


async def load_language_engine(name: str, options: dict[str, Any]) -> LanguageEngine:
    """Load the engine called `name`. Raises KeyError for an unknown name, StartFailed when it cannot load."""
    module, function = LANGUAGE_ENGINES[name]
    engine: LanguageEngine = await getattr(import_module(module), function)(options)
    return engine
