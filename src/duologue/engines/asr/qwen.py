"""Qwen3-ASR through its own package and PyTorch: thirty languages, best on a graphics card.

Loaded by `registry`. Owns where its weights are, and how its results become a transcript. It transcribes whole
recordings; while a caller speaks, the utterance is transcribed again and again (`incremental`). Without a card sherpa-onnx
runs the same model faster, and without PyTorch. Word timestamps need a second model, the forced aligner.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.engines.asr.incremental import IncrementalTranscriber, transcribe_in_chunks
from duologue.engines.asr.qwen_languages import name_of, tag_of
from duologue.engines.audio.pcm import to_floats
from duologue.engines.contracts import RecogniserEngine, StreamingTranscriber
from duologue.engines.devices import Device, numbered_cards, parse_device, require_card
from duologue.engines.optional_library import importing, load_in_thread, loading
from duologue.engines.options import read_options
from duologue.engines.weights import find_hub_folder
from duologue.errors import EngineFailed
from duologue.threads import ThreadLane
from duologue.values.audio import HEARD_RATE
from duologue.values.speech import TimedWord, Transcript

MODEL = "Qwen3-ASR-0.6B"
OWNER = "Qwen"
FILES = ("config.json",)
LONGEST = 60 * HEARD_RATE
"""Samples of a recording transcribed together, and the most that leaving waits for."""
SEARCHED = 20 * HEARD_RATE


class QwenOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`aligner`: the folder of the forced aligner, which adds word timestamps; `dtype`: the number type, by PyTorch's name
    ("" is bfloat16 on a card and float32 on a processor)."""

    model: str = MODEL
    models: str = ""
    aligner: str = ""
    device: str = "auto"
    dtype: str = ""
    language: str = ""
    max_new_tokens: int = 512
    partials: bool = True


class QwenRecogniser:
    """Implements `contracts.RecogniserEngine`."""

    limitation = ""

    def __init__(self, model: Any, name: str, options: QwenOptions) -> None:
        self._model = model
        self._name = name
        self._options = options
        self._lane = ThreadLane(1)

    @property
    def name(self) -> str:
        return self._name

    @property
    def languages(self) -> tuple[str, ...]:
        return ()

    @property
    def partial_results(self) -> bool:
        return self._options.partials

    @property
    def word_timestamps(self) -> bool:
        return bool(self._options.aligner)

    @asynccontextmanager
    async def stream(self, *, language: str = "", prompt: str = "") -> AsyncIterator[StreamingTranscriber]:
        """A transcriber for one utterance."""

        def transcribe(pcm: bytes, _before: str) -> Transcript:
            return self._transcribe(pcm, language, prompt, word_timestamps=False)

        yield IncrementalTranscriber(transcribe, self._lane, partials=self._options.partials)

    async def transcribe(
        self, pcm: bytes, *, language: str = "", prompt: str = "", word_timestamps: bool = False
    ) -> Transcript:
        """Transcribe a recording, a minute at a time; leaving waits for the minute at work."""

        def transcribe(chunk: bytes) -> Transcript:
            return self._transcribe(chunk, language, prompt, word_timestamps=word_timestamps)

        return await transcribe_in_chunks(transcribe, self._lane, pcm, longest=LONGEST, searched=SEARCHED)

    async def close(self) -> None:
        """Drop the model; its memory is freed when the last transcription with it has ended."""
        self._model = None

    def _transcribe(self, pcm: bytes, language: str, prompt: str, *, word_timestamps: bool) -> Transcript:
        try:
            (result,) = self._model.transcribe(
                audio=(to_floats(pcm), HEARD_RATE),
                context=prompt,
                language=name_of(language or self._options.language) or None,
                return_time_stamps=word_timestamps and self.word_timestamps,
            )
        except (RuntimeError, ValueError) as error:
            raise EngineFailed(f"Qwen3-ASR failed: {error}") from error
        text = result.text.strip()
        times = timed_words(getattr(result.time_stamps, "items", None) or ())
        return Transcript(text, times, tag_of(result.language), understood=bool(text))


def timed_words(items: Sequence[Any]) -> tuple[TimedWord, ...]:
    """The aligner's words."""
    return tuple(
        TimedWord(item.text.strip(), round(float(item.start_time), 3), round(float(item.end_time), 3))
        for item in items
        if item.text.strip()
    )


def placement(device: Device, cards: int) -> tuple[str, str]:
    """The device and the number type of the model, on a machine with so many cards."""
    on_card = device.kind == "cuda" or (device.kind == "auto" and cards > 0)
    return (f"cuda:{device.index}", "bfloat16") if on_card else ("cpu", "float32")


async def load(options: dict[str, Any]) -> RecogniserEngine:
    """The engine. Options: see `QwenOptions`. Raises StartFailed without the library or the weights."""
    settings = read_options(QwenOptions, options, "qwen")
    device = parse_device(settings.device)

    def start() -> QwenRecogniser:
        with importing("qwen", "qwen", role="recogniser"):
            import torch
            from qwen_asr import Qwen3ASRModel
        folder = find_weights(settings.model, settings.models)
        aligner = find_weights(settings.aligner, settings.models) if settings.aligner else None
        cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
        require_card(device, numbered_cards(cards))
        place, dtype = placement(device, cards)
        parameters: dict[str, Any] = {"device_map": place, "dtype": getattr(torch, settings.dtype or dtype)}
        with loading(f"The model in {folder} cannot be loaded by qwen-asr"):
            model = Qwen3ASRModel.from_pretrained(
                str(folder),
                forced_aligner=str(aligner) if aligner else None,
                forced_aligner_kwargs=parameters,
                max_new_tokens=settings.max_new_tokens,
                **parameters,
            )
        return QwenRecogniser(model, folder.name, settings)

    return await load_in_thread(start)


def weights(options: dict[str, Any]) -> Path:
    """The folder of the weights, without loading anything. Raises StartFailed as `find_weights`."""
    settings = read_options(QwenOptions, options, "qwen")
    if settings.aligner:
        find_weights(settings.aligner, settings.models)
    return find_weights(settings.model, settings.models)


def find_weights(model: str, models: str) -> Path:
    """The folder of a model. Raises StartFailed with the command that fetches it."""
    repository = (
        model if model.count("/") == 1 and model[0].isalnum() else f"{OWNER}/{model.rpartition('/')[2]}"
    )
    return find_hub_folder("qwen", model, models, repository, FILES)
