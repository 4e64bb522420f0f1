"""Recognition by a language model with a sound projector on llama.cpp: Qwen3-ASR, Voxtral, Granite Speech and others, from
two GGUF files.

Loaded by `registry` as the recogniser `llama`. Owns the files, the loaded model and its transcriptions, which go through
llama.cpp's own transcription endpoint: it knows how each kind of model is asked. An utterance in a call is transcribed
again while it grows. The library may end its process over a damaged file; it lives in the voice worker.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.engines.asr.incremental import IncrementalTranscriber, transcribe_in_chunks
from duologue.engines.asr.qwen_languages import name_of, tag_of
from duologue.engines.contracts import RecogniserEngine, StreamingTranscriber
from duologue.engines.devices import Device, parse_device
from duologue.engines.hardware import machine_limits
from duologue.engines.llama.http_client import LlamaHttpClient
from duologue.engines.llama.library import close_to_others, list_cards, load_library, place_on
from duologue.engines.llama.model_server import use_gpu_layers, use_projector, use_threads
from duologue.engines.optional_library import load_in_thread
from duologue.engines.options import check_parallel, read_options
from duologue.engines.weights import find_folder, missing_weights, target_folder
from duologue.errors import StartFailed
from duologue.models.catalogue import is_projector
from duologue.models.gguf.header import GgufHeader, read
from duologue.models.gguf.projector import read_projector
from duologue.threads import ThreadLane
from duologue.values.audio import HEARD_RATE, samples, wav_header
from duologue.values.speech import Transcript

LONGEST = 28 * HEARD_RATE
"""Samples of a recording transcribed together: the window of most of these models is 30 s."""
SEARCHED = 10 * HEARD_RATE
CONTEXT = 4096
"""Tokens of one utterance's sound and text; half a minute of sound is 750 at most."""
TOKENS_A_SECOND = 12
"""More than anyone says; a model that repeats itself must end."""
LEAST_TOKENS = 32
TIMEOUT = 600.0
"""Seconds for half a minute of sound on a slow processor."""
_LANGUAGE = re.compile(r"\s*language\s+([A-Za-z]*)\s*<asr_text>")
"""How Qwen3-ASR begins its answer."""
_MARKER = re.compile(r"<\|?[a-z_]+\|?>")


class SoundRecogniserOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`model`: a folder with the model and its projector, or the model's file; `projector`: the projector's file where it is
    elsewhere; `threads` 0: the machine's cores; `parallel`: utterances transcribed at the same time; `gpu_layers`: -1 all,
    None as many as fit; `hears`: the languages the model knows, where its makers say."""

    model: str = ""
    models: str = ""
    projector: str = ""
    device: str = ""
    language: str = ""
    hears: tuple[str, ...] = ()
    threads: int = 0
    parallel: int = 1
    gpu_layers: int | None = None
    partials: bool = True
    log: int = 1


class SoundRecogniser:
    """Implements `contracts.RecogniserEngine`. `server` is the library's; `key` opens it."""

    limitation = ""
    word_timestamps = False

    def __init__(self, server: Any, key: str, name: str, options: SoundRecogniserOptions) -> None:
        self._server: Any | None = server
        self._address = server.listening_address
        self._key = key
        self._name = name
        self._options = options
        self._lane = ThreadLane(options.parallel)

    @property
    def name(self) -> str:
        return self._name

    @property
    def languages(self) -> tuple[str, ...]:
        return self._options.hears

    @property
    def partial_results(self) -> bool:
        return self._options.partials

    @asynccontextmanager
    async def stream(self, *, language: str = "", prompt: str = "") -> AsyncIterator[StreamingTranscriber]:
        """A transcriber for one utterance. The endpoint takes no hints, so `prompt` is not used."""

        def transcribe(pcm: bytes, _before: str) -> Transcript:
            return self._transcribe(pcm, language)

        yield IncrementalTranscriber(transcribe, self._lane, partials=self._options.partials)

    async def transcribe(
        self, pcm: bytes, *, language: str = "", prompt: str = "", word_timestamps: bool = False
    ) -> Transcript:
        """Transcribe a recording, half a minute at a time; leaving waits for the half minute at work."""

        def transcribe(chunk: bytes) -> Transcript:
            return self._transcribe(chunk, language)

        return await transcribe_in_chunks(transcribe, self._lane, pcm, longest=LONGEST, searched=SEARCHED)

    async def close(self) -> None:
        """End the engine and free its memory. The library's end blocks, so it happens in a thread."""
        holder = [self._server]
        self._server = None
        await ThreadLane(1).run(holder.clear)

    def _transcribe(self, pcm: bytes, language: str) -> Transcript:
        """Blocks until all of it is transcribed."""
        seconds = samples(pcm) / HEARD_RATE
        tag = language or self._options.language
        fields = {
            "response_format": "json",
            "temperature": "0",
            "max_tokens": str(LEAST_TOKENS + round(seconds * TOKENS_A_SECOND)),
        }
        if spoken := name_of(tag) or tag.partition("-")[0]:
            fields["language"] = spoken
        # A connection of its own for each thread; the engine would wait for open ones when it ends.
        client = LlamaHttpClient(self._address, self._key, timeout=TIMEOUT)
        try:
            answer = client.transcribe(wav_header(HEARD_RATE, len(pcm)) + pcm, fields)
        finally:
            client.close()
        return transcript_of(answer)


def transcript_of(answer: str) -> Transcript:
    """The transcript in what a model wrote."""
    language = ""
    if (match := _LANGUAGE.match(answer)) is not None:
        language, answer = tag_of(match[1]), answer[match.end() :]
    text = " ".join(_MARKER.sub(" ", answer).split())
    return Transcript(text, language=language, understood=any(map(str.isalnum, text)))


async def load(options: dict[str, Any]) -> RecogniserEngine:
    """The engine. Options: see `SoundRecogniserOptions`. Raises StartFailed without the files, or for a model that has no
    ear."""
    settings = read_options(SoundRecogniserOptions, options, "llama")
    device = parse_device(settings.device)
    check_parallel("llama", settings.parallel)

    def start() -> SoundRecogniser:
        path, projector = find_files(settings)
        header = read(path)
        key = secrets.token_urlsafe(24)
        server = _start(header, projector, settings, key, device)
        return SoundRecogniser(server, key, path.parent.name if _is_folder(settings) else path.stem, settings)

    return await load_in_thread(start)


def weights(options: dict[str, Any]) -> Path:
    """The model's file, without loading anything. Raises StartFailed as `find_files`."""
    return find_files(read_options(SoundRecogniserOptions, options, "llama"))[0]


def find_files(options: SoundRecogniserOptions) -> tuple[Path, Path]:
    """The model and its projector. Raises StartFailed that says which is missing."""
    if not options.model:
        raise StartFailed(
            "The recogniser llama needs a model: the name of a folder with a GGUF file and its projector (mmproj).",
            param="model",
        )
    path = Path(options.model).expanduser()
    if not path.is_file():
        folder = find_folder(options.model, options.models)
        if folder is None:
            raise missing_weights("llama", options.model, (), target_folder(options.model, options.models))
        models = [each for each in sorted(folder.glob("*.gguf")) if not is_projector(each)]
        if not models:
            raise StartFailed(f"There is no GGUF model in {folder}.", code="weights_missing", param="model")
        path = models[0]
    return path, _projector(path, options.projector)


def _projector(model: Path, named: str) -> Path:
    """The projector of a model. Raises StartFailed."""
    there = sorted(each for each in model.parent.glob("*.gguf") if is_projector(each))
    path = Path(named).expanduser() if named else next(iter(there), None)
    if path is None or not path.is_file():
        raise StartFailed(
            f"{model.name} has no sound projector beside it: a GGUF file with 'mmproj' in its name, from the same "
            "repository.",
            code="weights_missing",
            param="projector",
        )
    if not read_projector(path).hears:
        raise StartFailed(f"{path} is not a projector for sound.", param="projector")
    return path


def _is_folder(options: SoundRecogniserOptions) -> bool:
    return not Path(options.model).expanduser().is_file()


def _start(
    header: GgufHeader, projector: Path, options: SoundRecogniserOptions, key: str, device: Device
) -> Any:
    """The library's server with the model in it."""
    xllamacpp = load_library()
    params = xllamacpp.CommonParams()
    params.model.path = str(header.path)
    use_projector(params, projector)
    params.n_parallel = options.parallel
    params.n_ctx = CONTEXT * options.parallel
    use_threads(params, options.threads or machine_limits().cores)
    if options.gpu_layers is not None:
        use_gpu_layers(params, options.gpu_layers)
    place_on(params, device, list_cards())
    params.cache_ram_mib = 0
    params.warmup = False
    params.use_jinja = True
    params.n_threads_http = options.parallel + 1
    params.verbosity = options.log
    close_to_others(params, key)
    try:
        return xllamacpp.Server(params)
    except (RuntimeError, ValueError) as error:
        raise StartFailed(
            f"The engine could not load {header.path} with {projector.name}. Likely reasons: too little memory, a "
            "projector of another model, or a model newer than the engine (pip install --upgrade xllamacpp). The "
            "lines above name the reason."
        ) from error
