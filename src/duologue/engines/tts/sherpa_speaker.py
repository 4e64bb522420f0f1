"""The speakers of sherpa-onnx: VITS and Piper, Matcha, Kokoro, KittenTTS, Supertonic, Pocket TTS and ZipVoice, all without
PyTorch.

Loaded by `registry`. Owns the loading of a model's folder, whose kind `sherpa_speech_kinds` finds out, and the sound of a
clause, which the library gives a sentence at a time. Most models read phonemes, which espeak-ng writes. Nothing is said
about when a word sounds, so words are spread over the sound between its pauses, and its phonemes over a word. The calls block and are made in a lane; they release the interpreter's lock.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from duologue.engines.audio.pcm import no_speech, shift_words, split_chunks, to_floats, to_pcm
from duologue.engines.audio.silence import sounding
from duologue.engines.audio.wav_recording import read_wav_recording
from duologue.engines.contracts import SpeakerEngine, SpeechChunk, SpokenWord
from duologue.engines.devices import parse_device
from duologue.engines.hardware import machine_limits
from duologue.engines.optional_library import importing, load_in_thread, loading
from duologue.engines.options import check_parallel, read_options
from duologue.engines.sherpa_folder import check_precision, find_sherpa_model, require_sherpa_card
from duologue.engines.tts.clause_split import check_length, sentences_of
from duologue.engines.tts.espeak_library import espeak_library
from duologue.engines.tts.kokoro_voices import choose_voice
from duologue.engines.tts.phone_times import sounds_of_words
from duologue.engines.tts.phonemes import phonemes_of
from duologue.engines.tts.sherpa_speech_kinds import KNOWN, SpeechModel, detect_speech_kind
from duologue.engines.tts.sherpa_voices import SUPERTONIC_LANGUAGES, SherpaVoice, list_voices
from duologue.engines.tts.word_alignment import words_from_sound
from duologue.errors import BadRequest, EngineFailed, StartFailed
from duologue.resampler import Resampler
from duologue.text.speech.letter_sounds import spread_sounds
from duologue.threads import Emit, ThreadLane
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, SPOKEN_RATE, samples
from duologue.values.speech import Voice, VoiceSample

MODEL = "kokoro-multi-lang-v1_0"
RELEASES = "https://github.com/k2-fsa/sherpa-onnx/releases/download/tts-models"
SLOWEST, FASTEST = 0.5, 2.0
LONGEST = 4000
"""Characters of one clause."""
AHEAD = 8
"""Chunks that may be synthesised ahead of the listener."""
ALL = 0.999
"""Progress from which a part is complete."""
RECORDED = 10
"""Seconds of a recording whose voice is cloned; the models take no more."""
KEPT_VOICES = 8
"""Recordings whose voice Pocket TTS need not compute again for the next sentence, half a megabyte each. The library's own number is
50. ZipVoice computes only a spectrum of the recording, in a few milliseconds, and keeps nothing."""
LARGEST_NOTES = 1 << 20
"""Bytes of Piper's file about a voice."""


class SherpaSpeakerOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`threads` 0: the machine's cores; `parallel`: clauses synthesised at the same time; `precision`: which of two files of
    the same network is used, `int8` or `float` ("" is int8 on a processor); `steps`: of the models that refine their sound,
    0 is their own number."""

    model: str = MODEL
    models: str = ""
    voice: str = ""
    device: str = "cpu"
    threads: int = 0
    parallel: int = 1
    precision: str = ""
    steps: int = 0


class VoiceRecording(Struct, frozen=True):
    """The sound of a voice to clone, and what is said in it ("" where the model need not know)."""

    pcm: bytes
    rate: int
    text: str


class SherpaSpeaker:
    """Implements `contracts.SpeakerEngine`. `make_config` makes the library's settings of one synthesis."""

    def __init__(
        self,
        tts: Any,
        make_config: Any,
        model: SpeechModel,
        voices: tuple[SherpaVoice, ...],
        recordings: dict[str, VoiceRecording],
        name: str,
        options: SherpaSpeakerOptions,
    ) -> None:
        self._tts = tts
        self._make_config = make_config
        self._model = model
        self._voices = {each.voice.name: each for each in voices}
        self._recordings = recordings
        self._name = name
        self._steps = options.steps
        self._rate = int(tts.sample_rate)
        self._lane = ThreadLane(options.parallel)

    @property
    def name(self) -> str:
        return self._name

    @property
    def voices(self) -> tuple[Voice, ...]:
        return tuple(each.voice for each in self._voices.values())

    @asynccontextmanager
    async def speak(
        self, clause: str, *, voice: str = "", speed: float = 1.0, language: str = ""
    ) -> AsyncIterator[AsyncIterator[SpeechChunk]]:
        """The sound of the clause; leaving waits for the sentence at work. Raises NotFound for an unknown voice, TooLarge
        for more than LONGEST characters."""
        check_length(clause, LONGEST)
        chosen = self._voices[choose_voice(self.voices, voice, language)]
        if not any(map(str.isalnum, clause)):
            yield no_speech()
            return
        config = self._config(chosen, max(SLOWEST, min(FASTEST, speed)), language)
        phonemes = await self._phonemes([clause[at:to] for at, to in sentences_of(clause)], chosen)
        async with self._sound(clause, phonemes, config) as chunks:
            yield chunks

    @asynccontextmanager
    async def _sound(
        self, clause: str, phonemes: list[str], config: Any
    ) -> AsyncIterator[AsyncIterator[SpeechChunk]]:
        """The sound of the clause, each of whose sentences is pronounced like this ("": the model reads text)."""
        parts = list(sentences_of(clause))

        def step(emit: Emit[SpeechChunk]) -> None:
            start = 0
            for (at, to), spoken in zip(parts, phonemes, strict=True):
                part = _PartSound(clause[at:to], at, start, self._rate, emit, spoken)
                self._generate(part, spoken, config)
                if part.is_left:
                    return
                start = part.end

        async with self._lane.stream(step, AHEAD) as chunks:
            yield chunks

    async def close(self) -> None:
        """Drop the model; its memory is freed when the last clause with it has ended."""
        self._tts = None

    def _config(self, voice: SherpaVoice, speed: float, language: str) -> Any:
        config = self._make_config()
        config.sid, config.speed = voice.number, speed
        if self._steps:
            config.num_steps = self._steps
        if self._model.family == "supertonic":
            main = language.lower().partition("-")[0]
            config.extra = {"lang": main if main in SUPERTONIC_LANGUAGES else "en"}
        if (recording := self._recordings.get(voice.recording)) is not None:
            config.reference_audio = to_floats(recording.pcm).tolist()
            config.reference_sample_rate = recording.rate
            config.reference_text = recording.text
        return config

    async def _phonemes(self, texts: list[str], voice: SherpaVoice) -> list[str]:
        """How each text is pronounced, where the model needs to be told; "" where it reads text. Raises as espeak-ng does."""
        if not voice.spoken:
            return [""] * len(texts)
        library = espeak_library()

        def pronounce() -> list[str]:
            library.open()
            decompose = self._model.family in ("vits", "matcha")
            return [
                phonemes_of(text, lambda part: library.phonemes(part, voice.spoken), decompose=decompose)
                for text in texts
            ]

        return await library.lane.run(pronounce)

    def _generate(self, part: _PartSound, phonemes: str, config: Any) -> None:
        """Blocks until the part is synthesised or left."""
        config.phoneme_codepoints = [list(map(ord, phonemes))] if phonemes else []
        try:
            # The library reads either the phonemes or the text.
            sound = self._tts.generate("" if phonemes else part.text, config, part.take)
        except RuntimeError as error:
            raise EngineFailed(f"sherpa-onnx failed: {error}") from error
        if part.is_silent and sound.samples:
            # KittenTTS does not call back.
            part.take(sound.samples, 1.0)
        if part.failure is not None:
            raise part.failure
        part.finish()


class SherpaCloner(SherpaSpeaker):
    """Implements `contracts.CloningSpeaker` too: a model whose voices are recordings."""

    @property
    def needs_sample_text(self) -> bool:
        """Whether the model must know what is said in a recording."""
        return self._model.family == "zipvoice"

    @asynccontextmanager
    async def speak_like(
        self, clause: str, *, sample: VoiceSample, speed: float = 1.0, language: str = ""
    ) -> AsyncIterator[AsyncIterator[SpeechChunk]]:
        """The sound of the clause in the voice of the recording. Raises BadRequest where what is said in it is needed and
        unknown, TooLarge for more than LONGEST characters."""
        check_length(clause, LONGEST)
        if self.needs_sample_text and not sample.text:
            raise BadRequest(
                "This voice imitates a recording only if it knows what is said in it. Have it written down, or write it yourself.",
                code="voice_sample_text_missing",
            )
        if not any(map(str.isalnum, clause)):
            yield no_speech()
            return
        config = self._make_config()
        config.speed = max(SLOWEST, min(FASTEST, speed))
        if self._steps:
            config.num_steps = self._steps
        # What is said must be all that is heard: where it is needed, nothing is cut off.
        pcm = sample.pcm if self.needs_sample_text else sample.pcm[: RECORDED * HEARD_RATE * SAMPLE_BYTES]
        config.reference_audio = to_floats(pcm).tolist()
        config.reference_sample_rate, config.reference_text = HEARD_RATE, sample.text
        async with self._sound(clause, [""] * len(list(sentences_of(clause))), config) as chunks:
            yield chunks


class _PartSound:
    """The sound of one part of a clause as it comes: brought to 24 kHz, with the words that are in it, and emitted."""

    def __init__(
        self, text: str, at: int, start: int, rate: int, emit: Emit[SpeechChunk], phonemes: str = ""
    ) -> None:
        self.text = text
        self._sounds = sounds_of_words(text, phonemes)
        self.end = start
        """The sample of the clause at which what was emitted ends."""
        self.is_left = False
        """Whether the listener has left."""
        self.failure: Exception | None = None
        self._at = at
        self._start = start
        self._rate = rate
        self._emit = emit
        self._resampler = Resampler(rate, SPOKEN_RATE)
        self._taken = 0
        self._progress = 0.0

    @property
    def is_silent(self) -> bool:
        """Whether there was no sound yet."""
        return not self._taken

    def take(self, sound: Any, progress: float) -> int:
        """The library's callback, with the sound up to `progress` (0 to 1) of the part. 0 stops it. An error must not leave
        through the library, so it is kept."""
        try:
            self._add(to_pcm(sound), progress)
        except Exception as error:  # noqa: BLE001 (raised by the caller)
            self.failure = error
        return int(not self.is_left and self.failure is None)

    def finish(self) -> None:
        """Emit what is left of the sound, with the words that found no place in it."""
        if self._taken and not self.is_left:
            end = self._taken / self._rate
            self._send(self._resampler.finish(), self._words([(end, end)], 1.0))

    def _add(self, pcm: bytes, progress: float) -> None:
        begin = self._taken / self._rate
        spans = [
            (begin + first / self._rate, begin + last / self._rate)
            for first, last in sounding(pcm, self._rate)
        ]
        self._taken += samples(pcm)
        self._send(self._resampler.feed(pcm), self._words(spans, progress))

    def _words(self, spans: list[tuple[float, float]], progress: float) -> tuple[SpokenWord, ...]:
        """The words up to `progress` that were not given yet, in these seconds of the part. None while it is silent."""
        end = 2.0 if progress > ALL else progress
        if not spans or end <= self._progress:
            return ()
        words = words_from_sound(self.text, spans, begin=self._progress, end=end)
        self._progress = end
        return shift_words(words, self._start, self._at)

    def _send(self, pcm: bytes, words: tuple[SpokenWord, ...]) -> None:
        phones = tuple(
            phone
            for word in words
            for phone in spread_sounds(self._sounds.get(word.at - self._at, ()), word.start, word.end)
        )
        chunks = list(split_chunks(pcm, words, self.end, phones))
        if words and not chunks:
            chunks = [SpeechChunk(b"", words, phones)]
        if not all(map(self._emit, chunks)):
            self.is_left = True
        self.end += len(pcm) // SAMPLE_BYTES


async def load(options: dict[str, Any]) -> SpeakerEngine:
    """The engine. Options: see `SherpaSpeakerOptions`. Raises StartFailed without the library, the weights or a voice, or
    for a model of an unknown kind."""
    settings = read_options(SherpaSpeakerOptions, options, "sherpa")
    device = parse_device(settings.device)
    check_precision(settings.precision)
    check_parallel("sherpa", settings.parallel)

    def start() -> SherpaSpeaker:
        with importing("sherpa", "voice", role="voice"):
            import sherpa_onnx
        require_sherpa_card(device)
        prefer_int8 = settings.precision != "float" and device.kind != "cuda"
        folder, model = find_weights(settings, prefer_int8=prefer_int8)
        config = sherpa_onnx.OfflineTtsConfig()
        config.model.num_threads = settings.threads or machine_limits().cores
        config.model.provider = "cuda" if device.kind == "cuda" else "cpu"
        _describe(config, folder, model)
        with loading(f"The model in {folder} cannot be loaded by sherpa-onnx", AssertionError, TypeError):
            if not config.validate():
                raise ValueError("the library refuses its files; the worker's log says which")
            tts = sherpa_onnx.OfflineTts(config)
        recordings = find_recordings(folder, model)
        voices = list_voices(
            model,
            int(tts.num_speakers),
            name=folder.name,
            notes=_notes(folder, model),
            recordings=tuple(recordings),
            default=settings.voice,
        )
        if not voices:
            raise _no_voice(folder, model)
        speaker = SherpaCloner if model.clones else SherpaSpeaker
        return speaker(tts, sherpa_onnx.GenerationConfig, model, voices, recordings, folder.name, settings)

    return await load_in_thread(start)


def _describe(config: Any, folder: Path, model: SpeechModel) -> None:
    """Write the files of the model into the library's settings."""
    family = getattr(config.model, model.family, None)
    if family is None:
        raise StartFailed(
            f"The installed sherpa-onnx does not know {model.family}: pip install --upgrade sherpa-onnx."
        )
    for setting, files in model.files.items():
        setattr(family, setting, ",".join(str(folder / file) for file in files))
    if hasattr(family, "voice_embedding_cache_capacity"):
        family.voice_embedding_cache_capacity = KEPT_VOICES
    config.rule_fsts = ",".join(str(folder / file) for file in model.rules)
    config.rule_fars = ",".join(str(folder / file) for file in model.archives)


def _no_voice(folder: Path, model: SpeechModel) -> StartFailed:
    text = " and NAME.txt with what is said in it" if model.family == "zipvoice" else ""
    advice = (
        f"Put a recording of one into the folder: NAME.wav, some seconds long, 16-bit{text}."
        if model.clones
        else "Choose another model."
    )
    return StartFailed(f"The model in {folder} has no voice. {advice}", code="weights_missing", param="model")


def weights(options: dict[str, Any]) -> Path:
    """The folder of the weights, without loading anything. Raises StartFailed as `find_weights`."""
    settings = read_options(SherpaSpeakerOptions, options, "sherpa")
    return find_weights(settings, prefer_int8=settings.precision != "float")[0]


def find_weights(options: SherpaSpeakerOptions, *, prefer_int8: bool) -> tuple[Path, SpeechModel]:
    """The folder of the model and its kind. Raises StartFailed with the command that fetches it."""
    return find_sherpa_model(
        options.model,
        options.models,
        RELEASES,
        detect=lambda names, metadata: detect_speech_kind(names, metadata, prefer_int8=prefer_int8),
        files=lambda model: [file for files in model.files.values() for file in files],
        known=f"a speech model of a known kind. Known are {KNOWN}",
    )


def find_recordings(folder: Path, model: SpeechModel) -> dict[str, VoiceRecording]:
    """The recordings in the folder whose voices the model can clone, by their names."""
    recordings: dict[str, VoiceRecording] = {}
    if not model.clones:
        return recordings
    for path in sorted([*folder.glob("*.wav"), *folder.glob("test_wavs/*.wav")]):
        said = path.with_suffix(".txt")
        text = said.read_text(encoding="utf-8", errors="replace").strip() if said.is_file() else ""
        if model.family == "zipvoice" and not text:
            continue
        if (sound := read_wav_recording(path, RECORDED)) is not None:
            recordings[path.relative_to(folder).as_posix()] = VoiceRecording(*sound, text)
    return recordings


def _notes(folder: Path, model: SpeechModel) -> dict[str, object]:
    """What Piper's file beside the network says about the voice; empty where there is none."""
    for file in model.files.get("model", ()):
        path = folder / f"{file}.json"
        if path.is_file() and path.stat().st_size <= LARGEST_NOTES:
            try:
                return msgspec.convert(json.loads(path.read_bytes()), dict[str, object])
            except (ValueError, msgspec.ValidationError):
                return {}
    return {}
