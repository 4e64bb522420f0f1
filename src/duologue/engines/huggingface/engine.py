"""Any causal language model that transformers loads from a folder.

Loaded by `registry`. Owns the loaded model, its one thread, a sequence for each slot with the tokens it has read, and the model's end. A step of
the model reads a part of one prompt and writes a token of every reply; so replies share the reading of the weights, and who leaves waits
for one step. No real weights were tried yet: the tests run on tiny models of several families.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any

import anyio
from msgspec import structs

from duologue.engines.contracts import FillTokens, Generation, GenerationEnded, Piece
from duologue.engines.decoding.choice_rules import (
    FIELDS,
    ChoiceRules,
    card_defaults,
    default_rules,
    rules_of,
)
from duologue.engines.decoding.fill_tokens import find_fill_tokens
from duologue.engines.decoding.model_folder import ends_of
from duologue.engines.decoding.token_choice import TokenChoice
from duologue.engines.decoding.token_text import TokenText
from duologue.engines.decoding.tokenizer_questions import TokenizerQuestions
from duologue.engines.huggingface.causal_model import CausalModel, HuggingfaceOptions, open_model
from duologue.engines.huggingface.processed_prompt import ProcessedPrompt, readable
from duologue.engines.huggingface.reply_rows import Outcome, PromptRow, ReplyRow, common_beginning, run_step
from duologue.engines.huggingface.row_driver import RowDriver
from duologue.engines.huggingface.text_sequence import TextSequence
from duologue.engines.huggingface.token_grammar import GrammarMaker
from duologue.engines.optional_library import load_in_thread
from duologue.engines.options import read_options
from duologue.engines.templates.template_renderer import TemplateRenderer
from duologue.errors import ContextExceeded, Unavailable, Unsupported
from duologue.text.templates.chatml import CHATML
from duologue.text.templates.prompt_request import TemplateFacts
from duologue.threads import ThreadLane
from duologue.values.events import Progress
from duologue.values.messages import AudioPart, ImagePart
from duologue.values.questions.worker_answers import Tokenized
from duologue.values.questions.worker_questions import DetokenizeTokens, TokenizeText
from duologue.values.requests import ModelCard

BATCH, BATCH_ON_CARD = 128, 1024
"""Tokens of a prompt that are read in one step beside other replies, which wait for it."""
USUAL = ChoiceRules(temperature=0.8, top_k=40, top_p=0.95, min_p=0.05, repetition_penalty=1.0)
"""How tokens are chosen where the model's folder does not say: as the engine llama does."""


async def load(options: dict[str, Any]) -> HuggingfaceEngine:
    """The engine. Options: see `HuggingfaceOptions`. Raises StartFailed without the library, the weights or the memory."""
    settings = read_options(HuggingfaceOptions, options, "transformers")
    opened = await load_in_thread(lambda: open_model(settings))
    bos, eos = (str(text or "") for text in (opened.tokenizer.bos_token, opened.tokenizer.eos_token))
    special = {
        name: str(text)
        for name, text in opened.tokenizer.special_tokens_map.items()
        if not isinstance(text, list)
    }
    template = TemplateRenderer(opened.template or CHATML, bos=bos, eos=eos, special=special)
    await template.start()
    try:
        warnings = opened.warnings
        try:
            facts = await template.compiled()
        except Unsupported as error:
            facts = await template.replace(CHATML)
            warnings += (f"{error.message} ChatML is used instead, which may not suit the model.",)
        if not opened.template:
            warnings += (f"{opened.folder} has no chat template; ChatML is used, which may not suit it.",)
        return HuggingfaceEngine(opened, settings, template, facts, warnings)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await template.close()
        raise


class HuggingfaceEngine:
    """A loaded model. Implements `contracts.PromptEngine`, and `MediaPromptEngine` for models that take pictures or sound."""

    def __init__(
        self,
        opened: CausalModel,
        options: HuggingfaceOptions,
        template: TemplateRenderer,
        facts: TemplateFacts,
        warnings: tuple[str, ...],
    ) -> None:
        self._opened: CausalModel | None = opened
        self._template = template
        self._tokenizer = opened.tokenizer
        self._lane, self._text_lane = ThreadLane(1), ThreadLane(1)
        self._driver = RowDriver(self._lane, self._step)
        self._sequences: dict[int, TextSequence] = {}
        self._batch = options.batch or (BATCH if opened.device == "cpu" else BATCH_ON_CARD)
        self._rules = default_rules(opened.generation, USUAL)
        self._vocabulary = opened.vocabulary
        self._ends = ends_of(opened.generation, opened.tokenizer)
        self._leading = leading_tokens(opened.tokenizer)
        self._fill_tokens = find_fill_tokens(self._tokens)
        self._grammars: GrammarMaker | None = None
        if find_spec("llguidance") is not None and hasattr(opened.tokenizer, "backend_tokenizer"):
            self._grammars = GrammarMaker(
                opened.torch, opened.tokenizer, opened.vocabulary, sorted(self._ends)
            )
        else:
            warnings += ("Formats and forced tool calls need one more package: pip install llguidance.",)
        self._own_template = template.source
        self._describe = partial(
            causal_card,
            opened,
            options,
            rules=self._rules,
            warnings=warnings,
            formats=self._grammars is not None,
            fills=self._fill_tokens is not None,
        )
        self._card = self._describe(facts)
        self._questions = TokenizerQuestions(
            self._tokenizer, self._leading, self._vocabulary, self._card.name
        )

    @property
    def card(self) -> ModelCard:
        return self._card

    @property
    def template(self) -> TemplateRenderer:
        return self._template

    @property
    def fill_tokens(self) -> FillTokens | None:
        return self._fill_tokens

    async def tokenize(self, text: str, *, start: bool = True) -> tuple[int, ...]:
        """Token ids of a rendered prompt. BOS of a tokenizer that begins every text with it is there exactly once, whether or not the
        template wrote it."""
        self._open()
        tokens = await self._text_lane.run(self._tokens, text)
        return (
            tokens if not start or tokens[: len(self._leading)] == self._leading else self._leading + tokens
        )

    async def text_tokens(self, question: TokenizeText) -> Tokenized:
        """See `choice_contracts.TokenTeller`."""
        self._open()
        return await self._text_lane.run(self._questions.tokens, question)

    async def tokens_text(self, question: DetokenizeTokens) -> str:
        """See `choice_contracts.TokenTeller`."""
        self._open()
        return await self._text_lane.run(self._questions.text, question)

    async def use_template(self, source: str) -> None:
        """See `choice_contracts.TemplateChooser`."""
        self._open()
        before = self._template
        self._template = await before.other(source or self._own_template)
        self._card = self._describe(self._template.facts)
        await before.retire()

    async def tokenize_media(self, pieces: Sequence[str | ImagePart | AudioPart]) -> ProcessedPrompt:
        """See `contracts.MediaPromptEngine`. Raises Unsupported (`modality_unsupported`) for media that the model does not take."""
        media = self._open().media
        kinds = {
            "image" if isinstance(each, ImagePart) else "audio"
            for each in pieces
            if not isinstance(each, str)
        }
        if media is None or not kinds <= set(media.kinds):
            takes = ", ".join(self._card.modalities)
            raise Unsupported(
                f"The model {self._card.name} takes {takes}. Leave other media out, or choose another model.",
                code="modality_unsupported",
                param="messages",
            )
        return await self._text_lane.run(media.prompt, pieces, self._leading)

    def cached_tokens(self, slot: int, tokens: Sequence[int]) -> int:
        """Exact: the last prompt and the reply to it are in the cache."""
        sequence = self._sequences.get(slot)
        if sequence is None or sequence.lost:
            return 0
        kept = self._open().rows.kept(sequence, common_beginning(sequence.numbers, tokens))
        return readable(tokens, kept)

    @asynccontextmanager
    async def prefill(self, slot: int, tokens: Sequence[int]) -> AsyncIterator[AsyncIterator[Progress]]:
        """Read `tokens` into the slot's cache; leaving ends it within a step."""
        self._check_room(tokens, 0)
        async with self._driver.drive(PromptRow(self._sequence(slot), tokens, self._batch)) as items:
            yield items  # type: ignore[misc]

    @asynccontextmanager
    async def generate(
        self, slot: int, tokens: Sequence[int], generation: Generation
    ) -> AsyncIterator[AsyncIterator[Piece | Progress | GenerationEnded]]:
        """Continue `tokens`; leaving ends it within a step."""
        self._check_room(tokens, 1)
        row = await self._text_lane.run(self._row, self._sequence(slot), tokens, generation)
        async with self._driver.drive(row) as items:
            yield items

    async def close(self) -> None:
        """Drop the model; its memory is freed when the last reply with it has ended."""
        if self._opened is None:
            return
        self._opened = None
        await self._template.close()
        await self._lane.run(self._sequences.clear)

    def _row(self, sequence: TextSequence, prompt: Sequence[int], generation: Generation) -> ReplyRow:
        sampling, torch = generation.sampling, self._open().torch
        rules = rules_of(sampling, self._rules, self._tokens, self._vocabulary)
        constraint = None
        if generation.format is not None or generation.grammar is not None:
            if self._grammars is not None:
                constraint = self._grammars.constraint(generation)
            elif generation.grammar is None or not generation.grammar.trigger:
                raise Unsupported(
                    "This server cannot hold a reply to a format: pip install llguidance.",
                    param="response_format",
                )
        # A reply that its grammar ends has nothing else to say.
        free = bool(rules.ignore_eos and constraint is None)
        room, asked = self._card.context - len(prompt), sampling.max_tokens
        return ReplyRow(
            sequence,
            prompt,
            self._batch,
            TokenChoice(torch, structs.replace(rules, ignore_eos=free), (), self._ends, constraint),
            TokenText(self._tokenizer, generation.preserved, prompt),
            ends=() if free else self._ends,
            limit=room if asked is None or asked < 0 else min(asked, room),
        )

    def _step(self, reading: PromptRow | None, writing: Sequence[ReplyRow], share: int) -> list[Outcome]:
        opened = self._open()
        with opened.torch.inference_mode():
            return run_step(opened.rows, self._card.name, reading, writing, share)

    def _check_room(self, tokens: Sequence[int], needed: int) -> None:
        if len(tokens) + needed > self._card.context:
            raise ContextExceeded(
                f"The prompt takes {len(tokens)} tokens, but this model's maximum context length is {self._card.context} with the reply. Shorten it or "
                "start a new chat.",
                param="messages",
            )

    def _sequence(self, slot: int) -> TextSequence:
        rows = self._open().rows
        if slot not in self._sequences or self._sequences[slot].lost:
            self._sequences[slot] = rows.sequence()
        return self._sequences[slot]

    def _tokens(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False)) if text else ()

    def _open(self) -> CausalModel:
        if self._opened is None:
            raise Unavailable(f"The model {self._card.name!r} is being unloaded.")
        return self._opened


def causal_card(
    opened: CausalModel,
    options: HuggingfaceOptions,
    facts: TemplateFacts,
    *,
    rules: ChoiceRules,
    warnings: tuple[str, ...],
    formats: bool,
    fills: bool = False,
) -> ModelCard:
    """What the model is and can do."""
    tool_format = facts.tool_format if facts.takes_tools else ""
    verbs = ["prefill", "count", "continue", "raw", "logprobs", "text_bias"]
    verbs += ["infill"] if fills else []
    verbs += ["format"] if formats else []
    verbs += ["tools"] if tool_format else []
    verbs += ["tool_choice"] if tool_format and formats else []
    verbs += ["thinking"] if facts.thinking_switch else []
    verbs += ["effort", "reasoning_end"] if facts.reasoning is not None else []
    return ModelCard(
        name=options.name or opened.folder.name,
        engine="transformers",
        context=opened.plan.context,
        trained_context=opened.trained,
        slots=opened.plan.slots,
        parameters=opened.parameters,
        vocabulary=opened.vocabulary,
        size=opened.size,
        description=opened.kind,
        modalities=("text", *(() if opened.media is None else opened.media.kinds)),
        verbs=tuple(verbs),
        sampling=FIELDS,
        defaults=card_defaults(rules),
        tool_format=tool_format,
        thoughts=facts.thoughts,
        warnings=warnings,
        device=opened.device,
    )


def leading_tokens(tokenizer: Any) -> tuple[int, ...]:
    """The tokens that every text of this tokenizer begins with; not those that end one."""
    bare = tokenizer.encode("a", add_special_tokens=False)
    marked = tokenizer.encode("a", add_special_tokens=True)
    at = next((at for at in range(len(marked)) if marked[at : at + len(bare)] == bare), 0)
    return tuple(marked[:at])
