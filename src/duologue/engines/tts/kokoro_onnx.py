"""Kokoro through kokoro-onnx: natural voices in seven languages on a processor, without PyTorch.

Owns where its two files are looked for, and the way from its sound to clauses with word times. Text becomes phonemes by
espeak-ng, which the package brings. The library's calls block, hold a clause each, and are made in a lane.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.engines.audio.pcm import cut, later, whole_samples
from duologue.engines.contracts import SpeakerEngine, SpeechChunk, SpokenWord
from duologue.engines.hardware import machine_limits
from duologue.engines.options import device_of, read
from duologue.engines.tts.clause_split import parts_of
from duologue.engines.tts.kokoro_voices import TONGUES, chosen_voice, voices_of
from duologue.engines.tts.word_alignment import Stretch, words_from_phonemes
from duologue.engines.weights import check_files, fetch_command, folder_of, missing, target
from duologue.errors import EngineFailed, StartFailed, TooLarge
from duologue.threads import Emit, ThreadLane
from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE
from duologue.values.speech import Voice

MODEL = "kokoro-onnx"
RELEASE = "https://github.com/thewh1teagle/kokoro-onnx/releases/download/model-files-v1.1"
NETWORKS = ("kokoro-v1.0.onnx", "kokoro-v1.0.int8.onnx", "kokoro-v1.0.fp16.onnx")
VOICES = "voices-v1.0.bin"
LETTERS = "abefhip"
"""The languages whose phonemes espeak-ng writes as the model was taught them; Japanese and Chinese it does not."""
SLOWEST, FASTEST = 0.5, 2.0
LONGEST = 4000
"""Characters of one clause."""


class KokoroOnnxOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`model`: the folder with the network and the voices; `network`: the file of it, where there are several; `parallel`:
    how many clauses are spoken at the same time; `threads` 0: the machine's cores."""

    model: str = MODEL
    models: str = ""
    network: str = ""
    voice: str = ""
    device: str = "cpu"
    threads: int = 0
    parallel: int = 1


class KokoroOnnxSpeaker:
    """Fulfils `engines.SpeakerEngine`."""

    def __init__(self, kokoro: Any, name: str, options: KokoroOnnxOptions) -> None:
        self._kokoro = kokoro
        self._name = name
        self._lane = ThreadLane(options.parallel)
        self._voices = voices_of(kokoro.get_voices(), LETTERS, options.voice)
        if not self._voices:
            raise StartFailed(f"There is no voice in {name} that this engine can speak with.")

    @property
    def name(self) -> str:
        return self._name

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
        if not any(map(str.isalnum, clause)):
            yield _nothing()
            return

        def step(emit: Emit[SpeechChunk]) -> None:
            start = 0
            for at, to in parts_of(clause):
                pcm, words = self._made(clause[at:to], chosen, max(SLOWEST, min(FASTEST, speed)))
                if not all(map(emit, cut(pcm, later(words, start, at), start))):
                    return
                start += len(pcm) // SAMPLE_BYTES

        async with self._lane.stream(step, 8) as spoken:
            yield spoken

    async def close(self) -> None:
        """Let go of the model."""
        self._kokoro = None

    def _made(self, clause: str, voice: str, speed: float) -> tuple[bytes, tuple[SpokenWord, ...]]:
        try:
            sound, rate, timings = self._kokoro.create_timed(
                clause, voice, speed=speed, lang=TONGUES[voice[0]].espeak
            )
        except ValueError as error:
            if "phoneme" in str(error):
                return b"", ()  # signs that nobody reads aloud
            raise EngineFailed(f"Kokoro failed: {error}") from error
        except RuntimeError as error:
            raise EngineFailed(f"Kokoro failed: {error}") from error
        if rate != SPOKEN_RATE:
            raise EngineFailed(f"Kokoro spoke at {rate} Hz, not at {SPOKEN_RATE}.")
        stretches = [Stretch(each.phoneme, each.start, each.end) for each in timings]
        return whole_samples(sound), words_from_phonemes(clause, stretches)


async def _nothing() -> AsyncIterator[SpeechChunk]:
    return
    yield


async def load(options: dict[str, Any]) -> SpeakerEngine:
    """The engine. Options: see `KokoroOnnxOptions`. Raises StartFailed without the library or the weights."""
    wanted = read(KokoroOnnxOptions, options, "kokoro_onnx")
    device = device_of(wanted.device)
    if wanted.parallel < 1:
        raise StartFailed("kokoro_onnx's option 'parallel' must be at least 1.", param="parallel")

    def start() -> KokoroOnnxSpeaker:
        try:
            import onnxruntime
            from kokoro_onnx import Kokoro
        except ImportError as error:
            raise StartFailed(
                f"The voice kokoro_onnx needs one more package ({error.name}): pip install 'duologue[kokoro-onnx]'.",
                code="engine_missing",
            ) from None
        folder, network = found(wanted)
        how = onnxruntime.SessionOptions()
        how.intra_op_num_threads = wanted.threads or machine_limits().cores
        providers = ["CPUExecutionProvider"]
        if device.kind == "cuda":
            providers.insert(0, "CUDAExecutionProvider")
        try:
            session = onnxruntime.InferenceSession(str(folder / network), how, providers=providers)
            kokoro = Kokoro.from_session(session, str(folder / VOICES))
        except Exception as error:
            raise StartFailed(f"The model in {folder} cannot be loaded by kokoro-onnx: {error}") from error
        return KokoroOnnxSpeaker(kokoro, folder.name, wanted)

    return await ThreadLane(1).run(start)


def weights(options: dict[str, Any]) -> Path:
    """The folder of the weights, without loading anything. Raises StartFailed as `found`."""
    return found(read(KokoroOnnxOptions, options, "kokoro_onnx"))[0]


def found(options: KokoroOnnxOptions) -> tuple[Path, str]:
    """The folder of the model and its network. Raises StartFailed with the commands that fetch it."""
    folder = folder_of(options.model, options.models)
    if folder is None:
        place = target(options.model, options.models)
        commands = [
            fetch_command(f"{RELEASE}/{file}", place / file)
            for file in (options.network or NETWORKS[0], VOICES)
        ]
        raise missing("kokoro_onnx", options.model, commands, place)
    there = sorted(path.name for path in folder.glob("*.onnx"))
    choices = [options.network] if options.network else [*NETWORKS, *there]
    network = next((name for name in choices if name in there), choices[0])
    check_files("kokoro_onnx", folder, (network, VOICES))
    return folder, network
