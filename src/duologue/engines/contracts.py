"""The protocols every engine implements, and the values that cross them.

Sessions program against these; `registry` loads the engines that implement them. Sound is 16-bit mono PCM, recognised at
16 kHz and spoken at 24 kHz (`values/audio.py`). Which of the two kinds of language engine is loaded matters to
`sessions/chat/chat.py` alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct

from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.output.reply_grammar import ReplyGrammar
from duologue.text.templates.prompt_request import PromptRequest, RenderedPrompt
from duologue.values.events import Event, Finish, Progress, TokenLogprob
from duologue.values.messages import AudioPart, ImagePart, Message
from duologue.values.mouth import Phone
from duologue.values.requests import ChatRequest, ModelCard, OutputFormat, Sampling
from duologue.values.speech import Transcript, Voice, VoiceSample


class Piece(Struct, frozen=True):
    """Raw text as the model generated it, markers included. `tokens` is how many tokens it stands for."""

    text: str
    tokens: int = 1
    logprobs: tuple[TokenLogprob, ...] = ()
    control: bool = False
    """It is one token of the vocabulary that stands for a marker, not a marker spelt with other tokens. False too where the
    engine cannot tell."""


class SpokenSound(Struct, frozen=True):
    """The next sound of a reply that the model itself speaks: 16-bit mono at 24 kHz. It follows the `Piece`s that it says."""

    pcm: bytes


class ModelVoice(Struct, frozen=True):
    """The voice that a model speaks with: one of its own by name ("": its default), or like the recording of `sample`."""

    name: str = ""
    sample: VoiceSample | None = None


class GenerationEnded(Struct, frozen=True):
    """The last item of a generation: why it ended, and the engine's own counts of tokens."""

    finish: Finish
    generated: int
    cached: int = 0


class Generation(Struct, frozen=True):
    """What to generate: sampling and an optional constraint.

    `preserved` are markers that must appear as text even where the tokenizer treats them as control tokens. `grammar`
    constrains the reply or its tool calls, on engines that support it; its trigger is one of the markers, and `format`
    is then None. `voice`: the model speaks what it writes, in this voice, and writes nothing that cannot be spoken (Markdown,
    control tokens); None: it only writes. What stands between two `preserved` markers, a thought or a tool call, is written and not spoken.
    """

    sampling: Sampling = Sampling()
    format: OutputFormat | None = None
    preserved: tuple[str, ...] = ()
    grammar: ReplyGrammar | None = None
    voice: ModelVoice | None = None


class PromptTemplate(Protocol):
    """The chat template of a model. One that came with the model is rendered by `templates.template_renderer`."""

    @property
    def reasoning(self) -> ReasoningTags | None:
        """The markers that it puts around thoughts; None if it has none."""
        ...

    @property
    def stop_strings(self) -> tuple[str, ...]:
        """Texts at which a reply ends, as the template itself sets them."""
        ...

    @property
    def source(self) -> str:
        """The template as it is written."""
        ...

    @property
    def bos(self) -> str:
        """The text of the token that begins every text; "" without one."""
        ...

    @property
    def eos(self) -> str:
        """The text of the token that ends a text; "" without one."""
        ...

    async def render(self, request: PromptRequest, now: datetime) -> RenderedPrompt:
        """The prompt for these messages; `now` is local time. Raises BadRequest (`template_error`) with the template's
        message, or where rendering took too long, and Unsupported where it cannot leave a message open."""
        ...


@runtime_checkable
class PromptEngine(Protocol):
    """A language engine that takes tokens and returns raw text; the session renders the template around it.

    A slot runs one operation at a time, `prefill` then `generate`, and keeps its cache between them. Leaving either
    context ends the work within one token (one batch in prefill), and returns only when the slot is free.
    Raises `Problem`s.
    """

    @property
    def card(self) -> ModelCard: ...

    @property
    def template(self) -> PromptTemplate: ...

    async def tokenize(self, text: str, *, start: bool = True) -> tuple[int, ...]:
        """Token ids of a rendered prompt, special tokens parsed. `start` False: `text` continues a prompt that was
        tokenized before, so no beginning-of-sequence token is added."""
        ...

    def cached_tokens(self, slot: int, tokens: Sequence[int]) -> int:
        """A lower bound for how many of the first `tokens` are in the slot's cache."""
        ...

    def prefill(
        self, slot: int, tokens: Sequence[int]
    ) -> AbstractAsyncContextManager[AsyncIterator[Progress]]:
        """Read `tokens` into the slot's cache, keeping the common prefix; the last Progress has the cached count."""
        ...

    def generate(
        self, slot: int, tokens: Sequence[int], generation: Generation
    ) -> AbstractAsyncContextManager[AsyncIterator[Piece | SpokenSound | Progress | GenerationEnded]]:
        """Continue `tokens`. Reuses what the slot has cached and reads the rest first, yielding its `Progress`; ends
        with exactly one `GenerationEnded`."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class MediaPromptEngine(Protocol):
    """A PromptEngine whose model may take pictures or sound in its prompt; its card says which."""

    async def tokenize_media(self, pieces: Sequence[str | ImagePart | AudioPart]) -> Sequence[int]:
        """A prompt of these texts and media, in order. It has as many items as the prompt has tokens, begins like other prompts
        as far as their content is the same, and goes to `prefill` and `generate` as it is, never cut or joined. Raises
        BadRequest for a picture or sound that cannot be read."""
        ...


class FillTokens(Struct, frozen=True):
    """The tokens by which a model is asked for the text of a gap: before the text that precedes it, before the text that follows it,
    and before the text of the gap itself."""

    prefix: int
    suffix: int
    middle: int


@runtime_checkable
class FillingEngine(Protocol):
    """A PromptEngine whose model may have been taught to fill in a gap; its card has the verb "infill" then."""

    @property
    def fill_tokens(self) -> FillTokens | None: ...


@runtime_checkable
class ChatEngine(Protocol):
    """A language engine that takes messages and yields events (remote servers, omni models).

    Yields `Prefilled` once, deltas, and one terminal event.
    """

    @property
    def card(self) -> ModelCard: ...

    def chat(self, slot: int, request: ChatRequest) -> AbstractAsyncContextManager[AsyncIterator[Event]]: ...

    async def close(self) -> None: ...


@runtime_checkable
class WatchedEngine(Protocol):
    """An engine whose card may change while it runs."""

    async def watch(self, changed: Callable[[ModelCard], None]) -> None:
        """Watch what the card depends on, until cancelled or for nothing; `changed` is called with each new card."""
        ...


LanguageEngine = PromptEngine | ChatEngine

Decision = Literal["model", "listen", "speak"]
"""Who decides what follows a unit: the model itself, or the session."""


class UnitCosts(Struct, frozen=True):
    """Milliseconds of one unit: reading sound and frames, writing, making speech codes of it, making sound of them."""

    prefill: float = 0.0
    language: float = 0.0
    speech: float = 0.0
    vocoder: float = 0.0


class UnitAnswer(Struct, frozen=True):
    """What follows one unit: the model listens on, or says `text` with the sound `pcm` (16-bit mono, 24 kHz)."""

    listens: bool = True
    text: str = ""
    pcm: bytes = b""
    end_of_turn: bool = False
    """The reply is complete with this."""
    cached: int = 0
    """Tokens in the session's cache."""
    written: int = 0
    """Tokens that were generated in this unit, without the codes of speech."""
    codes: int = 0
    slices: int = 0
    """Pictures and pieces of pictures that were read, and how many tokens they took."""
    vision_tokens: int = 0
    costs: UnitCosts = UnitCosts()


class DuplexOptions(Struct, frozen=True):
    """How a duplex session is conducted. None: as the model has it. `listen_scale` multiplies the probability of listening, of models
    that decide; `window`: tokens of the cache above which the oldest units leave it."""

    sampling: Sampling = Sampling()
    voice: ModelVoice = ModelVoice()
    listen_scale: float | None = None
    window: int | None = None


class DuplexView(Protocol):
    """One duplex session on the weights of an omni engine: sound and frames go in a unit at a time, and after each the model
    listens or speaks. Calls are made one at a time; each returns when the model's thread is done. Raises `Problem`s."""

    @property
    def decides(self) -> bool:
        """Whether the model itself decides to listen or to speak. Of one that does not, the session decides each unit; it takes no
        sound while it speaks, and is passed that sound again after `cut`."""
        ...

    @property
    def unit_samples(self) -> tuple[int, int]:
        """The fewest and the most samples (16 kHz) of a unit; equal where the model knows one length only."""
        ...

    async def prepare(self, messages: Sequence[Message], options: DuplexOptions) -> int:
        """Begin anew after these messages: the system's, and the conversation so far. The tokens in the cache."""
        ...

    async def unit(
        self,
        pcm: bytes,
        frames: Sequence[ImagePart] = (),
        *,
        decision: Decision = "model",
        max_slices: int | None = None,
    ) -> UnitAnswer:
        """Read one unit of the caller's sound (16-bit mono, 16 kHz) and its frames, and give what follows. With "listen" the answer
        is silent; while a reply is open, `cut` comes before."""
        ...

    async def finalize(self) -> None:
        """Do what the unit left to be done after its answer was sent. Called before the next one."""
        ...

    async def cut(self, heard: int) -> str:
        """The caller interrupted the reply after hearing `heard` samples (24 kHz) of it: nothing more of it is said, and the cache
        holds what was heard. Gives its text."""
        ...

    async def recite(self, text: str) -> None:
        """Speak this text as the next reply, instead of one that the model writes. Raises Unsupported where the engine cannot."""
        ...

    async def type(self, text: str) -> None:
        """The caller typed this instead of saying it; the next unit's answer may reply to it."""
        ...


@runtime_checkable
class OmniEngine(Protocol):
    """A language engine whose weights serve its chats, in slots, or one duplex session that takes it whole. Its card has the verb
    "duplex"."""

    def duplex(self) -> AbstractAsyncContextManager[DuplexView]:
        """Switch to the duplex view, which touches no weights; leaving switches back, once the model's thread is done. Nothing
        generates in a slot meanwhile. What the slots have cached is kept, where the engine keeps a cache for each."""
        ...


FRAME = 512
"""Samples (16 kHz) of one frame of a detector: 32 ms."""


class Detector(Protocol):
    """Voice activity in one caller's sound. Blocks for a fraction of a millisecond a frame."""

    def probability(self, frame: bytes) -> float:
        """The probability, 0 to 1, that the next FRAME samples are speech, given the frames before."""
        ...

    def reset(self) -> None:
        """Forget the frames so far."""
        ...


@runtime_checkable
class DetectorEngine(Protocol):
    """Voice activity detection."""

    @property
    def name(self) -> str: ...

    def open(self) -> Detector:
        """A detector for one caller."""
        ...

    def release(self, detector: Detector) -> None:
        """Return a detector whose caller has gone; it may be opened for the next one."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class TurnEndEstimator(Protocol):
    """Whether a caller's turn is complete, by its sound."""

    @property
    def name(self) -> str: ...

    async def probability(self, pcm: bytes) -> float:
        """The probability, 0 to 1, that this sound is a whole turn; it ends with about 0.2 s of silence. Raises `Problem`s,
        Busy among them: a question that cannot be answered soon is refused."""
        ...

    async def close(self) -> None: ...


class StreamingTranscriber(Protocol):
    """Transcribes one utterance while it is spoken.

    Leaving the context it came from frees its resources, finished or not.
    """

    async def feed(self, pcm: bytes) -> str:
        """Take the next sound; the words so far, which a later call may revise."""
        ...

    async def finish(self) -> Transcript:
        """The final transcript of the utterance."""
        ...


@runtime_checkable
class ExpectsWords(Protocol):
    """A StreamingTranscriber that words of the conversation help. Others may take such a text for what was said."""

    def expect(self, text: str) -> None:
        """The speaker may well use words of this text, those at its end most of all. Called before the first sound."""
        ...


@runtime_checkable
class SpotsStopWords(Protocol):
    """A StreamingTranscriber that can listen for the words that ask to stop beside all others (`Transcript.stop_word`)."""

    def listen_for_stop(self) -> None:
        """Do so in this utterance. Called before the first sound."""
        ...


@runtime_checkable
class RecogniserEngine(Protocol):
    """Speech to text."""

    @property
    def name(self) -> str: ...

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages it recognises; empty where it detects the language itself."""
        ...

    @property
    def partial_results(self) -> bool:
        """Whether `StreamingTranscriber.feed` returns words before the end."""
        ...

    @property
    def word_timestamps(self) -> bool: ...

    @property
    def limitation(self) -> str:
        """A sentence for people about how little it understands; "" for an engine that knows its languages."""
        ...

    def stream(
        self, *, language: str = "", prompt: str = ""
    ) -> AbstractAsyncContextManager[StreamingTranscriber]:
        """A transcriber for one utterance; waits where only a few can run at once. `prompt` is text the speaker may
        well use. Raises `Problem`s."""
        ...

    async def transcribe(
        self, pcm: bytes, *, language: str = "", prompt: str = "", word_timestamps: bool = False
    ) -> Transcript:
        """Transcribe a whole recording, of any length. Raises `Problem`s."""
        ...

    async def close(self) -> None: ...


class SpokenWord(Struct, frozen=True):
    """A word in the sound of one clause. `start` and `end` are samples at 24 kHz from the clause's first;
    `at`..`to` is its range in the clause's spoken text."""

    text: str
    start: int
    end: int
    at: int
    to: int


class SpeechChunk(Struct, frozen=True):
    """The next sound of a clause, and the words and phones that begin in it, in samples at 24 kHz from the clause's first. An engine
    without word timestamps gives no words; sessions then spread them evenly. One without phones gives none; sessions then
    guess them by the letters of the words."""

    pcm: bytes
    words: tuple[SpokenWord, ...] = ()
    phones: tuple[Phone, ...] = ()


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
        """The sound of one clause of speakable text (no markup, numbers in words), as it is synthesised. Leaving the
        context ends the work. Raises Problem for an unknown voice."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class CloningSpeaker(Protocol):
    """A SpeakerEngine that can also speak like a recording."""

    def speak_like(
        self, clause: str, *, sample: VoiceSample, speed: float = 1.0, language: str = ""
    ) -> AbstractAsyncContextManager[AsyncIterator[SpeechChunk]]:
        """As `SpeakerEngine.speak`, in the voice of `sample`. What is computed from a sample is kept for the next clause.
        Raises Problem for a sample that it cannot use."""
        ...
