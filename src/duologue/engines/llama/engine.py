"""Local GGUF models on llama.cpp, by the xllamacpp package.

Owns the loaded model: its slots, the threads that wait on it, and its end. The request's words are in
`llama_request.py`, the sizes in `llama_plan.py`. xllamacpp is imported when a model is loaded, in a lane thread.

The library holds the interpreter's lock while it constructs and destroys its server, so the event loop stands still
for that long; nothing in process can change it. It is kept short: the file is read into the system's cache before,
and the first, slow, evaluation happens after, both without the lock. A gigabyte then takes about 0.2 s.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from duologue.engines import load_progress
from duologue.engines.contracts import Generation, GenerationEnded, Piece
from duologue.engines.hardware import machine_limits
from duologue.engines.llama.card import llama_card
from duologue.engines.llama.http_client import LlamaHttpClient
from duologue.engines.llama.memory_plan import LlamaOptions, Plan, parse_options, plan
from duologue.engines.llama.request import (
    NO_GRAMMAR,
    CompletionChunk,
    generate_request,
    prefill_request,
    probe_request,
    problem,
    token_logprobs,
)
from duologue.errors import BadRequest, EngineFailed, StartFailed, Unavailable, Unsupported
from duologue.models.catalogue import bundled_model, model_name
from duologue.models.gguf.header import GgufHeader, read
from duologue.text.templates.chat_template import CHATML, ChatTemplate
from duologue.threads import Emit, ThreadLane
from duologue.values.events import Finish, Progress
from duologue.values.requests import ModelCard, OutputFormat

log = logging.getLogger("duologue.engines")
ROOM = 32
"""Items a generation may be ahead of its consumer."""
NEVER_FIRST = "]"
"""No JSON text begins with it."""
KNOWN_FORMATS = 256
"""Constraints remembered as tried out."""
KNOWN_ENDINGS = 64
LONGEST_ENDING = 256
"""Characters. A template's generation prompt is one of a few short texts; their tokens are kept."""
READ_AHEAD = 64 * 1024 * 1024
"""Bytes from which a file is read into the system's cache before it is loaded; smaller ones load at once anyway."""
READ_SHARE = 0.9
"""How much of loading that reading is: the share of the file's bytes that came is told as so much of it. What follows
cannot be measured, for the library holds the interpreter."""


async def load(options: Mapping[str, object]) -> LlamaEngine:
    """Load the model named by `options` (see `LlamaOptions`). Raises StartFailed with a sentence."""
    if not options.get("model"):
        options = {**options, "model": str(bundled_model()), "bundled": True}
    wanted = parse_options(options)
    # Loading, and later the door: one thread. The generations have their own lane.
    lane = ThreadLane(1)
    header = await lane.run(partial(read, Path(wanted.model)))
    template, warnings = _template(header)
    machine = machine_limits(await lane.run(_gpus))
    sizes = plan(header, wanted, machine)
    if READ_AHEAD < header.size < machine.memory:
        await lane.run(partial(_read_ahead, header))
        load_progress.report(READ_SHARE)
    key = secrets.token_urlsafe(24)
    server = await lane.run(partial(_start, header, wanted, sizes, key))
    door = LlamaHttpClient(server.listening_address, key)
    told = await lane.run(partial(_first_questions, server, door))
    card = llama_card(
        header, wanted, sizes, told.context, told.settings, template, (*sizes.warnings, *warnings)
    )
    return LlamaEngine(server, door, lane, card, template, told.leading, told.never, header.vocabulary)


class LlamaEngine:
    """A loaded model: a prompt engine whose slots run in parallel, one lane thread each."""

    def __init__(
        self,
        server: Any,
        door: LlamaHttpClient,
        lane: ThreadLane,
        card: ModelCard,
        template: ChatTemplate,
        bos: tuple[int, ...],
        never: int,
        vocabulary: int,
    ) -> None:
        self._server: Any | None = server
        self._door = door
        self._door_lane = lane
        self._lane = ThreadLane(card.slots)
        self._card = card
        self._template = template
        self._bos = bos
        self._never = never
        self._vocabulary = vocabulary
        self._tried: OrderedDict[bytes, None] = OrderedDict()
        self._endings: dict[str, tuple[int, ...]] = {}
        self._held: dict[int, Sequence[int]] = {}

    @property
    def card(self) -> ModelCard:
        return self._card

    @property
    def template(self) -> ChatTemplate:
        return self._template

    async def tokenize(self, text: str, *, start: bool = True) -> tuple[int, ...]:
        """Token ids of a rendered prompt. A tokenizer that begins every text with BOS finds it there exactly once,
        whether or not the template wrote it."""
        self._open()
        if not start and (known := self._endings.get(text)) is not None:
            return known
        tokens = await self._door_lane.run(partial(self._door.tokenize, text))
        if not start:
            if len(self._endings) < KNOWN_ENDINGS and len(text) < LONGEST_ENDING:
                self._endings[text] = tokens
            return tokens
        if self._bos and tokens[: len(self._bos)] != self._bos:
            return (*self._bos, *tokens)
        return tokens

    def cached_tokens(self, slot: int, tokens: Sequence[int]) -> int:
        """Counted from the last prompt alone: the reply that followed it is in the cache too."""
        last = self._held.get(slot, ())
        return next(
            (at for at, (one, other) in enumerate(zip(last, tokens, strict=False)) if one != other),
            min(len(last), len(tokens)),
        )

    @asynccontextmanager
    async def prefill(self, slot: int, tokens: Sequence[int]) -> AsyncIterator[AsyncIterator[Progress]]:
        """Read `tokens` into the slot's cache; leaving ends it within a batch."""
        request = prefill_request(slot, tokens)
        self._held[slot] = tokens

        def step(emit: Emit[Progress]) -> None:
            def on(chunk: CompletionChunk) -> bool:
                reading = chunk.prompt_progress
                # The one token that is made all the same is dropped.
                return reading is None or emit(Progress(reading.processed, reading.total, reading.cache))

            self._complete(request, on)

        async with self._lane.stream(step, ROOM) as progress:
            yield progress

    @asynccontextmanager
    async def generate(
        self, slot: int, tokens: Sequence[int], generation: Generation
    ) -> AsyncIterator[AsyncIterator[Piece | Progress | GenerationEnded]]:
        """Continue `tokens`; leaving ends it within a token, and within a batch while the prompt is read."""
        request = generate_request(slot, tokens, generation, vocabulary=self._vocabulary)
        self._held[slot] = tokens
        if generation.format is not None:
            await self._try_out(slot, tokens, generation.format)
        top = generation.sampling.logprobs
        silent = generation.sampling.max_tokens == 0
        constrained = generation.format is not None and generation.format.kind != "grammar"

        def step(emit: Emit[Piece | Progress | GenerationEnded]) -> None:
            reply = _Reply(emit, top, silent, constrained)
            try:
                self._complete(request, reply.on)
            except BadRequest as problem:
                # What else is wrong with the request is the caller's to mend.
                if generation.grammar is None or reply.began or problem.param != "response_format":
                    raise
                if not generation.grammar.trigger:
                    raise EngineFailed(
                        f"The engine could not hold the reply to its shape: {problem.message}"
                    ) from problem
                # Schemas come from anywhere. One that makes no grammar must not cost the reply.
                log.warning("calls are written without a grammar: %s", problem.message)
                self._complete({**request, **NO_GRAMMAR}, reply.on)
            if not reply.ended and not reply.left:
                raise EngineFailed("The engine ended the reply without saying why.")

        async with self._lane.stream(step, ROOM) as items:
            yield items

    async def close(self) -> None:
        """End the engine and free its memory; generations that still run end first."""
        server, self._server = self._server, None
        if server is None:
            return
        # The list is emptied in the thread, so that the last reference ends there.
        holder = [server]
        del server
        await self._door_lane.run(partial(_stop, self._door, holder))

    def _open(self) -> Any:
        if self._server is None:
            raise Unavailable(f"The model {self._card.name!r} is being unloaded.")
        return self._server

    def _complete(self, request: dict[str, Any], on: Callable[[CompletionChunk], bool]) -> None:
        _complete(self._open(), request, on)

    async def _try_out(self, slot: int, tokens: Sequence[int], format: OutputFormat) -> None:
        """Make sure that a JSON schema is really applied; once for each. Raises BadRequest when it is not."""
        if format.kind == "grammar":
            return  # A wrong one is refused by the engine itself.
        known = msgspec.json.encode(format.schema)
        if known in self._tried:
            self._tried.move_to_end(known)
            return
        request = probe_request(slot, tokens, format, self._never)
        text = await self._lane.run(partial(_first_text, self._open(), request))
        if NEVER_FIRST in text:
            raise BadRequest(
                "The JSON schema cannot be applied: a type, a $ref or a pattern in it is wrong, or it uses a keyword "
                "that constrained generation does not support (such as `not`).",
                param="response_format",
            )
        self._tried[known] = None
        if len(self._tried) > KNOWN_FORMATS:
            self._tried.popitem(last=False)


class _Reply:
    """One generation's chunks as pieces, in the lane's thread."""

    def __init__(
        self, emit: Emit[Piece | Progress | GenerationEnded], top: int | None, silent: bool, constrained: bool
    ) -> None:
        self._emit = emit
        self._json: list[str] | None = [] if constrained else None
        self._top = top
        self._silent = silent
        self._tokens = 0
        self._cached = 0
        self.began = False
        self.ended = False
        self.left = False

    def on(self, chunk: CompletionChunk) -> bool:
        """Whether to go on."""
        self.began = True
        listens = self._emit(self._item(chunk))
        self.left = not listens
        return listens

    def _item(self, chunk: CompletionChunk) -> Piece | Progress | GenerationEnded:
        reading = chunk.prompt_progress
        if reading is not None:
            self._cached = reading.cache
            return Progress(reading.processed, reading.total, reading.cache)
        choice = chunk.choices[0] if chunk.choices else None
        if choice is not None and choice.finish_reason is None:
            # Tokens that are a part of a character come with the one that completes it.
            tokens, self._tokens = chunk.timings.predicted_n - self._tokens, chunk.timings.predicted_n
            if self._silent:
                return Piece("", 0)
            if self._json is not None:
                self._json.append(choice.text)
            return Piece(choice.text, tokens, token_logprobs(choice.logprobs, self._top))
        self.ended = True
        finish: Finish = "length" if choice is None or choice.finish_reason == "length" else "stop"
        if finish == "stop":
            self._check_json()
        generated = 0 if self._silent else (chunk.usage.completion_tokens if chunk.usage else self._tokens)
        return GenerationEnded("length" if self._silent else finish, generated, self._cached)

    def _check_json(self) -> None:
        """A schema that is too complex is dropped by the engine in the middle of a reply, in silence."""
        if self._json is None:
            return
        try:
            msgspec.json.decode("".join(self._json))
        except msgspec.DecodeError as error:
            raise EngineFailed(
                "The engine could not hold the reply to the JSON schema: it is too complex. Use a simpler one."
            ) from error


_decode = msgspec.json.Decoder(CompletionChunk)


def _complete(server: Any, request: dict[str, Any], on: Callable[[CompletionChunk], bool]) -> None:
    """Run one completion, handing each chunk to `on` until that answers False. Blocks without the interpreter's lock.

    Ending early frees the slot before its next task begins: the engine takes a cancel ahead of every new request.
    """
    failure: Exception | None = None

    def callback(data: bytes) -> bool:
        nonlocal failure
        try:
            chunk = _decode.decode(data)
            if chunk.error is not None:
                raise problem(chunk.error)
            return not on(chunk)
        except Exception as error:  # noqa: BLE001
            # An exception that reached the library would be swallowed there.
            failure = error
            return True

    try:
        server.handle_completions(msgspec.json.encode(request), callback)
    except (RuntimeError, ValueError) as error:
        raise EngineFailed(f"The engine failed: {error}.") from error
    if failure is not None:
        raise failure


def _first_text(server: Any, request: dict[str, Any]) -> str:
    pieces: list[str] = []

    def on(chunk: CompletionChunk) -> bool:
        pieces.extend(choice.text for choice in chunk.choices)
        return True

    _complete(server, request, on)
    return "".join(pieces)


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
    """Bring the model's file into the system's cache, in pieces, without the interpreter's lock; tells how far it is."""
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
    # We render templates ourselves; a template the library cannot read would keep it from loading.
    params.use_jinja = False
    params.chat_template = "chatml"
    # The library insists on an HTTP server of its own. Nobody else gets in: loopback, any free port, a random key.
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


class ModelFacts(Struct, frozen=True):
    """What only the loaded model knows: a slot's context, how it samples where nothing is asked, the tokens that begin
    every text, and one that begins no JSON."""

    context: int
    settings: dict[str, Any]
    leading: tuple[int, ...]
    never: int


def _first_questions(server: Any, door: LlamaHttpClient) -> ModelFacts:
    """Ask the loaded model. Also evaluates once, which touches all weights: the first chat need not wait for the
    disk."""
    context, settings = door.settings()
    bos = door.tokenize("", add_special=True)
    never = door.tokenize(NEVER_FIRST)
    bare = door.tokenize("a")
    # A tokenizer may also end every text with a token (EOS); that is not for prompts.
    with_specials = door.tokenize("a", add_special=True)
    leading = (
        with_specials[: len(with_specials) - len(bare)] if with_specials[-len(bare) :] == bare else bos[:1]
    )
    _complete(server, prefill_request(0, [*leading, *bare]), lambda chunk: True)
    return ModelFacts(context, settings, leading, never[-1])


def _template(header: GgufHeader) -> tuple[ChatTemplate, tuple[str, ...]]:
    """The model's chat template, or ChatML where it brings none that can be read."""
    if not header.template:
        warning = f"{header.path.name} brings no chat template; ChatML is used, which may not suit it."
        return ChatTemplate(CHATML, bos=header.bos, eos=header.eos), (warning,)
    try:
        return ChatTemplate(header.template, bos=header.bos, eos=header.eos), ()
    except Unsupported as error:
        warning = f"{error.message} ChatML is used instead, which may not suit the model."
        return ChatTemplate(CHATML, bos=header.bos, eos=header.eos), (warning,)


def _stop(door: LlamaHttpClient, holder: list[Any]) -> None:
    """Hang up and drop the last reference: the library ends its threads and frees the model."""
    door.close()
    holder.clear()
