"""Whisper through faster-whisper (CTranslate2): many languages, on a processor or a graphics card, without PyTorch.

Owns where its weights are looked for, and the way from its segments to a transcript. It hears whole recordings; while
somebody speaks, the utterance is heard again and again (`growing.py`). Every call of the library blocks and is made in a
lane. Nothing is downloaded: what is missing is said together with the command that fetches it.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from duologue.engines.asr.incremental import SHORTEST, IncrementalTranscriber
from duologue.engines.audio.pcm import numbers
from duologue.engines.contracts import RecogniserEngine, StreamingTranscriber
from duologue.engines.options import device_of, read
from duologue.engines.weights import check_files, folder_of, hub_command, missing, target
from duologue.errors import EngineFailed, StartFailed, Unsupported
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
"""Where the hub has the sizes that are not by Systran under their own name."""
FILES = ("config.json", "model.bin", "tokenizer.json")
"""Without the last the library would ask the hub for it."""
ROOM = 256
"""Segments that may wait to be taken: half an hour of speech."""
DOUBTED = (0.6, -0.8)
"""A segment that is more likely silence than the first and less likely its words than the second (logarithm) is nothing
anybody said: the model makes up thanks and farewells in noise."""
PROMPT = 200
"""Characters of what was said before that are told the model: it uses at most 224 tokens."""


class WhisperOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`compute` is CTranslate2's type of numbers (int8, float16 ...), `threads` 0 its own choice; `parallel`: how many
    utterances are heard at the same time; `beam` and `listening_beam`: how many hypotheses are followed in a whole
    recording, and while somebody speaks."""

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
    """What of the library's segments is used."""

    @property
    def text(self) -> str: ...
    @property
    def avg_logprob(self) -> float: ...
    @property
    def no_speech_prob(self) -> float: ...
    @property
    def words(self) -> Any: ...


class WhisperRecogniser:
    """Fulfils `engines.RecogniserEngine`."""

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
        """A listener for one utterance. Raises Unsupported for a language the model does not know."""
        spoken = self._language(language)

        def hear(pcm: bytes, before: str) -> Transcript:
            context = f"{prompt} {before}".strip()[-PROMPT:]
            return self._heard(
                pcm,
                language=spoken,
                beam_size=self._options.listening_beam,
                temperature=0.0,
                initial_prompt=context or None,
                without_timestamps=True,
            )

        yield IncrementalTranscriber(hear, self._lane, partials=self._options.partials)

    async def transcribe(
        self, pcm: bytes, *, language: str = "", prompt: str = "", word_timestamps: bool = False
    ) -> Transcript:
        """Write down a recording. Leaving ends the work after at most half a minute of sound. Raises as `listen`."""
        spoken = self._language(language)
        if samples(pcm) < SHORTEST:
            return Transcript("", understood=False)

        def step(emit: Emit[tuple[WhisperSegment, str]]) -> None:
            self._each(
                pcm,
                lambda segment, found: emit((segment, found)),
                language=spoken,
                beam_size=self._options.beam,
                hotwords=prompt or None,
                word_timestamps=word_timestamps,
                condition_on_previous_text=False,
            )

        async with self._lane.stream(step, ROOM) as heard:
            told = [item async for item in heard]
        return transcript_of([segment for segment, _ in told], told[0][1] if told else spoken or "")

    async def close(self) -> None:
        """Free the memory of the model."""
        await self._lane.run(self._model.model.unload_model)

    def _language(self, language: str) -> str | None:
        """The model's name of a language; None: it is to find out."""
        wanted = language or self._options.language
        code = code_of(wanted)
        if code in self._languages:
            return code
        if self.languages and wanted:
            raise Unsupported(
                f"The model {self._name} hears English only; a model without .en in its name hears other languages.",
                param="language",
            )
        return "en" if self.languages else None

    def _heard(self, pcm: bytes, **how: Any) -> Transcript:
        segments: list[WhisperSegment] = []
        languages: list[str] = []

        def take(segment: WhisperSegment, language: str) -> bool:
            segments.append(segment)
            languages.append(language)
            return True

        self._each(pcm, take, **how)
        return transcript_of(segments, languages[0] if languages else "")

    def _each(self, pcm: bytes, take: Callable[[WhisperSegment, str], bool], **how: Any) -> None:
        """Call `take` with each segment as it is heard, until it answers False. Blocks."""
        try:
            segments, about = self._model.transcribe(numbers(pcm), **how)
            for segment in segments:
                if not take(segment, about.language):
                    break
        except RuntimeError as error:
            raise EngineFailed(f"Whisper failed: {error}") from error


def transcript_of(segments: Iterable[WhisperSegment], language: str) -> Transcript:
    """What is to be believed of a recording's segments."""
    silence, doubt = DOUBTED
    told = [
        segment
        for segment in segments
        if segment.text.strip() and not (segment.no_speech_prob > silence and segment.avg_logprob < doubt)
    ]
    text = "".join(segment.text for segment in told).strip()
    weight = sum(len(segment.text) for segment in told)
    sure = sum(math.exp(min(0.0, segment.avg_logprob)) * len(segment.text) for segment in told)
    words = tuple(
        TimedWord(word.word.strip(), round(float(word.start), 3), round(float(word.end), 3))
        for segment in told
        for word in segment.words or ()
        if word.word.strip()
    )
    return Transcript(text, words, language, sure / weight if weight else None, understood=bool(text))


def code_of(language: str) -> str:
    """The model's code of a BCP 47 tag: its main part; Bokmål goes by Norwegian, Tagalog by its own name."""
    main = language.lower().replace("_", "-").partition("-")[0]
    return {"nb": "no", "fil": "tl", "iw": "he", "cmn": "zh", "jv": "jw"}.get(main, main)


async def load(options: dict[str, Any]) -> RecogniserEngine:
    """The engine. Options: see `WhisperOptions`. Raises StartFailed without the library or the weights."""
    wanted = read(WhisperOptions, options, "whisper")
    device = device_of(wanted.device)
    if wanted.parallel < 1:
        raise StartFailed("Whisper's option 'parallel' must be at least 1.", param="parallel")

    def start() -> WhisperRecogniser:
        try:
            from faster_whisper import WhisperModel
        except ImportError as error:
            raise StartFailed(
                f"The recogniser whisper needs one more package ({error.name}): pip install 'duologue[whisper]'.",
                code="engine_missing",
            ) from None
        folder = found(wanted.model, wanted.models)
        try:
            model = WhisperModel(
                str(folder),
                device=device.kind,
                device_index=device.index,
                compute_type=wanted.compute,
                cpu_threads=wanted.threads,
                num_workers=wanted.parallel,
                local_files_only=True,
            )
        except (RuntimeError, ValueError, OSError) as error:
            raise StartFailed(f"Whisper's model in {folder} cannot be loaded: {error}") from error
        return WhisperRecogniser(model, folder.name, wanted)

    return await ThreadLane(1).run(start)


def weights(options: dict[str, Any]) -> Path:
    """The folder of the weights, without loading anything. Raises StartFailed as `found`."""
    wanted = read(WhisperOptions, options, "whisper")
    return found(wanted.model, wanted.models)


def repository_of(model: str) -> str:
    """The hub's repository of a size or of a repository's own name; "" for anything else."""
    if model in SIZES:
        return OTHERS.get(model, f"Systran/faster-whisper-{model}")
    return model if model.count("/") == 1 and model[0].isalnum() else ""


def found(model: str, models: str) -> Path:
    """The folder of a model. Raises StartFailed with the command that fetches it, or naming the file it lacks."""
    repository = repository_of(model)
    name = repository.rpartition("/")[2]
    folder = folder_of(model, models, (name,))
    if folder is None:
        place = target(model, models, name)
        raise missing("whisper", model, [hub_command(repository, place)] if repository else [], place)
    check_files("whisper", folder, FILES)
    return folder


assert HEARD_RATE == 16_000, "the rate Whisper hears"
