"""Whisper through faster-whisper (CTranslate2): many languages, on a processor or a graphics card, without PyTorch.

Loaded by `registry`. Owns where its weights are, and how its segments become a transcript. Whisper transcribes whole
recordings; while a caller speaks, the utterance is transcribed again and again (`incremental`). Every call of the library
blocks and is made in a lane. Nothing is downloaded.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from duologue.engines.asr.incremental import SHORTEST, IncrementalTranscriber
from duologue.engines.audio.pcm import to_floats
from duologue.engines.contracts import RecogniserEngine, StreamingTranscriber
from duologue.engines.devices import numbered_cards, parse_device, require_card
from duologue.engines.optional_library import importing, load_in_thread, loading
from duologue.engines.options import check_parallel, read_options
from duologue.engines.weights import find_hub_folder
from duologue.errors import EngineFailed, Unsupported
from duologue.threads import Emit, ThreadLane
from duologue.values.audio import HEARD_RATE, samples
from duologue.values.speech import TimedWord, Transcript

MODEL = "base"
SIZES = (
    *("tiny", "tiny.en", "base", "base.en", "small", "small.en", "medium", "medium.en"),
    *("large-v1", "large-v2", "large-v3", "large-v3-turbo", "turbo"),
    *("distil-small.en", "distil-medium.en", "distil-large-v2", "distil-large-v3", "distil-large-v3.5"),
)
OTHERS = {
    "large-v3-turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo",
    "turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo",
    "distil-small.en": "Systran/faster-distil-whisper-small.en",
    "distil-medium.en": "Systran/faster-distil-whisper-medium.en",
    "distil-large-v2": "Systran/faster-distil-whisper-large-v2",
    "distil-large-v3": "Systran/faster-distil-whisper-large-v3",
    "distil-large-v3.5": "distil-whisper/distil-large-v3.5-ct2",
}
"""The hub's repositories of the sizes that are not by Systran under their own name."""
FILES = ("config.json", "model.bin", "tokenizer.json")
"""Without the last the library would download it from the hub."""
ROOM = 256
"""Segments that may be buffered: half an hour of speech."""
NO_SPEECH, UNSURE = 0.6, -0.8
"""A segment with a higher no-speech probability and a lower mean log probability than these is a hallucination: in noise
the model makes up thanks and farewells."""
PROMPT = 200
"""Characters of earlier text that are passed as context: the model uses at most 224 tokens."""


class WhisperOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`compute` is CTranslate2's number type (int8, float16 ...), `threads` 0 its own choice; `parallel`: utterances
    transcribed at the same time; `beam` and `listening_beam`: the beam size for a whole recording, and while a caller
    speaks."""

    model: str = MODEL
    models: str = ""
    device: str = "auto"
    compute: str = "default"
    language: str = ""
    threads: int = 0
    parallel: int = 1
    beam: int = 5
    listening_beam: int = 1
    partials: bool = True


class WhisperSegment(Protocol):
    """The part of the library's segments that is used."""

    @property
    def text(self) -> str: ...
    @property
    def avg_logprob(self) -> float: ...
    @property
    def no_speech_prob(self) -> float: ...
    @property
    def words(self) -> Any: ...


class WhisperRecogniser:
    """Implements `contracts.RecogniserEngine`."""

    limitation = ""
    word_timestamps = True

    def __init__(self, model: Any, name: str, options: WhisperOptions) -> None:
        self._model = model
        self._name = name
        self._options = options
        self._lane = ThreadLane(options.parallel)
        self._languages = frozenset(model.supported_languages)

    @property
    def name(self) -> str:
        return self._name

    @property
    def languages(self) -> tuple[str, ...]:
        return ("en",) if self._languages == {"en"} else ()

    @property
    def partial_results(self) -> bool:
        return self._options.partials

    @asynccontextmanager
    async def stream(self, *, language: str = "", prompt: str = "") -> AsyncIterator[StreamingTranscriber]:
        """A transcriber for one utterance. Raises Unsupported for a language the model does not know."""
        code = self._language_code(language)

        def transcribe(pcm: bytes, before: str) -> Transcript:
            context = f"{prompt} {before}".strip()[-PROMPT:]
            return self._transcribe(
                pcm,
                language=code,
                beam_size=self._options.listening_beam,
                temperature=0.0,
                initial_prompt=context or None,
                without_timestamps=True,
            )

        yield IncrementalTranscriber(transcribe, self._lane, partials=self._options.partials)

    async def transcribe(
        self, pcm: bytes, *, language: str = "", prompt: str = "", word_timestamps: bool = False
    ) -> Transcript:
        """Transcribe a recording. Leaving ends the work after at most half a minute of sound. Raises as `stream`."""
        code = self._language_code(language)
        if samples(pcm) < SHORTEST:
            return Transcript("", understood=False)

        def step(emit: Emit[tuple[WhisperSegment, str]]) -> None:
            self._for_each_segment(
                pcm,
                lambda segment, language: emit((segment, language)),
                language=code,
                beam_size=self._options.beam,
                hotwords=prompt or None,
                word_timestamps=word_timestamps,
                condition_on_previous_text=False,
            )

        async with self._lane.stream(step, ROOM) as items:
            segments = [item async for item in items]
        return transcript_of([segment for segment, _ in segments], segments[0][1] if segments else code or "")

    async def close(self) -> None:
        """Free the memory of the model."""
        await self._lane.run(self._model.model.unload_model)

    def _language_code(self, language: str) -> str | None:
        """The model's code of a language; None: detect it."""
        tag = language or self._options.language
        code = code_of(tag)
        if code in self._languages:
            return code
        if self.languages and tag:
            raise Unsupported(
                f"The model {self._name} recognises English only; models without .en in their name recognise other languages.",
                param="language",
            )
        return "en" if self.languages else None

    def _transcribe(self, pcm: bytes, **parameters: Any) -> Transcript:
        segments: list[WhisperSegment] = []
        languages: list[str] = []

        def take(segment: WhisperSegment, language: str) -> bool:
            segments.append(segment)
            languages.append(language)
            return True

        self._for_each_segment(pcm, take, **parameters)
        return transcript_of(segments, languages[0] if languages else "")

    def _for_each_segment(
        self, pcm: bytes, take: Callable[[WhisperSegment, str], bool], **parameters: Any
    ) -> None:
        """Call `take` with each segment as it is decoded, and its language, until it returns False. Blocks."""
        try:
            segments, info = self._model.transcribe(to_floats(pcm), **parameters)
            for segment in segments:
                if not take(segment, info.language):
                    break
        except RuntimeError as error:
            raise EngineFailed(f"Whisper failed: {error}") from error


def transcript_of(segments: Iterable[WhisperSegment], language: str) -> Transcript:
    """The transcript of a recording's segments, without the hallucinated ones. Confidence is weighted by length."""
    credible = [
        segment
        for segment in segments
        if segment.text.strip() and not (segment.no_speech_prob > NO_SPEECH and segment.avg_logprob < UNSURE)
    ]
    text = "".join(segment.text for segment in credible).strip()
    weight = sum(len(segment.text) for segment in credible)
    confidence = sum(math.exp(min(0.0, segment.avg_logprob)) * len(segment.text) for segment in credible)
    words = tuple(
        TimedWord(word.word.strip(), round(float(word.start), 3), round(float(word.end), 3))
        for segment in credible
        for word in segment.words or ()
        if word.word.strip()
    )
    return Transcript(text, words, language, confidence / weight if weight else None, understood=bool(text))


def code_of(language: str) -> str:
    """The model's code of a BCP 47 tag: its main part; Bokmål goes by Norwegian, Tagalog by its own name."""
    main = language.lower().replace("_", "-").partition("-")[0]
    return {"nb": "no", "fil": "tl", "iw": "he", "cmn": "zh", "jv": "jw"}.get(main, main)


async def load(options: dict[str, Any]) -> RecogniserEngine:
    """The engine. Options: see `WhisperOptions`. Raises StartFailed without the library or the weights."""
    settings = read_options(WhisperOptions, options, "whisper")
    device = parse_device(settings.device)
    check_parallel("Whisper", settings.parallel)

    def start() -> WhisperRecogniser:
        with importing("whisper", "whisper", role="recogniser"):
            from faster_whisper import WhisperModel
        if device.kind == "cuda":
            import ctranslate2

            require_card(device, numbered_cards(ctranslate2.get_cuda_device_count()))
        folder = find_weights(settings.model, settings.models)
        with loading(f"Whisper's model in {folder} cannot be loaded"):
            model = WhisperModel(
                str(folder),
                device=device.kind,
                device_index=device.index,
                compute_type=settings.compute,
                cpu_threads=settings.threads,
                num_workers=settings.parallel,
                local_files_only=True,
            )
        return WhisperRecogniser(model, folder.name, settings)

    return await load_in_thread(start)


def weights(options: dict[str, Any]) -> Path:
    """The folder of the weights, without loading anything. Raises StartFailed as `find_weights`."""
    settings = read_options(WhisperOptions, options, "whisper")
    return find_weights(settings.model, settings.models)


def repository_of(model: str) -> str:
    """The hub's repository of a size or of a repository's own name; "" for anything else."""
    if model in SIZES:
        return OTHERS.get(model, f"Systran/faster-whisper-{model}")
    return model if model.count("/") == 1 and model[0].isalnum() else ""


def find_weights(model: str, models: str) -> Path:
    """The folder of a model. Raises StartFailed with the command that fetches it, or naming the file it lacks."""
    return find_hub_folder("whisper", model, models, repository_of(model), FILES)


assert HEARD_RATE == 16_000, "Whisper's sample rate"
