"""Recognisers of sherpa-onnx: streaming models, and larger ones that transcribe whole utterances (Parakeet, SenseVoice,
Qwen3-ASR, Whisper, Moonshine ...), all without PyTorch.

Loaded by `registry`. Owns the loading of a model's folder, whose kind `sherpa_model_kinds` finds out, and the two ways of
transcribing. The library ends the whole process when it is given a file it does not expect, so everything is checked
before it is called. Its calls block and are made in a lane; they release the interpreter's lock.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.engines.asr.incremental import IncrementalTranscriber, transcribe_in_chunks
from duologue.engines.asr.qwen_languages import name_of, tag_of
from duologue.engines.asr.sherpa_model_kinds import ACCEPTS_PROMPT, KNOWN, SherpaModel, detect_kind
from duologue.engines.asr.token_timestamps import words_of
from duologue.engines.audio.pcm import to_floats
from duologue.engines.contracts import RecogniserEngine, StreamingTranscriber
from duologue.engines.devices import parse_device
from duologue.engines.hardware import machine_limits
from duologue.engines.optional_library import importing, load_in_thread, loading
from duologue.engines.options import check_parallel, read_options
from duologue.engines.sherpa_folder import check_precision, find_sherpa_model, require_sherpa_card
from duologue.errors import EngineFailed, StartFailed
from duologue.threads import ThreadLane
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, samples
from duologue.values.speech import Transcript

MODEL = "sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8"
RELEASES = "https://github.com/k2-fsa/sherpa-onnx/releases/download/asr-models"
LONGEST = 28 * HEARD_RATE
"""Samples of a recording transcribed together: Whisper's window is 30 s."""
SEARCHED = 10 * HEARD_RATE
TAIL = HEARD_RATE * 2 // 3
"""Samples of silence after an utterance, for a streaming model's look-ahead."""
SETTINGS = {"qwen3_asr": {"max_total_len": 1024, "max_new_tokens": 256}}
"""Its default of 128 tokens is less than people say in half a minute."""
LONGEST_PROMPT = 200
"""Characters: a longer one would take the sound's place in the context."""


class SherpaOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`threads` 0: the machine's cores; `parallel`: utterances transcribed at the same time; `precision`: which of two
    files of the same network is used, `int8` or `float` ("" is int8 on a processor); `language`: for models that take it
    once, when they are created; `hears`: the languages the model knows, for people, where its makers say."""

    model: str = MODEL
    models: str = ""
    device: str = "cpu"
    language: str = ""
    hears: tuple[str, ...] = ()
    threads: int = 0
    parallel: int = 1
    precision: str = ""
    partials: bool = True


class SherpaRecogniser:
    """Implements `contracts.RecogniserEngine`."""

    limitation = ""

    def __init__(self, recogniser: Any, model: SherpaModel, name: str, options: SherpaOptions) -> None:
        self._recogniser = recogniser
        self._model = model
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
        return self._model.online or self._options.partials

    @property
    def word_timestamps(self) -> bool:
        return self._model.timed

    @asynccontextmanager
    async def stream(self, *, language: str = "", prompt: str = "") -> AsyncIterator[StreamingTranscriber]:
        """A transcriber for one utterance."""
        if self._model.online:
            stream = await self._lane.run(self._stream, language, prompt)
            yield _SherpaStream(self._recogniser, stream, self._lane)
            return

        def transcribe(pcm: bytes, _before: str) -> Transcript:
            return self._transcribe(pcm, language, prompt)

        yield IncrementalTranscriber(transcribe, self._lane, partials=self._options.partials)

    async def transcribe(
        self, pcm: bytes, *, language: str = "", prompt: str = "", word_timestamps: bool = False
    ) -> Transcript:
        """Transcribe a recording, half a minute at a time; leaving waits for the half minute at work."""

        def transcribe(chunk: bytes) -> Transcript:
            return self._transcribe(chunk, language, prompt)

        return await transcribe_in_chunks(transcribe, self._lane, pcm, longest=LONGEST, searched=SEARCHED)

    async def close(self) -> None:
        """Free the memory of the model."""
        self._recogniser = None

    def _stream(self, language: str, prompt: str) -> Any:
        stream = self._recogniser.create_stream()
        if self._model.languages == "stream":
            tag = language or self._options.language
            main = tag.lower().partition("-")[0]
            if name := name_of(tag) if self._model.maker == "qwen3_asr" else main:
                stream.set_option("language", name)
        if prompt and self._model.maker in ACCEPTS_PROMPT:
            stream.set_option("hotwords", prompt[-LONGEST_PROMPT:])
        return stream

    def _transcribe(self, pcm: bytes, language: str, prompt: str) -> Transcript:
        """Blocks until all of it is transcribed."""
        stream = self._stream(language, prompt)
        if self._model.online:
            return _transcribe_stream(self._recogniser, stream, pcm)
        stream.accept_waveform(HEARD_RATE, to_floats(pcm))
        try:
            self._recogniser.decode_stream(stream)
        except RuntimeError as error:
            raise EngineFailed(f"sherpa-onnx failed: {error}") from error
        result = stream.result
        text = result.text.strip()
        end = samples(pcm) / HEARD_RATE
        words = (
            words_of(result.tokens, result.timestamps, result.durations, end=end) if self._model.timed else ()
        )
        return Transcript(text, words, tag_of(result.lang), understood=bool(text))


class _SherpaStream:
    """Implements `contracts.StreamingTranscriber` with a streaming model."""

    def __init__(self, recogniser: Any, stream: Any, lane: ThreadLane) -> None:
        self._recogniser = recogniser
        self._stream = stream
        self._lane = lane
        self._samples = 0

    async def feed(self, pcm: bytes) -> str:
        self._samples += samples(pcm)

        def step() -> str:
            self._stream.accept_waveform(HEARD_RATE, to_floats(pcm))
            _decode(self._recogniser, self._stream)
            return str(self._recogniser.get_result(self._stream)).strip()

        return await self._lane.run(step)

    async def finish(self) -> Transcript:
        return await self._lane.run(_finish, self._recogniser, self._stream, self._samples)


def _transcribe_stream(recogniser: Any, stream: Any, pcm: bytes) -> Transcript:
    stream.accept_waveform(HEARD_RATE, to_floats(pcm))
    _decode(recogniser, stream)
    return _finish(recogniser, stream, samples(pcm))


def _decode(recogniser: Any, stream: Any) -> None:
    try:
        while recogniser.is_ready(stream):
            recogniser.decode_stream(stream)
    except RuntimeError as error:
        raise EngineFailed(f"sherpa-onnx failed: {error}") from error


def _finish(recogniser: Any, stream: Any, length: int) -> Transcript:
    stream.accept_waveform(HEARD_RATE, to_floats(bytes(TAIL * SAMPLE_BYTES)))
    stream.input_finished()
    _decode(recogniser, stream)
    text = str(recogniser.get_result(stream)).strip()
    words = words_of(recogniser.tokens(stream), recogniser.timestamps(stream), end=length / HEARD_RATE)
    return Transcript(text, words, understood=bool(text))


async def load(options: dict[str, Any]) -> RecogniserEngine:
    """The engine. Options: see `SherpaOptions`. Raises StartFailed without the library, the weights, or for a model of an
    unknown kind."""
    settings = read_options(SherpaOptions, options, "sherpa")
    device = parse_device(settings.device)
    check_precision(settings.precision)
    check_parallel("sherpa", settings.parallel)

    def start() -> SherpaRecogniser:
        with importing("sherpa", "voice", role="recogniser"):
            import sherpa_onnx
        require_sherpa_card(device)
        folder, model = find_weights(
            settings, prefer_int8=settings.precision != "float" and device.kind != "cuda"
        )
        kind = sherpa_onnx.OnlineRecognizer if model.online else sherpa_onnx.OfflineRecognizer
        make = getattr(kind, f"from_{model.maker}", None)
        if make is None:
            raise StartFailed(
                f"The installed sherpa-onnx does not know {model.maker}: pip install --upgrade sherpa-onnx."
            )
        parameters: dict[str, Any] = {name: str(folder / file) for name, file in model.files.items()}
        parameters |= model.settings | language_parameters(model, settings.language)
        parameters |= SETTINGS.get(model.maker, {})
        with loading(f"The model in {folder} cannot be loaded by sherpa-onnx", AssertionError, TypeError):
            recogniser = make(
                **parameters,
                num_threads=settings.threads or machine_limits().cores,
                provider="cuda" if device.kind == "cuda" else "cpu",
            )
        return SherpaRecogniser(recogniser, model, folder.name, settings)

    return await load_in_thread(start)


def language_parameters(model: SherpaModel, language: str) -> dict[str, str]:
    """How a model that takes its language when it is created gets it; empty for all others."""
    main = language.lower().partition("-")[0]
    if not main or model.languages != "recogniser":
        return {}
    if model.maker == "nemo_canary":
        return {"src_lang": main, "tgt_lang": main}
    return {"language": main}


def weights(options: dict[str, Any]) -> Path:
    """The folder of the weights, without loading anything. Raises StartFailed as `find_weights`."""
    settings = read_options(SherpaOptions, options, "sherpa")
    return find_weights(settings, prefer_int8=settings.precision != "float")[0]


def find_weights(options: SherpaOptions, *, prefer_int8: bool) -> tuple[Path, SherpaModel]:
    """The folder of the model and its kind. Raises StartFailed with the command that fetches it."""
    return find_sherpa_model(
        options.model,
        options.models,
        RELEASES,
        detect=lambda names, metadata: detect_kind(names, metadata, prefer_int8=prefer_int8),
        files=lambda model: [file for name, file in model.files.items() if name != "tokenizer"],
        known=f"a model of a known kind. Known are {KNOWN}",
    )
