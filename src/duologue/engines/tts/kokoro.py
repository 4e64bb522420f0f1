"""Kokoro through its own package and PyTorch: natural voices in nine languages, with word times in English.

Owns where its weights are looked for, which languages the machine can speak (English needs a model of spaCy, Japanese and
Chinese packages of their own), and the way from its sound to clauses with word times. Without a graphics card kokoro-onnx
does the same with far less. The library would fetch what it lacks from the hub; nothing is let to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.engines.audio.pcm import cut, later, silent_start, whole_samples
from duologue.engines.contracts import SpeakerEngine, SpeechChunk
from duologue.engines.options import Device, device_of, read
from duologue.engines.tts.clause_split import parts_of
from duologue.engines.tts.kokoro_voices import TONGUES, chosen_voice, voices_of
from duologue.engines.tts.word_alignment import Stretch, words_from_tokens
from duologue.engines.weights import check_files, folder_of, hub_command, missing, target
from duologue.errors import EngineFailed, StartFailed, TooLarge
from duologue.threads import Emit, ThreadLane
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
"""The module without which a language cannot be spoken; the others need espeak-ng, which the package brings."""
SLOWEST, FASTEST = 0.5, 2.0
LONGEST = 4000
"""Characters of one clause."""


class KokoroOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`model`: the folder with the weights and the voices."""

    model: str = MODEL
    models: str = ""
    voice: str = ""
    device: str = "auto"


class KokoroSpeaker:
    """Fulfils `engines.SpeakerEngine`."""

    def __init__(self, make: Any, model: Any, folder: Path, options: KokoroOptions) -> None:
        """`make(letter, model)` makes the library's pipeline for a language."""
        self._make = make
        self._model = model
        self._folder = folder
        self._lane = ThreadLane(1)
        self._pipelines: dict[str, Any] = {}
        names = [path.stem for path in (folder / VOICES).glob("*.pt")]
        self._voices = voices_of(names, spoken_letters(), options.voice)
        if not self._voices:
            raise StartFailed(
                f"None of the voices in {folder / VOICES} can speak here. English ones need: {SPACY_COMMAND}",
                code="engine_missing",
            )
        if options.voice and self._voices[0].name != options.voice:
            raise StartFailed(unspoken(options.voice, options.voice in names), param="voice")

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
        """The sound of the clause, a part of at most two lines at a time; leaving waits until the part that is being made is
        made. Raises NotFound for an unknown voice, TooLarge for more than LONGEST characters."""
        chosen = chosen_voice(self._voices, voice, language)
        if len(clause) > LONGEST:
            raise TooLarge(
                f"A clause to be spoken has at most {LONGEST:,} characters, this one {len(clause):,}."
            )

        def step(emit: Emit[SpeechChunk]) -> None:
            start = 0
            for at, to in parts_of(clause):
                for result in self._results(clause[at:to], chosen, max(SLOWEST, min(FASTEST, speed))):
                    pcm, words = _made(clause[at:to], result)
                    if not all(map(emit, cut(pcm, later(words, start, at), start))):
                        return
                    start += len(pcm) // SAMPLE_BYTES

        async with self._lane.stream(step, 8) as spoken:
            yield spoken

    def prepare(self) -> None:
        """Load the dictionaries of the default voice's language, so that whoever speaks first need not wait. Blocks."""
        self._pipeline(self._voices[0].name[0])

    async def close(self) -> None:
        """Let go of the model; its memory is freed when nobody speaks with it any more."""
        self._pipelines.clear()
        self._model = None

    def _results(self, text: str, voice: str, speed: float) -> Any:
        """What the library makes of a text, one after the other. Blocks."""
        try:
            pipeline = self._pipeline(voice[0])
            place = str(self._folder / VOICES / f"{voice}.pt")
            # A line's end would be a cut of the library's own, whose pieces cannot be found again in the text.
            yield from pipeline(text.replace("\n", " "), voice=place, speed=speed)
        except (RuntimeError, ValueError, AssertionError) as error:
            raise EngineFailed(f"Kokoro failed: {error}") from error

    def _pipeline(self, letter: str) -> Any:
        if letter not in self._pipelines:
            self._pipelines[letter] = self._make(letter, self._model)
        return self._pipelines[letter]


def _made(text: str, result: Any) -> tuple[bytes, Any]:
    """The sound of one result without the silence it begins with, and its words."""
    if result.audio is None:
        return b"", ()
    pcm = whole_samples(result.audio)
    silence = silent_start(pcm)
    tokens = [
        Stretch(token.text, token.start_ts, token.end_ts)
        for token in result.tokens or ()
        if token.start_ts is not None and token.end_ts is not None
    ]
    return pcm[silence * SAMPLE_BYTES :], words_from_tokens(text, tokens, delay=-silence / SPOKEN_RATE)


def spoken_letters() -> tuple[str, ...]:
    """The languages this machine has everything for."""
    return tuple(letter for letter in TONGUES if letter not in NEEDS or find_spec(NEEDS[letter]) is not None)


def unspoken(voice: str, there: bool) -> str:
    """Why a voice cannot be the default."""
    needed = NEEDS.get(voice[:1], "")
    if there and needed:
        how = SPACY_COMMAND if needed == SPACY else f"pip install 'misaki[{TONGUES[voice[0]].tag}]'"
        return f"The voice {voice} needs {needed}, which is not installed. Add it with: {how}"
    return f"Kokoro has no voice {voice!r} here; each is a file in the folder {VOICES} of the model."


async def load(options: dict[str, Any]) -> SpeakerEngine:
    """The engine. Options: see `KokoroOptions`. Raises StartFailed without the library, the weights, or what the default
    voice needs."""
    wanted = read(KokoroOptions, options, "kokoro")
    device = device_of(wanted.device)

    def start() -> KokoroSpeaker:
        try:
            import torch
            from kokoro import KModel, KPipeline
            from loguru import logger
        except ImportError as error:
            raise StartFailed(
                f"The voice kokoro needs one more package ({error.name}): pip install 'duologue[kokoro]'. It is there for "
                "Python 3.11 and 3.12; for others there is kokoro_onnx.",
                code="engine_missing",
            ) from None
        # It writes what is spoken to the terminal, which is nobody's business.
        logger.disable("kokoro")
        folder = found(wanted)
        try:
            model = KModel(
                repo_id=REPOSITORY, config=str(folder / CONFIG), model=str(folder / WEIGHTS)
            ).eval()
            model = model.to(placed(device, torch.cuda.is_available()))
        except (RuntimeError, ValueError, OSError, KeyError, AssertionError) as error:
            raise StartFailed(f"The model in {folder} cannot be loaded by kokoro: {error}") from error

        def make(letter: str, model: Any) -> Any:
            return KPipeline(letter, repo_id=REPOSITORY, model=model)

        speaker = KokoroSpeaker(make, model, folder, wanted)
        speaker.prepare()
        return speaker

    return await ThreadLane(1).run(start)


def placed(device: Device, cards: bool) -> str:
    """Where the model goes, on a machine with or without cards."""
    return f"cuda:{device.index}" if device.kind == "cuda" or (device.kind == "auto" and cards) else "cpu"


def weights(options: dict[str, Any]) -> Path:
    """The folder of the weights, without loading anything. Raises StartFailed as `found`."""
    return found(read(KokoroOptions, options, "kokoro"))


def found(options: KokoroOptions) -> Path:
    """The folder of the model. Raises StartFailed with the command that fetches it."""
    name = options.model.rpartition("/")[2]
    folder = folder_of(options.model, options.models, (name,))
    if folder is None:
        place = target(options.model, options.models, name)
        raise missing("kokoro", options.model, [hub_command(REPOSITORY, place)], place)
    check_files("kokoro", folder, (CONFIG, WEIGHTS))
    return folder
