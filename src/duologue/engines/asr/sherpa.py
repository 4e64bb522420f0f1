"""Recognisers of sherpa-onnx: streaming ones that hear while one speaks, and larger ones that hear whole utterances
(Parakeet, SenseVoice, Qwen3-ASR, Whisper, Moonshine ...), all without PyTorch.

Owns the loading of a model's folder, whose kind `sherpa_models.py` tells, and the two ways of listening. The library ends
the process when it is given what it does not expect, so everything is looked at before it is asked. Its calls block and are
made in a lane; it gives the interpreter free while it works.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.engines.asr.incremental import IncrementalTranscriber, hear_whole
from duologue.engines.asr.onnx_metadata import onnx_metadata
from duologue.engines.asr.qwen_languages import name_of, tag_of
from duologue.engines.asr.sherpa_model_kinds import HINTED, KNOWN, SherpaModel, kind_of
from duologue.engines.asr.token_timestamps import words_of
from duologue.engines.audio.pcm import numbers
from duologue.engines.contracts import RecogniserEngine, StreamingTranscriber
from duologue.engines.hardware import machine_limits
from duologue.engines.options import device_of, read
from duologue.engines.weights import check_files, folder_of, missing, quoted, target
from duologue.errors import EngineFailed, StartFailed
from duologue.threads import ThreadLane
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, samples
from duologue.values.speech import Transcript

MODEL = "sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8"
RELEASES = "https://github.com/k2-fsa/sherpa-onnx/releases/download/asr-models"
LONGEST = 28 * HEARD_RATE
"""Samples of a recording heard together: Whisper's window is 30 s."""
SEARCHED = 10 * HEARD_RATE
TAIL = HEARD_RATE * 2 // 3
"""Samples of silence after an utterance, for a streaming model's look ahead."""
SETTINGS = {"qwen3_asr": {"max_total_len": 1024, "max_new_tokens": 256}}
"""Its own 128 tokens are fewer than are said in half a minute."""
LONGEST_HINT = 200
"""Characters: a longer one would take the room of the sound."""
DEEPEST = 3
"""Folders below the model's that are looked into."""


class SherpaOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`threads` 0: the machine's cores; `parallel`: how many utterances are heard at the same time; `precision`: which of
    two files for the same is taken, `int8` or `float` ("" is int8 on a processor); `language`: for models that are told it
    once, when they are made; `hears`: the languages the model knows, for people, where its makers say."""

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
    """Fulfils `engines.RecogniserEngine`."""

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
        """A listener for one utterance."""
        if self._model.online:
            stream = await self._lane.run(lambda: self._stream(language, prompt))
            yield _StreamingListener(self._recogniser, stream, self._lane)
            return

        def hear(pcm: bytes, _before: str) -> Transcript:
            return self._heard(pcm, language, prompt)

        yield IncrementalTranscriber(hear, self._lane, partials=self._options.partials)

    async def transcribe(
        self, pcm: bytes, *, language: str = "", prompt: str = "", word_timestamps: bool = False
    ) -> Transcript:
        """Write down a recording, half a minute at a time; a caller who leaves waits for one of those."""

        def hear(piece: bytes) -> Transcript:
            return self._heard(piece, language, prompt)

        return await hear_whole(hear, self._lane, pcm, longest=LONGEST, searched=SEARCHED)

    async def close(self) -> None:
        """Free the memory of the model."""
        self._recogniser = None

    def _stream(self, language: str, prompt: str) -> Any:
        stream = self._recogniser.create_stream()
        if self._model.languages == "stream":
            wanted = language or self._options.language
            main = wanted.lower().partition("-")[0]
            if name := name_of(wanted) if self._model.maker == "qwen3_asr" else main:
                stream.set_option("language", name)
        if prompt and self._model.maker in HINTED:
            stream.set_option("hotwords", prompt[-LONGEST_HINT:])
        return stream

    def _heard(self, pcm: bytes, language: str, prompt: str) -> Transcript:
        """Blocks for the whole of it."""
        stream = self._stream(language, prompt)
        if self._model.online:
            return _hear_to_the_end(self._recogniser, stream, pcm)
        stream.accept_waveform(HEARD_RATE, numbers(pcm))
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


class _StreamingListener:
    """Fulfils `engines.Listener` with a model that hears piece by piece."""

    def __init__(self, recogniser: Any, stream: Any, lane: ThreadLane) -> None:
        self._recogniser = recogniser
        self._stream = stream
        self._lane = lane
        self._heard = 0

    async def feed(self, pcm: bytes) -> str:
        self._heard += samples(pcm)

        def step() -> str:
            self._stream.accept_waveform(HEARD_RATE, numbers(pcm))
            _decode(self._recogniser, self._stream)
            return str(self._recogniser.get_result(self._stream)).strip()

        return await self._lane.run(step)

    async def finish(self) -> Transcript:
        return await self._lane.run(lambda: _finished(self._recogniser, self._stream, self._heard))


def _hear_to_the_end(recogniser: Any, stream: Any, pcm: bytes) -> Transcript:
    stream.accept_waveform(HEARD_RATE, numbers(pcm))
    _decode(recogniser, stream)
    return _finished(recogniser, stream, samples(pcm))


def _decode(recogniser: Any, stream: Any) -> None:
    try:
        while recogniser.is_ready(stream):
            recogniser.decode_stream(stream)
    except RuntimeError as error:
        raise EngineFailed(f"sherpa-onnx failed: {error}") from error


def _finished(recogniser: Any, stream: Any, heard: int) -> Transcript:
    stream.accept_waveform(HEARD_RATE, numbers(bytes(TAIL * SAMPLE_BYTES)))
    stream.input_finished()
    _decode(recogniser, stream)
    text = str(recogniser.get_result(stream)).strip()
    words = words_of(recogniser.tokens(stream), recogniser.timestamps(stream), end=heard / HEARD_RATE)
    return Transcript(text, words, understood=bool(text))


async def load(options: dict[str, Any]) -> RecogniserEngine:
    """The engine. Options: see `SherpaOptions`. Raises StartFailed without the library, the weights, or for a model of a
    kind that is not known."""
    wanted = read(SherpaOptions, options, "sherpa")
    device = device_of(wanted.device)
    if wanted.precision not in ("", "int8", "float"):
        raise StartFailed("sherpa's option 'precision' is int8 or float.", param="precision")
    if wanted.parallel < 1:
        raise StartFailed("sherpa's option 'parallel' must be at least 1.", param="parallel")

    def start() -> SherpaRecogniser:
        try:
            import sherpa_onnx
        except ImportError as error:
            raise StartFailed(
                f"The recogniser sherpa needs one more package ({error.name}): pip install 'duologue[sherpa]'.",
                code="engine_missing",
            ) from None
        folder, model = found(wanted, small=wanted.precision != "float" and device.kind != "cuda")
        kind = sherpa_onnx.OnlineRecognizer if model.online else sherpa_onnx.OfflineRecognizer
        make = getattr(kind, f"from_{model.maker}", None)
        if make is None:
            raise StartFailed(
                f"The installed sherpa-onnx knows no {model.maker}: pip install --upgrade sherpa-onnx."
            )
        given: dict[str, Any] = {name: str(folder / file) for name, file in model.files.items()}
        given |= model.settings | told_language(model, wanted.language) | SETTINGS.get(model.maker, {})
        try:
            recogniser = make(
                **given,
                num_threads=wanted.threads or machine_limits().cores,
                provider="cuda" if device.kind == "cuda" else "cpu",
            )
        except (RuntimeError, ValueError, AssertionError, TypeError) as error:
            raise StartFailed(f"The model in {folder} cannot be loaded by sherpa-onnx: {error}") from error
        return SherpaRecogniser(recogniser, model, folder.name, wanted)

    return await ThreadLane(1).run(start)


def told_language(model: SherpaModel, language: str) -> dict[str, str]:
    """How a model is told its language when it is made; nothing where it is not."""
    main = language.lower().partition("-")[0]
    if not main or model.languages != "recogniser":
        return {}
    if model.maker == "nemo_canary":
        return {"src_lang": main, "tgt_lang": main}
    return {"language": main}


def weights(options: dict[str, Any]) -> Path:
    """The folder of the weights, without loading anything. Raises StartFailed as `found`."""
    wanted = read(SherpaOptions, options, "sherpa")
    return found(wanted, small=wanted.precision != "float")[0]


def found(options: SherpaOptions, *, small: bool) -> tuple[Path, SherpaModel]:
    """The folder of the model and its kind. Raises StartFailed with the command that fetches it."""
    folder = folder_of(options.model, options.models)
    if folder is None:
        place = target(options.model, options.models)
        archive = f"{RELEASES}/{place.name}.tar.bz2"
        commands = (
            f"mkdir -p {quoted(place.parent)}",
            f"curl -L --fail {archive} | tar -xj -C {quoted(place.parent)}",
        )
        raise missing("sherpa", options.model, commands, place)
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and len(path.relative_to(folder).parts) <= DEEPEST
    )
    model = kind_of(names, lambda name: _properties(folder / name), small=small)
    if model is None:
        raise StartFailed(
            f"The files in {folder} are no model of a kind that is known. Known are {KNOWN}.", param="model"
        )
    check_files("sherpa", folder, [file for name, file in model.files.items() if name != "tokenizer"])
    return folder, model


def _properties(path: Path) -> dict[str, str]:
    with path.open("rb") as file:
        return onnx_metadata(file)
