"""Pocket TTS through transformers: it speaks like a recording of some seconds, streamed. How fast it is on a processor was not measured yet.

Loaded by `registry`. Owns where its weights are, its voices (recordings in the weights' folder, and those that come with a
request) and how long what was computed of a voice is kept; `pocket_network` makes the sound. Who imitates a person needs that
person's consent: the gateway asks for it. sherpa-onnx has the same model without PyTorch, and begins to speak later.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from duologue.engines.audio.pcm import no_speech
from duologue.engines.audio.wav_recording import read_wav_recording
from duologue.engines.contracts import SpeakerEngine, SpeechChunk
from duologue.engines.devices import parse_device
from duologue.engines.optional_library import importing, load_in_thread, loading
from duologue.engines.options import check_parallel, read_options
from duologue.engines.tts.clause_split import check_length, sentences_of
from duologue.engines.tts.kokoro_voices import choose_voice
from duologue.engines.tts.pocket_frames import VoiceMemory
from duologue.engines.tts.pocket_network import PocketNetwork, open_network, read_stored_latents
from duologue.engines.weights import (
    check_files,
    find_folder,
    hub_command,
    missing_weights,
    target_folder,
)
from duologue.errors import BadRequest, EngineFailed, StartFailed
from duologue.resampler import Resampler
from duologue.threads import Emit, ThreadLane
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, SPOKEN_RATE, samples
from duologue.values.speech import Voice, VoiceSample

MODEL = "pocket-tts"
REPOSITORY = "eustlb/pocket-tts"
CODEC = "audio_tokenizer"
"""The folder of the codec within the model's, unless it is called as its repository and lies beside it."""
CODEC_REPOSITORY = "eustlb/pocket-tts-audio-tokenizer"
FILES = ("config.json", "model.safetensors")
TOKENIZER = "tokenizer.json"
VOICES = "voices"
LONGEST = 4000
"""Characters of one clause."""
AHEAD = 8
"""Chunks that may be synthesised ahead of the listener."""
RECORDED = 30
"""Seconds of a recording that are read."""
KEPT = 8
"""Voices of which what was computed is kept: up to 20 MB each."""


class PocketOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`codec`: the folder of the codec, "" is within or beside the model's; `language`: what the weights speak; `parallel`: clauses
    synthesised at the same time; `steps` and `temperature` (0 is the same sound each time): None as the weights have them."""

    model: str = MODEL
    models: str = ""
    codec: str = ""
    voice: str = ""
    language: str = "en"
    device: str = "auto"
    parallel: int = 1
    steps: int | None = None
    temperature: float | None = None


class PocketSpeaker:
    """Implements `contracts.SpeakerEngine`. `files`: the voices of the folder, the default one first."""

    def __init__(
        self, network: PocketNetwork, files: dict[str, Path], name: str, options: PocketOptions
    ) -> None:
        self._network: PocketNetwork | None = network
        self._files = files
        self._name = name
        self._language = options.language
        self._lane = ThreadLane(options.parallel)
        self.memory: VoiceMemory[Any] = VoiceMemory(KEPT)

    @property
    def name(self) -> str:
        return self._name

    @property
    def voices(self) -> tuple[Voice, ...]:
        return tuple(Voice(name, self._language) for name in self._files)

    @asynccontextmanager
    async def speak(
        self, clause: str, *, voice: str = "", speed: float = 1.0, language: str = ""
    ) -> AsyncIterator[AsyncIterator[SpeechChunk]]:
        """The sound of the clause; the model has no other speed than the voice's. Leaving waits for the frame at work. Raises
        NotFound for an unknown voice, TooLarge for more than LONGEST characters."""
        name = choose_voice(self.voices, voice, language)
        # A digest has no colon.
        async with self._speak(clause, f"file:{name}", lambda: self.read_file(self._files[name])) as chunks:
            yield chunks

    async def close(self) -> None:
        """Drop the networks; their memory is freed when the last clause with them has ended."""
        self._network = None
        self.memory.clear()

    def read_file(self, path: Path) -> Any:
        """What is computed of a voice of the folder. Blocks."""
        if path.suffix == ".wav":
            recording = read_wav_recording(path, RECORDED)
            if recording is None:
                raise EngineFailed(f"The voice in {path} is no 16-bit WAV file.")
            return self.read_recording(*recording)
        network = self._opened()
        return network.read_latents(read_stored_latents(path, network.width))

    def read_recording(self, pcm: bytes, rate: int) -> Any:
        """What is computed of a recording (16-bit mono PCM). Blocks. Raises EngineFailed."""
        resampler = Resampler(rate, SPOKEN_RATE)
        sound = resampler.feed(pcm) + resampler.finish()
        try:
            return self._opened().read_recording(sound)
        except (RuntimeError, ValueError) as error:
            raise EngineFailed(f"Pocket TTS cannot read the recording: {error}") from error

    @asynccontextmanager
    async def _speak(
        self, clause: str, key: str, read_voice: Callable[[], Any]
    ) -> AsyncIterator[AsyncIterator[SpeechChunk]]:
        """The sound of the clause in the voice kept as `key`, else in that which `read_voice()` computes."""
        check_length(clause, LONGEST)
        if not any(map(str.isalnum, clause)):
            yield no_speech()
            return
        voice = self.memory.find(key)
        if voice is None:
            voice = await self._lane.run(read_voice)
            self.memory.keep(key, voice)
        network = self._opened()

        def step(emit: Emit[SpeechChunk]) -> None:
            try:
                for at, to in sentences_of(clause):
                    for pcm in network.say(clause[at:to], voice):
                        if not emit(SpeechChunk(pcm)):
                            return
            except (RuntimeError, ValueError) as error:
                raise EngineFailed(f"Pocket TTS failed: {error}") from error

        async with self._lane.stream(step, AHEAD) as chunks:
            yield chunks

    def _opened(self) -> PocketNetwork:
        if self._network is None:
            raise EngineFailed("The speaker was closed.")
        return self._network


class PocketCloner(PocketSpeaker):
    """Implements `contracts.CloningSpeaker` too: the weights have the half of the codec that reads a recording."""

    @asynccontextmanager
    async def speak_like(
        self, clause: str, *, sample: VoiceSample, speed: float = 1.0, language: str = ""
    ) -> AsyncIterator[AsyncIterator[SpeechChunk]]:
        """The sound of the clause in the voice of the recording; what is said in it need not be known. Raises BadRequest for a
        recording that is silent or shorter than a second, TooLarge for more than LONGEST characters."""
        pcm = sample.pcm[: RECORDED * HEARD_RATE * SAMPLE_BYTES]
        check_recording(pcm)
        digest = hashlib.sha256(pcm).hexdigest()
        async with self._speak(clause, digest, lambda: self.read_recording(pcm, HEARD_RATE)) as chunks:
            yield chunks


def check_recording(pcm: bytes) -> None:
    """Raises BadRequest for a recording (16 kHz) that is shorter than a second, or has no sound at all."""
    if samples(pcm) < HEARD_RATE:
        raise BadRequest(
            "The recording of the voice is shorter than a second. Record about ten seconds of clear speech.",
            code="voice_sample_short",
        )
    if not any(pcm):
        raise BadRequest(
            "Nothing can be heard in the recording of the voice. Record about ten seconds of clear speech.",
            code="voice_sample_silent",
        )


async def load(options: dict[str, Any]) -> SpeakerEngine:
    """The engine. Options: see `PocketOptions`. Raises StartFailed without the library, the weights or a voice."""
    settings = read_options(PocketOptions, options, "pocket")
    device = parse_device(settings.device)
    check_parallel("pocket", settings.parallel)
    check_sampling(settings)

    def start() -> PocketSpeaker:
        folder, codec = find_weights(settings)
        with (
            importing("pocket", "pocket", role="voice"),
            loading(f"The model in {folder} cannot be loaded by transformers", KeyError, TypeError),
        ):
            network = open_network(folder, codec, device)
        sampling = network.sampling
        network.sampling = replace(
            sampling,
            steps=sampling.steps if settings.steps is None else settings.steps,
            temperature=sampling.temperature if settings.temperature is None else settings.temperature,
        )

        def is_usable(path: Path) -> bool:
            if path.suffix == ".wav":
                return network.clones
            return read_stored_latents(path, network.width) is not None

        with loading(f"A voice in {folder / VOICES} cannot be read"):
            files = find_voices(folder, settings.voice, is_usable)
        if not files:
            raise _no_voice(folder, clones=network.clones)
        kind = PocketCloner if network.clones else PocketSpeaker
        speaker = kind(network, files, folder.name, settings)
        # The first reply need not wait for the default voice.
        first = next(iter(files))
        with loading(f"The voice {files[first]} cannot be loaded", EngineFailed, AttributeError, TypeError):
            speaker.memory.keep(f"file:{first}", speaker.read_file(files[first]))
        return speaker

    return await load_in_thread(start)


def check_sampling(options: PocketOptions) -> None:
    """Raises StartFailed for steps or a temperature that there are not."""
    if options.steps is not None and not 1 <= options.steps <= 100:
        raise StartFailed("pocket's option 'steps' must be between 1 and 100.", param="steps")
    if options.temperature is not None and not 0 <= options.temperature <= 2:
        raise StartFailed("pocket's option 'temperature' must be between 0 and 2.", param="temperature")


def find_voices(folder: Path, default: str, is_usable: Callable[[Path], bool]) -> dict[str, Path]:
    """The usable voices in the folder VOICES of the weights by name, the default one first: recordings (16-bit WAV) and latents
    (safetensors). Raises StartFailed for a default voice that is not there."""
    found = sorted(path for kind in ("*.safetensors", "*.wav") for path in (folder / VOICES).glob(kind))
    names = {path.stem: path for path in found if is_usable(path)}
    if not default or not names:
        return names
    if default not in names:
        raise StartFailed(
            f"Pocket TTS has no voice {default!r} here; in {folder / VOICES} there are: {', '.join(names)}.",
            param="voice",
        )
    return {default: names[default], **names}


def _no_voice(folder: Path, *, clones: bool) -> StartFailed:
    advice = (
        "Put a recording of somebody who agrees to it there: NAME.wav, 16-bit, about ten seconds of clear speech."
        if clones
        else "These weights cannot read recordings: fetch those for cloning, for which the hub asks you to agree to their terms."
    )
    return StartFailed(
        f"There is no voice in {folder / VOICES}. {advice}", code="weights_missing", param="model"
    )


def weights(options: dict[str, Any]) -> Path:
    """The folder of the weights, without loading anything. Raises StartFailed as `find_weights`."""
    return find_weights(read_options(PocketOptions, options, "pocket"))[0]


def find_weights(options: PocketOptions) -> tuple[Path, Path]:
    """The folders of the model and of its codec. Raises StartFailed with the commands that fetch them."""
    folder = find_folder(options.model, options.models, (options.model.rpartition("/")[2],))
    target = folder or target_folder(
        options.model, options.models, REPOSITORY.rpartition("/")[2] if options.model == MODEL else ""
    )
    fetch_codec = hub_command(CODEC_REPOSITORY, target / CODEC)
    if folder is None:
        raise missing_weights("pocket", options.model, [hub_command(REPOSITORY, target), fetch_codec], target)
    check_files("pocket", folder, (*FILES, TOKENIZER))
    places = (
        [Path(options.codec).expanduser()]
        if options.codec
        else [folder / CODEC, folder.parent / CODEC_REPOSITORY.rpartition("/")[2]]
    )
    codec = next((place for place in places if place.is_dir()), None)
    if codec is None:
        raise missing_weights(
            "pocket", options.codec or CODEC, [] if options.codec else [fetch_codec], places[0]
        )
    check_files("pocket", codec, FILES)
    return folder, codec
