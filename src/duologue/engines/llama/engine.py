"""Local GGUF models on llama.cpp, by the xllamacpp package.

Loaded by `registry`. Owns the loaded model: its slots, the threads that wait for it, and its end. `request` has the fields
of its requests, `generation` runs them, `memory_plan` decides the sizes.

The library holds the interpreter's lock while it constructs and destroys its server, so the event loop stands still
for that long; nothing in process can change that. It is kept short: the file is read into the system's cache before, and
the first, slow, evaluation happens after, both without the lock. A gigabyte then takes about 0.2 s.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import msgspec

from duologue.engines import load_progress
from duologue.engines.choice_contracts import check_tokens
from duologue.engines.contracts import FillTokens, Generation, GenerationEnded, Piece
from duologue.engines.devices import parse_device, require_card
from duologue.engines.hardware import machine_limits
from duologue.engines.llama.card import llama_card
from duologue.engines.llama.encoder import LlamaEncoder, load_encoder
from duologue.engines.llama.generation import (
    NEVER_FIRST,
    OnChunk,
    PromptReading,
    ReplyReader,
    complete,
    complete_text,
    read_facts,
)
from duologue.engines.llama.http_client import LlamaHttpClient
from duologue.engines.llama.http_completion import TIMEOUT as MEDIA_TIMEOUT
from duologue.engines.llama.http_completion import complete_over_http
from duologue.engines.llama.library import device_in_use, list_cards
from duologue.engines.llama.memory_plan import SMALL, LlamaOptions, cached_tokens, parse_options, plan
from duologue.engines.llama.model_server import READ_AHEAD, READ_SHARE, read_ahead, start_server
from duologue.engines.llama.prompt.media_prompt import MediaPrompt, as_prompt, plain_tokens
from duologue.engines.llama.prompt.media_tokenizer import MediaTokenizer
from duologue.engines.llama.prompt.prompt_steps import (
    FIRST,
    FIRST_OF_LARGE,
    PromptPace,
    common_prefix,
)
from duologue.engines.llama.prompt.text_pieces import possible_markers
from duologue.engines.llama.prompt.tokenizer import LlamaTokenizer
from duologue.engines.llama.request import (
    NO_GRAMMAR,
    generate_request,
    prefill_request,
    probe_request,
)
from duologue.engines.llama.slot_memory import SlotMemory
from duologue.engines.templates.template_renderer import TemplateRenderer
from duologue.errors import BadRequest, EngineFailed, StartFailed, Unavailable, Unsupported
from duologue.models.catalogue import bundled_model
from duologue.models.gguf.control_tokens import control_tokens
from duologue.models.gguf.header import GgufHeader, read
from duologue.models.gguf.projector import Projector
from duologue.models.projectors import FoundProjector, find_projector
from duologue.request_parsing import parsing
from duologue.text.grammars.grammar_bounds import check_grammar
from duologue.text.templates.chatml import CHATML
from duologue.text.templates.prompt_request import TemplateFacts
from duologue.threads import Emit, ThreadLane
from duologue.values.events import Progress
from duologue.values.messages import AudioPart, ImagePart
from duologue.values.questions.worker_answers import Tokenized
from duologue.values.questions.worker_questions import DetokenizeTokens, TokenizeText
from duologue.values.requests import ModelCard, OutputFormat

log = logging.getLogger(__name__)
ROOM = 32
"""Items a generation may be ahead of its consumer."""
LONGEST_TEMPLATE = 1_000_000
"""Bytes of a file with a chat template."""
KNOWN_FORMATS = 256
"""Constraints remembered as applicable."""


async def load(options: Mapping[str, object]) -> LlamaEngine:
    """As `load_model`, of a chat model."""
    engine = await load_model(options)
    if isinstance(engine, LlamaEncoder):
        await engine.close()
        raise StartFailed(f"The model {engine.card.name} writes no text. Name a chat model.")
    return engine


async def load_model(options: Mapping[str, object]) -> LlamaEngine | LlamaEncoder:
    """Load the model named by `options` (see `LlamaOptions`), for what it is for. Raises StartFailed with a sentence."""
    if not options.get("model"):
        options = {**options, "model": str(bundled_model()), "bundled": True}
    settings = parse_options(options)
    # One thread for loading, and later for the HTTP client. The generations have a lane of their own.
    lane = ThreadLane(1)
    header = await lane.run(_read_header, settings)
    if header.task(settings.pooling) != "chat" or (header.encodes and settings.pooling):
        return await load_encoder(settings, lane, header)
    # Its process starts while the model is loaded.
    template = TemplateRenderer(
        header.template or CHATML, bos=header.bos, eos=header.eos, special=header.special
    )
    await template.start()
    try:
        return await _load(settings, lane, header, template)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await template.close()
        raise


async def _load(
    settings: LlamaOptions, lane: ThreadLane, header: GgufHeader, template: TemplateRenderer
) -> LlamaEngine:
    cards = await lane.run(list_cards)
    device = parse_device(settings.device)
    require_card(device, cards)
    machine = machine_limits(0 if device.kind == "cpu" else len(cards))
    found = await lane.run(find_projector, header, settings.mmproj or "")
    sizes = plan(header, settings, machine, found.projector)
    if READ_AHEAD < header.size < machine.memory:
        await lane.run(read_ahead, header)
        load_progress.report(READ_SHARE)
    key = secrets.token_urlsafe(24)

    def start(projector: Projector | None) -> Any:
        return start_server(header, projector, settings, sizes, key, cards)

    try:
        server = await lane.run(start, found.projector)
    except StartFailed:
        if found.projector is None or settings.mmproj:
            raise
        # A file that was only found beside the model must not take the model away.
        server = await lane.run(start, None)
        found = FoundProjector(warning=_unusable(found.projector, header))
    client = LlamaHttpClient(server.listening_address, key)
    markers = possible_markers(header.template, (header.bos, header.eos, header.eot))
    run = partial(complete_over_http, client) if found.projector else partial(complete, server)
    facts = await lane.run(read_facts, run, client, markers)
    del run  # or it would keep the server alive
    warnings = (*filter(None, [found.warning]), *await _compiled(header, template))
    in_use = device_in_use(device, cards, settings.gpu_layers)

    def describe(said: TemplateFacts, warnings: tuple[str, ...]) -> ModelCard:
        card = llama_card(header, settings, sizes, facts, said, (*sizes.warnings, *warnings))
        return msgspec.structs.replace(card, device=in_use)

    card = describe(template.facts, warnings)
    tokenizer = LlamaTokenizer(
        client,
        LlamaHttpClient(server.listening_address, key),
        lane,
        facts.markers,
        facts.leading,
        facts.context,
    )
    pace = PromptPace(
        sizes.batch,
        first=FIRST if header.parameters <= SMALL or machine.gpus else FIRST_OF_LARGE,
        fixed=settings.batch is not None,
    )
    room = card.slots * card.context + cached_tokens(header, sizes.prompt_cache)
    media = None
    if facts.modalities:
        connection = LlamaHttpClient(server.listening_address, key, timeout=MEDIA_TIMEOUT)
        media = MediaTokenizer(
            tokenizer, connection, facts.markers, facts.leading, header.bos, facts.media_marker
        )
    return LlamaEngine(
        server,
        client,
        lane,
        tokenizer,
        card,
        template,
        facts.never_first,
        header,
        pace,
        SlotMemory(room, tuple(settings.loras.values())),
        media,
        partial(describe, warnings=warnings),
        facts.fill,
    )


class LlamaEngine:
    """A loaded model. Implements `contracts.PromptEngine`; its slots run in parallel, each in a thread of the lane."""

    def __init__(
        self,
        server: Any,
        client: LlamaHttpClient,
        client_lane: ThreadLane,
        tokenizer: LlamaTokenizer,
        card: ModelCard,
        template: TemplateRenderer,
        never_first: int,
        header: GgufHeader,
        pace: PromptPace,
        memory: SlotMemory,
        media: MediaTokenizer | None,
        describe: Callable[[TemplateFacts], ModelCard],
        fill_tokens: FillTokens | None = None,
    ) -> None:
        self._server: Any | None = server
        self._client = client
        self._client_lane = client_lane
        self._tokenizer = tokenizer
        self._lane = ThreadLane(card.slots)
        self._card = card
        self._template = template
        self._own_template = template.source
        self._describe = describe
        self._never_first = never_first
        self._vocabulary, self._path = header.vocabulary, header.path
        self._control: frozenset[int] | None = None
        self._applicable: OrderedDict[bytes, None] = OrderedDict()
        """Schemas that were found to be applied, least recently used first."""
        self._one_token: dict[str, bool] = {}
        """Markers, and whether each is one token."""
        self._prompts: dict[int, Sequence[int]] = {}
        """The last prompt of each slot."""
        self._pace = pace
        self._memory = memory
        self._media = media
        self._fill_tokens = fill_tokens

    @property
    def fill_tokens(self) -> FillTokens | None:
        return self._fill_tokens

    @property
    def card(self) -> ModelCard:
        return self._card

    @property
    def template(self) -> TemplateRenderer:
        return self._template

    async def tokenize(self, text: str, *, start: bool = True) -> tuple[int, ...]:
        """Token ids of a rendered prompt. BOS of a tokenizer that begins every text with it is there exactly once, whether
        or not the template wrote it."""
        self._open()
        return await self._tokenizer.tokens(text, start=start)

    async def tokenize_media(self, pieces: Sequence[str | ImagePart | AudioPart]) -> MediaPrompt:
        """See `contracts.MediaPromptEngine`. Media that the model does not take were refused before, by its card."""
        self._open()
        if self._media is None:
            raise Unsupported(f"The model {self._card.name} reads text only.", code="modality_unsupported")
        return await self._media.prompt(pieces)

    async def text_tokens(self, question: TokenizeText) -> Tokenized:
        """See `choice_contracts.TokenTeller`."""
        self._open()
        return await self._tokenizer.text_tokens(question)

    async def tokens_text(self, question: DetokenizeTokens) -> str:
        """See `choice_contracts.TokenTeller`."""
        self._open()
        check_tokens(question.tokens, self._vocabulary, self._card.name)
        tokens: Sequence[int] = question.tokens
        if not question.control:
            if self._control is None:
                self._control = await self._client_lane.run(control_tokens, self._path)
            tokens = [token for token in tokens if token not in self._control]
        return await self._tokenizer.text(tokens)

    async def use_template(self, source: str) -> None:
        """See `choice_contracts.TemplateChooser`."""
        self._open()
        before = self._template
        self._template = await before.other(source or self._own_template)
        self._card = self._describe(self._template.facts)
        await before.retire()

    def adapt(self, slot: int, scales: tuple[float, ...] | None) -> None:
        """See `choice_contracts.AdaptedEngine`."""
        if self._memory.adapters.choose(slot, scales):
            self._prompts.pop(slot, None)

    def cached_tokens(self, slot: int, tokens: Sequence[int]) -> int:
        """Counted from the last prompt alone, so a lower bound: the reply that followed it is in the cache too."""
        return common_prefix(self._prompts.get(slot, ()), plain_tokens(as_prompt(tokens)))

    @asynccontextmanager
    async def prefill(self, slot: int, tokens: Sequence[int]) -> AsyncIterator[AsyncIterator[Progress]]:
        """Read `tokens` into the slot's cache; leaving ends it within a batch, or a picture."""
        prompt = as_prompt(tokens)

        def step(emit: Emit[Progress]) -> None:
            self._read(slot, prompt, emit, last=True)

        async with self._lane.stream(step, ROOM) as progress:
            yield progress

    async def _is_one_token(self, marker: str) -> bool:
        """Whether the vocabulary has this marker. Markers are those of a few families, so few are remembered."""
        if (known := self._one_token.get(marker)) is None:
            known = len(await self._tokenizer.tokens(marker, start=False)) == 1
            self._one_token[marker] = known
        return known

    @asynccontextmanager
    async def generate(
        self, slot: int, tokens: Sequence[int], generation: Generation
    ) -> AsyncIterator[AsyncIterator[Piece | Progress | GenerationEnded]]:
        """Continue `tokens`; leaving ends it within a token, and within a batch while the prompt is read."""
        prompt = as_prompt(tokens)
        request = generate_request(slot, prompt, generation, vocabulary=self._vocabulary)
        request |= self._memory.adapters.fields(slot)
        if generation.format is not None:
            await self._check_applicable(slot, prompt, generation.format)
        top = generation.sampling.logprobs
        markers = {marker for marker in generation.preserved if await self._is_one_token(marker)}
        silent = generation.sampling.max_tokens == 0
        constrained = generation.format is not None and generation.format.kind != "grammar"

        def step(emit: Emit[Piece | Progress | GenerationEnded]) -> None:
            reply = ReplyReader(emit, top, silent, constrained, markers)
            if not self._read(slot, prompt, reply.read_ahead, last=False):
                return
            self._prompts[slot] = plain_tokens(prompt)
            try:
                self._complete(request, reply.on_chunk)
            except BadRequest as problem:
                if generation.format is not None and problem.param == "response_format":
                    raise BadRequest(problem.message, param=generation.format.param) from problem
                # Any other error is in the caller's own request.
                if generation.grammar is None or reply.began or problem.param != "response_format":
                    raise
                if not generation.grammar.trigger:
                    raise EngineFailed(
                        f"The engine could not hold the reply to its shape: {problem.message}"
                    ) from problem
                # Schemas of tools come from anywhere; one that cannot be compiled must not cost the reply.
                log.warning("tool calls are generated without a grammar: %s", problem.message)
                self._complete({**request, **NO_GRAMMAR}, reply.on_chunk)
            finally:
                self._memory.of(slot).add(plain_tokens(prompt), reply.generated)
            if not reply.ended and not reply.left:
                raise EngineFailed("The engine ended the reply without saying why.")

        async with self._lane.stream(step, ROOM) as items:
            yield items

    async def close(self) -> None:
        """End the engine and free its memory; generations that still run end first."""
        server, self._server = self._server, None
        if server is None:
            return
        # The list is emptied in the thread, so that the last reference, and with it the server, ends there.
        holder = [server]
        del server
        await self._template.close()
        if self._media is not None:
            self._media.close()
        await self._client_lane.run(_stop, self._tokenizer, holder)

    def _open(self) -> Any:
        if self._server is None:
            raise Unavailable(f"The model {self._card.name!r} is being unloaded.")
        return self._server

    def _read(
        self, slot: int, prompt: MediaPrompt | tuple[int, ...], emit: Emit[Progress], *, last: bool
    ) -> bool:
        """Read the prompt in steps, the last one only if asked. False when `emit` wants no more. From a lane's thread."""
        # One without room for a reply is refused as a whole.
        tokens = plain_tokens(prompt)
        known = self._memory.of(slot).known(tokens) if len(tokens) < self._card.context else len(tokens)
        part: tuple[int, ...] = ()
        reading = PromptReading(len(tokens), emit)
        for end in self._pace.ends(known, len(tokens), self._has_neighbours):
            if end == len(tokens) and not last:
                break
            step = _first(prompt, end)
            if isinstance(prompt, MediaPrompt) and len(step) <= len(part):
                continue  # the next piece is a picture, or a long text
            began, before = time.monotonic(), reading.read
            self._prompts[slot] = part = plain_tokens(as_prompt(step))
            step_request = prefill_request(slot, step) | self._memory.adapters.fields(slot)
            self._complete(step_request, reading.on_chunk)
            if reading.left:
                break
            if not isinstance(step, MediaPrompt):  # reading a picture tells nothing about text
                self._pace.took(len(part) - max(before, reading.cached), time.monotonic() - began)
        if part:
            self._memory.of(slot).add(part)
        return not reading.left

    def _has_neighbours(self) -> bool:
        """Whether more than one slot is busy."""
        return self._lane.busy > 1

    def _complete(self, request: dict[str, Any], on_chunk: OnChunk) -> None:
        server = self._open()
        if self._media is not None:
            complete_over_http(self._client, request, on_chunk)
        else:
            complete(server, request, on_chunk)

    async def _check_applicable(
        self, slot: int, prompt: MediaPrompt | tuple[int, ...], format: OutputFormat
    ) -> None:
        """Check once for each JSON schema that the engine really applies it. Raises BadRequest when it does not."""
        if format.kind == "grammar":
            # The engine itself refuses an invalid one.
            grammar = format.grammar or ""
            # The worker knows no users; a reply has a slot here, so few grammars are read at a time.
            try:
                await parsing(len(grammar), check_grammar, grammar, user="")
            except BadRequest as problem:
                raise BadRequest(problem.message, param=format.param) from None
            return
        schema = msgspec.json.encode(format.schema)
        if schema in self._applicable:
            self._applicable.move_to_end(schema)
            return
        request = probe_request(slot, prompt, format, self._never_first)
        request |= self._memory.adapters.fields(slot)
        text = await self._lane.run(complete_text, partial(self._complete, request))
        if NEVER_FIRST in text:
            raise BadRequest(
                "The JSON schema cannot be applied: a type, a $ref or a pattern in it is wrong, or it uses a keyword "
                "that constrained generation does not support (such as `not`).",
                param=format.param,
            )
        self._applicable[schema] = None
        if len(self._applicable) > KNOWN_FORMATS:
            self._applicable.popitem(last=False)


def _first(prompt: MediaPrompt | tuple[int, ...], end: int) -> MediaPrompt | tuple[int, ...]:
    if not isinstance(prompt, MediaPrompt):
        return prompt[:end]
    return prompt if end >= len(prompt) else prompt.first(end)


def _unusable(projector: Projector, header: GgufHeader) -> str:
    return (
        f"{projector.path.name} could not be loaded with {header.path.name}, so the model reads text only. It may belong to "
        "another model, or be newer than the engine; the log names the reason."
    )


def _read_header(settings: LlamaOptions) -> GgufHeader:
    """The model's header, with the template that the options name. Raises StartFailed."""
    header = read(Path(settings.model))
    if settings.template is None:
        return header
    try:
        path = Path(settings.template).expanduser()
        if path.stat().st_size > LONGEST_TEMPLATE:
            raise StartFailed(f"The chat template {path} is larger than 1 MB.", param="template")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise StartFailed(f"The chat template {path} cannot be read: {reason}.", param="template") from None
    return msgspec.structs.replace(header, template=text)


async def _compiled(header: GgufHeader, template: TemplateRenderer) -> tuple[str, ...]:
    """Wait for the model's chat template; a warning where it has none that can be read, and ChatML is used."""
    try:
        await template.compiled()
    except Unsupported as error:
        await template.replace(CHATML)
        return (f"{error.message} ChatML is used instead, which may not suit the model.",)
    if header.template:
        return ()
    return (f"{header.path.name} has no chat template; ChatML is used, which may not suit it.",)


def _stop(tokenizer: LlamaTokenizer, holder: list[Any]) -> None:
    """Close the connections and drop the last reference: the library ends its threads and frees the model."""
    tokenizer.close()
    holder.clear()
