"""The library's server object: constructed with a model, and with a projector where it has one.

Called by `engine` and `sound_recogniser` in a thread: everything here blocks, the construction with the interpreter's lock.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from duologue.engines import load_progress
from duologue.engines.devices import parse_device
from duologue.engines.llama.encoder_plan import EncoderPlan
from duologue.engines.llama.library import close_to_others, load_library, place_on
from duologue.engines.llama.memory_plan import LlamaOptions, Plan, Speculative
from duologue.errors import StartFailed
from duologue.models.catalogue import file_stem
from duologue.models.gguf.header import GgufHeader
from duologue.models.gguf.projector import Projector
from duologue.models.placement import Card

READ_AHEAD = 64 * 1024 * 1024
"""Bytes from which a file is read into the system's cache before it is loaded; smaller ones load at once anyway."""
READ_SHARE = 0.9
"""The share of loading that reading the file is taken to be. The rest cannot be measured: the library holds the
interpreter's lock."""
MEDIA_BATCH = 512
"""Tokens of a batch at least where a model sees: the tokens of a picture look at each other, so they have to be read together.
Gemma's pictures have 256 and 280."""
HTTP_THREADS = 3
"""Of the library's HTTP server: one for each kept connection, and one more. Each prompt with media takes one of its own."""


def read_ahead(header: GgufHeader) -> None:
    """Read the model's file into the system's cache, in pieces, without the interpreter's lock; reports the progress."""
    buffer = bytearray(8 * 1024 * 1024)
    read = 0
    paths = [header.path]
    if header.parts > 1:
        paths = sorted(header.path.parent.glob(f"{file_stem(header.path)}-?????-of-{header.parts:05d}.gguf"))
    for path in paths:
        with contextlib.suppress(OSError), path.open("rb", buffering=0) as file:
            while count := file.readinto(buffer):
                read += count
                load_progress.report(READ_SHARE * min(1.0, read / header.size))


def start_server(
    header: GgufHeader,
    projector: Projector | None,
    options: LlamaOptions,
    sizes: Plan,
    key: str,
    cards: Sequence[Card],
    encoder: EncoderPlan | None = None,
) -> Any:
    """The library's server with the model in it, on its device among `cards`; `encoder`: it makes vectors or scores. Raises
    StartFailed."""
    xllamacpp = load_library()
    try:
        params = xllamacpp.CommonParams()
        _fill(params, header, options, sizes, key)
        if projector is not None:
            use_projector(params, projector.path, gpu=bool(cards) and options.gpu_layers != 0)
            params.n_batch = max(params.n_batch, MEDIA_BATCH)
            params.n_ubatch = max(params.n_ubatch, MEDIA_BATCH)
            params.n_threads_http = HTTP_THREADS + 1 + 2 * sizes.slots
            params.endpoint_slots = True  # it tells when a slot is free
        if encoder is not None:
            use_pooling(params, encoder)
        elif options.speculative is not None:
            use_speculation(params.speculative, options.speculative, options)
        use_adapters(params, options.loras)
        place_on(params, parse_device(options.device), cards)
        return xllamacpp.Server(params)
    except AttributeError as error:
        raise StartFailed(
            f"The installed xllamacpp {xllamacpp.__version__} is too old ({error}). "
            "Update it: pip install --upgrade xllamacpp."
        ) from error
    except (RuntimeError, ValueError) as error:
        raise StartFailed(_start_sentence(header, projector, sizes, adapters=bool(options.loras))) from error


def use_projector(params: Any, path: Path, *, gpu: bool = True) -> None:
    """Load this projector with the model; `gpu`: on a graphics card, where there is one."""
    params.mmproj.path = str(path)
    params.mmproj_use_gpu = gpu
    # What it cannot read as a picture it would give to an FFmpeg on the path, as if it were a video.
    params.video_ffmpeg_bin_dir = os.devnull
    if not gpu:
        # Otherwise up to 1,024 tokens of a prompt's pictures are encoded at once, and every other reply waits for all of them. One
        # by one the others get a token after each, and a processor is no slower for it.
        with contextlib.suppress(AttributeError):  # older libraries encode one by one
            params.mtmd_batch_max_tokens = 1


def use_pooling(params: Any, encoder: EncoderPlan) -> None:
    """Make vectors or scores of texts, in `params`, the library's settings."""
    library = load_library()
    params.embedding = True
    params.pooling_type = getattr(library.llama_pooling_type, f"LLAMA_POOLING_TYPE_{encoder.pooling.upper()}")
    params.n_parallel = encoder.together
    params.n_ctx = encoder.sizes.context * encoder.together
    params.n_batch = params.n_ubatch = encoder.batch
    # Without it, reading a long text at once takes memory by the square of its length.
    params.flash_attn_type = library.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_AUTO
    params.cache_ram_mib = 0


def use_speculation(params: Any, kind: Speculative, options: LlamaOptions) -> None:
    """Guess tokens by this method, which is checked by the model: `params` are the library's settings of it."""
    types = load_library().common_speculative_type
    name = "DRAFT_SIMPLE" if kind == "draft" else kind.upper()
    params.types = [getattr(types, f"COMMON_SPECULATIVE_TYPE_{name}")]
    if kind == "draft":
        if not Path(options.draft_model or "").is_file():
            raise StartFailed(f"There is no draft model at {options.draft_model}.", param="draft_model")
        params.draft.mparams.path = options.draft_model
    if options.draft_tokens is None:
        return
    if kind == "draft":
        params.draft.n_max = options.draft_tokens
    elif kind == "ngram_mod":
        params.ngram_mod.n_max = options.draft_tokens
        params.ngram_mod.n_min = min(params.ngram_mod.n_min, options.draft_tokens)
    else:
        getattr(params, kind).size_m = options.draft_tokens


def use_adapters(params: Any, adapters: Mapping[str, float]) -> None:
    """Load these LoRA adapters with the model. How much of each is added, every request says (`slot_adapters`)."""
    if adapters:
        adapter = load_library().CommonAdapterLoraInfo
        params.lora_adapters = [adapter(path, scale) for path, scale in adapters.items()]
        params.lora_init_without_apply = True


def use_threads(params: Any, threads: int, poll: int = 0) -> None:
    """Compute with so many threads, for prompts and for replies."""
    for pool in (params.cpuparams, params.cpuparams_batch):
        pool.n_threads = threads
        pool.poll = poll


def use_gpu_layers(params: Any, layers: int) -> None:
    """Put so many layers on the GPU; -1 all."""
    params.n_gpu_layers = -2 if layers < 0 else layers
    params.fit_params = False


def _fill(params: Any, header: GgufHeader, options: LlamaOptions, sizes: Plan, key: str) -> None:
    """Fill `params`, the library's settings, in."""
    params.model.path = str(header.path)
    params.n_parallel = sizes.slots
    # The library divides its context by the slots and rounds the share up.
    params.n_ctx = sizes.context * sizes.slots
    params.n_batch = sizes.batch
    params.n_ubatch = sizes.at_once
    use_threads(params, sizes.threads, options.poll)
    if not sizes.flash_attention:
        params.flash_attn_type = load_library().llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    if options.gpu_layers is not None:
        use_gpu_layers(params, options.gpu_layers)
    # Prompts of conversations that lost their slot are kept in memory, but not copied there at every request.
    params.cache_ram_mib = sizes.prompt_cache
    params.cache_idle_slots = False
    params.warmup = False
    # Templates are rendered in the session; one that the library cannot parse would keep it from loading.
    params.use_jinja = False
    params.chat_template = "chatml"
    params.endpoint_metrics = True
    params.n_threads_http = HTTP_THREADS
    params.verbosity = options.log
    close_to_others(params, key)


def _start_sentence(
    header: GgufHeader, projector: Projector | None, sizes: Plan, *, adapters: bool = False
) -> str:
    beside = f" with {projector.path.name}" if projector is not None else ""
    other = " a projector of another model," if projector is not None else ""
    other += " a LoRA adapter of another model," if adapters else ""
    return (
        f"The engine could not load {header.path}{beside} ({header.architecture}, {header.quantisation or 'unknown type'}, "
        f"{header.size / 1e9:.1f} GB). Likely reasons: too little memory for it and {sizes.slots} x {sizes.context} "
        f"tokens of context (try fewer --slots, a smaller --context or fewer GPU layers),{other} a damaged file (fetch it "
        "again), or a model newer than the engine (pip install --upgrade xllamacpp). The lines above name the reason."
    )
