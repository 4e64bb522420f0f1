"""Qwen2.5-Omni and Qwen3-Omni through transformers: models that see, hear, write and speak, in chats and in calls that they hold.

Loaded by `registry`. Owns the loaded model, its one thread, a sequence for each slot, and the switch to the duplex view. Every call of the
model is one short step in that thread, first come, first served: so replies in several slots go on by turns, and who leaves waits for
one step. No real weights and no graphics card were tried yet: the tests run on tiny models of both families.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeVar

import anyio

from duologue.engines.contracts import Generation, GenerationEnded, Piece, SpokenSound
from duologue.engines.decoding.choice_rules import FIELDS, card_defaults, default_rules, rules_of
from duologue.engines.decoding.model_folder import ends_of
from duologue.engines.decoding.token_choice import TokenChoice
from duologue.engines.decoding.token_text import TokenText
from duologue.engines.decoding.tokenizer_questions import TokenizerQuestions
from duologue.engines.device_failures import device_errors
from duologue.engines.optional_library import load_in_thread
from duologue.engines.options import read_options
from duologue.engines.qwen_omni.duplex.held_call import QwenDuplexView
from duologue.engines.qwen_omni.omni_weights import OmniOptions, OpenedModel, open_model
from duologue.engines.qwen_omni.prompt.omni_prompt import OmniPrompt, as_omni_prompt, common_beginning
from duologue.engines.qwen_omni.prompt.prompt_reader import PromptReader
from duologue.engines.qwen_omni.speech.reply_speech import open_speech
from duologue.engines.qwen_omni.talker import Talker
from duologue.engines.qwen_omni.thinking.media_encoder import MediaEncoder
from duologue.engines.qwen_omni.thinking.reply_steps import ReplySteps, SequenceReading
from duologue.engines.qwen_omni.thinking.thinker import Thinker
from duologue.engines.qwen_omni.thinking.thinker_sequence import ThinkerSequence
from duologue.engines.templates.template_renderer import TemplateRenderer
from duologue.errors import Busy, ContextExceeded, Unavailable, Unsupported
from duologue.text.templates.chatml import CHATML
from duologue.text.templates.prompt_request import TemplateFacts
from duologue.threads import ThreadLane
from duologue.values.events import Progress
from duologue.values.messages import AudioPart, ImagePart
from duologue.values.questions.worker_answers import Tokenized
from duologue.values.questions.worker_questions import DetokenizeTokens, TokenizeText
from duologue.values.requests import ModelCard

T = TypeVar("T")
BATCH, BATCH_ON_CARD = 128, 1024
"""Tokens of a prompt that are read in one step: every other reply waits for it."""


async def load(options: dict[str, Any]) -> QwenOmniEngine:
    """The engine. Options: see `OmniOptions`. Raises StartFailed without the library, the weights or the memory."""
    settings = read_options(OmniOptions, options, "qwen_omni")
    opened = await load_in_thread(lambda: open_model(settings))
    lane = ThreadLane(1)
    talker = await lane.run(_open_talker, opened) if settings.speech else None
    eos = str(opened.tokenizer.eos_token or "")
    template = TemplateRenderer(opened.template or CHATML, bos=str(opened.tokenizer.bos_token or ""), eos=eos)
    await template.start()
    try:
        warnings = opened.plan.warnings
        try:
            facts = await template.compiled()
        except Unsupported as error:
            facts = await template.replace(CHATML)
            warnings += (f"{error.message} ChatML is used instead, which may not suit the model.",)
        if not opened.template:
            warnings += (f"{opened.folder} has no chat template; ChatML is used, which may not suit it.",)
        return QwenOmniEngine(
            opened, settings, lane, template, omni_card(opened, settings, facts, talker, warnings), talker
        )
    except BaseException:
        with anyio.CancelScope(shield=True):
            await template.close()
        raise


class QwenOmniEngine:
    """A loaded model. Implements `contracts.PromptEngine`, `MediaPromptEngine` and `OmniEngine`."""

    def __init__(
        self,
        opened: OpenedModel,
        options: OmniOptions,
        lane: ThreadLane,
        template: TemplateRenderer,
        card: ModelCard,
        talker: Talker | None,
    ) -> None:
        self._torch: Any | None = opened.torch
        self._tokenizer = opened.tokenizer
        self._card, self._template, self._talker = card, template, talker
        self._lane, self._text_lane = lane, ThreadLane(1)
        self.reader = PromptReader(opened.tokenizer, opened.media)
        thinker = opened.model.thinker
        device = thinker.get_input_embeddings().weight.device
        encoder = MediaEncoder(thinker, opened.media, device)
        self.thinker = Thinker(
            opened.torch, thinker, encoder, opened.new_cache, None if talker is None else talker.layer
        )
        self._sequences: dict[int, ThinkerSequence] = {}
        self._batch = options.batch or (BATCH if device.type == "cpu" else BATCH_ON_CARD)
        self._rules = default_rules(opened.generation)
        self._vocabulary = thinker.config.text_config.vocab_size
        self._questions = TokenizerQuestions(opened.tokenizer, (), self._vocabulary, card.name)
        self._ends = ends_of(opened.generation, opened.tokenizer)
        self._in_call = False

    @property
    def card(self) -> ModelCard:
        return self._card

    @property
    def template(self) -> TemplateRenderer:
        return self._template

    async def tokenize(self, text: str, *, start: bool = True) -> tuple[int, ...]:
        """Token ids of a rendered prompt. These models begin no text with a token of its own."""
        return await self._text_lane.run(self.reader.tokens, text)

    async def text_tokens(self, question: TokenizeText) -> Tokenized:
        """See `choice_contracts.TokenTeller`."""
        return await self._text_lane.run(self._questions.tokens, question)

    async def tokens_text(self, question: DetokenizeTokens) -> str:
        """See `choice_contracts.TokenTeller`."""
        return await self._text_lane.run(self._questions.text, question)

    async def tokenize_media(self, pieces: Sequence[str | ImagePart | AudioPart]) -> OmniPrompt:
        """See `contracts.MediaPromptEngine`."""
        return await self._text_lane.run(self.reader.prompt, pieces)

    def cached_tokens(self, slot: int, tokens: Sequence[int]) -> int:
        """Exact: the last prompt and the reply to it are in the cache."""
        sequence = self._sequences.get(slot)
        prompt = as_omni_prompt(tokens)
        return 0 if sequence is None else prompt.readable(common_beginning(sequence.numbers, prompt.tokens))

    @asynccontextmanager
    async def prefill(self, slot: int, tokens: Sequence[int]) -> AsyncIterator[AsyncIterator[Progress]]:
        """Read `tokens` into the slot's cache; leaving ends it within a batch, or a picture."""
        prompt = as_omni_prompt(tokens)

        def steps() -> Iterator[Sequence[Progress]]:
            for progress in SequenceReading(self.thinker, self._sequence(slot), prompt, self._batch).steps():
                yield (progress,)

        async with aclosing(self._run(slot, steps)) as progress:
            yield progress

    @asynccontextmanager
    async def generate(
        self, slot: int, tokens: Sequence[int], generation: Generation
    ) -> AsyncIterator[AsyncIterator[Piece | SpokenSound | Progress | GenerationEnded]]:
        """Continue `tokens`; leaving ends it within a token, and within a batch while the prompt is read."""
        prompt = as_omni_prompt(tokens)
        if generation.format is not None or (
            generation.grammar is not None and not generation.grammar.trigger
        ):
            raise Unsupported(
                "The engine qwen_omni cannot hold a reply to a format.", param="response_format"
            )
        if len(prompt) >= self._card.context:
            raise ContextExceeded(
                f"The prompt takes {len(prompt)} tokens, but this model's maximum context length is {self._card.context}.",
                param="messages",
            )
        async with aclosing(self._run(slot, lambda: self._reply(slot, prompt, generation).steps())) as items:
            yield items

    @asynccontextmanager
    async def duplex(self) -> AsyncIterator[QwenDuplexView]:
        """See `contracts.OmniEngine`. The session has a sequence of its own; those of the slots stay as they are. Raises Busy while
        there is another."""
        if self._in_call:
            raise Busy(f"The model {self._card.name!r} already holds a call.")
        self._in_call = True
        view = QwenDuplexView(
            self.thinker,
            self.reader,
            self._template,
            self._tokenizer,
            self._talker,
            self.call,
            self.choice,
            ends=self._ends,
            context=self._card.context,
            batch=self._batch,
        )
        try:
            yield view
        finally:
            with anyio.CancelScope(shield=True):
                await self.call(view.drop)
            self._in_call = False

    async def call(self, function: Callable[..., T], *args: object) -> T:
        """Run one step in the model's thread. Raises the Problems of the step, and of the device."""
        return await self._lane.run(self._step, function, args)

    def choice(self, generation: Generation) -> TokenChoice:
        """How the tokens of a reply are chosen. Raises BadRequest for sampling that cannot be."""
        rules = rules_of(generation.sampling, self._rules, self.reader.tokens, self._vocabulary)
        spoken = generation.voice is not None and self._talker is not None
        suppressed = self._talker.suppressed(self._tokenizer) if spoken and self._talker is not None else ()
        return TokenChoice(self._open(), rules, set(suppressed) - self._ends, self._ends)

    async def close(self) -> None:
        """Drop the model; its memory is freed when the last reply with it has ended."""
        if self._torch is None:
            return
        self._torch = None
        await self._template.close()
        await self._lane.run(self._drop)

    def _reply(self, slot: int, prompt: OmniPrompt, generation: Generation) -> ReplySteps:
        asked = generation.sampling.max_tokens
        room = self._card.context - len(prompt)
        limit = room if asked is None or asked < 0 else min(asked, room)
        sequence = self._sequence(slot)
        return ReplySteps(
            SequenceReading(self.thinker, sequence, prompt, self._batch),
            self.thinker,
            sequence,
            self.choice(generation),
            TokenText(self._tokenizer, generation.preserved),
            ends=() if generation.sampling.ignore_eos else self._ends,
            limit=limit,
            talker=self._talker,
            voice=generation.voice,
        )

    async def _run(self, slot: int, begin: Callable[[], Iterator[Sequence[T]]]) -> Any:
        """The items of `begin()`'s steps, each step run in its turn. A slot whose work failed is emptied: nobody knows what its cache
        has."""
        steps = await self.call(begin)
        try:
            while (items := await self.call(next, steps, None)) is not None:
                for item in items:
                    yield item
        except Exception:
            with anyio.CancelScope(shield=True):
                await self._lane.run(self._sequences.pop, slot, None)
            raise

    def _step(self, function: Callable[..., T], args: tuple[object, ...]) -> T:
        torch = self._open()
        with device_errors(self._card.name), torch.inference_mode():
            return function(*args)

    def _sequence(self, slot: int) -> ThinkerSequence:
        if slot not in self._sequences:
            self._sequences[slot] = self.thinker.sequence()
        return self._sequences[slot]

    def _open(self) -> Any:
        if self._torch is None:
            raise Unavailable(f"The model {self._card.name!r} is being unloaded.")
        return self._torch

    def _drop(self) -> None:
        self._sequences.clear()
        del self.thinker
        self._talker = None


def omni_card(
    opened: OpenedModel,
    options: OmniOptions,
    facts: TemplateFacts,
    talker: Talker | None,
    warnings: tuple[str, ...],
) -> ModelCard:
    """What the model is and can do."""
    tool_format = facts.tool_format if facts.takes_tools else ""
    verbs = ["prefill", "count", "continue", "raw", "logprobs", "text_bias"]
    verbs += ["duplex"] if talker is not None else []
    verbs += ["tools"] if tool_format else []
    verbs += ["thinking"] if facts.thinking_switch else []
    verbs += ["effort", "reasoning_end"] if facts.reasoning is not None else []
    return ModelCard(
        name=options.name or opened.folder.name,
        engine="qwen_omni",
        context=opened.plan.context,
        trained_context=opened.trained,
        slots=opened.plan.slots,
        parameters=sum(parameter.numel() for parameter in opened.model.parameters()),
        vocabulary=opened.model.thinker.config.text_config.vocab_size,
        size=opened.size,
        description=str(opened.model.config.model_type),
        modalities=("text", "image", "audio"),
        outputs=("text",) if talker is None else ("text", "audio"),
        voices=() if talker is None else talker.voices,
        clones=talker is not None and talker.clones,
        verbs=tuple(verbs),
        sampling=FIELDS,
        defaults=card_defaults(default_rules(opened.generation)),
        tool_format=tool_format,
        thoughts=facts.thoughts,
        warnings=warnings,
        device=opened.device,
    )


def _open_talker(opened: OpenedModel) -> Talker | None:
    with opened.torch.inference_mode():
        talker: Talker | None = open_speech(opened.model, opened)
        if talker is not None:
            talker.suppressed(opened.tokenizer)  # takes a second, and is kept
        return talker
