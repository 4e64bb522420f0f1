"""Kokoro through its own package and PyTorch: natural voices in nine languages, with times of words and phones in English.

Loaded by `registry`. Owns where its weights are, which languages the machine can speak (English needs a model of spaCy,
Japanese and Chinese packages of their own), and how its sound becomes clauses with word timestamps. Without a graphics
card kokoro-onnx does the same with far less. The library would download missing files from the hub; it is given local
paths only.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.engines.audio.pcm import leading_silence, to_pcm
from duologue.engines.contracts import SpeakerEngine, SpeechChunk
from duologue.engines.devices import Device, numbered_cards, parse_device, require_card
from duologue.engines.optional_library import importing, load_in_thread, loading
from duologue.engines.options import read_options
from duologue.engines.tts.kokoro_speech import SpokenPart, speak_clause
from duologue.engines.tts.kokoro_voices import LANGUAGES, choose_voice, voices_of
from duologue.engines.tts.phone_times import phones_of
from duologue.engines.tts.word_alignment import TimedText, words_from_tokens
from duologue.engines.weights import (
    check_files,
    find_folder,
    hub_command,
    missing_weights,
    target_folder,
)
from duologue.errors import EngineFailed, StartFailed
from duologue.threads import ThreadLane
from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE
from duologue.values.speech import Voice

MODEL = "Kokoro-82M"
REPOSITORY = "hexgrad/Kokoro-82M"
CONFIG = "config.json"
WEIGHTS = "kokoro-v1_0.pth"
VOICES = "voices"
SPACY = "en_core_web_sm"
SPACY_COMMAND = f"python -m spacy download {SPACY}"
NEEDS = {"a": SPACY, "b": SPACY, "j": "pyopenjtalk", "z": "jieba"}
"""The module a language needs; the others need espeak-ng, which comes with the package."""


class KokoroOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`model`: the folder with the weights and the voices."""

    model: str = MODEL
    models: str = ""
    voice: str = ""
    device: str = "auto"


class KokoroSpeaker:
    """Implements `contracts.SpeakerEngine`."""

    def __init__(self, make: Any, model: Any, folder: Path, options: KokoroOptions) -> None:
        """`make(letter, model)` creates the library's pipeline for a language."""
        self._make = make
        self._model = model
        self._folder = folder
        self._lane = ThreadLane(1)
        self._pipelines: dict[str, Any] = {}
        names = [path.stem for path in (folder / VOICES).glob("*.pt")]
        self._voices = voices_of(names, available_languages(), options.voice)
        if not self._voices:
            raise StartFailed(
                f"None of the voices in {folder / VOICES} can be used on this machine. English ones need: {SPACY_COMMAND}",
                code="engine_missing",
            )
        if options.voice and self._voices[0].name != options.voice:
            raise StartFailed(unavailable(options.voice, options.voice in names), param="voice")

    @property
    def name(self) -> str:
        return self._folder.name

    @property
    def voices(self) -> tuple[Voice, ...]:
        return self._voices

    @asynccontextmanager
    async def speak(
        self, clause: str, *, voice: str = "", speed: float = 1.0, language: str = ""
    ) -> AsyncIterator[AsyncIterator[SpeechChunk]]:
        """The sound of the clause. Raises NotFound for an unknown voice, and as `speak_clause`."""
        name = choose_voice(self._voices, voice, language)
        async with speak_clause(
            self._lane, clause, speed, lambda text, speed: self._synthesise(text, name, speed)
        ) as chunks:
            yield chunks

    def prepare(self) -> None:
        """Load the dictionaries of the default voice's language, so that the first reply need not wait for them. Blocks."""
        self._pipeline(self._voices[0].name[0])

    async def close(self) -> None:
        """Drop the model; its memory is freed when the last clause with it has ended."""
        self._pipelines.clear()
        self._model = None

    def _synthesise(self, text: str, voice: str, speed: float) -> Iterator[SpokenPart]:
        try:
            pipeline = self._pipeline(voice[0])
            path = str(self._folder / VOICES / f"{voice}.pt")
            # The library would split at a line's end, and its pieces could not be found again in the text.
            for result in pipeline(text.replace("\n", " "), voice=path, speed=speed):
                yield _trim(text, result)
        except (RuntimeError, ValueError, AssertionError) as error:
            raise EngineFailed(f"Kokoro failed: {error}") from error

    def _pipeline(self, letter: str) -> Any:
        if letter not in self._pipelines:
            self._pipelines[letter] = self._make(letter, self._model)
        return self._pipelines[letter]


def _trim(text: str, result: Any) -> SpokenPart:
    """The sound of one of the library's results without the silence it begins with, its words, and its phones."""
    if result.audio is None:
        return b"", (), ()
    pcm = to_pcm(result.audio)
    silence = leading_silence(pcm)
    timed = [
        token for token in result.tokens or () if token.start_ts is not None and token.end_ts is not None
    ]
    delay = -silence / SPOKEN_RATE
    tokens = [TimedText(token.text, token.start_ts, token.end_ts) for token in timed]
    pronounced = [TimedText(token.phonemes or "", token.start_ts, token.end_ts) for token in timed]
    words = words_from_tokens(text, tokens, delay=delay)
    return pcm[silence * SAMPLE_BYTES :], words, phones_of(pronounced, delay=delay)


def available_languages() -> tuple[str, ...]:
    """The letters of the languages this machine has everything for."""
    return tuple(
        letter for letter in LANGUAGES if letter not in NEEDS or find_spec(NEEDS[letter]) is not None
    )


def unavailable(voice: str, exists: bool) -> str:
    """Why a voice cannot be the default; `exists`: its file is there."""
    module = NEEDS.get(voice[:1], "")
    if exists and module:
        command = SPACY_COMMAND if module == SPACY else f"pip install 'misaki[{LANGUAGES[voice[0]].tag}]'"
        return f"The voice {voice} needs {module}, which is not installed. Add it with: {command}"
    return f"Kokoro has no voice {voice!r} here; each is a file in the folder {VOICES} of the model."


async def load(options: dict[str, Any]) -> SpeakerEngine:
    """The engine. Options: see `KokoroOptions`. Raises StartFailed without the library, the weights, or what the default
    voice needs."""
    settings = read_options(KokoroOptions, options, "kokoro")
    device = parse_device(settings.device)
    advice = " It exists for Python 3.11 and 3.12; for others there is kokoro_onnx."

    def start() -> KokoroSpeaker:
        with importing("kokoro", "kokoro", role="voice", advice=advice):
            import torch
            from kokoro import KModel, KPipeline
            from loguru import logger
        # The library logs the text of every reply to the terminal.
        logger.disable("kokoro")
        folder = find_weights(settings)
        has_cards = torch.cuda.is_available()
        require_card(device, numbered_cards(torch.cuda.device_count() if has_cards else 0))
        with loading(f"The model in {folder} cannot be loaded by kokoro", KeyError, AssertionError):
            model = KModel(
                repo_id=REPOSITORY, config=str(folder / CONFIG), model=str(folder / WEIGHTS)
            ).eval()
            model = model.to(placement(device, has_cards))

        def make(letter: str, model: Any) -> Any:
            return KPipeline(letter, repo_id=REPOSITORY, model=model)

        speaker = KokoroSpeaker(make, model, folder, settings)
        speaker.prepare()
        return speaker

    return await load_in_thread(start)


def placement(device: Device, has_cards: bool) -> str:
    """PyTorch's name of the device for the model."""
    on_card = device.kind == "cuda" or (device.kind == "auto" and has_cards)
    return f"cuda:{device.index}" if on_card else "cpu"


def weights(options: dict[str, Any]) -> Path:
    """The folder of the weights, without loading anything. Raises StartFailed as `find_weights`."""
    return find_weights(read_options(KokoroOptions, options, "kokoro"))


def find_weights(options: KokoroOptions) -> Path:
    """The folder of the model. Raises StartFailed with the command that fetches it."""
    name = options.model.rpartition("/")[2]
    folder = find_folder(options.model, options.models, (name,))
    if folder is None:
        target = target_folder(options.model, options.models, name)
        raise missing_weights("kokoro", options.model, [hub_command(REPOSITORY, target)], target)
    check_files("kokoro", folder, (CONFIG, WEIGHTS))
    return folder
