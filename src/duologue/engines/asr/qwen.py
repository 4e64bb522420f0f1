"""Qwen3-ASR through its own package and PyTorch: thirty languages, best on a graphics card.

Owns where its weights are looked for, and the way from its answer to a transcript. It hears whole
recordings; while somebody speaks, the utterance is heard again and again (`growing.py`). Without a card sherpa-onnx runs the
same model faster, and without PyTorch. Word times need a second model, the forced aligner.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.engines.asr.incremental import IncrementalTranscriber, hear_whole
from duologue.engines.asr.qwen_languages import name_of, tag_of
from duologue.engines.audio.pcm import numbers
from duologue.engines.contracts import RecogniserEngine, StreamingTranscriber
from duologue.engines.options import Device, device_of, read
from duologue.engines.weights import check_files, folder_of, hub_command, missing, target
from duologue.errors import EngineFailed, StartFailed
from duologue.threads import ThreadLane
from duologue.values.audio import HEARD_RATE
from duologue.values.speech import TimedWord, Transcript

MODEL = "Qwen3-ASR-0.6B"
OWNER = "Qwen"
FILES = ("config.json",)
LONGEST = 60 * HEARD_RATE
"""Samples of a recording heard together: a caller who leaves waits for no more."""
SEARCHED = 20 * HEARD_RATE


class QwenOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`aligner`: the folder of the forced aligner, which knows when words were said; `dtype`: the type of numbers, by
    PyTorch's name ("" is bfloat16 on a card and float32 on a processor)."""

    model: str = MODEL
    models: str = ""
    aligner: str = ""
    device: str = "auto"
    dtype: str = ""
    language: str = ""
    max_new_tokens: int = 512
    partials: bool = True


class QwenRecogniser:
    """Fulfils `engines.RecogniserEngine`."""

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
        """A listener for one utterance."""

        def hear(pcm: bytes, _before: str) -> Transcript:
            return self._heard(pcm, language, prompt, word_timestamps=False)

        yield IncrementalTranscriber(hear, self._lane, partials=self._options.partials)

    async def transcribe(
        self, pcm: bytes, *, language: str = "", prompt: str = "", word_timestamps: bool = False
    ) -> Transcript:
        """Write down a recording, a minute at a time; a caller who leaves waits for one of those."""

        def hear(piece: bytes) -> Transcript:
            return self._heard(piece, language, prompt, word_timestamps=word_timestamps)

        return await hear_whole(hear, self._lane, pcm, longest=LONGEST, searched=SEARCHED)

    async def close(self) -> None:
        """Let go of the model; its memory is freed when nobody hears with it any more."""
        self._model = None

    def _heard(self, pcm: bytes, language: str, prompt: str, *, word_timestamps: bool) -> Transcript:
        try:
            (told,) = self._model.transcribe(
                audio=(numbers(pcm), HEARD_RATE),
                context=prompt,
                language=name_of(language or self._options.language) or None,
                return_time_stamps=word_timestamps and self.word_timestamps,
            )
        except (RuntimeError, ValueError) as error:
            raise EngineFailed(f"Qwen3-ASR failed: {error}") from error
        text = told.text.strip()
        times = timed_words(getattr(told.time_stamps, "items", None) or ())
        return Transcript(text, times, tag_of(told.language), understood=bool(text))


def timed_words(items: Sequence[Any]) -> tuple[TimedWord, ...]:
    """The aligner's words."""
    return tuple(
        TimedWord(item.text.strip(), round(float(item.start_time), 3), round(float(item.end_time), 3))
        for item in items
        if item.text.strip()
    )


def placed(device: Device, cards: int) -> tuple[str, str]:
    """Where the model goes, and its type of numbers, on a machine with so many cards."""
    on_card = device.kind == "cuda" or (device.kind == "auto" and cards > 0)
    return (f"cuda:{device.index}", "bfloat16") if on_card else ("cpu", "float32")


async def load(options: dict[str, Any]) -> RecogniserEngine:
    """The engine. Options: see `QwenOptions`. Raises StartFailed without the library or the weights."""
    wanted = read(QwenOptions, options, "qwen")
    device = device_of(wanted.device)

    def start() -> QwenRecogniser:
        try:
            import torch
            from qwen_asr import Qwen3ASRModel
        except ImportError as error:
            raise StartFailed(
                f"The recogniser qwen needs one more package ({error.name}): pip install 'duologue[qwen]'.",
                code="engine_missing",
            ) from None
        folder = found(wanted.model, wanted.models)
        aligner = found(wanted.aligner, wanted.models) if wanted.aligner else None
        place, dtype = placed(device, torch.cuda.device_count() if torch.cuda.is_available() else 0)
        how: dict[str, Any] = {"device_map": place, "dtype": getattr(torch, wanted.dtype or dtype)}
        try:
            model = Qwen3ASRModel.from_pretrained(
                str(folder),
                forced_aligner=str(aligner) if aligner else None,
                forced_aligner_kwargs=how,
                max_new_tokens=wanted.max_new_tokens,
                **how,
            )
        except (RuntimeError, ValueError, OSError) as error:
            raise StartFailed(f"The model in {folder} cannot be loaded by qwen-asr: {error}") from error
        return QwenRecogniser(model, folder.name, wanted)

    return await ThreadLane(1).run(start)


def weights(options: dict[str, Any]) -> Path:
    """The folder of the weights, without loading anything. Raises StartFailed as `found`."""
    wanted = read(QwenOptions, options, "qwen")
    if wanted.aligner:
        found(wanted.aligner, wanted.models)
    return found(wanted.model, wanted.models)


def found(model: str, models: str) -> Path:
    """The folder of a model. Raises StartFailed with the command that fetches it."""
    name = model.rpartition("/")[2]
    folder = folder_of(model, models, (name,))
    if folder is None:
        place = target(model, models, name)
        repository = model if model.count("/") == 1 and model[0].isalnum() else f"{OWNER}/{name}"
        raise missing("qwen", model, [hub_command(repository, place)], place)
    check_files("qwen", folder, FILES)
    return folder
