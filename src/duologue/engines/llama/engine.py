"""Local GGUF models on llama.cpp, by the xllamacpp package.

Loaded by `registry`. Owns the loaded model: its slots, the threads that wait for it, and its end. `request` has the fields
of its requests, `generation` runs them, `memory_plan` decides the sizes. xllamacpp is imported when a model is loaded, in a
lane's thread.

The library holds the interpreter's lock while it constructs and destroys its server, so the event loop stands still
for that long; nothing in process can change that. It is kept short: the file is read into the system's cache before, and
the first, slow, evaluation happens after, both without the lock. A gigabyte then takes about 0.2 s.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from duologue.engines import load_progress
from duologue.engines.contracts import Generation, GenerationEnded, Piece
from duologue.engines.hardware import machine_limits
from duologue.engines.llama.card import llama_card
from duologue.engines.llama.generation import (
    NEVER_FIRST,
    OnChunk,
    ReplyReader,
    complete,
    complete_text,
    read_facts,
)
from duologue.engines.llama.http_client import LlamaHttpClient
from duologue.engines.llama.memory_plan import LlamaOptions, Plan, parse_options, plan
from duologue.engines.llama.request import (
    NO_GRAMMAR,
    CompletionChunk,
    generate_request,
    prefill_request,
    probe_request,
)
from duologue.errors import BadRequest, EngineFailed, StartFailed, Unavailable, Unsupported
from duologue.models.catalogue import bundled_model, model_name
from duologue.models.gguf.header import GgufHeader, read
from duologue.text.templates.chat_template import CHATML, ChatTemplate
from duologue.threads import Emit, ThreadLane
from duologue.values.events import Progress
from duologue.values.requests import ModelCard, OutputFormat

log = logging.getLogger(__name__)
ROOM = 32
"""Items a generation may be ahead of its consumer."""
KNOWN_FORMATS = 256
"""Constraints remembered as applicable."""
KNOWN_ENDINGS = 64
LONGEST_ENDING = 256
"""Characters. A template's generation prompt is one of a few short texts; their tokens are cached."""
READ_AHEAD = 64 * 1024 * 1024
"""Bytes from which a file is read into the system's cache before it is loaded; smaller ones load at once anyway."""
READ_SHARE = 0.9
"""The share of loading that reading the file is taken to be. The rest cannot be measured: the library holds the
interpreter's lock."""


async def load(options: Mapping[str, object]) -> LlamaEngine:
    """Load the model named by `options` (see `LlamaOptions`). Raises StartFailed with a sentence."""
    if not options.get("model"):
        options = {**options, "model": str(bundled_model()), "bundled": True}
    settings = parse_options(options)
    # One thread for loading, and later for the HTTP client. The generations have a lane of their own.
    lane = ThreadLane(1)
    header = await lane.run(read, Path(settings.model))
    template, warnings = _template(header)
    machine = machine_limits(await lane.run(_gpus))
    sizes = plan(header, settings, machine)
    if READ_AHEAD < header.size < machine.memory:
        await lane.run(_read_ahead, header)
        load_progress.report(READ_SHARE)
    key = secrets.token_urlsafe(24)
    server = await lane.run(_start, header, settings, sizes, key)
    client = LlamaHttpClient(server.listening_address, key)
    facts = await lane.run(read_facts, server, client)
    card = llama_card(
        header, settings, sizes, facts.context, facts.settings, template, (*sizes.warnings, *warnings)
    )
    return LlamaEngine(
        server, client, lane, card, template, facts.leading, facts.never_first, header.vocabulary
    )


class LlamaEngine:
    """A loaded model. Implements `contracts.PromptEngine`; its slots run in parallel, each in a thread of the lane."""

    def __init__(
        self,
        server: Any,
        client: LlamaHttpClient,
        client_lane: ThreadLane,
        card: ModelCard,
        template: ChatTemplate,
        bos: tuple[int, ...],
        never_first: int,
        vocabulary: int,
    ) -> None:
        self._server: Any | None = server
        self._client = client
        self._client_lane = client_lane
        self._lane = ThreadLane(card.slots)
        self._card = card
        self._template = template
        self._bos = bos
        self._never_first = never_first
        self._vocabulary = vocabulary
        self._applicable: OrderedDict[bytes, None] = OrderedDict()
        """Schemas that were found to be applied, least recently used first."""
        self._endings: dict[str, tuple[int, ...]] = {}
        self._prompts: dict[int, Sequence[int]] = {}
        """The last prompt of each slot."""

    @property
    def card(self) -> ModelCard:
        return self._card

    @property
    def template(self) -> ChatTemplate:
        return self._template

    async def tokenize(self, text: str, *, start: bool = True) -> tuple[int, ...]:
        """Token ids of a rendered prompt. BOS of a tokenizer that begins every text with it is there exactly once, whether
        or not the template wrote it."""
        self._open()
        if not start and (cached := self._endings.get(text)) is not None:
            return cached
        tokens = await self._client_lane.run(self._client.tokenize, text)
        if not start:
            if len(self._endings) < KNOWN_ENDINGS and len(text) < LONGEST_ENDING:
                self._endings[text] = tokens
            return tokens
        if self._bos and tokens[: len(self._bos)] != self._bos:
            return (*self._bos, *tokens)
        return tokens

    def cached_tokens(self, slot: int, tokens: Sequence[int]) -> int:
        """Counted from the last prompt alone, so a lower bound: the reply that followed it is in the cache too."""
        last = self._prompts.get(slot, ())
        return next(
            (at for at, (one, other) in enumerate(zip(last, tokens, strict=False)) if one != other),
            min(len(last), len(tokens)),
        )

    @asynccontextmanager
    async def prefill(self, slot: int, tokens: Sequence[int]) -> AsyncIterator[AsyncIterator[Progress]]:
        """Read `tokens` into the slot's cache; leaving ends it within a batch."""
        request = prefill_request(slot, tokens)
        self._prompts[slot] = tokens

        def step(emit: Emit[Progress]) -> None:
            def on_chunk(chunk: CompletionChunk) -> bool:
                prompt = chunk.prompt_progress
                # llama.cpp generates one token even when asked for none; it is dropped.
                return prompt is None or emit(Progress(prompt.processed, prompt.total, prompt.cache))

            self._complete(request, on_chunk)

        async with self._lane.stream(step, ROOM) as progress:
            yield progress

    @asynccontextmanager
    async def generate(
        self, slot: int, tokens: Sequence[int], generation: Generation
    ) -> AsyncIterator[AsyncIterator[Piece | Progress | GenerationEnded]]:
        """Continue `tokens`; leaving ends it within a token, and within a batch while the prompt is read."""
        request = generate_request(slot, tokens, generation, vocabulary=self._vocabulary)
        self._prompts[slot] = tokens
        if generation.format is not None:
            await self._check_applicable(slot, tokens, generation.format)
        top = generation.sampling.logprobs
        silent = generation.sampling.max_tokens == 0
        constrained = generation.format is not None and generation.format.kind != "grammar"

        def step(emit: Emit[Piece | Progress | GenerationEnded]) -> None:
            reply = ReplyReader(emit, top, silent, constrained)
            try:
                self._complete(request, reply.on_chunk)
            except BadRequest as problem:
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
        await self._client_lane.run(_stop, self._client, holder)

    def _open(self) -> Any:
        if self._server is None:
            raise Unavailable(f"The model {self._card.name!r} is being unloaded.")
        return self._server

    def _complete(self, request: dict[str, Any], on_chunk: OnChunk) -> None:
        complete(self._open(), request, on_chunk)

    async def _check_applicable(self, slot: int, tokens: Sequence[int], format: OutputFormat) -> None:
        """Check once for each JSON schema that the engine really applies it. Raises BadRequest when it does not."""
        if format.kind == "grammar":
            return  # the engine itself refuses an invalid one
        schema = msgspec.json.encode(format.schema)
        if schema in self._applicable:
            self._applicable.move_to_end(schema)
            return
        request = probe_request(slot, tokens, format, self._never_first)
        text = await self._lane.run(complete_text, self._open(), request)
        if NEVER_FIRST in text:
            raise BadRequest(
                "The JSON schema cannot be applied: a type, a $ref or a pattern in it is wrong, or it uses a keyword "
                "that constrained generation does not support (such as `not`).",
                param="response_format",
            )
        self._applicable[schema] = None
        if len(self._applicable) > KNOWN_FORMATS:
            self._applicable.popitem(last=False)


def _gpus() -> int:
    xllamacpp = _library()
    cpu = xllamacpp.ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_CPU
    accelerator = xllamacpp.ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_ACCEL
    return sum(device["type"] not in (cpu, accelerator) for device in xllamacpp.get_device_info())


def _library() -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise StartFailed(
            f"The llama engine's library cannot be loaded ({error}). Install it: pip install xllamacpp."
        ) from error
    return xllamacpp


def _read_ahead(header: GgufHeader) -> None:
    """Read the model's file into the system's cache, in pieces, without the interpreter's lock; reports the progress."""
    buffer = bytearray(8 * 1024 * 1024)
    read = 0
    paths = [header.path]
    if header.parts > 1:
        paths = sorted(header.path.parent.glob(f"{model_name(header.path)}-?????-of-{header.parts:05d}.gguf"))
    for path in paths:
        with contextlib.suppress(OSError), path.open("rb", buffering=0) as file:
            while count := file.readinto(buffer):
                read += count
                load_progress.report(READ_SHARE * min(1.0, read / header.size))


def _start(header: GgufHeader, options: LlamaOptions, sizes: Plan, key: str) -> Any:
    """The library's server with the model in it."""
    xllamacpp = _library()
    try:
        return xllamacpp.Server(_params(xllamacpp.CommonParams(), header, options, sizes, key))
    except AttributeError as error:
        raise StartFailed(
            f"The installed xllamacpp {xllamacpp.__version__} is too old ({error}). "
            "Update it: pip install --upgrade xllamacpp."
        ) from error
    except (RuntimeError, ValueError) as error:
        raise StartFailed(_start_sentence(header, sizes)) from error


def _params(params: Any, header: GgufHeader, options: LlamaOptions, sizes: Plan, key: str) -> Any:
    """`params`, the library's settings, filled in."""
    params.model.path = str(header.path)
    params.n_parallel = sizes.slots
    # The library divides its context by the slots and rounds the share up.
    params.n_ctx = sizes.context * sizes.slots
    params.n_batch = sizes.batch
    params.n_ubatch = min(sizes.batch, 512)
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = sizes.threads
        threads.poll = options.poll
    if not sizes.flash_attention:
        params.flash_attn_type = _library().llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    if options.gpu_layers is not None:
        params.n_gpu_layers = -2 if options.gpu_layers < 0 else options.gpu_layers
        params.fit_params = False
    # Prompts of conversations that lost their slot are kept in memory, but not copied there at every request.
    params.cache_ram_mib = sizes.prompt_cache
    params.cache_idle_slots = False
    params.warmup = False
    # Templates are rendered in the session; one that the library cannot parse would keep it from loading.
    params.use_jinja = False
    params.chat_template = "chatml"
    # The library insists on an HTTP server of its own. It is closed to others: loopback, any free port, a random key.
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.ui = False
    params.endpoint_slots = False
    params.endpoint_metrics = True
    params.cors_origins = "http://127.0.0.1"
    params.cors_credentials = False
    params.n_threads_http = 2
    params.verbosity = options.log
    return params


def _start_sentence(header: GgufHeader, sizes: Plan) -> str:
    return (
        f"The engine could not load {header.path} ({header.architecture}, {header.quantisation or 'unknown type'}, "
        f"{header.size / 1e9:.1f} GB). Likely reasons: too little memory for it and {sizes.slots} x {sizes.context} "
        "tokens of context (try fewer --slots, a smaller --context or fewer GPU layers), a damaged file (fetch it "
        "again), or a model newer than the engine (pip install --upgrade xllamacpp). The lines above name the reason."
    )


def _template(header: GgufHeader) -> tuple[ChatTemplate, tuple[str, ...]]:
    """The model's chat template, or ChatML with a warning where it has none that can be parsed."""
    if not header.template:
        warning = f"{header.path.name} has no chat template; ChatML is used, which may not suit it."
        return ChatTemplate(CHATML, bos=header.bos, eos=header.eos), (warning,)
    try:
        return ChatTemplate(header.template, bos=header.bos, eos=header.eos), ()
    except Unsupported as error:
        warning = f"{error.message} ChatML is used instead, which may not suit the model."
        return ChatTemplate(CHATML, bos=header.bos, eos=header.eos), (warning,)


def _stop(client: LlamaHttpClient, holder: list[Any]) -> None:
    """Close the connection and drop the last reference: the library ends its threads and frees the model."""
    client.close()
    holder.clear()
