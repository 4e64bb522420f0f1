"""Kokoro through kokoro-onnx: natural voices in seven languages on a processor, without PyTorch.

Loaded by `registry`. Owns where its two files are, and how its sound becomes clauses with word timestamps. espeak-ng,
which comes with the package, turns text into phonemes. The library's calls block for a whole part and are made in a lane.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.engines.audio.pcm import to_pcm
from duologue.engines.contracts import SpeakerEngine, SpeechChunk
from duologue.engines.devices import numbered_cards, parse_device, require_card
from duologue.engines.hardware import machine_limits
from duologue.engines.optional_library import importing, load_in_thread, loading
from duologue.engines.options import check_parallel, read_options
from duologue.engines.tts.kokoro_speech import SpokenPart, speak_clause
from duologue.engines.tts.kokoro_voices import LANGUAGES, choose_voice, voices_of
from duologue.engines.tts.phone_times import phones_of
from duologue.engines.tts.word_alignment import TimedText, words_from_phonemes
from duologue.engines.weights import (
    check_files,
    fetch_command,
    find_folder,
    missing_weights,
    target_folder,
)
from duologue.errors import EngineFailed, StartFailed
from duologue.threads import ThreadLane
from duologue.values.audio import SPOKEN_RATE
from duologue.values.speech import Voice

MODEL = "kokoro-onnx"
RELEASE = "https://github.com/thewh1teagle/kokoro-onnx/releases/download/model-files-v1.1"
NETWORKS = ("kokoro-v1.0.onnx", "kokoro-v1.0.int8.onnx", "kokoro-v1.0.fp16.onnx")
VOICES = "voices-v1.0.bin"
LETTERS = "abefhip"
"""The languages whose phonemes espeak-ng writes as the model was trained on them; not so Japanese and Chinese."""
CUDA = "CUDAExecutionProvider"


class KokoroOnnxOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`model`: the folder with the network and the voices; `network`: the network's file, where there are several;
    `parallel`: clauses synthesised at the same time; `threads` 0: the machine's cores."""

    model: str = MODEL
    models: str = ""
    network: str = ""
    voice: str = ""
    device: str = "cpu"
    threads: int = 0
    parallel: int = 1


class KokoroOnnxSpeaker:
    """Implements `contracts.SpeakerEngine`."""

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
        """The sound of the clause. Raises NotFound for an unknown voice, and as `speak_clause`."""
        name = choose_voice(self._voices, voice, language)
        async with speak_clause(
            self._lane, clause, speed, lambda text, speed: self._synthesise(text, name, speed)
        ) as chunks:
            yield chunks

    async def close(self) -> None:
        """Drop the model; its memory is freed when the last clause with it has ended."""
        self._kokoro = None

    def _synthesise(self, text: str, voice: str, speed: float) -> Iterator[SpokenPart]:
        try:
            sound, rate, timings = self._kokoro.create_timed(
                text, voice, speed=speed, lang=LANGUAGES[voice[0]].espeak
            )
        except ValueError as error:
            if "phoneme" in str(error):
                return  # only signs that have no sound
            raise EngineFailed(f"Kokoro failed: {error}") from error
        except RuntimeError as error:
            raise EngineFailed(f"Kokoro failed: {error}") from error
        if rate != SPOKEN_RATE:
            raise EngineFailed(f"Kokoro spoke at {rate} Hz, not at {SPOKEN_RATE}.")
        phonemes = [TimedText(each.phoneme, each.start, each.end) for each in timings]
        yield to_pcm(sound), words_from_phonemes(text, phonemes), phones_of(phonemes)


async def load(options: dict[str, Any]) -> SpeakerEngine:
    """The engine. Options: see `KokoroOnnxOptions`. Raises StartFailed without the library or the weights."""
    settings = read_options(KokoroOnnxOptions, options, "kokoro_onnx")
    device = parse_device(settings.device)
    check_parallel("kokoro_onnx", settings.parallel)

    def start() -> KokoroOnnxSpeaker:
        with importing("kokoro_onnx", "kokoro-onnx", role="voice"):
            import onnxruntime
            from kokoro_onnx import Kokoro
        folder, network = find_weights(settings)
        session_options = onnxruntime.SessionOptions()
        session_options.intra_op_num_threads = settings.threads or machine_limits().cores
        providers: list[Any] = ["CPUExecutionProvider"]
        if device.kind == "cuda":
            # The library does not say how many cards there are; it says whether it could be built for one, and below which it uses.
            has_cards = CUDA in onnxruntime.get_available_providers()
            require_card(device, numbered_cards(device.index + 1 if has_cards else 0))
            providers.insert(0, (CUDA, {"device_id": device.index}))
        # onnxruntime's own errors derive from Exception alone.
        with loading(f"The model in {folder} cannot be loaded by kokoro-onnx", Exception):
            session = onnxruntime.InferenceSession(
                str(folder / network), session_options, providers=providers
            )
            if device.kind == "cuda" and CUDA not in session.get_providers():
                require_card(device, ())
            kokoro = Kokoro.from_session(session, str(folder / VOICES))
        return KokoroOnnxSpeaker(kokoro, folder.name, settings)

    return await load_in_thread(start)


def weights(options: dict[str, Any]) -> Path:
    """The folder of the weights, without loading anything. Raises StartFailed as `find_weights`."""
    return find_weights(read_options(KokoroOnnxOptions, options, "kokoro_onnx"))[0]


def find_weights(options: KokoroOnnxOptions) -> tuple[Path, str]:
    """The folder of the model and its network. Raises StartFailed with the commands that fetch it."""
    folder = find_folder(options.model, options.models)
    if folder is None:
        target = target_folder(options.model, options.models)
        commands = [
            fetch_command(f"{RELEASE}/{file}", target / file)
            for file in (options.network or NETWORKS[0], VOICES)
        ]
        raise missing_weights("kokoro_onnx", options.model, commands, target)
    files = sorted(path.name for path in folder.glob("*.onnx"))
    choices = [options.network] if options.network else [*NETWORKS, *files]
    network = next((name for name in choices if name in files), choices[0])
    check_files("kokoro_onnx", folder, (network, VOICES))
    return folder, network
