"""The contracts every engine keeps: protocols, and the values that cross them.

Sessions program against these. Sound is as `values/audio.py` says: 16-bit mono, recognised at 16 kHz, spoken at 24 kHz.
Nothing outside `sessions/chat/chat.py` needs to know which of the two kinds of language engine it has.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol, runtime_checkable

from msgspec import Struct

from duologue.text.output.reply_grammar import ReplyGrammar
from duologue.text.templates.chat_template import ChatTemplate
from duologue.values.events import Event, Finish, Progress, TokenLogprob
from duologue.values.requests import ChatRequest, ModelCard, OutputFormat, Sampling
from duologue.values.speech import Transcript, Voice


class Piece(Struct, frozen=True):
    """Raw text as the model wrote it: markers and all. `tokens` is how many tokens it stands for."""

    text: str
    tokens: int = 1
    logprobs: tuple[TokenLogprob, ...] = ()


class GenerationEnded(Struct, frozen=True):
    """The last item of a generation: why it ended, and the engine's own counts."""

    finish: Finish
    generated: int
    cached: int = 0


class Generation(Struct, frozen=True):
    """What to generate: sampling, an optional constraint, and `preserved`: markers that must come out as text even
    where the tokenizer holds them for control tokens. `grammar` is what the reply or its calls must look like, where
    the engine can see to that; its trigger is one of the markers, and `format` is None."""

    sampling: Sampling = Sampling()
    format: OutputFormat | None = None
    preserved: tuple[str, ...] = ()
    grammar: ReplyGrammar | None = None


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
    ) -> AbstractAsyncContextManager[AsyncIterator[Piece | Progress | GenerationEnded]]:
        """Continue `tokens`; reuses what the slot has cached and reads the rest first, telling its `Progress`. Ends
        with exactly one `GenerationEnded`."""
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

FRAME = 512
"""Samples (16 kHz) a detector judges at a time: 32 ms."""


class Detector(Protocol):
    """Tells speech from everything else in one caller's sound. Blocks for a fraction of a millisecond a frame."""

    def probability(self, frame: bytes) -> float:
        """How likely the next FRAME samples are speech, 0 to 1. It remembers the frames before."""
        ...

    def reset(self) -> None:
        """Forget what was heard."""
        ...


@runtime_checkable
class DetectorEngine(Protocol):
    """Voice activity detection. `open` gives one caller a detector of their own."""

    @property
    def name(self) -> str: ...

    def open(self) -> Detector: ...

    def give_back(self, detector: Detector) -> None:
        """Its caller is gone, and nobody uses it any more: it may serve the next one."""
        ...

    async def close(self) -> None: ...


class StreamingTranscriber(Protocol):
    """One utterance that is being written down while it is spoken.

    `feed` takes sound as it comes and gives the words so far, which a later call may revise; `finish` gives what stands.
    Leaving the context it came from frees what it used, finished or not.
    """

    async def feed(self, pcm: bytes) -> str: ...

    async def finish(self) -> Transcript: ...


@runtime_checkable
class RecogniserEngine(Protocol):
    """Speech to text. `partials`: a listener tells words before the end; `hears`: languages, empty where it finds out."""

    @property
    def name(self) -> str: ...

    @property
    def hears(self) -> tuple[str, ...]: ...

    @property
    def partials(self) -> bool: ...

    @property
    def word_times(self) -> bool: ...

    @property
    def limited(self) -> str:
        """A sentence that says how little it understands, for people; "" for an engine that knows its languages."""
        ...

    def listen(
        self, *, language: str = "", hint: str = ""
    ) -> AbstractAsyncContextManager[StreamingTranscriber]:
        """A listener for one utterance; waits for a free one where they are few."""
        ...

    async def transcribe(
        self, pcm: bytes, *, language: str = "", hint: str = "", words: bool = False
    ) -> Transcript:
        """Write down a whole recording, of any length. Raises `Problem`s."""
        ...

    async def close(self) -> None: ...


class SpokenWord(Struct, frozen=True):
    """A word in the sound of one clause: samples at 24 kHz from the clause's first; `at`..`to` is its range in the clause's
    spoken text."""

    text: str
    start: int
    end: int
    at: int
    to: int


class SpeechChunk(Struct, frozen=True):
    """The next sound of a clause, and the words that begin in it. An engine that does not know when its words sound gives
    none; whoever asked spreads them evenly."""

    pcm: bytes
    words: tuple[SpokenWord, ...] = ()


@runtime_checkable
class SpeakerEngine(Protocol):
    """Text to speech, a clause at a time."""

    @property
    def name(self) -> str: ...

    @property
    def voices(self) -> tuple[Voice, ...]:
        """At least one; the first is the default."""
        ...

    def speak(
        self, clause: str, *, voice: str = "", speed: float = 1.0, language: str = ""
    ) -> AbstractAsyncContextManager[AsyncIterator[SpeechChunk]]:
        """The sound of one clause of speakable text (no markup, numbers in words), as it is made. Leaving the context ends
        the work. Raises Problem for a voice it does not have."""
        ...

    async def close(self) -> None: ...
